//! Changing what is remembered: text replaced in documents, and prompts given another continuation.

use super::Store;
use super::transaction::ChangeReport;
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{Role, TransactionKind};
use crate::snapshot::replaced;
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{Digest, Span};
use serde::Serialize;

/// The largest weight that an edit is given.
const MOST: i32 = 8;

/// How a target wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Win {
    /// By what followed the prompt itself.
    Settled,
    /// By what followed shorter contexts too, which other texts share.
    Shared,
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditReport {
    /// The transaction; none if the target won without it.
    pub transaction: Option<u64>,
    /// The document that holds the edit.
    pub document: Option<String>,
    /// The weight that was needed.
    pub weight: i32,
    /// Whether a space was put between prompt and target, which are words.
    pub space_added: bool,
    /// The old text that the target stands in place of, where a document has the prompt.
    pub replaced: Option<String>,
    /// How that document's text goes on after it: what the edit says after the target.
    pub goes_on: Option<String>,
    /// The digest of the memory afterwards.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_after: Digest,
}

impl Store {
    /// Replaces a text in one document, or in all that are current. Each gets a new version.
    pub fn replace(
        &mut self,
        old: &str,
        new: &str,
        document: Option<&str>,
        reason: Option<&str>,
    ) -> Result<ChangeReport, Error> {
        if old.is_empty() || old == new {
            return Err(Error::Invalid("there is nothing to replace".to_owned()));
        }
        let candidates = match document {
            Some(id) => vec![self.record(id)?],
            None => self.ledger()?.documents()?,
        };
        let mut change = self.begin(TransactionKind::Replace, reason)?;
        for document in candidates {
            let Some(version) = document.current().filter(|version| version.is_text()) else {
                continue;
            };
            let content = self.ledger()?.content(&document, version)?;
            if self.occurrences(&content, old).is_empty() {
                continue;
            }
            let mut parts = Vec::new();
            for part in &content.parts {
                let before = self.tokenizer.decode(part);
                let after = replaced(&before, old.as_bytes(), new.as_bytes());
                // Encoding again what did not change might change it.
                parts.push(if after == before { part.clone() } else { self.encode(&after)? });
            }
            parts.retain(|part| !part.is_empty());
            let content = Content { parts, role: Role::Text };
            let digest = self.ledger()?.digest(&content);
            change.add_version(document, content, digest, true);
        }
        if change.is_empty() {
            return Err(Error::NotFound);
        }
        self.commit(&change)?;
        self.report(&change)
    }

    /// Makes `target` what follows `prompt`: memorizes the target's positions, with the smallest weight up to 8 that
    /// makes each of its tokens win by what followed this prompt alone. What followed shorter contexts is the business of other
    /// edits too: an edit that won by these would lose to the next one that ends alike. Where no weight does that, it is the
    /// smallest that makes the tokens win as things are; if none does, nothing changes.
    pub fn edit(
        &mut self,
        prompt: &str,
        target: &str,
        reason: Option<&str>,
    ) -> Result<EditReport, Error> {
        let (prompt, target) = (self.tokenizer.encode(prompt)?, self.tokenizer.encode(target)?);
        self.edit_tokens(&prompt, &target, reason)
    }

    /// The same with the tokens of prompt and target.
    pub fn edit_tokens(
        &mut self,
        prompt: &[u32],
        target: &[u32],
        reason: Option<&str>,
    ) -> Result<EditReport, Error> {
        let (tokens, before) = ([prompt, target].concat(), prompt.len());
        if before == 0 || tokens.len() == before {
            return Err(nothing_to_edit());
        }
        if self.wins(&tokens, before)? == Some(Win::Settled) {
            let digest_after = self.digest()?;
            return Ok(EditReport {
                transaction: None,
                document: None,
                weight: 0,
                space_added: false,
                replaced: None,
                goes_on: None,
                digest_after,
            });
        }
        let edit = |weight: i32| Content {
            parts: vec![tokens.clone()],
            role: Role::Edit { prompt: before as u64, weight },
        };
        // Tried in the memory and taken out again: both are exact.
        let mut needed = None;
        for weight in 1..=MOST {
            let content = edit(weight);
            self.memory_mut()?.write(&content.spans(1).collect::<Vec<Span<'_>>>())?;
            let wins = self.wins(&tokens, before);
            self.memory_mut()?.write(&content.spans(-1).collect::<Vec<Span<'_>>>())?;
            match wins? {
                Some(Win::Settled) => {
                    needed = Some(weight);
                    break;
                }
                Some(Win::Shared) => needed = needed.or(Some(weight)),
                None => {}
            }
        }
        let weight = needed.ok_or(Error::EditFails(MOST))?;
        let content = edit(weight);
        let digest = self.ledger()?.digest(&content);
        let mut change = self.begin(TransactionKind::Edit, reason)?;
        let mut id = format!("edit-{}", change.id);
        // A document of this name may have come from a user or from another model.
        if self.ledger()?.document(&id)?.is_some() {
            id = self.free_id(&id, |_| Ok(false))?;
        }
        let document = change.new_document(id.clone());
        change.add_version(document, content, digest, false);
        self.commit(&change)?;
        Ok(EditReport {
            transaction: Some(change.id),
            document: Some(id),
            weight,
            space_added: false,
            replaced: None,
            goes_on: None,
            digest_after: self.digest()?,
        })
    }

    /// How each token from `first` on is the most probable one after those before it; `None` if one is not.
    fn wins(&self, tokens: &[u32], first: usize) -> Result<Option<Win>, Error> {
        let (memory, mut scratch) = (self.memory()?, Scratch::default());
        let mut win = Win::Settled;
        for p in first..tokens.len() {
            let (before, token) = (&tokens[..p], tokens[p]);
            if BACKOFF.best(memory, before, &mut scratch)? != token {
                return Ok(None);
            }
            if !BACKOFF.settles(memory, before, token, &mut scratch)? {
                win = Win::Shared;
            }
        }
        Ok(Some(win))
    }
}

/// The error of an edit without a prompt or a target.
pub(super) fn nothing_to_edit() -> Error {
    Error::Invalid("an edit needs a prompt and a target".to_owned())
}
