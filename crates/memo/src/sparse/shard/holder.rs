//! A shard, which writes its scope of every text and answers requests.

use super::super::layout::range_bytes;
use super::super::scope::owner_of_partition;
use super::super::storage::Ram;
use super::super::table::split;
use super::super::{Digest, Error, Leaves, Memory, PAGE, Scope, Settings, Span};
use super::{RowOwners, ShardRequest, ShardResponse};
use std::ops::Range;

/// One shard of a memory.
pub struct Shard {
    memory: Memory,
    scope: Scope,
    owners: RowOwners,
    index: usize,
    count: usize,
}

impl Shard {
    /// Makes shard number `index` of `count`, empty.
    pub fn new(settings: Settings, index: usize, count: usize) -> Result<Self, Error> {
        let owners = RowOwners::new(&settings, count)?;
        if index >= count {
            return Err(Error::Settings(format!("shard {index} of {count}")));
        }
        let scope = Scope::of_shard(&settings, index, count);
        let storage = Ram::reserved(Memory::storage_len(&settings))?;
        let memory = Memory::with_storage(settings, Box::new(storage))?;
        Ok(Shard { memory, scope, owners, index, count })
    }

    /// Writes what this shard holds of spans. All shards must be given the same.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.memory.write_within(&self.scope, spans)
    }

    /// Answers a request. What another shard holds is refused.
    pub fn fetch(&self, request: &ShardRequest) -> Result<ShardResponse, Error> {
        let ShardRequest { slots, rows, pairs, totals } = request;
        if slots.len() != rows.len() {
            return Err(elsewhere("rows without slots"));
        }
        for &key in pairs.iter().chain(totals) {
            let partition = split(key).0;
            if owner_of_partition(partition, self.count) != self.index {
                return Err(elsewhere(format!("partition {partition} of a table")));
            }
        }
        let tables = &self.memory.tables;
        let mut response = ShardResponse {
            pairs: pairs.iter().map(|&key| tables.pairs.get(key)).collect(),
            totals: totals.iter().map(|&key| tables.totals.get(key)).collect(),
            ..ShardResponse::default()
        };
        for (i, (&slot, &row)) in slots.iter().zip(rows).enumerate() {
            let slot = usize::from(slot);
            if !self.holds(slot, row) {
                return Err(elsewhere(format!("row {row} of slot number {slot}")));
            }
            let (cells, wide) = self.memory.cells.stored(slot, row);
            response.cells.extend_from_slice(cells);
            if let Some(values) = wide {
                response.wide.push(i as u32);
                response.values.extend(values);
            }
        }
        Ok(response)
    }

    fn holds(&self, slot: usize, row: u64) -> bool {
        let exists = self.memory.settings().slots.get(slot).is_some_and(|slot| row < slot.rows);
        exists && self.owners.of(&self.memory, slot, row) == self.index
    }

    /// Returns the counts of single tokens. The first shard has all of them, the others none.
    pub fn unigrams(&self) -> &[i64] {
        self.memory.unigrams()
    }

    /// Returns how many different tokens each token has followed, counted over the pairs of this shard.
    pub fn continuations(&self) -> &[i64] {
        &self.memory.tables.continuations
    }

    /// Returns the bytes of the cells and tables of this shard.
    pub fn held(&self) -> usize {
        let held = self.memory.usage();
        self.pages().len() * PAGE + held.wide + held.tables
    }

    /// Returns the pages of its row ranges.
    fn pages(&self) -> Range<usize> {
        let ranges = range_bytes(self.memory.settings());
        match &ranges[self.scope.row_ranges.clone()] {
            [] => 0..0,
            [first, ..] => first.start / PAGE..ranges[self.scope.row_ranges.end - 1].end / PAGE,
        }
    }

    /// Returns the hashes of the leaves of this shard.
    pub fn leaves(&self) -> Result<Leaves, Error> {
        let Leaves { cells, pairs, totals, unigrams } = self.memory.leaves()?;
        Ok(Leaves {
            cells: cells[self.pages()].to_vec(),
            pairs: pairs[self.scope.pairs.clone()].to_vec(),
            totals: totals[self.scope.totals.clone()].to_vec(),
            unigrams: if self.scope.unigrams { unigrams } else { Vec::new() },
        })
    }

    /// Makes the digest of the whole memory from the leaves of all shards in their order: that of a memory that is not divided.
    pub fn digest(settings: &Settings, shards: &[Leaves]) -> Result<Digest, Error> {
        let join = |of: fn(&Leaves) -> &Vec<[u8; 32]>| {
            shards.iter().flat_map(|leaves| of(leaves).iter().copied()).collect()
        };
        let leaves = Leaves {
            cells: join(|leaves| &leaves.cells),
            pairs: join(|leaves| &leaves.pairs),
            totals: join(|leaves| &leaves.totals),
            unigrams: join(|leaves| &leaves.unigrams),
        };
        Digest::of_leaves(settings, leaves)
    }
}

fn elsewhere(what: impl std::fmt::Display) -> Error {
    Error::Storage(format!("{what}: not in this shard"))
}
