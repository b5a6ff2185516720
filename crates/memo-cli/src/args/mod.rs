//! The command line's arguments.

pub(crate) mod lexicon;
pub(crate) mod model;
mod serve;
pub(crate) mod values;

use self::lexicon::LexiconCommand;
use self::model::ModelCommand;
pub(crate) use self::serve::{LogFormat, OnFailure, ServeOptions};
use self::values::between;
use clap::{Parser, Subcommand};
use memo_terminal::measure::MeasureOptions;
use memo_terminal::{GlobalOptions, STYLES};
use std::path::PathBuf;

/// A language model that is a memory: it memorizes text in one pass, predicts what follows, shows why, and forgets.
#[derive(Debug, Parser)]
#[command(name = "memo", version, styles = STYLES, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) global: GlobalOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Model(ModelCommand),

    /// Memorize a text in memory and measure recall, perplexity, rates and exact forgetting.
    #[command(
        after_help = "Examples:\n  memo measure --text book.txt\n  memo measure --text train.txt --held-out test.txt --tokenizer words\n  memo measure --text book.txt --no-words --sample 0 --json"
    )]
    Measure(MeasureOptions),

    /// Make, show and check lexicons: which words are alike.
    #[command(
        subcommand,
        after_help = "Examples:\n  memo lexicon induce notes/ --classes 200 -o words.lexicon\n  memo lexicon convert cars.tsv -o cars.lexicon\n  memo lexicon show words.lexicon car\n  memo lexicon check words.lexicon notes/"
    )]
    Lexicon(LexiconCommand),

    /// Serve a model to OpenAI's clients, evaluation harnesses, and people with a browser.
    #[command(
        after_help = "Examples:\n  memo serve                                   # a model of your own, made if there is none\n  memo serve notes.memo --addr 127.0.0.1:8000\n  memo serve notes.memo --addr 0.0.0.0:7700 --api-key-file keys.txt\n  memo serve notes.memo --addr unix:/run/memo.sock\n  memo serve models                            # a folder of models, each by its name"
    )]
    Serve(ServeOptions),

    /// Serve a model to an agent as its memory, over the Model Context Protocol.
    ///
    /// It speaks over standard input and output: clients start it themselves, and docs/mcp.md has their configuration. Any number of them can use a model at a time: the first process
    /// has it, and others go through that one.
    #[command(
        after_help = "Examples:\n  memo mcp                                     # a model of your own, made if there is none\n  memo mcp notes.memo\n  claude mcp add memory -- memo mcp ~/notes.memo\n  memo serve notes.memo                        # the same over HTTP, at /mcp"
    )]
    Mcp(McpOptions),

    /// Take a tour of what a memory can do, and see the paper's worked examples.
    #[command(
        after_help = "Examples:\n  memo demo\n  memo demo --dim 8192    # less noise in the worked examples\n  memo demo --json"
    )]
    Demo(DemoOptions),

    /// Print a script that completes commands and options in a shell.
    #[command(
        after_help = "Examples:\n  memo completions bash > ~/.local/share/bash-completion/completions/memo\n  memo completions zsh > \"${fpath[1]}/_memo\"\n  memo completions fish > ~/.config/fish/completions/memo.fish"
    )]
    Completions(CompletionsOptions),

    /// Print the man page of the program or of a command.
    #[command(after_help = "Examples:\n  memo man | man -l -\n  memo man complete | man -l -")]
    Man(ManOptions),

    /// Write shell completions and man pages. `cargo xtask docs` does, and so may whoever packages the program.
    #[command(hide = true)]
    Pages(PagesOptions),
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpOptions {
    /// The model; made if there is none. Without a name it is one in your data folder.
    pub(crate) model: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsOptions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManOptions {
    /// The command; the program itself if none is given.
    pub(crate) command: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PagesOptions {
    /// The directory to write to.
    pub(crate) to: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    Sparse,
    Dense,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoOptions {
    /// The dimension d of codes in the worked examples: the larger, the less noise in the weights.
    #[arg(long, value_name = "D", default_value_t = 2048, value_parser = between(0..=usize::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) dim: usize,

    /// The seed that everything random comes from.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = between(0..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
}
