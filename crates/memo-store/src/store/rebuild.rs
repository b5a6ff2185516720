//! Making the memory of a model again from its ledger.

use super::Store;
use crate::checkpoint;
use crate::error::Error;
use crate::lock::SnapshotLock;
use crate::memory::{MemoryUpdate, NewContents, open};
use memo::sparse::Digest;
use serde::Serialize;

/// A memory that was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RebuildReport {
    /// Its bytes.
    pub bytes: u64,
    /// Its digest.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
}

impl Store {
    /// Makes the memory again from the ledger.
    pub fn rebuild(&mut self) -> Result<RebuildReport, Error> {
        let ledger = self.ledger()?;
        let last = ledger.last()?;
        let path = self.directory.join(checkpoint::name(last));
        let new = NewContents::new();
        let live = MemoryUpdate::of_live(ledger, &new, [])?;
        let (made, beside) = if checkpoint::is_large(&live, self.chunk) {
            let (blueprint, chunk, observer) = (&self.blueprint, self.chunk, &self.observer);
            (None, checkpoint::write_chunks(&path, blueprint, last, &live, chunk, observer)?)
        } else {
            let mut memory = self.blueprint.empty()?;
            live.apply(&mut memory, &self.observer).map_err(|failure| failure.error)?;
            let beside = checkpoint::write(&path, &memory, last, &self.observer)?;
            (Some(memory), beside)
        };
        let lock = SnapshotLock::exclusive(&self.directory)?;
        let path = checkpoint::publish(&self.directory, &beside, last)?;
        drop(lock);
        let memory = made.map_or_else(|| open(&path, &self.blueprint), Ok)?;
        self.set_memory((memory, last));
        let bytes = self.memory()?.usage().total() as u64;
        Ok(RebuildReport { bytes, digest: self.digest()? })
    }
}
