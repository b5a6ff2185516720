//! Digests, and verification: everything is checked, and what is damaged is named.

use super::{MemoryState, Snapshot};
use crate::checkpoint::{self, Checkpoint};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::lock::SnapshotLock;
use crate::memory::{Blueprint, MemoryUpdate, NewContents};
use crate::progress::Observer;
use memo::sparse::Digest;
use serde::Serialize;
use std::collections::HashSet;

/// The digest of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DigestReport {
    /// The digest: the same for every model of these settings that knows the same texts.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
    /// The last transaction that the memory contains.
    pub transaction: u64,
}

/// What was checked, and what is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifyReport {
    /// Documents that were checked; 0 if the model is frozen, and so has no documents.
    pub documents: usize,
    /// Versions whose tokens were compared with their digests.
    pub versions: usize,
    /// The digest of the memory.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
    /// What is wrong, in words; empty if nothing is.
    pub damage: Vec<String>,
}

/// Bytes of a memory that are made at once, if there are many more.
pub(crate) const CHUNK: usize = 512 << 20;

impl Snapshot {
    /// The digest of the memory. Only what changed since the last one is hashed.
    pub fn digest(&self) -> Result<Digest, Error> {
        Ok(self.memory()?.digest()?)
    }

    /// The digest of the memory, and its last transaction.
    pub fn digest_report(&self) -> Result<DigestReport, Error> {
        Ok(DigestReport { digest: self.digest()?, transaction: self.transaction })
    }

    /// Checks the ledger, every content against its digest, the checkpoint entry by entry, and the memory against one
    /// that memorizes all live documents anew. A frozen model has only its memory to be checked. Fails, and names all documents
    /// whose tokens are damaged, if there is no memory because of them.
    pub fn verify(&self, observer: &Observer) -> Result<VerifyReport, Error> {
        let mut damage = Vec::new();
        let (documents, versions) = match &self.ledger {
            Some(ledger) => self.verify_ledger(ledger, &mut damage)?,
            None => (0, 0),
        };
        self.verify_checkpoints(&mut damage)?;
        if let (MemoryState::Unmade(_), Some(ledger)) = (&self.memory, &self.ledger) {
            return Err(ledger.all_damaged()?);
        }
        let digest = self.digest()?;
        // Without its texts a memory cannot be made anew, and damaged ones make another.
        if let (Some(ledger), true) = (&self.ledger, damage.is_empty()) {
            let new = NewContents::new();
            let live = MemoryUpdate::of_live(ledger, &self.blueprint, &new, [], observer)?;
            if digest_of(&self.blueprint, &live, observer)? != digest {
                damage.push(
                    "the memory differs from its documents; `memo rebuild` makes it anew".into(),
                );
            }
        }
        Ok(VerifyReport { documents, versions, digest, damage })
    }

    /// Checks the ledger's file and all contents; gives the numbers of documents and versions.
    fn verify_ledger(
        &self,
        ledger: &Ledger,
        damage: &mut Vec<String>,
    ) -> Result<(usize, usize), Error> {
        let lock = SnapshotLock::shared(&self.directory);
        match Ledger::check(&self.directory) {
            Ok(true) => {}
            Ok(false) => damage.push("ledger.redb: its database had to be repaired".to_owned()),
            Err(error) => damage.push(error.to_string()),
        }
        drop(lock);
        let (mut documents, mut versions, mut known) = (0, 0, HashSet::new());
        for document in ledger.documents()? {
            documents += 1;
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                versions += 1;
                known.insert((document.number, version.number));
                if let Err(error) = ledger.content(&document, version) {
                    damage.push(error.to_string());
                }
            }
        }
        // What a forget that is not finished will scrub.
        known.extend(ledger.transactions(0)?.into_iter().flat_map(|transaction| transaction.scrub));
        for (number, version) in ledger.versions_with_tokens()? {
            if !known.contains(&(number, version)) {
                damage.push(format!(
                    "ledger.redb: it has tokens of document number {number}, version {version}, which was forgotten or \
                     never recorded"
                ));
            }
        }
        Ok((documents, versions))
    }

    fn verify_checkpoints(&self, damage: &mut Vec<String>) -> Result<(), Error> {
        let lock = SnapshotLock::shared(&self.directory);
        for (_, path) in checkpoint::list(&self.directory)? {
            let checked = Checkpoint::open(&path).and_then(|checkpoint| {
                let memory = checkpoint.memory(&self.blueprint)?;
                memory.verify()?;
                let said = match checkpoint.frozen_entries() {
                    Some(digest) => digest,
                    None => memory.digest()?,
                };
                Ok((said, memory.digest_anew()?))
            });
            match checked {
                Ok((said, found)) if said == found => {}
                // Opening for writing replaces it.
                Err(Error::Format { found: 1, .. }) => {}
                Ok(_) => damage.push(format!("{}: its hashes do not match it", path.display())),
                Err(error) => damage.push(error.to_string()),
            }
        }
        drop(lock);
        Ok(())
    }
}

/// The digest of a memory that is made of some texts, without holding more than a part of it if it is large.
pub(super) fn digest_of(
    blueprint: &Blueprint,
    texts: &MemoryUpdate<'_>,
    observer: &Observer,
) -> Result<Digest, Error> {
    if checkpoint::is_large(texts, CHUNK) {
        return checkpoint::digest_by_chunks(blueprint, texts, CHUNK, observer);
    }
    let mut memory = blueprint.empty()?;
    texts.apply(&mut memory, observer).map_err(|failure| failure.error)?;
    Ok(memory.digest()?)
}
