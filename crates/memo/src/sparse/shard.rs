//! A memory that several hold: each has some rows and some parts of the tables, and no one has all.
//!
//! Writing is easy, because everything is a sum over positions: every [`Shard`] is given all text and writes what is its
//! own. Reading is done by a [`ShardReader`]: an almost empty memory, into which what a context needs is put before it is
//! read like any other. It says what it needs ([`ShardReader::want`]), in two or three rounds: which contexts occurred, then the
//! rows of those, then exact counts of the candidates that the rows brought up. What was fetched is kept until something is
//! written.
//!
//! ```
//! use memo::readout::{Backoff, score_at};
//! use memo::sparse::{Digest, ShardReader, Memory, Span, Settings, Shape, Shard, Size};
//!
//! let settings = Settings::new(100, 99, 7, &Shape::default(), Size::Parameters(1 << 20))?;
//! let text: Vec<u32> = (1..40).collect();
//! let mut memory = Memory::new(settings.clone())?;
//! memory.memorize(&text)?;
//!
//! let mut shards = [Shard::new(settings.clone(), 0, 2)?, Shard::new(settings.clone(), 1, 2)?];
//! shards.iter_mut().try_for_each(|shard| shard.write(&[Span::whole(&text, 1)]))?;
//! let leaves = shards.iter().map(Shard::leaves).collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(Shard::digest(&settings, &leaves)?, memory.digest()?);
//!
//! let mut lens = ShardReader::new(settings, 2)?;
//! lens.refresh(&shards.each_ref().map(|shard| (shard.unigrams(), shard.continuations())))?;
//! let read = |memory: &Memory| score_at(memory, &Backoff::default(), &text, 5..6);
//! let scores = loop {
//!     for (i, wanted) in lens.want(&[(&text, 5..6)])?.iter().enumerate() {
//!         lens.take(wanted, &shards[i].find(wanted)?)?;
//!     }
//!     // `None` until nothing is missing.
//!     if let Some(scores) = lens.read(&[(&text, 5..6)], read)? {
//!         break scores;
//!     }
//! };
//! assert_eq!(scores, read(&memory)?);
//! # Ok::<(), memo::sparse::Error>(())
//! ```

use super::keys::{Blocks, row};
use super::memory::{Count, Partial};
use super::scope::{owner_of_part, owners};
use super::storage::Ram;
use super::table::{PARTS, Table, split};
use super::{Digest, Error, Leaves, Memory, PAGE, Scope, Settings, Span};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::PoisonError;

/// What a [`ShardReader`] lacks, of one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRequest {
    /// The slot of each row.
    pub slots: Vec<u8>,
    /// Rows.
    pub rows: Vec<u64>,
    /// Keys of pairs.
    pub pairs: Vec<u64>,
    /// Keys of totals.
    pub totals: Vec<u64>,
}

impl ShardRequest {
    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.pairs.is_empty() && self.totals.is_empty()
    }
}

/// What a [`Shard`] has of that, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardResponse {
    /// The cells of all rows, one after the other.
    pub cells: Vec<u8>,
    /// Which of the rows do not fit in bytes.
    pub wide: Vec<u32>,
    /// Their values, one after the other.
    pub values: Vec<i32>,
    /// Counts of pairs.
    pub pairs: Vec<i64>,
    /// Totals.
    pub totals: Vec<i64>,
}

/// What one holder has of a memory.
pub struct Shard {
    memory: Memory,
    scope: Scope,
    owners: Vec<usize>,
    index: usize,
    count: usize,
}

impl Shard {
    /// Shard number `index` of `count`, empty.
    pub fn new(settings: Settings, index: usize, count: usize) -> Result<Self, Error> {
        settings.check()?;
        check_count(count)?;
        if index >= count {
            return Err(Error::Settings(format!("shard {index} of {count}")));
        }
        let scope = Scope::of_holder(&settings, index, count);
        let owners = owners(&settings, count);
        let storage = Ram::reserved(Memory::storage_len(&settings))?;
        let memory = Memory::with_storage(settings, Box::new(storage))?;
        Ok(Shard { memory, scope, owners, index, count })
    }

    /// Writes what is its own of spans. All shards must be given the same.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.memory.write_within(&self.scope, spans)
    }

    /// What it has of what is wanted. What another shard holds is refused.
    pub fn find(&self, wanted: &ShardRequest) -> Result<ShardResponse, Error> {
        let mut found = ShardResponse::default();
        if wanted.slots.len() != wanted.rows.len() {
            return Err(elsewhere("rows without slots"));
        }
        for (i, (&slot, &row)) in wanted.slots.iter().zip(&wanted.rows).enumerate() {
            let slot = usize::from(slot);
            if self.owner_of_row(slot, row) != Some(self.index) {
                return Err(elsewhere(format!("row {row} of slot number {slot}")));
            }
            let (cells, wide) = self.memory.cells.stored(slot, row);
            found.cells.extend_from_slice(cells);
            if let Some(values) = wide {
                found.wide.push(i as u32);
                found.values.extend(values);
            }
        }
        for &key in wanted.pairs.iter().chain(&wanted.totals) {
            let part = split(key).0;
            if part >= PARTS || owner_of_part(part, self.count) != self.index {
                return Err(elsewhere(format!("table part {part}")));
            }
        }
        let tables = &self.memory.tables;
        found.pairs.extend(wanted.pairs.iter().map(|&key| tables.pairs.get(key)));
        found.totals.extend(wanted.totals.iter().map(|&key| tables.totals.get(key)));
        Ok(found)
    }

    fn owner_of_row(&self, slot: usize, row: u64) -> Option<usize> {
        let slots = &self.memory.settings().slots;
        slots.get(slot).filter(|slot| row < slot.rows)?;
        Some(owner_of_row(&self.memory, &self.owners, slot, row))
    }

    /// Counts of single tokens: those of the first shard are all of them, the others have none.
    pub fn unigrams(&self) -> &[i64] {
        self.memory.unigrams()
    }

    /// How many different tokens each token has followed, as far as its own pairs tell.
    pub fn continuations(&self) -> &[i64] {
        &self.memory.tables.continuations
    }

    /// Bytes of cells and tables that are its own.
    pub fn held(&self) -> usize {
        let held = self.memory.usage();
        self.runs().len() * PAGE + held.wide + held.tables
    }

    fn runs(&self) -> Range<usize> {
        let mut own = super::cells::regions(self.memory.settings())
            .into_iter()
            .flat_map(|region| (0..region.shares()).map(move |share| region.share_bytes(share)))
            .skip(self.scope.shares.start)
            .take(self.scope.shares.len());
        let Some(first) = own.next() else { return 0..0 };
        first.start / PAGE..own.last().map_or(first.end, |last| last.end) / PAGE
    }

    /// The hashes of what is its own.
    pub fn leaves(&self) -> Result<Leaves, Error> {
        let Leaves { cells, pairs, totals, unigrams } = self.memory.leaves()?;
        Ok(Leaves {
            cells: cells[self.runs()].to_vec(),
            pairs: pairs[self.scope.pairs.clone()].to_vec(),
            totals: totals[self.scope.totals.clone()].to_vec(),
            unigrams: if self.scope.unigrams { unigrams } else { Vec::new() },
        })
    }

    /// The digest of the whole memory, from the leaves of all shards in their order: that of one that nobody divided.
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

/// Reads a memory that shards hold.
pub struct ShardReader {
    memory: Memory,
    owners: Vec<usize>,
    count: usize,
    rows: HashSet<(u8, u64)>,
    totals: HashSet<u64>,
    /// Whether what was fetched has been read: then it may go.
    read: bool,
}

/// Rows that are kept. Each may take a page.
const KEPT: usize = 1 << 17;

/// Texts, each with positions in it.
type Positions<'a> = [(&'a [u32], Range<usize>)];

impl ShardReader {
    /// A lens for a memory of `count` shards, which knows nothing yet.
    pub fn new(settings: Settings, count: usize) -> Result<Self, Error> {
        settings.check()?;
        check_count(count)?;
        let owners = owners(&settings, count);
        let storage = Ram::reserved(Memory::storage_len(&settings))?.scattered();
        let mut memory = Memory::with_storage(settings, Box::new(storage))?;
        memory.partial = Some(Partial::default());
        let (rows, totals) = (HashSet::new(), HashSet::new());
        Ok(ShardReader { memory, owners, count, rows, totals, read: false })
    }

    /// What the memory is made of.
    pub fn settings(&self) -> &Settings {
        self.memory.settings()
    }

    /// Forgets what was fetched, and takes the [`Shard::unigrams`] and [`Shard::continuations`] of all shards: to be
    /// called after every write.
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
        self.memory.set_counts(unigrams, continuations);
        self.clear()
    }

    /// Forgets what was fetched.
    fn clear(&mut self) -> Result<(), Error> {
        let storage = Ram::reserved(Memory::storage_len(self.settings()))?.scattered();
        self.memory.cells.clear(Box::new(storage));
        (self.memory.tables.pairs, self.memory.tables.totals) =
            (Table::default(), Table::default());
        self.memory.partial = Some(Partial::default());
        self.rows.clear();
        self.totals.clear();
        Ok(())
    }

    /// What must be fetched, shard by shard, before these positions can be read; all empty if nothing is missing.
    pub fn want(&mut self, texts: &Positions<'_>) -> Result<Vec<ShardRequest>, Error> {
        if std::mem::take(&mut self.read) && self.rows.len() > KEPT {
            self.clear()?;
        }
        let mut wanted = vec![ShardRequest::default(); self.count];
        let ShardReader { memory, owners, count, rows, totals, .. } = self;
        let Some(partial) = &memory.partial else { return Ok(wanted) };
        let asked = partial.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pairs: HashSet<u64> = asked.difference(&partial.known).copied().collect();
        drop(asked);
        let (mut new_totals, mut new_rows) = (HashSet::new(), HashSet::new());
        let reach = memory.settings().reach() + 1;
        for (text, positions) in texts {
            memory.settings().check_positions(text, positions, reach)?;
            for p in positions.clone() {
                let context = memory.view(&text[p.saturating_sub(reach)..p])?;
                let mut known = true;
                memory.counts_of(context, &mut |count| match count {
                    Count::Pair(key) if !partial.known.contains(&key) => {
                        known = false;
                        pairs.insert(key);
                    }
                    Count::Total(key) if !totals.contains(&key) => {
                        known = false;
                        new_totals.insert(key);
                    }
                    _ => (),
                });
                if known {
                    rows_of(memory, context, |slot, row| {
                        if !rows.contains(&(slot, row)) {
                            new_rows.insert((slot, row));
                        }
                    });
                }
            }
        }
        for key in pairs {
            wanted[owner_of_part(split(key).0, *count)].pairs.push(key);
        }
        for key in new_totals {
            wanted[owner_of_part(split(key).0, *count)].totals.push(key);
        }
        for (slot, row) in new_rows {
            let of = &mut wanted[owner_of_row(memory, owners, usize::from(slot), row)];
            of.slots.push(slot);
            of.rows.push(row);
        }
        Ok(wanted)
    }

    /// Takes what a shard has found of what was wanted of it.
    pub fn take(&mut self, wanted: &ShardRequest, found: &ShardResponse) -> Result<(), Error> {
        let wrong = || Error::Storage("an answer that does not fit what was wanted".to_owned());
        let slots = &self.memory.settings().slots;
        let known = wanted.slots.iter().zip(&wanted.rows);
        let widths: Option<Vec<usize>> = known
            .map(|(&slot, &row)| {
                let slot = slots.get(usize::from(slot)).filter(|slot| row < slot.rows)?;
                Some(slot.width as usize)
            })
            .collect();
        let widths = widths.ok_or_else(wrong)?;
        let wide: usize = found.wide.iter().filter_map(|&i| widths.get(i as usize)).sum();
        if widths.len() != wanted.rows.len()
            || widths.iter().sum::<usize>() != found.cells.len()
            || wide != found.values.len()
            || (found.pairs.len(), found.totals.len()) != (wanted.pairs.len(), wanted.totals.len())
        {
            return Err(wrong());
        }
        let (mut cells, mut values, mut wide) =
            (&found.cells[..], &found.values[..], found.wide.iter());
        let mut next = wide.next();
        for (i, &width) in widths.iter().enumerate() {
            let (slot, row) = (wanted.slots[i], wanted.rows[i]);
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
        let Memory { tables, partial, .. } = &mut self.memory;
        let put = |table: &mut Table, key: u64, count: i64| {
            let (part, key) = split(key);
            table.parts_mut()[part].add(key, count);
        };
        for (&key, &count) in wanted.pairs.iter().zip(&found.pairs) {
            if partial.as_mut().is_some_and(|partial| partial.known.insert(key)) {
                put(&mut tables.pairs, key, count);
            }
        }
        for (&key, &count) in wanted.totals.iter().zip(&found.totals) {
            if self.totals.insert(key) {
                put(&mut tables.totals, key, count);
            }
        }
        Ok(())
    }

    /// Reads positions for which nothing is missing; `None` if something was after all: then [`ShardReader::want`] says what.
    pub fn read<T>(
        &mut self,
        texts: &Positions<'_>,
        read: impl FnOnce(&Memory) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if self.want(texts)?.iter().any(|wanted| !wanted.is_empty()) {
            return Ok(None);
        }
        let asked = |lens: &Self| {
            let partial = lens.memory.partial.as_ref();
            partial.map_or_else(HashSet::new, |partial| {
                std::mem::take(&mut *partial.asked.lock().unwrap_or_else(PoisonError::into_inner))
            })
        };
        asked(self);
        let made = read(&self.memory)?;
        let missing = asked(self);
        self.read = missing.is_empty();
        if let Some(partial) = &mut self.memory.partial {
            *partial.asked.get_mut().unwrap_or_else(PoisonError::into_inner) = missing;
        }
        Ok(self.read.then_some(made))
    }
}

fn check_count(count: usize) -> Result<(), Error> {
    if (1..=PARTS).contains(&count) {
        return Ok(());
    }
    Err(Error::Settings(format!("{count} shards (1 to {PARTS})")))
}

fn elsewhere(what: impl std::fmt::Display) -> Error {
    Error::Storage(format!("{what}: not in this shard"))
}

fn owner_of_row(memory: &Memory, owners: &[usize], slot: usize, row: u64) -> usize {
    let region = memory.cells.region(slot);
    owners[region.share + region.place(row as u32).0]
}

/// The rows that reading a context touches, if its totals are known.
fn rows_of(memory: &Memory, context: &[u32], mut tell: impl FnMut(u8, u64)) {
    for (slot, keyed) in memory.totals(context, &mut Blocks::default()).into_iter().enumerate() {
        let Some((key, _)) = keyed.filter(|(_, total)| *total > 0) else { continue };
        let settings = &memory.settings().slots[slot];
        let buckets = if settings.bucketed { memory.codes[slot].blocks() as u64 } else { 1 };
        for bucket in 0..buckets {
            for copy in 0..u64::from(settings.copies) {
                tell(slot as u8, row(key, bucket, copy, settings.rows).0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, Size};
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::{Backoff, score_at};

    /// Texts with words that repeat, so that contexts have several successors, and one that overflows bytes.
    fn texts() -> Vec<Vec<u32>> {
        let mut reader = Stream::new(11, Purpose::Sampling, 0).draws();
        let mut texts: Vec<Vec<u32>> = (0..6).map(|_| reader.tokens(400, 60)).collect();
        texts.push([vec![7; 700], (0..200).map(|t| t % 50).collect()].concat());
        texts
    }

    fn score(
        shards: &[Shard],
        lens: &mut ShardReader,
        text: &[u32],
        at: Range<usize>,
    ) -> (Vec<f64>, u32) {
        let positions = [(text, at.clone())];
        for round in 1.. {
            for (shard, wanted) in shards.iter().zip(lens.want(&positions).unwrap()) {
                lens.take(&wanted, &shard.find(&wanted).unwrap()).unwrap();
            }
            let read = |memory: &Memory| score_at(memory, &Backoff::default(), text, at.clone());
            if let Some(scores) = lens.read(&positions, read).unwrap() {
                return (scores, round);
            }
        }
        unreachable!()
    }

    #[test]
    fn what_several_hold_is_what_one_would() {
        let texts = texts();
        // More than one share a slot, so that rows of one slot are in several hands.
        for (parameters, counts) in [(1 << 20, &[1, 2, 5, 9][..]), (40 << 20, &[3, 16])] {
            let settings =
                Settings::new(64, 63, 3, &Shape::default(), Size::Parameters(parameters)).unwrap();
            let mut memory = Memory::new(settings.clone()).unwrap();
            let all: Vec<Span<'_>> = texts.iter().map(|text| Span::whole(text, 1)).collect();
            memory.write(&all).unwrap();
            memory.forget(&texts[2]).unwrap();
            let digest = memory.digest().unwrap();
            let whole = score_at(&memory, &Backoff::default(), &texts[0], 0..401).unwrap();
            let heavy = score_at(&memory, &Backoff::default(), &texts[6], 650..750).unwrap();
            for &count in counts {
                let shard = |i| Shard::new(settings.clone(), i, count).unwrap();
                let mut shards: Vec<Shard> = (0..count).map(shard).collect();
                for shard in &mut shards {
                    shard.write(&all).unwrap();
                    shard.write(&[Span::whole(&texts[2], -1)]).unwrap();
                }
                let leaves: Vec<Leaves> = shards.iter().map(|s| s.leaves().unwrap()).collect();
                assert_eq!(Shard::digest(&settings, &leaves).unwrap(), digest, "{count} shards");
                let held: usize = shards.iter().map(Shard::held).sum();
                assert!(held < memory.usage().total() * 2 + (count << 18), "{held}");

                let mut lens = ShardReader::new(settings.clone(), count).unwrap();
                let counts: Vec<_> =
                    shards.iter().map(|s| (s.unigrams(), s.continuations())).collect();
                lens.refresh(&counts).unwrap();
                let mut scores = Vec::new();
                for start in (0..401).step_by(64) {
                    let (some, rounds) =
                        score(&shards, &mut lens, &texts[0], start..401.min(start + 64));
                    assert!(rounds < 8, "{rounds} rounds");
                    scores.extend(some);
                }
                assert_eq!(scores, whole, "{count} shards");
                assert_eq!(score(&shards, &mut lens, &texts[6], 650..750).0, heavy);
                // What was fetched is kept.
                assert_eq!(score(&shards, &mut lens, &texts[6], 650..750).1, 1);
            }
        }
    }

    #[test]
    fn what_is_elsewhere_or_does_not_fit_is_refused() {
        let settings =
            Settings::new(64, 63, 3, &Shape::default(), Size::Parameters(1 << 20)).unwrap();
        assert!(Shard::new(settings.clone(), 2, 2).is_err());
        assert!(ShardReader::new(settings.clone(), 0).is_err());
        let shard = Shard::new(settings.clone(), 0, 2).unwrap();
        let far = |wanted: &ShardRequest| shard.find(wanted).unwrap_err().to_string();
        let last = settings.slots.len() as u8 - 1;
        let wanted = ShardRequest { slots: vec![last], rows: vec![0], ..ShardRequest::default() };
        assert!(far(&wanted).contains("not in this shard"));
        let wanted =
            ShardRequest { slots: vec![0], rows: vec![u64::MAX], ..ShardRequest::default() };
        assert!(far(&wanted).contains("not in this shard"));
        assert!(
            far(&ShardRequest { pairs: vec![u64::MAX], ..ShardRequest::default() })
                .contains("table part")
        );
        let mut lens = ShardReader::new(settings, 2).unwrap();
        let wanted = ShardRequest { slots: vec![0], rows: vec![0], ..ShardRequest::default() };
        assert!(lens.take(&wanted, &ShardResponse::default()).is_err());
        assert!(lens.refresh(&[(&[1, 2], &[3])]).is_err());
        assert!(lens.want(&[(&[1, 2], 0..4)]).is_err());
        assert!(lens.want(&[(&[1, 64], 0..3)]).is_err());
    }
}
