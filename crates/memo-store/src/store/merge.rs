//! Merging: the documents of another model of equal settings come in.

use super::Store;
use super::memorize::id_of;
use super::transaction::Addition;
use crate::error::Error;
use crate::record::{CopyKind, DocumentRecord, TransactionKind};
use memo::sparse::{Digest, Memory};
use serde::Serialize;

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

impl std::str::FromStr for Conflict {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "refuse" => Ok(Conflict::Refuse),
            "ours" => Ok(Conflict::Ours),
            "theirs" => Ok(Conflict::Theirs),
            "rename" => Ok(Conflict::Rename),
            _ => Err(Error::Option {
                name: "conflict",
                expected: "refuse, ours, theirs or rename".to_owned(),
            }),
        }
    }
}

/// What merging did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MergeReport {
    /// The transaction; none if nothing had to change.
    pub transaction: Option<u64>,
    /// Documents that came in under their own id.
    pub added: Vec<String>,
    /// Documents that were here with the same content: they count once.
    pub same: Vec<String>,
    /// Documents of ours that were kept, or replaced by theirs.
    pub conflicts: Vec<String>,
    /// Documents that came in under another id.
    pub renamed: Vec<RenamedDocument>,
    /// The digest of the memory afterwards.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_after: Digest,
}

/// A document that came in under another id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RenamedDocument {
    /// Its id in the other model.
    pub theirs: String,
    /// Its id here.
    pub ours: String,
}

impl Store {
    /// Adds the live documents of another model.
    pub fn merge(
        &mut self,
        other: &mut Store,
        conflict: Conflict,
        reason: Option<&str>,
    ) -> Result<MergeReport, Error> {
        let same_tokens = self.config.tokenizer == other.config.tokenizer
            && self.tokenizer.to_json()? == other.tokenizer.to_json()?;
        if self.config.memory.lexicon != other.config.memory.lexicon {
            return Err(Error::Merge(
                "the models have different lexicons; `memo rebuild --lexicon` gives one of them the other's"
                    .to_owned(),
            ));
        }
        if self.config.memory != other.config.memory || !same_tokens {
            return Err(Error::Merge(
                "the models have different tokenizers, seeds or contexts; make one of them anew like the other"
                    .to_owned(),
            ));
        }
        let (mut added, mut same, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
        let mut renamed = Vec::new();
        // Theirs that do not come, and ours that make way for theirs.
        let (mut without, mut positions) = (Vec::new(), 0);
        let mut change = self.begin(TransactionKind::Merge, reason)?;
        for theirs in other.ledger()?.documents()? {
            let Some(version) = theirs.live() else { continue };
            let content = other.ledger()?.content(&theirs, version)?;
            // Each model has its own secret: contents are compared under ours.
            let digest = self.ledger()?.digest(&content);
            let mut id = self.id_here(other, &theirs)?;
            let mut ours = self.ledger()?.document(&id)?;
            if let Some((document, version)) = ours.as_ref().and_then(|d| Some((d, d.current()?))) {
                if version.digest == digest {
                    same.push(id);
                    without.push(content);
                    continue;
                }
                match conflict {
                    Conflict::Refuse => {
                        return Err(Error::Conflict(id));
                    }
                    Conflict::Ours => {
                        conflicts.push(id);
                        without.push(content);
                        continue;
                    }
                    Conflict::Theirs => {
                        if document.live().is_some() {
                            without.push(self.ledger()?.content(document, version)?);
                        }
                        conflicts.push(id.clone());
                    }
                    Conflict::Rename => {
                        let taken = |id: &str| {
                            Ok(change.has(id) || other.ledger()?.document(id)?.is_some())
                        };
                        id = self.free_id(&id, taken)?;
                        let theirs = theirs.id.clone();
                        renamed.push(RenamedDocument { theirs, ours: id.clone() });
                        ours = None;
                    }
                }
            } else {
                added.push(id.clone());
            }
            positions += version.positions();
            let mut document = ours.unwrap_or_else(|| change.new_document(id));
            document.labels.extend(theirs.labels.clone());
            change.add_version(document, content, digest, false);
        }
        // If theirs are forgotten later, the receipt there should say that they are here too.
        other.note_copy(&self.directory, CopyKind::Merged)?;
        let transaction = (!change.is_empty()).then_some(change.id);
        if transaction.is_some() {
            let memory = other.memory()?;
            // What follows from the documents of both is not what follows from those of each.
            let plain = self.known()?.is_none() && other.known()?.is_none();
            let pays = plain && adding_pays(memory, positions);
            let addition =
                pays.then_some(Addition { memory, without, positions, takes_over: false });
            self.commit_adding(&change, addition)?;
        }
        let digest_after = self.digest()?;
        Ok(MergeReport { transaction, added, same, conflicts, renamed, digest_after })
    }

    /// The id that a document of another model has here. One that was given no id has one from its content under the
    /// other model's secret, and gets the one that its content has under ours: the same text is one document.
    fn id_here(&self, other: &Store, theirs: &DocumentRecord) -> Result<String, Error> {
        let mut kept = theirs.versions.iter().filter(|version| version.forgotten.is_none());
        match kept.find(|version| id_of(&version.digest) == theirs.id) {
            Some(version) => {
                let content = other.ledger()?.content(theirs, version)?;
                Ok(id_of(&self.ledger()?.digest(&content)))
            }
            None => Ok(theirs.id.clone()),
        }
    }

    /// An id like this one that no document has, and that is not otherwise taken.
    pub(super) fn free_id(
        &self,
        id: &str,
        taken: impl Fn(&str) -> Result<bool, Error>,
    ) -> Result<String, Error> {
        for n in 2u64.. {
            let candidate = format!("{id}~{n}");
            if self.ledger()?.document(&candidate)?.is_none() && !taken(&candidate)? {
                return Ok(candidate);
            }
        }
        Err(Error::Merge(format!("no free id like {id:?}")))
    }
}

/// Whether adding a memory is better than writing its documents again: adding goes through all its entries once. One that may
/// not fit in RAM is made chunk by chunk instead.
fn adding_pays(theirs: &Memory, positions: u64) -> bool {
    let bytes = theirs.usage().total() as u64;
    positions * 16 > theirs.positions().unsigned_abs() && bytes <= MOST_ADDED
}

/// The most bytes of a memory that are added at once.
const MOST_ADDED: u64 = 2 << 30;
