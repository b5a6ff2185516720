//! Arguments of the commands on facts and rules.

use super::{ModelOptions, ReasonOptions};
use memo_knowledge::GraphFormat;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum GraphCommand {
    /// Add graphs from files; makes the model if there is none.
    #[command(
        after_help = "Examples:\n  memo graph add notes.memo countries.ttl --language en\n  memo graph add notes.memo facts.tsv             # subject<TAB>predicate<TAB>object\n  memo graph add notes.memo people.jsonld --id people --reason \"from the archive\""
    )]
    Add(GraphAddOptions),

    /// List the graphs.
    #[command(after_help = "Examples:\n  memo graph list notes.memo")]
    List(ModelOptions),

    /// Show facts that fit a pattern; ? stands for anything.
    #[command(
        after_help = "Examples:\n  memo graph show notes.memo\n  memo graph show notes.memo France ? ?\n  memo graph show notes.memo --most 100 --json"
    )]
    Show(GraphShowOptions),

    /// State facts: each takes the place of what graphs say of its subject and predicate.
    #[command(
        after_help = "Examples:\n  memo graph state notes.memo France capital Lyon\n  memo graph state notes.memo --from corrections.tsv --reason \"as of May\""
    )]
    State(GraphStateOptions),

    /// Print graphs for other programs.
    #[command(
        after_help = "Examples:\n  memo graph export notes.memo > all.ttl\n  memo graph export notes.memo countries.ttl --format n-triples"
    )]
    Export(GraphExportOptions),
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphAddOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Turtle, N-Triples, N-Quads, JSON-LD, RDF/XML, or a table of subject, predicate and object.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The document's id; by default the file's name.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The language of labels to call things by.
    #[arg(long, value_name = "TAG")]
    pub(crate) language: Option<String>,
    /// The format; by default what the file's name says.
    #[arg(long, value_name = "FORMAT", value_parser = GraphFormat::from_str)]
    pub(crate) format: Option<GraphFormat>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphShowOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What facts are about; ? is anything.
    #[arg(default_value = "?")]
    pub(crate) subject: String,
    /// What is said; ? is anything.
    #[arg(default_value = "?")]
    pub(crate) predicate: String,
    /// What that is; ? is anything.
    #[arg(default_value = "?")]
    pub(crate) object: String,
    /// How many facts are shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphStateOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Subject, predicate and object.
    #[arg(num_args = 3, required_unless_present = "from", conflicts_with = "from")]
    pub(crate) fact: Vec<String>,
    /// A table of facts.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphExportOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The graph's id; by default all graphs.
    pub(crate) document: Option<String>,
    /// Turtle, N-Triples or a table.
    #[arg(long, value_name = "FORMAT", value_parser = GraphFormat::from_str, default_value = "turtle")]
    pub(crate) format: GraphFormat,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AskOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What is asked about, or ? if that is the question.
    pub(crate) subject: String,
    /// What is asked of it, or ?.
    pub(crate) predicate: String,
    /// What it is, or ? if that is the question.
    #[arg(default_value = "?")]
    pub(crate) object: String,
    /// How many answers are shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
    /// Show how each answer was derived.
    #[arg(long)]
    pub(crate) why: bool,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RulesCommand {
    /// Add the rules of a file; what follows from them is known at once.
    #[command(
        after_help = "Examples:\n  memo rules add notes.memo family.toml --dry-run    # shows what would follow\n  memo rules add notes.memo family.toml\n\nTaking rules back: memo forget notes.memo --doc family.toml"
    )]
    Add(RulesAddOptions),

    /// List the rules, with how much follows by each.
    #[command(after_help = "Examples:\n  memo rules list notes.memo")]
    List(ModelOptions),

    /// Try the rules of a file on a text, without a model.
    #[command(
        after_help = "Examples:\n  memo rules test family.toml \"Ada was born in London.\"\n  memo rules test family.toml - < notes.txt"
    )]
    Test(RulesTestOptions),

    /// Show why something follows: rules, sentences and facts, step by step.
    #[command(
        after_help = "Examples:\n  memo rules why notes.memo \"The birthplace of Ada is London.\"\n  memo rules why notes.memo \"Ada | nationality | England\""
    )]
    Why(RulesWhyOptions),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RulesAddOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The rules, in TOML.
    pub(crate) file: PathBuf,
    /// The document's id; by default the file's name.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Show what would follow, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RulesTestOptions {
    /// The rules, in TOML.
    pub(crate) file: PathBuf,
    /// The text; - reads it from standard input.
    pub(crate) text: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RulesWhyOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// A text that rules say, or its beginning; or a fact, as "subject | predicate | object".
    pub(crate) statement: String,
}
