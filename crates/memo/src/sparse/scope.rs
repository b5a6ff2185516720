//! Scopes: which part of a memory a write is limited to.

use super::{PARTITIONS, TableKind};
use std::ops::Range;

/// Some partitions of a memory's tables, and the counts of single tokens or not. A memory that is larger than RAM is made scope
/// by scope; a shard holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub(super) partitions: [Range<usize>; TableKind::ALL.len()],
    pub(super) unigrams: bool,
}

impl Scope {
    /// The whole memory.
    pub(super) const EVERYTHING: Scope =
        Scope { partitions: [const { 0..PARTITIONS }; TableKind::ALL.len()], unigrams: true };

    /// Makes a scope of some partitions of all tables; the scope of the first ones also has the counts of single tokens.
    pub fn partitions(partitions: Range<usize>) -> Self {
        let unigrams = partitions.start == 0;
        Scope { partitions: std::array::from_fn(|_| partitions.clone()), unigrams }
    }

    /// Returns the partitions of a table.
    pub(super) fn of(&self, kind: TableKind) -> &Range<usize> {
        &self.partitions[kind as usize]
    }
}
