//! Checkpoints: what must be kept of a memory, and how a memory is restored from that.

use super::digest::{Digest, Leaves};
use super::frozen::FrozenBits;
use super::partition::{LargeCount, PARTITIONS, PackedEntries, Section};
use super::tables::TableKind;
use super::{Error, Memory, Settings};
use crate::words::Words;
use std::sync::Arc;

/// What a checkpoint keeps of a memory.
pub trait SavedMemory {
    /// Returns what [`Memory::unigrams`] returned.
    fn unigrams(&self) -> Result<Vec<i64>, Error>;

    /// Returns what [`Memory::partition`] returned: bytes that may be read later, and counts.
    fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> Result<(Arc<dyn Section>, Vec<LargeCount>), Error>;

    /// Returns what [`Memory::derived`] returned, if it was kept. Without it all tables are read.
    fn derived(&self) -> Result<Option<Vec<i64>>, Error>;

    /// Returns the digest of the memory that was frozen, if partitions are what [`Memory::frozen_partition`] returned.
    fn frozen(&self) -> Option<Digest> {
        None
    }

    /// Returns what [`Memory::leaves`] returned, if it was kept. Without it the first digest hashes everything.
    fn leaves(&self) -> Result<Option<Leaves>, Error> {
        Ok(None)
    }
}

impl Memory {
    /// Returns the entries of one of the [`PARTITIONS`] of a table as bytes, and the counts that do not fit in them.
    pub fn partition(&self, kind: TableKind, partition: usize) -> Result<PackedEntries<'_>, Error> {
        let table = self.tables.table(kind);
        table.partitions[partition].packed_entries(table.layout)
    }

    /// Returns the entries of a partition packed to be read only. Saved with the unigrams and all that is derived of this
    /// memory, they are restored as a frozen one. Fails if it is one already.
    pub fn frozen_partition(
        &self,
        kind: TableKind,
        partition: usize,
        bits: FrozenBits,
    ) -> Result<PackedEntries<'static>, Error> {
        if self.is_frozen() {
            return Err(Error::Frozen);
        }
        let table = self.tables.table(kind);
        let bits = match kind {
            TableKind::Pairs => None,
            TableKind::Successors => Some(bits.successors),
            TableKind::Events => Some(bits.events),
        };
        table.partitions[partition].freeze(table.layout, bits)
    }

    /// Returns what is derived from the tables, so that opening a checkpoint need not read them.
    pub fn derived(&self) -> Vec<i64> {
        let histograms = self.tables.histograms.as_flattened().iter();
        self.tables.continuations.iter().chain(histograms).copied().collect()
    }

    /// Takes what [`Memory::derived`] returned.
    pub(super) fn restore_derived(&mut self, derived: &[i64]) -> Result<(), Error> {
        let n = self.tables.unigrams.len();
        if derived.len() != n + self.tables.histograms.len() * 4 {
            return Err(Error::Storage(format!("{} derived counts", derived.len())));
        }
        let (continuations, histograms) = derived.split_at(n);
        self.tables.continuations = Arc::new(continuations.to_vec());
        self.tables.histograms = histograms.as_chunks::<4>().0.to_vec();
        Ok(())
    }

    /// Restores a memory.
    pub fn restore(
        settings: Settings,
        words: Option<Arc<Words>>,
        saved: &dyn SavedMemory,
    ) -> Result<Self, Error> {
        let mut memory = Self::with_words(settings, words)?;
        memory.frozen = saved.frozen();
        if memory.is_frozen() {
            memory.tables.freeze();
        }
        let unigrams = saved.unigrams()?;
        let n = memory.tables.unigrams.len();
        if unigrams.len() != n {
            return Err(Error::Storage(format!("{} unigram counts", unigrams.len())));
        }
        memory.tables.unigrams = Arc::new(unigrams);
        for kind in TableKind::ALL {
            for partition in 0..PARTITIONS {
                let (section, large) = saved.partition(kind, partition)?;
                memory.tables.restore(kind, partition, section, large);
            }
        }
        match saved.derived()? {
            Some(derived) => memory.restore_derived(&derived)?,
            // Entries of a frozen memory do not say any more which slot they are of.
            None if memory.is_frozen() => {
                return Err(Error::Storage("nothing derived was kept".into()));
            }
            None => memory.tables.derive_all()?,
        }
        match saved.leaves()? {
            Some(leaves) => memory.digests.restore(leaves)?,
            None => memory.set_changed(true),
        }
        Ok(memory)
    }
}
