//! Differences between two models: whose documents they are, and what they would say.

use super::{CompletionOptions, Document, DocumentState, Snapshot};
use crate::error::Error;
use serde::Serialize;
use std::collections::BTreeMap;

/// How two models differ, the first of which is `a`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelDiff {
    /// Live documents that only the first one has, by id.
    pub only_a: Vec<String>,
    /// Live documents that only the second one has.
    pub only_b: Vec<String>,
    /// Documents that both have, with different texts.
    pub changed: Vec<DocumentDiff>,
    /// How many documents are the same in both.
    pub same: usize,
}

/// A document that two models have with different texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DocumentDiff {
    /// The document.
    pub document: String,
    /// The first line that differs, from 1.
    pub line: u64,
    /// That line in the first model; none if the text ended before.
    pub a: Option<String>,
    /// That line in the second model.
    pub b: Option<String>,
}

/// What two models say after a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PromptDiff {
    /// The prompt.
    pub prompt: String,
    /// Whether both say the same.
    pub same: bool,
    /// What the first one says.
    pub a: String,
    /// What the second one says.
    pub b: String,
}

impl ModelDiff {
    /// Whether both models have the same documents.
    pub fn is_empty(&self) -> bool {
        self.only_a.is_empty() && self.only_b.is_empty() && self.changed.is_empty()
    }
}

impl Snapshot {
    /// Compares the live documents with those of another model, by id and text. Their tokenizers may differ.
    pub fn diff(&self, other: &Snapshot) -> Result<ModelDiff, Error> {
        let (ours, mut theirs) = (live(self)?, live(other)?);
        let mut diff = ModelDiff::default();
        for (id, document) in ours {
            let Some(their) = theirs.remove(&id) else {
                diff.only_a.push(id);
                continue;
            };
            let (a, b) = (self.text(&id, None)?, other.text(&id, None)?);
            // Two edits may write the same words after prompts of different lengths, or with other weights.
            if a == b && written(&document) == written(&their) {
                diff.same += 1;
            } else {
                diff.changed.push(first_difference(id, &a, &b));
            }
        }
        diff.only_b.extend(theirs.into_keys());
        Ok(diff)
    }

    /// What this model and another say after a prompt, with the same options.
    pub fn diff_completion(
        &self,
        other: &Snapshot,
        prompt: &str,
        options: &CompletionOptions,
    ) -> Result<PromptDiff, Error> {
        let a = self.said_after(prompt, options)?;
        let b = other.said_after(prompt, options)?;
        Ok(PromptDiff { prompt: prompt.to_owned(), same: a == b, a, b })
    }

    /// The text that follows a prompt, and nothing about it.
    fn said_after(&self, prompt: &str, options: &CompletionOptions) -> Result<String, Error> {
        self.tokens(prompt, options)?.map(|token| Ok(token?.text)).collect()
    }
}

fn live(model: &Snapshot) -> Result<BTreeMap<String, Document>, Error> {
    let live = model.documents()?.into_iter().filter(|d| d.state == DocumentState::Live);
    Ok(live.map(|document| (document.id.clone(), document)).collect())
}

/// What is written of the version that counts.
fn written(document: &Document) -> Option<(Option<u64>, Option<i32>)> {
    let current = document.versions.iter().find(|v| Some(v.number) == document.version)?;
    Some((current.prompt_tokens, current.weight))
}

fn first_difference(document: String, a: &str, b: &str) -> DocumentDiff {
    // Lines with their ends: a text may lack the last one's.
    let (mut ours, mut theirs) = (a.split_inclusive('\n'), b.split_inclusive('\n'));
    let mut line = 1;
    loop {
        let (a, b) = (ours.next(), theirs.next());
        if a != b || a.is_none() {
            return DocumentDiff {
                document,
                line,
                a: a.map(str::to_owned),
                b: b.map(str::to_owned),
            };
        }
        line += 1;
    }
}
