//! Part of a memory: everything in a memory is a sum over positions of text, so any part of it can be made alone. A
//! memory larger than RAM is made one scope after the other, each of a size that fits.

use super::cells::regions;
use super::table::PARTS;
use super::{Settings, TableKind};
use std::ops::Range;

/// What of a memory is written: some shares of its cells, some parts of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub(super) shares: Range<usize>,
    pub(super) pairs: Range<usize>,
    pub(super) totals: Range<usize>,
    pub(super) unigrams: bool,
}

const NOTHING: Scope = Scope { shares: 0..0, pairs: 0..0, totals: 0..0, unigrams: false };

/// Who holds each share, of `count` holders: about as many bytes each, one after the other.
pub(super) fn owners(settings: &Settings, count: usize) -> Vec<usize> {
    let regions = regions(settings);
    let bytes = regions.last().map_or(0, |last| last.share_bytes(last.shares() - 1).end);
    let shares =
        regions.iter().flat_map(|region| (0..region.shares()).map(|s| region.share_bytes(s)));
    shares.map(|share| share.start * count / bytes.max(1)).collect()
}

/// Who holds a part of a table, of `count` holders.
pub(super) fn owner_of_part(part: usize, count: usize) -> usize {
    ((part + 1) * count - 1) / PARTS
}

impl Scope {
    /// All there is.
    pub(super) const EVERYTHING: Scope =
        Scope { shares: 0..usize::MAX, pairs: 0..PARTS, totals: 0..PARTS, unigrams: true };

    /// Some of the [`PARTS`] of a table.
    pub fn parts(kind: TableKind, parts: Range<usize>) -> Self {
        match kind {
            TableKind::Pairs => Scope { pairs: parts, ..NOTHING },
            TableKind::Totals => Scope { totals: parts, ..NOTHING },
        }
    }

    /// The same, and the counts of single tokens.
    #[must_use]
    pub fn and_unigrams(self) -> Self {
        Scope { unigrams: true, ..self }
    }

    /// All cells, in scopes of at most `bytes` where rows can be divided so far; each with the bytes it covers, one
    /// after the other.
    pub fn cells(settings: &Settings, bytes: usize) -> Vec<(Self, Range<usize>)> {
        let mut scopes: Vec<(Self, Range<usize>)> = Vec::new();
        let shares = regions(settings)
            .into_iter()
            .flat_map(|region| (0..region.shares()).map(move |share| region.share_bytes(share)));
        for (share, covers) in shares.enumerate() {
            match scopes.last_mut().filter(|(_, last)| covers.end - last.start <= bytes) {
                Some((scope, last)) => (scope.shares.end, last.end) = (share + 1, covers.end),
                None => scopes.push((Scope { shares: share..share + 1, ..NOTHING }, covers)),
            }
        }
        scopes
    }

    /// All that holder number `index` of `count` holds of a memory: some rows, some parts of the tables; the first one
    /// also the counts of single tokens.
    pub(super) fn of_shard(settings: &Settings, index: usize, count: usize) -> Self {
        let owners = owners(settings, count);
        let first = owners.partition_point(|&owner| owner < index);
        let last = owners.partition_point(|&owner| owner <= index);
        let parts = PARTS * index / count..PARTS * (index + 1) / count;
        Scope { shares: first..last, pairs: parts.clone(), totals: parts, unigrams: index == 0 }
    }

    /// Whether any of these shares belong to it.
    pub(super) fn touches(&self, shares: &Range<usize>) -> bool {
        self.shares.start < shares.end && shares.start < self.shares.end
    }
}
