//! Arguments of the commands that query a model.

use crate::args::values::{between, penalty, share, temperature, weight};
use memo_store::ReadOptions;
use std::path::PathBuf;

/// How a model is read.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadingOptions {
    /// How much the lexicon counts: from 0, not at all, to 1. Without a lexicon it makes no difference.
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = weight)]
    #[arg(allow_negative_numbers = true)]
    generalize: f64,
    /// How much the names and phrases of the text itself count, which are expected again: from 0, not at all, to 1. By default 1 where
    /// a prompt is continued, 0 elsewhere.
    #[arg(long, value_name = "W", value_parser = share, allow_negative_numbers = true)]
    recent: Option<f64>,
}

impl ReadingOptions {
    /// The options as the store takes them, with what else is said by default.
    pub(crate) fn options(&self, default: ReadOptions) -> ReadOptions {
        let recent = self.recent.unwrap_or(default.recent);
        ReadOptions { generalize: self.generalize, recent }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue; - reads it from standard input.
    pub(crate) prompt: String,
    #[command(flatten)]
    pub(crate) sampling: SamplingOptions,
    /// Print tokens as they come.
    #[arg(long)]
    pub(crate) stream: bool,
    /// Say which document each part of it comes from.
    #[arg(long, conflicts_with = "stream")]
    pub(crate) sources: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) sampling: SamplingOptions,
}

/// How prompts are continued.
#[derive(Debug, clap::Args)]
pub(crate) struct SamplingOptions {
    /// The most tokens to add.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 32)]
    #[arg(value_parser = between(1u32..=100_000), allow_negative_numbers = true)]
    pub(crate) tokens: u32,
    /// 0 takes the most probable token each time; 1 draws in proportion.
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = temperature)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) temperature: f64,
    /// Draw only from this many of the most probable tokens; 0 is all.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = between(0usize..=1_000_000))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) top_k: usize,
    /// Draw only from the most probable tokens that together have this probability.
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = share)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) top_p: f64,
    /// What the log-probability of a token falls by each time that it was said already; a negative one makes it rise.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = penalty)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) frequency_penalty: f64,
    /// What it falls by once the token was said.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = penalty)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) presence_penalty: f64,
    /// The seed of the draws; another each time, and named, if not given.
    #[arg(long, value_name = "N", value_parser = between(0..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Go on where the memory does not know how.
    #[arg(long)]
    pub(crate) guess: bool,
    /// End before this text.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) stop: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text: a file, a folder, a .jsonl, or - for standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue; - reads it from standard input.
    pub(crate) prompt: String,
    /// How many of the most probable tokens to explain.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = between(1u32..=1000), allow_negative_numbers = true)]
    pub(crate) candidates: u32,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClosestOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text; - reads it from standard input.
    pub(crate) text: String,
    /// How many passages to show.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) passages: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FindOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text; - reads it from standard input.
    pub(crate) text: String,
    /// Find it in any case: owl finds Owl.
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Show this many lines before and after.
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0)]
    #[arg(value_parser = between(0usize..=1000), allow_negative_numbers = true)]
    pub(crate) context: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DiffOptions {
    /// A model's directory.
    pub(crate) a: PathBuf,
    /// The directory of the one to compare it with.
    pub(crate) b: PathBuf,
    /// A prompt that both continue; may be given several times.
    pub(crate) prompt: Vec<String>,
    /// Prompts in a file, one a line; - reads them from standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) prompts: Option<PathBuf>,
    /// The most tokens that each adds to a prompt.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 32)]
    #[arg(value_parser = between(1u32..=100_000), allow_negative_numbers = true)]
    pub(crate) tokens: u32,
}
