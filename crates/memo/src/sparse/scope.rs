//! A scope: what of a memory is written. Everything in a memory is a sum over positions of text, so that any row range and any
//! partition of a table can be made alone. A memory larger than RAM is made one scope after the other, each of a size that
//! fits; a shard writes one scope of every text.

use super::layout::range_bytes;
use super::table::PARTITIONS;
use super::{Settings, TableKind};
use std::ops::Range;

/// Some row ranges of a memory's cells and some partitions of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub(super) row_ranges: Range<usize>,
    pub(super) pairs: Range<usize>,
    pub(super) totals: Range<usize>,
    pub(super) unigrams: bool,
}

const NOTHING: Scope = Scope { row_ranges: 0..0, pairs: 0..0, totals: 0..0, unigrams: false };

/// Returns the shard, of `count`, that holds each row range: about as many bytes each, one after the other.
pub(super) fn owners_of_ranges(settings: &Settings, count: usize) -> Vec<usize> {
    let ranges = range_bytes(settings);
    let bytes = ranges.last().map_or(0, |last| last.end);
    ranges.iter().map(|range| range.start * count / bytes.max(1)).collect()
}

/// Returns the shard, of `count`, that holds a partition of a table.
pub(super) fn owner_of_partition(partition: usize, count: usize) -> usize {
    ((partition + 1) * count - 1) / PARTITIONS
}

impl Scope {
    /// The whole memory.
    pub(super) const EVERYTHING: Scope = Scope {
        row_ranges: 0..usize::MAX,
        pairs: 0..PARTITIONS,
        totals: 0..PARTITIONS,
        unigrams: true,
    };

    /// Makes a scope of some of the [`PARTITIONS`] of a table.
    pub fn partitions(kind: TableKind, partitions: Range<usize>) -> Self {
        match kind {
            TableKind::Pairs => Scope { pairs: partitions, ..NOTHING },
            TableKind::Totals => Scope { totals: partitions, ..NOTHING },
        }
    }

    /// Adds the counts of single tokens.
    #[must_use]
    pub fn and_unigrams(self) -> Self {
        Scope { unigrams: true, ..self }
    }

    /// Divides all cells into scopes of at most `bytes` each, or of one row range if that has more. Each comes with the bytes it
    /// covers, one after the other.
    pub fn cells(settings: &Settings, bytes: usize) -> Vec<(Self, Range<usize>)> {
        let mut scopes: Vec<(Self, Range<usize>)> = Vec::new();
        for (range, covers) in range_bytes(settings).into_iter().enumerate() {
            match scopes.last_mut().filter(|(_, last)| covers.end - last.start <= bytes) {
                Some((scope, last)) => (scope.row_ranges.end, last.end) = (range + 1, covers.end),
                None => scopes.push((Scope { row_ranges: range..range + 1, ..NOTHING }, covers)),
            }
        }
        scopes
    }

    /// Makes the scope that shard number `index` of `count` holds: some row ranges and some partitions of the tables. The first
    /// shard also has the counts of single tokens.
    pub(super) fn of_shard(settings: &Settings, index: usize, count: usize) -> Self {
        let owners = owners_of_ranges(settings, count);
        let first = owners.partition_point(|&owner| owner < index);
        let last = owners.partition_point(|&owner| owner <= index);
        let partitions = PARTITIONS * index / count..PARTITIONS * (index + 1) / count;
        let (pairs, totals) = (partitions.clone(), partitions);
        Scope { row_ranges: first..last, pairs, totals, unigrams: index == 0 }
    }

    /// Returns whether any of these row ranges belong to it.
    pub(super) fn touches(&self, ranges: &Range<usize>) -> bool {
        self.row_ranges.start < ranges.end && ranges.start < self.row_ranges.end
    }
}
