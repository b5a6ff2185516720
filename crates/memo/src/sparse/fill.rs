//! How full the matrices of slots are, and how noisy.
//!
//! A slot's matrix has 2³⁴ rows, which contexts are hashed to, and is almost empty. Noise is what sharing a row would add: a context that
//! never occurred is found if its row is in use, with a probability of the rows in use over all of them. Pairs of tokens have rows of
//! their own, and so no noise. A frozen memory keeps fewer bits of keys, and of slots' numbers none, so its noise is that of a table.

use super::keys::ROW_BITS;
use super::partition::PARTITION_BITS;
use super::settings::Context;
use super::tables::{Table, TableKind};
use super::{Error, Memory, PARTITIONS};
use rayon::prelude::*;

/// How full the matrix of a slot is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotFill {
    /// The contexts that the slot sees.
    pub context: Context,
    /// The table that holds the matrix.
    pub table: TableKind,
    /// Rows in use and cells that are not zero; a frozen memory does not keep which slot they are of.
    pub used: Option<UsedRows>,
    /// The probability that a context (in the table of events, with the token after it) that never occurred is found all the same.
    pub false_match: f64,
}

/// Rows of a matrix that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedRows {
    /// The rows: different contexts or, in the table of events, contexts with the token after them.
    pub rows: u64,
    /// The cells that are not zero.
    pub cells: u64,
    /// Whether all of them were counted: those of a large memory are estimated from a part of it.
    pub exact: bool,
}

/// Rows of a slot's matrix, unless it is that of pairs of tokens.
pub const SLOT_ROWS: u64 = 1 << (PARTITION_BITS + ROW_BITS);

/// Cells that are counted, about; of a larger table, only those of some partitions are, which are as full as any others.
const COUNTED: u64 = 1 << 24;

impl Memory {
    /// Returns how full each slot of tokens and words is. Of a memory of more than some 16 million cells, numbers of rows and cells
    /// are estimated, to about a part in a thousand.
    pub fn fill(&self) -> Result<Vec<SlotFill>, Error> {
        let mut used = vec![UsedRows::default(); self.settings().slots()];
        let mut noise = [0.0; TableKind::ALL.len()];
        for kind in TableKind::ALL {
            if self.is_frozen() {
                noise[kind as usize] = self.tables.table(kind).false_match()?;
            } else {
                self.count(kind, &mut used)?;
            }
        }
        let slots = used.into_iter().enumerate().map(|(slot, used)| {
            let table = self.settings().table(slot);
            let false_match = match table {
                TableKind::Pairs => 0.0,
                _ if self.is_frozen() => noise[table as usize],
                _ => used.rows as f64 / SLOT_ROWS as f64,
            };
            let context = self.settings().context(slot);
            SlotFill { context, table, used: (!self.is_frozen()).then_some(used), false_match }
        });
        Ok(slots.collect())
    }

    /// Counts what a table has of its slots.
    fn count(&self, kind: TableKind, used: &mut [UsedRows]) -> Result<(), Error> {
        let Table { layout, partitions, .. } = self.tables.table(kind);
        // A frequent token has all its pairs in one partition: of these, all are counted.
        let share =
            if kind == TableKind::Pairs { 1 } else { self.cells().div_ceil(COUNTED).max(1) };
        let some = &partitions[..PARTITIONS.div_ceil(share as usize)];
        let counted = some.par_iter().map(|partition| {
            let mut found = vec![UsedRows::default(); used.len()];
            let mut last = None;
            partition.each(*layout, |rank, _| {
                let (key, _) = layout.parts(rank);
                let slot = self.tables.slot(kind, key).and_then(|slot| found.get_mut(slot));
                if let Some(slot) = slot {
                    slot.cells += 1;
                    slot.rows += u64::from(last != Some(key));
                }
                last = Some(key);
            })?;
            Ok(found)
        });
        let counted: Vec<Vec<UsedRows>> = counted.collect::<Result<_, Error>>()?;
        let exact = some.len() == PARTITIONS;
        let scale = |n: u64| n * PARTITIONS as u64 / some.len() as u64;
        for (slot, used) in used.iter_mut().enumerate() {
            if self.settings().table(slot) != kind {
                continue;
            }
            let sum = |of: fn(&UsedRows) -> u64| counted.iter().map(|found| of(&found[slot])).sum();
            let (rows, cells) = (scale(sum(|used| used.rows)), scale(sum(|used| used.cells)));
            *used = UsedRows { rows, cells, exact };
        }
        Ok(())
    }
}
