//! A reader of shards: a memory into which only what a query needs is inserted.

use super::super::keys::{Blocks, row};
use super::super::lookup::Count;
use super::super::scope::owner_of_partition;
use super::super::storage::Ram;
use super::super::table::{Table, split};
use super::super::{Error, Memory, Settings};
use super::{RowOwners, ShardRequest, ShardResponse};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A reader of a memory that shards hold.
pub struct ShardReader {
    memory: Memory,
    owners: RowOwners,
    count: usize,
    /// What was inserted: rows, and keys of pairs and totals.
    rows: HashSet<(u8, u64)>,
    pairs: HashSet<u64>,
    totals: HashSet<u64>,
    /// Pairs that reading looked up and did not find in the memory, which calls back.
    absent: Arc<Mutex<HashSet<u64>>>,
    /// Those of the last read that must be fetched.
    missing: HashSet<u64>,
    /// Whether what was inserted has been read, so that it may be dropped.
    read: bool,
}

/// Rows that are kept. Each may take a page of the system.
const KEPT: usize = 1 << 17;

impl ShardReader {
    /// Makes a reader of a memory of `count` shards, without counts or rows.
    pub fn new(settings: Settings, count: usize) -> Result<Self, Error> {
        let owners = RowOwners::new(&settings, count)?;
        let room = room(&settings)?;
        let mut memory = Memory::with_storage(settings, Box::new(room))?;
        let absent: Arc<Mutex<HashSet<u64>>> = Arc::default();
        let log = absent.clone();
        memory.on_absent_pair = Some(Box::new(move |key| {
            log.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        }));
        let (rows, pairs, totals) = (HashSet::new(), HashSet::new(), HashSet::new());
        let missing = HashSet::new();
        Ok(ShardReader { memory, owners, count, rows, pairs, totals, absent, missing, read: false })
    }

    /// Returns the settings of the memory.
    pub fn settings(&self) -> &Settings {
        self.memory.settings()
    }

    /// Drops what was inserted, and takes the [`Shard::unigrams`](super::Shard::unigrams) and
    /// [`Shard::continuations`](super::Shard::continuations) of all shards: to be called after every write.
    pub fn refresh(&mut self, shards: &[(&[i64], &[i64])]) -> Result<(), Error> {
        let n = self.settings().vocabulary as usize;
        let (mut unigrams, mut continuations) = (vec![0; n], vec![0; n]);
        for &(tokens, followed) in shards {
            for (sum, counts) in [(&mut unigrams, tokens), (&mut continuations, followed)] {
                if counts.len() != n {
                    return Err(Error::Storage(format!("{} counts for {n} tokens", counts.len())));
                }
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        self.memory.begin_change();
        let tables = &mut self.memory.tables;
        (tables.unigrams, tables.continuations) = (unigrams, continuations);
        self.clear()
    }

    /// Drops what was inserted.
    fn clear(&mut self) -> Result<(), Error> {
        let room = room(self.settings())?;
        self.memory.cells.clear(Box::new(room));
        let tables = &mut self.memory.tables;
        (tables.pairs, tables.totals) = (Table::default(), Table::default());
        self.rows.clear();
        self.pairs.clear();
        self.totals.clear();
        self.missing.clear();
        Ok(())
    }

    /// Returns what must be fetched from each shard before these positions can be read; all are empty if nothing is missing.
    pub fn missing(
        &mut self,
        texts: &[(&[u32], Range<usize>)],
    ) -> Result<Vec<ShardRequest>, Error> {
        if std::mem::take(&mut self.read) && self.rows.len() > KEPT {
            self.clear()?;
        }
        let ShardReader { memory, rows, pairs, totals, .. } = self;
        let (mut new_rows, mut new_totals) = (HashSet::new(), HashSet::new());
        let mut new_pairs = self.missing.clone();
        let reach = memory.settings().reach() + 1;
        for (text, positions) in texts {
            memory.settings().check_positions(text, positions, reach)?;
            for p in positions.clone() {
                let context = memory.view(&text[p.saturating_sub(reach)..p])?;
                let mut complete = true;
                memory.counts_of(context, &mut |count| {
                    let (key, known, new) = match count {
                        Count::Pair(key) => (key, &*pairs, &mut new_pairs),
                        Count::Total(key) => (key, &*totals, &mut new_totals),
                        Count::Token(_) => return,
                    };
                    if !known.contains(&key) {
                        complete = false;
                        new.insert(key);
                    }
                });
                if complete {
                    rows_of(memory, context, |row| {
                        if !rows.contains(&row) {
                            new_rows.insert(row);
                        }
                    });
                }
            }
        }
        let mut requests = vec![ShardRequest::default(); self.count];
        let owner = |key: u64| owner_of_partition(split(key).0, self.count);
        new_pairs.into_iter().for_each(|key| requests[owner(key)].pairs.push(key));
        new_totals.into_iter().for_each(|key| requests[owner(key)].totals.push(key));
        for (slot, row) in new_rows {
            let request = &mut requests[self.owners.of(memory, usize::from(slot), row)];
            request.slots.push(slot);
            request.rows.push(row);
        }
        Ok(requests)
    }

    /// Inserts what a shard answered to a request.
    pub fn insert(
        &mut self,
        request: &ShardRequest,
        response: &ShardResponse,
    ) -> Result<(), Error> {
        let wrong = || Error::Storage("a response that does not fit its request".to_owned());
        let slots = &self.memory.settings().slots;
        let rows = request.slots.iter().zip(&request.rows);
        let widths: Option<Vec<usize>> = rows
            .map(|(&slot, &row)| {
                let slot = slots.get(usize::from(slot)).filter(|slot| row < slot.rows)?;
                Some(slot.width as usize)
            })
            .collect();
        let widths = widths.ok_or_else(wrong)?;
        let wide: usize = response.wide.iter().filter_map(|&i| widths.get(i as usize)).sum();
        if widths.len() != request.rows.len()
            || widths.iter().sum::<usize>() != response.cells.len()
            || wide != response.values.len()
            || response.pairs.len() != request.pairs.len()
            || response.totals.len() != request.totals.len()
        {
            return Err(wrong());
        }
        let (mut cells, mut values, mut wide) =
            (&response.cells[..], &response.values[..], response.wide.iter());
        let mut next = wide.next();
        for (i, &width) in widths.iter().enumerate() {
            let (slot, row) = (request.slots[i], request.rows[i]);
            let (own, rest) = cells.split_at(width);
            cells = rest;
            let mut own_values = None;
            if next == Some(&(i as u32)) {
                let (own, rest) = values.split_at(width);
                (own_values, values, next) = (Some(own), rest, wide.next());
            }
            self.memory.cells.put(usize::from(slot), row, own, own_values)?;
            self.rows.insert((slot, row));
        }
        let tables = &mut self.memory.tables;
        for (table, known, keys, counts) in [
            (&mut tables.pairs, &mut self.pairs, &request.pairs, &response.pairs),
            (&mut tables.totals, &mut self.totals, &request.totals, &response.totals),
        ] {
            for (&key, &count) in keys.iter().zip(counts) {
                if known.insert(key) {
                    let (partition, key) = split(key);
                    table.partitions_mut()[partition].add(key, count);
                }
            }
        }
        self.missing.retain(|key| !self.pairs.contains(key));
        Ok(())
    }

    /// Reads positions for which nothing is missing. Returns `None` if reading turned out to need more, which
    /// [`ShardReader::missing`] then returns.
    pub fn read<T>(
        &mut self,
        texts: &[(&[u32], Range<usize>)],
        read: impl FnOnce(&Memory) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if self.missing(texts)?.iter().any(|request| !request.is_empty()) {
            return Ok(None);
        }
        let made = read(&self.memory);
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        self.missing = absent.drain().filter(|key| !self.pairs.contains(key)).collect();
        self.read = self.missing.is_empty();
        Ok(self.read.then_some(made?))
    }
}

/// Reserves room for the cells of a memory, of which few rows will be written, far apart.
fn room(settings: &Settings) -> Result<Ram, Error> {
    Ok(Ram::reserved(Memory::storage_len(settings))?.scattered())
}

/// Calls `tell` with the rows that reading a context touches. Its totals must be known.
fn rows_of(memory: &Memory, context: &[u32], mut tell: impl FnMut((u8, u64))) {
    for (slot, keyed) in memory.totals(context, &mut Blocks::default()).into_iter().enumerate() {
        let Some((key, _)) = keyed.filter(|(_, total)| *total > 0) else { continue };
        let settings = &memory.settings().slots[slot];
        let buckets = if settings.bucketed { memory.codes[slot].blocks() as u64 } else { 1 };
        for bucket in 0..buckets {
            for copy in 0..u64::from(settings.copies) {
                tell((slot as u8, row(key, bucket, copy, settings.rows).0));
            }
        }
    }
}
