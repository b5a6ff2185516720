//! The proof of forgetting: a memory that forgot documents is compared with one that never saw them.

use super::Snapshot;
use super::verify::digest_of;
use crate::error::Error;
use crate::knowledge::{Contents, KnowledgeChange};
use crate::memory::{MemoryUpdate, NewContents};
use crate::progress::Observer;
use crate::record::DocumentRecord;
use memo::sparse::Digest;
use serde::Serialize;
use std::collections::BTreeSet;

/// Whether a memory is one that never saw some documents, bit for bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Proof {
    /// The documents that it never saw; none if the model is compared as it is.
    pub without: Vec<String>,
    /// The documents that the memory which never saw them was made of.
    pub documents: usize,
    /// The tokens of those documents.
    pub tokens: u64,
    /// The digest of the model's memory, which a proof leaves as it is.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
    /// The digest of that memory once the documents are forgotten.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_after: Digest,
    /// The digest of a memory made from nothing of all other live documents.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_never_saw: Digest,
    /// Whether the last two are equal.
    pub equal: bool,
}

impl Snapshot {
    /// Proves that forgetting leaves nothing: forgets documents in a copy of the memory, makes another from nothing that
    /// never saw them, and compares digests. The model stays as it is. Without documents, or with such as were forgotten
    /// before, the memory itself is compared.
    pub fn prove(&self, without: &[&str], observer: &Observer) -> Result<Proof, Error> {
        let ledger = self.ledger("documents")?;
        let digest = self.digest()?;
        let ids: BTreeSet<&str> = without.iter().copied().collect();
        let mut gone = Vec::new();
        for id in &ids {
            let document = self.record(id)?;
            gone.push((DocumentRecord { place: None, ..document.clone() }, document.place));
        }
        let new = NewContents::new();
        let digest_after = if gone.iter().any(|(_, place)| place.is_some_and(|place| place.live)) {
            let mut memory = self.memory()?.clone();
            let moves: Vec<_> = gone.iter().map(|(document, before)| (document, *before)).collect();
            let (known, contents) = (self.known()?, Contents { ledger, new: &new });
            let knowledge =
                KnowledgeChange::of_moves(known, contents, &self.blueprint, &moves, observer)?;
            let update = MemoryUpdate::of_moves(ledger, &new, moves)?;
            let update = update.with_knowledge(&knowledge, &self.blueprint)?;
            update.apply(&mut memory, observer).map_err(|failure| failure.error)?;
            memory.digest()?
        } else {
            digest
        };
        let gone = gone.iter().map(|(document, _)| document);
        let rest = MemoryUpdate::of_live(ledger, &self.blueprint, &new, gone, observer)?;
        let digest_never_saw = digest_of(&self.blueprint, &rest, observer)?;
        let others = ledger.documents()?.into_iter().filter(|other| !ids.contains(&*other.id));
        let (mut documents, mut tokens) = (0, 0);
        for other in others {
            if let Some(version) = other.live() {
                documents += 1;
                tokens += version.tokens;
            }
        }
        Ok(Proof {
            without: ids.into_iter().map(str::to_owned).collect(),
            documents,
            tokens,
            digest,
            digest_after,
            digest_never_saw,
            equal: digest_after == digest_never_saw,
        })
    }
}
