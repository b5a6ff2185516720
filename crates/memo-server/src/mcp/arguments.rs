//! What the tools take. Their schemas, with these descriptions, are what an agent knows of them.

use crate::partner::Mode;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A text to keep.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Remember {
    /// What to remember: whole sentences that are understood on their own.
    #[cfg_attr(test, schema(min_length = 1))]
    pub(crate) text: String,
    /// Where it comes from, as a file, an address or a conversation; `forget` takes it too.
    pub(crate) source: Option<String>,
    /// Names and values by which it can be forgotten later.
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// Why it is remembered; kept with the change.
    pub(crate) reason: Option<String>,
}

/// What to look for.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Recall {
    /// A question, or words that the text would have; rare words count most.
    #[cfg_attr(test, schema(min_length = 1))]
    pub(crate) text: String,
    /// The most passages, 5 by default.
    #[cfg_attr(test, schema(minimum = 1, maximum = 100))]
    pub(crate) limit: Option<usize>,
}

/// A beginning to continue.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Complete {
    /// How a remembered text begins, or a part of it.
    #[cfg_attr(test, schema(min_length = 1))]
    pub(crate) prompt: String,
    /// The most tokens to add, 64 by default.
    #[cfg_attr(test, schema(minimum = 1, maximum = 4096))]
    pub(crate) max_tokens: Option<usize>,
    /// Who continues, where a neural model stands beside the memory: `memory`, which is the default and says only what is remembered, `both`, or `model`.
    #[cfg_attr(test, schema(nullable = false))]
    pub(crate) mode: Option<Mode>,
}

/// A beginning whose continuation is to be explained.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// The text before the words in question; after a completion that has `continued`, its `text`.
    pub(crate) prompt: String,
    /// The most continuations, 3 by default.
    #[cfg_attr(test, schema(minimum = 1, maximum = 50))]
    pub(crate) candidates: Option<usize>,
}

/// What to forget: one of `ids`, `source`, `labels` and `text`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    /// Documents, by id.
    #[serde(default)]
    pub(crate) ids: Vec<String>,
    /// All that was remembered from this source.
    pub(crate) source: Option<String>,
    /// All documents that have these labels.
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// A text, cut out of every document that contains it.
    pub(crate) text: Option<String>,
    /// Whether to show what would go and change nothing, which is the default. Only with false is anything forgotten.
    #[serde(default = "yes")]
    #[cfg_attr(test, schema(default = true))]
    pub(crate) dry_run: bool,
    /// Why; kept with the change.
    pub(crate) reason: Option<String>,
}

fn yes() -> bool {
    true
}

/// What is to follow a text.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Correct {
    /// The text before what is wrong, as it is remembered, best from the beginning of its sentence.
    #[cfg_attr(test, schema(min_length = 1))]
    pub(crate) prompt: String,
    /// What is to follow it.
    #[cfg_attr(test, schema(min_length = 1))]
    pub(crate) target: String,
    /// Why; kept with the change.
    pub(crate) reason: Option<String>,
}

/// The changes to show.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    /// Only changes of this document.
    pub(crate) id: Option<String>,
    /// The most changes, 20 by default; the newest come first.
    #[cfg_attr(test, schema(minimum = 1, maximum = 1000))]
    pub(crate) limit: Option<usize>,
}

/// The change to undo.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Undo {
    /// Its number, as the answer to the change or `history` gives it.
    pub(crate) transaction: u64,
    /// Why; kept with the change.
    pub(crate) reason: Option<String>,
}

/// Nothing.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}
