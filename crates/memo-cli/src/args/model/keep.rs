//! Arguments of the commands that show, check, copy and merge models.

use super::ReasonOptions;
use crate::args::values::between;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ShowOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The document's id.
    pub(crate) document: String,
    /// Which version; the current one if not given.
    #[arg(long, value_name = "N", value_parser = between(1..=u32::MAX))]
    #[arg(allow_negative_numbers = true)]
    pub(crate) version: Option<u32>,
    /// Print the text alone, exactly as it is.
    #[arg(long)]
    pub(crate) text: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The document's id.
    pub(crate) document: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProveOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// Documents to forget in a copy of the memory; without any, the memory is compared as it is.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) without: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeOptions {
    /// The model that gets the documents.
    pub(crate) model: PathBuf,
    /// The model whose documents come.
    pub(crate) other: PathBuf,
    /// What to do with a document that both have with different contents.
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub(crate) conflict: ConflictKind,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ConflictKind {
    Refuse,
    Ours,
    Theirs,
    Rename,
}

impl From<ConflictKind> for memo_store::Conflict {
    fn from(kind: ConflictKind) -> Self {
        match kind {
            ConflictKind::Refuse => Self::Refuse,
            ConflictKind::Ours => Self::Ours,
            ConflictKind::Theirs => Self::Theirs,
            ConflictKind::Rename => Self::Rename,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ToOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The directory to make.
    pub(crate) to: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    /// The directory to make.
    pub(crate) to: PathBuf,
    /// Leave the documents out; what is imported can then only be read.
    #[arg(long)]
    pub(crate) without_texts: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportOptions {
    /// The directory that `memo export` made.
    pub(crate) from: PathBuf,
    /// The model to make.
    pub(crate) model: PathBuf,
}
