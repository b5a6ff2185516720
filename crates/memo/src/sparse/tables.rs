//! The tables of a memory: the cells that are not zero, all of them plain sums over positions.
//!
//! - *Unigrams*: how often each token was a next token.
//! - *Pairs* (v, w): how often w followed v, exactly; the successors of v lie together. The number of different v before w, the
//!   continuation count, is derived from it and never added.
//! - *Successors*: contexts of two tokens, and of the fewest words, each with the tokens that followed; those of a context lie
//!   together. Short generalised contexts too, with the tokens or classes that followed.
//! - *Events*: contexts of more tokens or words together with the token that followed, in one key. Those of a context lie together,
//!   but among others; the successors of the shorter context are the only tokens that they can have.

use super::fetched::Fetched;
use super::keys::{Cell, EventKeys, Keys, PAIR_BITS};
use super::packed::EntryLayout;
use super::partition::{KEY_BITS, LargeCount, LookUp, Partition, Section};
use super::settings::MOST_SLOTS;
use super::{Error, PARTITIONS, Settings};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The tables that are divided into partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Counts of (token, next token).
    Pairs,
    /// Counts of (context, next token) that can be listed.
    Successors,
    /// Counts of (context, next token) in one hash.
    Events,
}

impl TableKind {
    /// All of them, in order.
    pub const ALL: [TableKind; 3] = [TableKind::Pairs, TableKind::Successors, TableKind::Events];

    /// Returns its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Pairs => "pairs",
            TableKind::Successors => "successors",
            TableKind::Events => "events",
        }
    }
}

/// Look-ups that wait for memory together: about as many as a core can.
const AT_ONCE: usize = 16;

/// Entries that can be gone through in the time in which one is looked up.
const WORTH: usize = 3;

/// Which tokens a list may have, by their last bits: most that are looked for are none of them.
struct Among([u64; 16]);

impl Among {
    fn new<T>(list: &[(u32, T)]) -> Self {
        let mut bits = [0; 16];
        list.iter().for_each(|&(token, _)| bits[token as usize / 64 % 16] |= 1 << (token % 64));
        Among(bits)
    }

    #[inline(always)]
    fn may_have(&self, token: u32) -> bool {
        self.0[token as usize / 64 % 16] >> (token % 64) & 1 == 1
    }
}

/// Counts that are sorted faster than all places of a list are gone through.
const FEW: usize = 8;

/// Calls `take` with the numbers and counts that were found of so many, in order.
fn in_order(found: &mut [(usize, i64)], len: usize, mut take: impl FnMut(usize, i64)) {
    if found.len() <= FEW {
        found.sort_unstable();
        found.iter().for_each(|&(i, count)| take(i, count));
        return;
    }
    let mut counts = vec![0; len];
    found.iter().for_each(|&(i, count)| counts[i] = count);
    let counts = counts.into_iter().enumerate().filter(|&(_, count)| count != 0);
    counts.for_each(|(i, count)| take(i, count));
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) layout: EntryLayout,
    pub(crate) partitions: Vec<Partition>,
    /// What was fetched, if the table is elsewhere: see [`super::shard`].
    pub(super) fetched: Option<Box<Fetched>>,
}

impl Table {
    fn new(layout: EntryLayout) -> Self {
        Table { layout, partitions: vec![Partition::default(); PARTITIONS], fetched: None }
    }

    #[inline(always)]
    pub(crate) fn get(&self, cell: Cell) -> Result<i64, Error> {
        if let Some(fetched) = &self.fetched {
            return Ok(fetched.get(cell));
        }
        let Cell { partition, key, token } = cell;
        self.partitions[partition as usize].get(self.layout, self.layout.rank(key, token))
    }

    /// Calls `take` with the number and the count of each of a list's tokens, which are in order, that followed a context.
    pub(crate) fn of_context<T>(
        &self,
        keys: EventKeys,
        list: &[(u32, T)],
        mut take: impl FnMut(usize, i64),
    ) -> Result<(), Error> {
        if list.len() < 2 || self.fetched.is_some() {
            for (i, &(token, _)) in list.iter().enumerate() {
                match self.get(keys.cell(token))? {
                    0 => (),
                    count => take(i, count),
                }
            }
            return Ok(());
        }
        let Some((partition, range)) = keys.range() else {
            return self.look_up_all(keys, list, take);
        };
        let partition = &self.partitions[partition];
        // Keys of a frozen memory are cut, and do not tell their tokens.
        let few = WORTH * list.len();
        if !self.layout.frozen && partition.len_within(self.layout, &range)? <= few {
            let (token, among, mut found) = (keys.tokens(), Among::new(list), Vec::new());
            partition.each_within(self.layout, range, |key, count| {
                let token = token(key).filter(|&token| among.may_have(token));
                let at = token.map(|token| list.binary_search_by_key(&token, |&(token, _)| token));
                found.extend(at.and_then(Result::ok).map(|i| (i, count)));
            })?;
            in_order(&mut found, list.len(), take);
            return Ok(());
        }
        let keys = list.iter().map(|&(token, _)| keys.cell(token).key);
        partition.of_keys(self.layout, keys, take)
    }

    /// Asks for what reading of several contexts begins with, which they wait for together. What is damaged matters to who reads it.
    pub(crate) fn ask(&self, contexts: impl Iterator<Item = EventKeys>) {
        if self.fetched.is_none() {
            for (partition, _) in contexts.filter_map(|keys| keys.range()) {
                let _ = self.partitions[partition].ask();
            }
        }
    }

    /// Asks for the rest, once the first answer is there.
    pub(crate) fn ask_more(&self, contexts: impl Iterator<Item = EventKeys>) {
        if self.fetched.is_some() {
            return;
        }
        let mut asked = [const { None }; AT_ONCE];
        let places = contexts.filter_map(|keys| keys.range());
        for (asked, (partition, keys)) in asked.iter_mut().zip(places) {
            let rank = self.layout.rank(*keys.start(), 0);
            *asked = self.partitions[partition].look_up(self.layout, rank).ok();
        }
        asked.iter_mut().flatten().for_each(LookUp::go_on);
    }

    /// Returns the tokens that followed a context, in order, with their counts; and others, which have its place in common with it, but
    /// have not followed a shorter one. `None` if they cannot be told.
    pub(crate) fn all_of_context(&self, keys: EventKeys) -> Result<Option<Vec<(u32, i64)>>, Error> {
        let Some((partition, range)) = keys.range() else { return Ok(None) };
        if self.layout.frozen || self.fetched.is_some() {
            return Ok(None);
        }
        let (mut all, token) = (Vec::new(), keys.tokens());
        self.partitions[partition].each_within(self.layout, range, |key, count| {
            all.extend(token(key).map(|token| (token, count)));
        })?;
        all.sort_unstable();
        Ok(Some(all))
    }

    /// Does what [`Table::of_context`] does where cells lie anywhere in the table. A look-up waits for three cache lines, one after the other, so many are
    /// done at once.
    fn look_up_all<T>(
        &self,
        keys: EventKeys,
        list: &[(u32, T)],
        mut take: impl FnMut(usize, i64),
    ) -> Result<(), Error> {
        let mut asked: [Option<LookUp<'_>>; AT_ONCE] = [const { None }; AT_ONCE];
        let mut cells = [(0, 0); AT_ONCE];
        for (first, tokens) in (0..).step_by(AT_ONCE).zip(list.chunks(AT_ONCE)) {
            let cells = &mut cells[..tokens.len()];
            for (own, &(token, _)) in cells.iter_mut().zip(tokens) {
                let Cell { partition, key, token } = keys.cell(token);
                *own = (partition as usize, self.layout.rank(key, token));
                self.partitions[partition as usize].ask()?;
            }
            for (asked, &(partition, rank)) in asked.iter_mut().zip(&*cells) {
                *asked = Some(self.partitions[partition].look_up(self.layout, rank)?);
            }
            asked.iter_mut().flatten().for_each(LookUp::go_on);
            for (i, asked) in (first..).zip(&mut asked) {
                match asked.take().map_or(0, |asked| asked.count(self.layout)) {
                    0 => (),
                    count => take(i, count),
                }
            }
        }
        Ok(())
    }

    /// Calls `take` with the count of each of some tokens, which are in order, that share the key of a cell.
    pub(crate) fn of_tokens(
        &self,
        cell: Cell,
        mut tokens: impl Iterator<Item = u32>,
        mut take: impl FnMut(i64),
    ) -> Result<(), Error> {
        if let Some(fetched) = &self.fetched {
            tokens.by_ref().for_each(|token| take(fetched.get(Cell { token, ..cell })));
        }
        let partition = &self.partitions[cell.partition as usize];
        partition.of_tokens(self.layout, cell.key, tokens, take)
    }

    /// Returns the probability that a key that is not there is found in a frozen table, or a little more.
    pub(crate) fn false_match(&self) -> Result<f64, Error> {
        let used = self.partitions.iter().map(|partition| partition.used(self.layout));
        Ok(used.sum::<Result<f64, Error>>()? / PARTITIONS as f64)
    }

    /// Calls `take` with the tokens that share a cell's key, whatever its own token, and their counts.
    pub(crate) fn each_token(&self, cell: Cell, take: impl FnMut(u32, i64)) -> Result<(), Error> {
        if let Some(fetched) = &self.fetched {
            fetched.each_token(cell, take);
            return Ok(());
        }
        self.partitions[cell.partition as usize].each_token(self.layout, cell.key, take)
    }
}

/// How often contexts of a slot were followed by a token once, twice, three times and four times.
pub(crate) type Histogram = [i64; 4];

/// Everything that a memory counts.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) unigrams: Arc<Vec<i64>>,
    pub(crate) tables: [Table; TableKind::ALL.len()],
    /// Derived: the number of different tokens (or the boundary) that each token has followed.
    pub(crate) continuations: Arc<Vec<i64>>,
    /// Derived, one a slot.
    pub(crate) histograms: Vec<Histogram>,
    /// The slot of each number in keys, table by table.
    slots: [SlotsByNumber; TableKind::ALL.len()],
    /// Leaves of unigrams that changed: see [`super::digest`].
    pub(crate) changed: Vec<bool>,
}

/// The slots of the numbers in the keys of a table; what no slot has is a slot that does not exist.
type SlotsByNumber = [u8; MOST_SLOTS];

/// Returns the slots of the numbers in the keys of each table.
fn slots_by_number(settings: &Settings) -> [SlotsByNumber; TableKind::ALL.len()] {
    let mut slots = [[u8::MAX; MOST_SLOTS]; TableKind::ALL.len()];
    for (slot, number) in settings.numbers().unwrap_or_default().into_iter().enumerate() {
        slots[settings.table(slot) as usize][number] = slot as u8;
    }
    slots
}

/// Unigrams in one leaf of the digest.
pub(crate) const UNIGRAM_LEAF: usize = 1024;

impl Tables {
    pub(crate) fn new(settings: &Settings) -> Self {
        let n = settings.vocabulary as usize;
        Tables {
            unigrams: Arc::new(vec![0; n]),
            tables: TableKind::ALL.map(|kind| Table::new(entry_layout(settings, kind))),
            continuations: Arc::new(vec![0; n]),
            histograms: vec![Histogram::default(); settings.all_slots()],
            slots: slots_by_number(settings),
            changed: vec![false; n.div_ceil(UNIGRAM_LEAF)],
        }
    }

    pub(crate) fn table(&self, kind: TableKind) -> &Table {
        &self.tables[kind as usize]
    }

    /// Returns the slot of a key of a table; `None` if it is of a fact.
    #[inline(always)]
    pub(crate) fn slot(&self, kind: TableKind, key: u32) -> Option<usize> {
        let number = if kind == TableKind::Pairs { 0 } else { Keys::number(key) };
        let slot = usize::from(self.slots[kind as usize][number]);
        (slot < self.histograms.len()).then_some(slot)
    }

    /// Has partitions that are restored read as those of a frozen memory.
    pub(crate) fn freeze(&mut self) {
        for table in &mut self.tables {
            table.layout = table.layout.frozen();
        }
    }

    /// Puts partitions that are read later in the place of empty ones.
    pub(crate) fn restore(
        &mut self,
        kind: TableKind,
        partition: usize,
        section: Arc<dyn Section>,
        large: Vec<LargeCount>,
    ) {
        self.tables[kind as usize].partitions[partition] = Partition::lazy(section, large);
    }

    pub(crate) fn add_unigrams(&mut self, tokens: &[u32], weight: i64) {
        if tokens.is_empty() {
            return;
        }
        let unigrams = Arc::make_mut(&mut self.unigrams);
        for &token in tokens {
            unigrams[token as usize] += weight;
            self.changed[token as usize / UNIGRAM_LEAF] = true;
        }
    }

    /// Adds `weight` for each cell in the lists of a table. Bytes of files must have been verified.
    pub(crate) fn add(
        &mut self,
        kind: TableKind,
        lists: &[&Sorted],
        weight: i64,
        settle: bool,
    ) -> Result<(), Error> {
        let Table { layout, partitions, .. } = &mut self.tables[kind as usize];
        let (layout, empty) = (*layout, (self.slots[kind as usize], self.histograms.len()));
        let buffers = <(Vec<u64>, Vec<u64>, Vec<(u64, i64)>)>::default;
        let partitions = partitions.par_iter_mut().enumerate();
        let changed = partitions.map_init(buffers, |(ranks, aside, changes), (p, partition)| {
            ranks.clear();
            lists.iter().for_each(|list| ranks.extend_from_slice(list.partition(p)));
            sort(ranks, aside);
            let same = ranks.chunk_by(|a, b| a == b);
            changes.clear();
            changes.extend(same.map(|same| (same[0], weight.wrapping_mul(same.len() as i64))));
            let mut derived = Derived::new(kind, layout, empty);
            partition.add(layout, changes, settle, |rank, before, after| {
                derived.count(rank, before, after);
            })?;
            Ok(derived)
        });
        let changed: Vec<Derived> = changed.collect::<Result<_, Error>>()?;
        changed.into_iter().for_each(|derived| self.derive(derived));
        Ok(())
    }

    /// Adds all counts of other tables.
    pub(crate) fn merge(&mut self, other: &Tables) -> Result<(), Error> {
        for table in self.tables.iter().chain(&other.tables) {
            table.partitions.par_iter().try_for_each(Partition::verify)?;
        }
        for (token, &count) in other.unigrams.iter().enumerate().filter(|(_, count)| **count != 0) {
            self.add_unigrams(&[token as u32], count);
        }
        for kind in TableKind::ALL {
            let layout = self.table(kind).layout;
            let empty = (self.slots[kind as usize], self.histograms.len());
            let partitions = self.tables[kind as usize].partitions.par_iter_mut();
            let merged = partitions.zip(&other.table(kind).partitions).map(|(mine, theirs)| {
                let mut changes = Vec::new();
                theirs.each(layout, |rank, count| changes.push((rank, count)))?;
                let mut derived = Derived::new(kind, layout, empty);
                mine.add(layout, &changes, true, |rank, before, after| {
                    derived.count(rank, before, after);
                })?;
                Ok(derived)
            });
            let merged: Vec<Derived> = merged.collect::<Result<_, Error>>()?;
            merged.into_iter().for_each(|derived| self.derive(derived));
        }
        Ok(())
    }

    /// Counts what is derived from the tables anew.
    pub(crate) fn derive_all(&mut self) -> Result<(), Error> {
        Arc::make_mut(&mut self.continuations).fill(0);
        self.histograms.fill(Histogram::default());
        for kind in TableKind::ALL {
            let Table { layout, partitions, .. } = self.table(kind);
            let (layout, empty) = (*layout, (self.slots[kind as usize], self.histograms.len()));
            let counted = partitions.par_iter().map(|partition| {
                let mut derived = Derived::new(kind, layout, empty);
                partition.each(layout, |rank, count| derived.count(rank, 0, count))?;
                Ok(derived)
            });
            let counted: Vec<Derived> = counted.collect::<Result<_, Error>>()?;
            counted.into_iter().for_each(|derived| self.derive(derived));
        }
        Ok(())
    }

    fn derive(&mut self, Derived { continuations, histograms, .. }: Derived) {
        if !continuations.is_empty() {
            let counts = Arc::make_mut(&mut self.continuations);
            for (token, step) in continuations {
                // A damaged table could name a token that does not exist.
                if let Some(count) = counts.get_mut(token as usize) {
                    *count += step;
                }
            }
        }
        for (mine, more) in self.histograms.iter_mut().zip(histograms) {
            mine.iter_mut().zip(more).for_each(|(mine, more)| *mine += more);
        }
    }

    pub(crate) fn set_changed(&mut self, changed: bool) {
        for table in &mut self.tables {
            table.partitions.iter_mut().for_each(|partition| partition.set_changed(changed));
        }
        self.changed.fill(changed);
    }

    /// Returns how many entries there are.
    pub(crate) fn entries(&self) -> u64 {
        let each = |table: &Table| {
            let lens = table.partitions.iter().map(|partition| partition.len(table.layout));
            lens.map(|len| len.unwrap_or(0) as u64).sum::<u64>()
        };
        self.tables.iter().map(each).sum()
    }

    /// Returns the bytes that tables take.
    pub(crate) fn held(&self) -> usize {
        let tables = self.tables.iter().flat_map(|table| &table.partitions);
        tables.map(Partition::held).sum::<usize>()
    }
}

/// Returns how the entries of a table are laid out.
fn entry_layout(settings: &Settings, kind: TableKind) -> EntryLayout {
    let bits = |symbols: u32| u32::BITS - (symbols - 1).leading_zeros();
    match kind {
        TableKind::Pairs => EntryLayout::new(PAIR_BITS, bits(settings.vocabulary)),
        TableKind::Successors => EntryLayout::new(KEY_BITS, bits(settings.symbols())),
        TableKind::Events => EntryLayout::new(KEY_BITS, 0).grouped(settings.grouped),
    }
}

/// What changes of entries do to what is derived from them.
struct Derived {
    kind: TableKind,
    layout: EntryLayout,
    slots: SlotsByNumber,
    continuations: Vec<(u32, i64)>,
    histograms: Vec<Histogram>,
}

impl Derived {
    fn new(kind: TableKind, layout: EntryLayout, (slots, n): (SlotsByNumber, usize)) -> Self {
        let histograms = vec![Histogram::default(); n];
        Derived { kind, layout, slots, continuations: Vec::new(), histograms }
    }

    #[inline(always)]
    fn count(&mut self, rank: u64, before: i64, after: i64) {
        let (key, token) = self.layout.parts(rank);
        let number = if self.kind == TableKind::Pairs { 0 } else { Keys::number(key) };
        if let Some(histogram) = self.histograms.get_mut(usize::from(self.slots[number])) {
            for (count, step) in [(before, -1), (after, 1)] {
                if (1..=4).contains(&count) {
                    histogram[count as usize - 1] += step;
                }
            }
        }
        let step = i64::from(after > 0) - i64::from(before > 0);
        if self.kind == TableKind::Pairs && step != 0 {
            self.continuations.push((token, step));
        }
    }
}

/// Digits of ranks that are sorted by at once: their counts fit in the first cache.
const DIGIT_BITS: u32 = 11;

/// Sorts ranks, of which many are faster distributed digit by digit, from the lowest on, than compared.
fn sort(ranks: &mut Vec<u64>, aside: &mut Vec<u64>) {
    if ranks.len() < 1 << DIGIT_BITS {
        return ranks.sort_unstable();
    }
    let bits = u64::BITS - ranks.iter().fold(0, |all, rank| all | rank).leading_zeros();
    aside.clear();
    aside.resize(ranks.len(), 0);
    for shift in (0..bits).step_by(DIGIT_BITS as usize) {
        let digit = |rank: u64| (rank >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut places = [0u32; 1 << DIGIT_BITS];
        ranks.iter().for_each(|&rank| places[digit(rank)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &rank in &*ranks {
            let place = &mut places[digit(rank)];
            aside[*place as usize] = rank;
            *place += 1;
        }
        std::mem::swap(ranks, aside);
    }
}

/// Cells sorted by partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    ranks: Vec<u64>,
    starts: Vec<u32>,
}

impl Sorted {
    /// Sorts the cells of some partitions by partition.
    pub(crate) fn sort(&mut self, layout: EntryLayout, cells: &[Cell], partitions: &Range<usize>) {
        let cells = || cells.iter().filter(|cell| partitions.contains(&(cell.partition as usize)));
        self.starts.clear();
        self.starts.resize(PARTITIONS + 1, 0);
        for cell in cells() {
            self.starts[cell.partition as usize + 1] += 1;
        }
        for p in 1..self.starts.len() {
            self.starts[p] += self.starts[p - 1];
        }
        let mut next = self.starts.clone();
        self.ranks.resize(next[PARTITIONS] as usize, 0);
        for cell in cells() {
            let place = &mut next[cell.partition as usize];
            self.ranks[*place as usize] = layout.rank(cell.key, cell.token);
            *place += 1;
        }
    }

    pub(crate) fn partition(&self, p: usize) -> &[u64] {
        &self.ranks[self.starts[p] as usize..self.starts[p + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn ranks_are_sorted_as_by_comparing() {
        let mut draws = Stream::new(1, Purpose::Sampling, 0).draws();
        let mut aside = Vec::new();
        for (len, bits) in [(0, 1), (100, 44), (2_048, 1), (3_000, 28), (20_000, 44), (5_000, 63)] {
            let mut ranks: Vec<u64> = (0..len).map(|_| draws.word() >> (64 - bits)).collect();
            let mut compared = ranks.clone();
            compared.sort_unstable();
            sort(&mut ranks, &mut aside);
            assert_eq!(ranks, compared, "{len} ranks of {bits} bits");
        }
    }
}
