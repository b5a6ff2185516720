//! Making the memory of a model again from its ledger, with the same or another size.

use super::Store;
use crate::checkpoint;
use crate::error::Error;
use crate::lock::SnapshotLock;
use crate::memory::{MemoryUpdate, NewContents, empty, open};
use crate::snapshot::is_large;
use memo::sparse::{Digest, Settings, Size};
use serde::Serialize;

/// A memory that was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RebuildReport {
    /// Its cells.
    pub parameters: u64,
    /// Its digest.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
}

impl Store {
    /// Makes the memory again from the ledger, with another size if one is given.
    pub fn rebuild(&mut self, size: Option<Size>) -> Result<RebuildReport, Error> {
        let mut config = self.config.clone();
        if let Some(size) = size {
            config.memory = resized(&config.memory, size)?;
        }
        let ledger = self.ledger()?;
        let last = ledger.last()?;
        let path = self.directory.join(checkpoint::name(last));
        let new = NewContents::new();
        let live = MemoryUpdate::of_live(ledger, &new, [])?;
        // Nothing changes before the memory is there: a size that this machine does not have must not stick.
        let (made, beside) = if is_large(&config.memory, &live, self.chunk) {
            let (settings, chunk) = (&config.memory, self.chunk);
            let observer = &self.observer;
            (None, checkpoint::write_chunks(&path, settings, last, &live, chunk, observer)?)
        } else {
            let mut memory = empty(&config)?;
            live.apply(&mut memory, &self.observer).map_err(|failure| failure.error)?;
            let beside = checkpoint::write(&path, &memory, last, None, &self.observer)?;
            (Some(memory), beside)
        };
        let lock = SnapshotLock::exclusive(&self.directory)?;
        // A kill between the two leaves a checkpoint that does not fit; opening then begins from nothing, and is right.
        let path = checkpoint::publish(&self.directory, &beside, last)?;
        if config != self.config {
            config.write(&self.directory)?;
        }
        drop(lock);
        let memory = made.map_or_else(|| open(&path), Ok)?;
        self.set_memory((memory, last));
        self.snapshot.config = config;
        let parameters = self.config.memory.parameters();
        Ok(RebuildReport { parameters, digest: self.digest()? })
    }
}

/// The same slots with another number of cells in all.
fn resized(settings: &Settings, size: Size) -> Result<Settings, Error> {
    let mut settings = settings.clone();
    let (old, new) = (u128::from(settings.parameters()), u128::from(size.parameters()));
    for slot in &mut settings.slots {
        slot.rows = ((u128::from(slot.rows) * new / old) as u64).max(1);
    }
    settings.check()?;
    Ok(settings)
}
