//! What can be typed after `memo lab`.

use super::Engine;
use clap::Subcommand;
use memo_text::TokenizerSpec;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Fill single memories of all shapes and count what they hold: the paper's Fig. 3.
    #[command(
        after_help = "Examples:\n  memo lab capacity --quick\n  memo lab capacity --out results --authors fig3.csv"
    )]
    Capacity(PaperOptions),

    /// Memorize statements, edit them, judge that as CounterFact does, and roll back.
    #[command(
        after_help = "Examples:\n  memo lab editing --counterfact counterfact.json --quick\n  memo lab editing --counterfact counterfact.json --out results"
    )]
    Editing(EditingOptions),

    /// Memorize questions and answers, forget some authors, and measure what is left of them.
    #[command(
        after_help = "Examples:\n  memo lab forgetting --forget forget10.jsonl --retain retain90.jsonl\n  memo lab forgetting --forget forget10.jsonl --retain retain90.jsonl --out results"
    )]
    Forgetting(ForgettingOptions),

    /// Memorize random texts in one to three layers and measure recall: the paper's Fig. 4.
    #[command(
        after_help = "Examples:\n  memo lab layers --quick\n  memo lab layers --out results --authors fig4.csv"
    )]
    Layers(PaperOptions),

    /// Count how many nearly orthogonal vectors fit: the paper's Appendix A.
    #[command(
        after_help = "Examples:\n  memo lab vectors --quick\n  memo lab vectors --out results"
    )]
    Vectors(GridOptions),

    /// Draw the worked examples of the paper's section 3: the matrices of Figs. 1 and 2.
    #[command(after_help = "Examples:\n  memo lab examples\n  memo lab examples --out results")]
    Examples(GridOptions),

    /// Memorize a text in memory and measure recall, perplexity, rates and exact forgetting; or all of that against the
    /// size of the memory, for every engine.
    #[command(
        after_help = "Examples:\n  memo lab realtext --text book.txt\n  memo lab realtext --text train.txt --held-out test.txt --tokenizer words\n  memo lab realtext --text book.txt --params-per-token 60 --sample 0 --json\n  memo lab realtext --text book.txt --split 0.8 --out results    # the curve"
    )]
    Realtext(RealtextOptions),

    /// Time both engines by size, threads and load, beside what this machine allows.
    #[command(after_help = "Examples:\n  memo lab speed --quick\n  memo lab speed --out results")]
    Speed(GridOptions),
}

/// What every experiment on a grid can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct GridOptions {
    /// A smaller grid: minutes instead of up to two hours.
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
pub(crate) struct RealtextOptions {
    /// The text to memorize: a file, a folder, a .jsonl, or - for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) text: PathBuf,

    /// Text that is not memorized, for perplexity.
    #[arg(long, value_name = "FILE")]
    pub(crate) held_out: Option<PathBuf>,

    /// Memorize only this share of the lines (of one document) or documents, from the beginning, and hold out the rest.
    #[arg(long, value_name = "X", conflicts_with = "held_out", value_parser = share)]
    pub(crate) split: Option<f64>,

    /// Measure the curve: every engine and read-out at many sizes. --out and --quick imply it.
    #[arg(long, conflicts_with_all = ["params", "params_per_token", "engine", "readout"])]
    pub(crate) curve: bool,

    /// The size of the memory in cells.
    #[arg(long, value_name = "N", conflicts_with = "params_per_token")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) params: Option<u64>,

    /// The size of the memory in cells for each token of the text.
    #[arg(long, value_name = "X", default_value_t = 92.0, value_parser = positive)]
    pub(crate) params_per_token: f64,

    /// gpt2, cl100k, o200k, bytes, words (vocabulary from the text), or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    /// The engine: sparse, or dense (the paper's, with Hadamard codes and computed recall).
    #[arg(long, value_name = "E", default_value = "sparse")]
    pub(crate) engine: Engine,

    /// The sparse engine's read-out: backoff, or sum (the paper's).
    #[arg(long, value_name = "R", default_value = "backoff")]
    pub(crate) readout: ReadOutKind,

    /// Positions to try recall at, chosen at random; 0 tries all.
    #[arg(long, value_name = "N", default_value_t = 3000)]
    pub(crate) sample: usize,

    #[command(flatten)]
    pub(crate) grid: GridOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReadOutKind {
    Backoff,
    Sum,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("must be a number above 0".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}
