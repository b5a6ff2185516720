//! What can be typed to make a model and fill it.

use super::ReasonOptions;
use crate::args::values::{between, bytes, label, slot};
use memo_text::TokenizerSpec;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct SizeOptions {
    /// The size of the cells, e.g. 512MiB; tables grow with the text and come on top.
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true)]
    #[arg(conflicts_with = "params")]
    pub(crate) memory: Option<u64>,

    /// The number of cells, one byte each; 92 a token recall everything.
    #[arg(long, value_name = "N", value_parser = between(65_536u64..=500_000_000_000))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) params: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShapeOptions {
    /// Heads: the blocks that a window is cut into.
    #[arg(long, value_name = "H", value_parser = between(2u32..=64))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) heads: Option<u32>,

    /// Layers: layer i sees windows of H^i tokens.
    #[arg(long, value_name = "L", value_parser = between(1u32..=16))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) layers: Option<u32>,

    /// Top layers whose older heads are used too: they make a damaged prompt recall.
    #[arg(long, value_name = "N", value_parser = between(0u32..=16))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) older: Option<u32>,

    /// The blocks to read, SKIP:LEN each, instead of whole layers: LEN tokens that end SKIP tokens back.
    #[arg(long, value_name = "SLOTS", value_delimiter = ',', value_parser = slot)]
    #[arg(conflicts_with_all = ["layers", "older"])]
    pub(crate) slots: Vec<(u32, u32)>,

    /// gpt2, cl100k, o200k, bytes, words, or a tokenizer.json.
    #[arg(long, value_name = "T", default_value = "gpt2")]
    pub(crate) tokenizer: TokenizerSpec,

    /// The text whose words are the vocabulary of the tokenizer `words`.
    #[arg(long, value_name = "FILE")]
    pub(crate) vocab_from: Option<PathBuf>,

    /// The seed of keys and codes; only models of equal seeds can be merged.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = between(0..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitOptions {
    /// The directory to make, e.g. notes.memo.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) size: SizeOptions,
    #[command(flatten)]
    pub(crate) shape: ShapeOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MemorizeOptions {
    /// The model's directory; made with room for the input if it is not there.
    pub(crate) model: PathBuf,

    /// Files, folders, globs in quotes ("notes/**/*.md"), or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the files as JSONL, with the text in this field.
    #[arg(long, value_name = "FIELD")]
    pub(crate) jsonl: Option<String>,

    /// The document's id, if there is just one.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// A label for every document.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Memorize even if the memory is then too full to recall everything.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}
