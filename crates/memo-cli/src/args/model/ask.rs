//! What can be typed to ask a model.

use crate::args::values::{between, share, temperature};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue.
    pub(crate) prompt: String,
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
    /// The seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = between(0..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// End before this text.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) stop: Vec<String>,
    /// Print tokens as they come.
    #[arg(long)]
    pub(crate) stream: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text: a file, a folder, a .jsonl, or - for standard input.
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// What to continue.
    pub(crate) prompt: String,
    /// How many of the most probable tokens to explain.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = between(1u32..=1000), allow_negative_numbers = true)]
    pub(crate) candidates: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TextOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text; - reads it from standard input.
    pub(crate) text: String,
}
