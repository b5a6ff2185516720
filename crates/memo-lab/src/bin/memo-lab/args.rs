//! The command line's arguments.

use clap::{Parser, Subcommand};
use memo_terminal::measure::TextOptions;
use memo_terminal::{GlobalOptions, STYLES};
use memo_text::TokenizerSpec;
use std::path::PathBuf;

/// Experiments on MeMo: what a memory can and cannot do, measured.
#[derive(Debug, Parser)]
#[command(name = "memo-lab", version, styles = STYLES, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) global: GlobalOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Go from the paper's memory to exact counts, one change at a time at equal bytes, and measure what each is worth.
    #[command(
        after_help = "Examples:\n  memo-lab ablation --quick\n  memo-lab ablation --text book.txt --out results"
    )]
    Ablation(AblationOptions),

    /// Fill single memories of all shapes and count what they hold: the paper's Fig. 3.
    #[command(
        after_help = "Examples:\n  memo-lab capacity --quick\n  memo-lab capacity --out results --authors fig3.csv"
    )]
    Capacity(PaperOptions),

    /// Memorize texts in model directories and ask for them by short, careless and new prompts.
    #[command(
        after_help = "Examples:\n  memo-lab cues --text book.txt --quick\n  memo-lab cues --text book.txt code.txt --tokenizer gpt2 --out results"
    )]
    Cues(CuesOptions),

    /// Memorize statements, edit them, judge that as CounterFact does, and roll back.
    #[command(
        after_help = "Examples:\n  memo-lab editing --counterfact counterfact.json --quick\n  memo-lab editing --counterfact counterfact.json --out results"
    )]
    Editing(EditingOptions),

    /// Memorize questions and answers, forget some authors, and measure what is left of them.
    #[command(
        after_help = "Examples:\n  memo-lab forgetting --forget forget10.jsonl --retain retain90.jsonl\n  memo-lab forgetting --forget forget10.jsonl --retain retain90.jsonl --out results"
    )]
    Forgetting(ForgettingOptions),

    /// Memorize more and more of texts, with words in classes and without, and measure what that is worth.
    #[command(
        after_help = "Examples:\n  memo-lab generalize --text book.txt --quick\n  memo-lab generalize --text book.txt news.txt --wordnet /usr/share/wordnet --out results"
    )]
    Generalize(GeneralizeOptions),

    /// Memorize facts, and measure what rules make of them: other wordings, backwards, two steps, edits, forgetting, speed.
    #[command(
        after_help = "Examples:\n  memo-lab knowledge --quick\n  memo-lab knowledge --data facts --out results"
    )]
    Knowledge(KnowledgeOptions),

    /// Memorize random texts in one to three layers and measure recall: the paper's Fig. 4.
    #[command(
        after_help = "Examples:\n  memo-lab layers --quick\n  memo-lab layers --out results --authors fig4.csv"
    )]
    Layers(PaperOptions),

    /// Count how many nearly orthogonal vectors fit: the paper's Appendix A.
    #[command(
        after_help = "Examples:\n  memo-lab vectors --quick\n  memo-lab vectors --out results"
    )]
    Vectors(GridOptions),

    /// Draw the worked examples of the paper's section 3: the matrices of Figs. 1 and 2.
    #[command(after_help = "Examples:\n  memo-lab examples\n  memo-lab examples --out results")]
    Examples(GridOptions),

    /// Memorize a text in memory and measure recall, perplexity, rates and exact forgetting; or a table of that for several
    /// texts and every engine.
    #[command(
        after_help = "Examples:\n  memo-lab realtext --text book.txt\n  memo-lab realtext --text train.txt --held-out test.txt --tokenizer words\n  memo-lab realtext --text book.txt code.jsonl --split 0.8 --out results    # the table"
    )]
    Realtext(RealtextOptions),

    /// Forget a text as the paper does, and try to read it from what is left in every memory.
    #[command(
        after_help = "Examples:\n  memo-lab residue --quick\n  memo-lab residue --out results"
    )]
    Residue(GridOptions),

    /// Time both engines by size, threads and load, beside what this machine allows.
    #[command(after_help = "Examples:\n  memo-lab speed --quick\n  memo-lab speed --out results")]
    Speed(GridOptions),
}

/// The options of every experiment on a grid.
#[derive(Debug, clap::Args)]
pub(crate) struct GridOptions {
    /// A smaller grid: about a minute on two cores instead of up to hours.
    #[arg(long)]
    pub(crate) quick: bool,

    /// The seed that everything random comes from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Threads to use; 0 takes all cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Write the page, its table and its figures to this folder. A run that is interrupted goes on from there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// An experiment of the paper, beside the authors' own results.
#[derive(Debug, clap::Args)]
pub(crate) struct PaperOptions {
    #[command(flatten)]
    pub(crate) grid: GridOptions,

    /// The authors' results, to be shown beside ours.
    #[arg(long, value_name = "CSV")]
    pub(crate) authors: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AblationOptions {
    /// Texts to try besides random tokens.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) text: Vec<PathBuf>,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from each text), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "words")]
    pub(crate) tokenizer: TokenizerSpec,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CuesOptions {
    /// The texts to memorize, each in a model of its own.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) text: Vec<PathBuf>,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from the texts), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EditingOptions {
    /// The records: one JSON array of objects with prompt, ground_truth, target_new, rephrase_prompt, locality_prompt
    /// and locality_ground_truth.
    #[arg(long, value_name = "JSON")]
    pub(crate) counterfact: PathBuf,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from the records), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ForgettingOptions {
    /// What can be forgotten: a .jsonl with a question and an answer a line.
    #[arg(long, value_name = "JSONL")]
    pub(crate) forget: PathBuf,

    /// What is kept, in the same form.
    #[arg(long, value_name = "JSONL")]
    pub(crate) retain: PathBuf,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from the texts), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GeneralizeOptions {
    /// The texts, each of its own; the last fifth of each is held out.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) text: Vec<PathBuf>,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from each text), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "words")]
    pub(crate) tokenizer: TokenizerSpec,

    /// The folder of WordNet's files (Debian's wordnet-base has them in /usr/share/wordnet), to try its classes too.
    #[arg(long, value_name = "DIR")]
    pub(crate) wordnet: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct KnowledgeOptions {
    /// A folder with ParaRel's facts and patterns, pararel/triples.tsv and pararel/patterns.tsv, and CounterFact's records,
    /// counterfact-2000.json; without it, facts are made up.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RealtextOptions {
    /// The texts to memorize, each in a memory of its own: a file, a folder, a .jsonl, or - for standard input.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) text: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) options: TextOptions,

    /// Memorize only this share of the lines (of one document) or documents, from the beginning, and hold out the rest.
    #[arg(long, value_name = "X", conflicts_with = "held_out", value_parser = share)]
    pub(crate) split: Option<f64>,

    /// The engine: sparse, or dense (the paper's, with Hadamard codes and computed recall).
    #[arg(long, value_name = "E", default_value = "sparse")]
    pub(crate) engine: Engine,

    /// Measure every engine. Several texts, --out and --quick imply it.
    #[arg(long, conflicts_with = "engine")]
    pub(crate) table: bool,

    /// Less of what is held out: minutes instead of an hour.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Write the page, its table and its figures to this folder. A run that is interrupted goes on from there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    Sparse,
    Dense,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}
