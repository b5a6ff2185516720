//! Merging: the documents of another model of equal settings come in.

use crate::error::Error;
use crate::ledger::Content;
use crate::memorize::{add_version, current};
use crate::record::{CopyKind, Document, Kind};
use crate::store::Store;
use crate::transact::{Change, Sum};
use memo::sparse::{Memory, PARAMETERS_PER_TOKEN};
use serde::Serialize;
use std::collections::BTreeMap;

/// What to do where both models have a document of the same id with different contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// Refuse to merge.
    #[default]
    Refuse,
    /// Keep ours.
    Ours,
    /// Take theirs, as a new version.
    Theirs,
    /// Take theirs under another id.
    Rename,
}

/// What came of merging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// The transaction; `None` if nothing had to change.
    pub transaction: Option<u64>,
    /// Documents that came in under their own id.
    pub added: Vec<String>,
    /// Documents that were here with the same content: they count once.
    pub same: Vec<String>,
    /// Documents of ours that were kept, or replaced by theirs.
    pub conflicts: Vec<String>,
    /// Documents that came in under another id: theirs, ours.
    pub renamed: Vec<(String, String)>,
}

impl Store {
    /// Adds the live documents of another model.
    pub fn merge(
        &mut self,
        other: &mut Store,
        conflict: Conflict,
        reason: Option<&str>,
    ) -> Result<Merged, Error> {
        let same_tokens = self.view.model.tokenizer == other.model.tokenizer
            && self.view.tokenizer.to_json()? == other.tokenizer.to_json()?;
        if self.view.model.memory != other.model.memory || !same_tokens {
            return Err(Error::Merge(
                "the models have different sizes, seeds or tokenizers; `memo rebuild` can change sizes"
                    .to_owned(),
            ));
        }
        let mut merged = Merged::default();
        // Theirs that do not come, and ours that make way for theirs.
        let (mut without, mut positions) = (Vec::new(), 0);
        let mut changes: Vec<Change> = Vec::new();
        let mut next = self.view.ledger.next_number()?;
        let transaction = self.view.ledger.last()? + 1;
        for theirs in other.ledger.documents()? {
            let Some(version) = current(&theirs).filter(|_| is_live(&theirs)) else {
                continue;
            };
            let content = other.ledger.content(theirs.number, version)?;
            // Each model has its own secret: contents are compared under ours.
            let digest = self.view.ledger.digest(&content);
            let mut id = theirs.id.clone();
            let mut ours = self.view.ledger.document(&id)?;
            let known = ours.as_ref().filter(|d| d.place.is_some());
            if let Some(known) = known.and_then(current) {
                if known.digest == digest {
                    merged.same.push(id);
                    without.push(content);
                    continue;
                }
                match conflict {
                    Conflict::Refuse => {
                        return Err(Error::Merge(format!(
                            "document {id:?} has another content there; choose ours, theirs or rename"
                        )));
                    }
                    Conflict::Ours => {
                        merged.conflicts.push(id);
                        without.push(content);
                        continue;
                    }
                    Conflict::Theirs => {
                        if ours.as_ref().is_some_and(is_live) {
                            without.extend(self.current_content(ours.as_ref())?);
                        }
                        merged.conflicts.push(id.clone());
                    }
                    Conflict::Rename => {
                        let taken = |id: &str| {
                            let coming = changes.iter().any(|change| change.document.id == id);
                            Ok(coming || other.ledger.document(id)?.is_some())
                        };
                        id = self.free_id(&id, taken)?;
                        merged.renamed.push((theirs.id.clone(), id.clone()));
                        ours = None;
                    }
                }
            } else {
                merged.added.push(id.clone());
            }
            positions += content.tokens() + content.parts.len() as u64;
            let change = incoming(&mut next, ours, id, theirs.labels, content, digest, transaction);
            changes.push(change);
        }
        // If theirs are forgotten later, the receipt there should say that they are here too.
        other.note_copy(&self.directory, CopyKind::Merged)?;
        if changes.is_empty() {
            return Ok(merged);
        }
        other.whole()?;
        let sum = other.view.memory.sparse().filter(|theirs| adding_pays(theirs, positions));
        let sum = sum.map(|memory| Sum { memory, without, positions });
        let done = self.transact_with(Kind::Merge, reason, changes, |_, _| Ok(()), sum)?;
        merged.transaction = Some(done.id);
        Ok(merged)
    }

    /// What is written of a document now.
    fn current_content(&self, document: Option<&Document>) -> Result<Option<Content>, Error> {
        let Some((document, version)) = document.and_then(|d| Some((d, current(d)?))) else {
            return Ok(None);
        };
        self.view.ledger.content(document.number, version).map(Some)
    }

    /// An id like this one that no document has, and that is not otherwise taken.
    pub(crate) fn free_id(
        &self,
        id: &str,
        taken: impl Fn(&str) -> Result<bool, Error>,
    ) -> Result<String, Error> {
        for n in 2u64.. {
            let candidate = format!("{id}~{n}");
            if self.view.ledger.document(&candidate)?.is_none() && !taken(&candidate)? {
                return Ok(candidate);
            }
        }
        Err(Error::Merge(format!("no free id like {id:?}")))
    }
}

/// Whether adding a memory is better than writing its documents again: adding goes through all cells once. One that may not
/// fit in RAM is made piece by piece instead.
fn adding_pays(theirs: &Memory, positions: u64) -> bool {
    let cells = theirs.settings().parameters();
    positions * 16 > cells / PARAMETERS_PER_TOKEN && cells <= MOST_ADDED
}

/// The most cells that are added at once.
const MOST_ADDED: u64 = 4 << 30;

fn is_live(document: &Document) -> bool {
    document.place.is_some_and(|place| place.live)
}

fn incoming(
    next: &mut u64,
    ours: Option<Document>,
    id: String,
    labels: BTreeMap<String, String>,
    content: Content,
    digest: String,
    transaction: u64,
) -> Change {
    let mut document = ours.unwrap_or_else(|| {
        *next += 1;
        let (number, versions) = (*next - 1, Vec::new());
        Document { id, number, labels: BTreeMap::new(), versions, place: None }
    });
    let before = document.place;
    document.labels.extend(labels);
    add_version(&mut document, &content, digest, transaction);
    Change { document, before, content: Some(content) }
}
