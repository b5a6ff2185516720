//! Checkpoints: what must be kept of a memory, and how a memory is restored from that.

use super::digest::Leaves;
use super::storage::Storage;
use super::table::{PARTITIONS, Partition, Table};
use super::tables::TableKind;
use super::{Error, Memory, Settings};
use rayon::prelude::*;

/// What a checkpoint keeps of a memory besides its cells.
pub trait SavedMemory: Sync {
    /// Returns what [`Memory::unigrams`] returned.
    fn unigrams(&self) -> Result<Vec<i64>, Error>;

    /// Returns what [`Memory::wide_rows`] returned.
    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, Error>;

    /// Returns what [`Memory::partition`] returned.
    fn partition(&self, kind: TableKind, partition: usize) -> Result<Vec<(u32, i64)>, Error>;

    /// Returns what [`Memory::leaves`] returned, if it was kept. Without it the first digest hashes everything.
    fn leaves(&self) -> Result<Option<Leaves>, Error> {
        Ok(None)
    }
}

impl Memory {
    /// Returns the bytes of all cells.
    pub fn cells(&self) -> &[u8] {
        self.cells.bytes()
    }

    /// Returns the rows that do not fit in bytes, in order: slot, row, values.
    pub fn wide_rows(&self) -> impl Iterator<Item = (usize, u64, Vec<i32>)> + '_ {
        self.cells.wide_rows()
    }

    /// Returns the entries of one of the [`PARTITIONS`] of a table, in order of their keys.
    pub fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> impl Iterator<Item = (u32, i64)> + '_ {
        match kind {
            TableKind::Pairs => self.tables.pairs.partitions()[partition].iter(),
            TableKind::Totals => self.tables.totals.partitions()[partition].iter(),
        }
    }

    /// Restores a memory, over storage that holds its cells.
    pub fn restore(
        settings: Settings,
        storage: Box<dyn Storage>,
        saved: &dyn SavedMemory,
    ) -> Result<Self, Error> {
        let mut memory = Self::with_storage(settings, storage)?;
        let unigrams = saved.unigrams()?;
        if unigrams.len() != memory.tables.unigrams.len() {
            return Err(Error::Storage(format!("{} unigram counts", unigrams.len())));
        }
        memory.tables.unigrams = unigrams;
        for (slot, row, values) in saved.wide_rows()? {
            if slot >= memory.settings().slots.len() {
                return Err(Error::Storage(format!("a wide row of slot number {slot}")));
            }
            memory.cells.restore_wide(slot, row, &values)?;
        }
        let table = |kind| {
            let partitions = (0..PARTITIONS).into_par_iter().map(|partition| {
                Partition::restore(&saved.partition(kind, partition)?)
                    .ok_or_else(|| Error::Storage("a table's entries are out of order".into()))
            });
            partitions.collect::<Result<Vec<Partition>, Error>>().map(Table::from_partitions)
        };
        memory.tables.pairs = table(TableKind::Pairs)?;
        memory.tables.totals = table(TableKind::Totals)?;
        memory.tables.derive();
        match saved.leaves()? {
            Some(leaves) => memory.digests.restore(leaves)?,
            None => memory.set_changed(true),
        }
        // Guarded storage checks its pages when they are first read; reading all of them now would defeat that.
        if !memory.cells.guarded() {
            memory.cells.check()?;
        }
        Ok(memory)
    }
}
