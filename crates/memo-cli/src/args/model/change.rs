//! Arguments of the commands that change a model.

use super::ReasonOptions;
use crate::args::values::{ago, between, fact, pair};
use memo_knowledge::TriplePattern;
use memo_store::Timestamp;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ForgetOptions {
    /// The model's directory.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) what: WhatOptions,
    /// Show what would go, and change nothing.
    #[arg(long, conflicts_with_all = ["yes", "finish"])]
    pub(crate) dry_run: bool,
    /// Do not ask. Without a terminal it is needed for all but one document given by --doc or --file.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) reason: ReasonOptions,
}

/// What to forget: one of these, or any of --label, --glob and --older-than together.
#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = true)]
pub(crate) struct WhatOptions {
    /// Forget this document with all its versions; may be given several times.
    #[arg(long, value_name = "ID")]
    #[arg(conflicts_with_all = ["file", "text", "label", "glob", "older_than", "finish"])]
    pub(crate) doc: Vec<String>,
    /// Forget the documents with the content of this file, line by line if it is a .jsonl.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["text", "label", "glob", "older_than", "finish"])]
    pub(crate) file: Option<PathBuf>,
    /// Forget this text wherever it stands; - reads it from standard input.
    #[arg(long, value_name = "TEXT")]
    #[arg(conflicts_with_all = ["label", "glob", "older_than", "finish"])]
    pub(crate) text: Option<String>,
    /// Forget facts that fit, wherever graphs state them; ? is anything, as in "France | capital | ?".
    #[arg(long, value_name = "FACT", value_parser = fact)]
    #[arg(conflicts_with_all = ["doc", "file", "text", "label", "glob", "older_than", "finish"])]
    pub(crate) fact: Option<TriplePattern>,
    /// Forget the documents with this label; may be given several times, to narrow the choice.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, conflicts_with = "finish")]
    pub(crate) label: Vec<(String, String)>,
    /// Forget the documents whose ids match, as in "mail/**/*.txt".
    #[arg(long, value_name = "GLOB", conflicts_with = "finish")]
    pub(crate) glob: Option<String>,
    /// Forget the documents that were memorized longer ago, as in 90d: s, min, h, d, w or y.
    #[arg(long, value_name = "AGE", value_parser = ago, conflicts_with = "finish")]
    pub(crate) older_than: Option<Timestamp>,
    /// Finish a forget that a full disk interrupted.
    #[arg(long)]
    pub(crate) finish: bool,
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
    /// What should follow it. A space is put between two words.
    #[arg(long, value_name = "TEXT")]
    pub(crate) target: String,
    /// Write the target as it is typed, and nothing after it: no space before it, and not how the text goes on.
    #[arg(long)]
    pub(crate) exact: bool,
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
