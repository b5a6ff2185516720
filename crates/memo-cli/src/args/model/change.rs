//! What can be typed to change a model.

use super::ReasonOptions;
use crate::args::values::between;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = false, args = ["doc", "file", "text"])]
pub(crate) struct ForgetOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Forget this document with all its versions; may be given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) doc: Vec<String>,
    /// Forget the documents with the content of this file, line by line if it is a .jsonl.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Forget this text wherever it stands; - reads it from standard input.
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DocumentOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The document's id.
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplaceOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The text to replace.
    #[arg(long, value_name = "TEXT")]
    pub(crate) old: String,
    /// What to put in its place.
    #[arg(long, value_name = "TEXT")]
    pub(crate) new: String,
    /// Only in this document.
    #[arg(long, value_name = "ID")]
    pub(crate) doc: Option<String>,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EditOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: String,
    /// What should follow it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RollbackOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The transaction's number.
    #[arg(value_parser = between(1..=u64::MAX), allow_negative_numbers = true)]
    pub(crate) transaction: u64,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}
