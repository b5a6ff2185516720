//! Memories on their way to a checkpoint and back: what must be kept of one, and how it is made from that again.

use super::digest::Leaves;
use super::storage::Storage;
use super::table::{PARTS, Part, Table};
use super::tables::TableKind;
use super::{Error, Memory, Settings};
use rayon::prelude::*;

/// What a checkpoint keeps of a memory besides its cells.
pub trait SavedMemory: Sync {
    /// What [`Memory::unigrams`] gave.
    fn unigrams(&self) -> Result<Vec<i64>, Error>;

    /// What [`Memory::wide_rows`] gave.
    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, Error>;

    /// What [`Memory::part`] gave.
    fn part(&self, kind: TableKind, part: usize) -> Result<Vec<(u32, i64)>, Error>;

    /// What [`Memory::leaves`] gave, if it was kept.
    fn leaves(&self) -> Result<Option<Leaves>, Error> {
        Ok(None)
    }
}

impl Memory {
    /// The cells' bytes, for a checkpoint.
    pub fn cells(&self) -> &[u8] {
        self.cells.bytes()
    }

    /// Rows that do not fit in bytes, in order: slot, row, values.
    pub fn wide_rows(&self) -> impl Iterator<Item = (usize, u64, Vec<i32>)> + '_ {
        self.cells.wide_rows()
    }

    /// The entries of one of the [`PARTS`] of a table, in order of their keys.
    pub fn part(&self, kind: TableKind, part: usize) -> impl Iterator<Item = (u32, i64)> + '_ {
        match kind {
            TableKind::Pairs => self.tables.pairs.parts()[part].iter(),
            TableKind::Totals => self.tables.totals.parts()[part].iter(),
        }
    }

    /// A memory as it was saved, over storage that holds its cells.
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
            let parts = (0..PARTS).into_par_iter().map(|part| {
                Part::restore(&saved.part(kind, part)?)
                    .ok_or_else(|| Error::Storage("a table's entries are out of order".into()))
            });
            parts.collect::<Result<Vec<Part>, Error>>().map(Table::from_parts)
        };
        memory.tables.pairs = table(TableKind::Pairs)?;
        memory.tables.totals = table(TableKind::Totals)?;
        memory.tables.derive();
        match saved.leaves()? {
            Some(leaves) => memory.digests.restore(leaves)?,
            None => memory.set_changed(true),
        }
        // Guarded storage checks its pages when they are first read; reading all of them now would undo that.
        if !memory.cells.guarded() {
            memory.cells.check()?;
        }
        Ok(memory)
    }
}
