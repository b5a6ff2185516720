//! Changing what is remembered: text replaced in documents, and prompts given another continuation.

use crate::engine::passages;
use crate::error::Error;
use crate::find::replaced;
use crate::ledger::Content;
use crate::memorize::{add_version, current, is_edit};
use crate::record::{Document, Kind, Place, Role, Transaction};
use crate::store::Store;
use crate::transact::Change;
use memo::readout::Scratch;
use serde::Serialize;
use std::collections::BTreeMap;

const WHAT: &str = "an edit";

/// The largest weight that an edit is given.
const MOST: i32 = 8;

/// An edit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// The transaction; `None` if the target won without it.
    pub transaction: Option<u64>,
    /// The document that holds the edit.
    pub document: Option<String>,
    /// The weight that was needed.
    pub weight: i32,
}

impl Store {
    /// Replaces a text in one document, or in all that are current. Each gets a new version.
    pub fn replace(
        &mut self,
        old: &str,
        new: &str,
        document: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Transaction, Error> {
        if old.is_empty() || old == new {
            return Err(Error::Invalid("there is nothing to replace".to_owned()));
        }
        let candidates = match document {
            Some(id) => vec![self.document(id)?],
            None => self.view.ledger.documents()?,
        };
        let transaction = self.view.ledger.last()? + 1;
        let mut changes = Vec::new();
        for mut document in candidates {
            let Some(version) = current(&document).filter(|v| !is_edit(v)) else { continue };
            let Some(place) = document.place else { continue };
            let content = self.view.ledger.content(document.number, version)?;
            if self.occurrences(&content, old).is_empty() {
                continue;
            }
            let mut parts = Vec::new();
            for part in &content.parts {
                let before = self.view.tokenizer.decode(part);
                let after = replaced(&before, old.as_bytes(), new.as_bytes());
                // Encoding again what did not change might change it.
                parts.push(if after == before { part.clone() } else { self.encode(&after)? });
            }
            parts.retain(|part| !part.is_empty());
            let content = Content { parts, role: Role::Text };
            let digest = self.view.ledger.digest(&content);
            add_version(&mut document, &content, digest, transaction);
            document.place = document.place.map(|new| Place { live: place.live, ..new });
            changes.push(Change { document, before: Some(place), content: Some(content) });
        }
        if changes.is_empty() {
            return Err(Error::NotFound);
        }
        self.transact(Kind::Replace, reason, changes, |_, _| Ok(()))
    }

    /// Makes `target` what follows `prompt`: memorizes the target's positions, with the smallest weight up to 8 that
    /// makes each of its tokens win. If none does, nothing changes.
    pub fn edit(
        &mut self,
        prompt: &str,
        target: &str,
        reason: Option<&str>,
    ) -> Result<Edited, Error> {
        self.view.memory.need_sparse(WHAT)?;
        let mut tokens = self.view.tokenizer.encode(prompt)?;
        let before = tokens.len();
        tokens.extend(self.view.tokenizer.encode(target)?);
        if before == 0 || tokens.len() == before {
            return Err(Error::Invalid("an edit needs a prompt and a target".to_owned()));
        }
        if self.wins(&tokens, before)? {
            return Ok(Edited { transaction: None, document: None, weight: 0 });
        }
        let edit = |weight: i32| Content {
            parts: vec![tokens.clone()],
            role: Role::Edit { prompt: before as u64, weight },
        };
        // Tried in the memory and taken out again: both are exact.
        let mut needed = None;
        for weight in 1..=MOST {
            let content = edit(weight);
            self.view.memory.write(&passages(&content, 1).collect::<Vec<_>>())?;
            let wins = self.wins(&tokens, before);
            self.view.memory.write(&passages(&content, -1).collect::<Vec<_>>())?;
            if wins? {
                needed = Some(weight);
                break;
            }
        }
        let weight = needed.ok_or(Error::EditFails(MOST))?;
        let content = edit(weight);
        let digest = self.view.ledger.digest(&content);
        let (number, transaction) = (self.view.ledger.next_number()?, self.view.ledger.last()? + 1);
        let mut id = format!("edit-{transaction}");
        // A document of this name may have come from a user or from another model.
        if self.view.ledger.document(&id)?.is_some() {
            id = self.free_id(&id, |_| Ok(false))?;
        }
        let (labels, versions) = (BTreeMap::new(), Vec::new());
        let mut document = Document { id: id.clone(), number, labels, versions, place: None };
        add_version(&mut document, &content, digest, transaction);
        let change = Change { document, before: None, content: Some(content) };
        let done = self.transact(Kind::Edit, reason, vec![change], |_, _| Ok(()))?;
        Ok(Edited { transaction: Some(done.id), document: Some(id), weight })
    }

    /// Whether each token from `first` on is the most probable one after those before it.
    fn wins(&self, tokens: &[u32], first: usize) -> Result<bool, Error> {
        let mut scratch = Scratch::default();
        for p in first..tokens.len() {
            if self.view.memory.best(&tokens[..p], &mut scratch)? != tokens[p] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
