//! The memory itself: what can be done with it, apart from reading.

use super::cells::Cells;
use super::codes::Codes;
use super::digest::{Digests, Leaves};
use super::keys::{Blocks, Keys};
use super::scope::Scope;
use super::settings::Counted;
use super::storage::{Ram, Storage};
use super::table::{PARTS, Part, Table};
use super::tables::{Tables, pair_key, total_key};
use super::write::{Span, Writer};
use super::{Error, Settings};
use crate::sparse::prior::Prior;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A sparse memory: cells and tables, and the keys and codes that settings define.
///
/// ```
/// use memo::sparse::{Memory, Settings, Shape, Size};
/// let settings = Settings::new(100, 99, 7, &Shape::default(), Size::Parameters(1 << 20))?;
/// let mut memory = Memory::new(settings)?;
/// let empty = memory.digest()?;
/// memory.memorize(&[1, 2, 3, 4, 5])?;
/// memory.forget(&[1, 2, 3, 4, 5])?;
/// assert_eq!(memory.digest()?, empty);
/// # Ok::<(), memo::sparse::Error>(())
/// ```
pub struct Memory {
    settings: Settings,
    pub(crate) keys: Keys,
    pub(crate) codes: Vec<Arc<Codes>>,
    pub(crate) cells: Cells,
    pub(crate) tables: Tables,
    pub(super) digests: Digests,
    prior: OnceLock<Prior>,
    /// Of a memory that others hold: which pairs are here, and which were asked for and are not.
    pub(super) partial: Option<Partial>,
}

/// Pairs that a memory knows, and those that reading it has asked for in vain.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) known: HashSet<u64>,
    pub(super) asked: Mutex<HashSet<u64>>,
}

/// One of the counts that a total is the sum of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Token(u32),
    Pair(u64),
    Total(u64),
}

/// Bytes that a memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Cells, one byte each.
    pub cells: usize,
    /// Rows that need more than a byte a cell.
    pub wide: usize,
    /// Unigrams, pairs and totals.
    pub tables: usize,
}

impl MemoryUsage {
    /// All of them.
    pub fn total(&self) -> usize {
        self.cells + self.wide + self.tables
    }
}

/// Which table of pairs or totals a checkpoint reads or restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Counts of (token, next token) pairs.
    Pairs,
    /// Totals of longer contexts.
    Totals,
}

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
    /// An empty memory in RAM.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let storage = Ram::new(Cells::len(&settings))?;
        Self::with_storage(settings, Box::new(storage))
    }

    /// A memory over storage of [`Memory::storage_len`] bytes that are all zero.
    pub fn with_storage(settings: Settings, storage: Box<dyn Storage>) -> Result<Self, Error> {
        settings.check()?;
        let keys = Keys::new(&settings);
        let codes = Codes::of(&settings);
        let cells = Cells::new(&settings, storage)?;
        let tables = Tables::new(settings.vocabulary);
        let digests = Digests::new(&settings);
        let prior = OnceLock::new();
        Ok(Memory { settings, keys, codes, cells, tables, digests, prior, partial: None })
    }

    /// Bytes of storage that settings need.
    pub fn storage_len(settings: &Settings) -> usize {
        Cells::len(settings)
    }

    /// What this memory is made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Memorizes a document. The end token is added by the memory.
    pub fn memorize(&mut self, document: &[u32]) -> Result<(), Error> {
        self.write(&[Span::whole(document, 1)])
    }

    /// Forgets a document: exactly undoes memorizing it, whatever came in between.
    pub fn forget(&mut self, document: &[u32]) -> Result<(), Error> {
        self.write(&[Span::whole(document, -1)])
    }

    /// Says what is wrong with spans that [`Memory::write`] would refuse.
    pub fn check(&self, spans: &[Span<'_>]) -> Result<(), Error> {
        spans.iter().try_for_each(|span| span.check(&self.settings))
    }

    /// Adds spans of documents with their weights, many at once. If it fails, nothing has changed: spans, and the pages that
    /// they need of guarded storage, are checked first.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.write_within(&Scope::EVERYTHING, spans)
    }

    /// Writes only what of [`Memory::write`] is within a scope. The memory is then right there, and nowhere else: for
    /// making one that is larger than RAM, scope by scope. Memory that nothing is written to is not taken.
    pub fn write_within(&mut self, scope: &Scope, spans: &[Span<'_>]) -> Result<(), Error> {
        self.check(spans)?;
        self.begin_change();
        let Memory { settings, keys, codes, cells, tables, .. } = self;
        Writer { settings, keys, codes, cells, tables, scope }.write(spans)
    }

    /// Adds all that another memory of the same settings has memorized.
    pub fn merge(&mut self, other: &Memory) -> Result<(), Error> {
        let (a, b) = (&self.settings, &other.settings);
        let differs = [
            (a.vocabulary != b.vocabulary, "the vocabulary"),
            (a.end != b.end, "the end token"),
            (a.seed != b.seed, "the seed"),
            (a.heads != b.heads, "the number of heads"),
            (a.slots != b.slots, "the slots or their sizes"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            return Err(Error::Merge(what));
        }
        self.begin_change();
        self.cells.merge(&other.cells)?;
        self.tables.merge(&other.tables);
        Ok(())
    }

    /// Bytes held.
    pub fn usage(&self) -> MemoryUsage {
        let (cells, wide) = self.cells.held();
        let Tables { unigrams, continuations, pairs, totals, .. } = &self.tables;
        let tables = (unigrams.len() + continuations.len()) * 8 + pairs.held() + totals.held();
        MemoryUsage { cells, wide, tables }
    }

    /// Next tokens memorized in all, ends included.
    pub fn positions(&self) -> i64 {
        self.tables.unigrams.iter().sum()
    }

    /// How often each token was memorized as a next token.
    pub fn unigrams(&self) -> &[i64] {
        &self.tables.unigrams
    }

    /// The cells' bytes, for a checkpoint.
    pub fn cells(&self) -> &[u8] {
        self.cells.bytes()
    }

    /// Has guarded storage check all cells that were not read yet.
    pub fn verify_cells(&self) -> Result<(), Error> {
        let pages = (0..self.cells.pages()).into_par_iter();
        pages.try_for_each(|page| self.cells.verify_page(page))
    }

    /// Copies cells that are mapped, and must be checked, into memory of this process: after that, writing all over them
    /// is as fast as the engine can.
    pub fn own_cells(&mut self) -> Result<(), Error> {
        if !self.cells.guarded() {
            return Ok(());
        }
        self.verify_cells()?;
        let own = Ram::copy(self.cells.bytes())?;
        self.cells.replace_storage(Box::new(own));
        Ok(())
    }

    /// Another memory with the same contents, if the cells are in RAM. Mapped ones are not copied: what they are mapped
    /// from can be mapped again.
    pub fn copied(&self) -> Result<Option<Self>, Error> {
        let Some(cells) = self.cells.copied()? else { return Ok(None) };
        let Memory { settings, keys, codes, tables, digests, prior, .. } = self;
        Ok(Some(Memory {
            settings: settings.clone(),
            keys: keys.clone(),
            codes: codes.clone(),
            cells,
            tables: tables.clone(),
            digests: digests.clone(),
            prior: prior.clone(),
            partial: None,
        }))
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
            if slot >= memory.settings.slots.len() {
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

    fn set_changed(&mut self, changed: bool) {
        self.cells.set_changed(changed);
        self.tables.set_changed(changed);
    }

    /// Begins a change: drops what was derived from the contents.
    fn begin_change(&mut self) {
        self.prior = OnceLock::new();
        if self.digests.begin_change() {
            self.set_changed(false);
        }
    }

    /// How often the block of a slot occurred, given its key; `context` ends where the slot's prediction begins, and
    /// `blocks` are those of its tokens from `first` on.
    fn total(&self, slot: usize, key: u64, context: &[u32], blocks: (&Blocks, usize)) -> i64 {
        let mut total = 0;
        self.counts(slot, key, context, blocks, &mut |count| {
            total += match count {
                Count::Token(token) => self.tables.unigrams[token as usize],
                Count::Pair(key) => self.tables.pairs.get(key),
                Count::Total(key) => self.tables.totals.get(key),
            }
        });
        total
    }

    /// The counts that [`Memory::total`] is the sum of.
    fn counts(
        &self,
        slot: usize,
        key: u64,
        context: &[u32],
        (blocks, first): (&Blocks, usize),
        tell: &mut dyn FnMut(Count),
    ) {
        tell(Count::Total(total_key(key)));
        match (self.settings.counted(slot), context) {
            (Counted::WithTokens, [.., last]) => tell(Count::Token(*last)),
            (Counted::WithPairs, [before @ .., last]) => {
                let before = before.last().copied().unwrap_or(super::keys::BOUNDARY);
                tell(Count::Pair(pair_key(before, *last)));
            }
            (Counted::WithNewest(newest), _) => {
                let end = context.len() - self.settings.slots[slot].skip as usize;
                if let Some(key) = self.keys.key(blocks, newest, end - first) {
                    self.counts(newest, key, &context[..end], (blocks, first), tell);
                }
            }
            _ => (),
        }
    }

    /// All counts that reading a context begins with.
    pub(super) fn counts_of(&self, context: &[u32], tell: &mut dyn FnMut(Count)) {
        let first = context.len().saturating_sub(self.settings.reach() + 1);
        let mut blocks = Blocks::default();
        self.keys.blocks(&context[first..], &mut blocks);
        for slot in 0..self.settings.slots.len() {
            if let Some(key) = self.keys.key(&blocks, slot, context.len() - first) {
                self.counts(slot, key, context, (&blocks, first), tell);
            }
        }
    }

    /// How often a token followed the last token of a context, exactly.
    pub(crate) fn followed(&self, context: &[u32], token: u32) -> i64 {
        let last = context.last().copied().unwrap_or(super::keys::BOUNDARY);
        let key = pair_key(last, token);
        if let Some(partial) = self.partial.as_ref().filter(|partial| !partial.known.contains(&key))
        {
            partial.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        }
        self.tables.pairs.get(key)
    }

    /// Takes counts that other memories gave, in place of its own.
    pub(super) fn set_counts(&mut self, unigrams: Vec<i64>, continuations: Vec<i64>) {
        (self.tables.unigrams, self.tables.continuations) = (unigrams, continuations);
        self.prior = OnceLock::new();
    }

    /// Fetches what [`Memory::followed`] will look at.
    pub(crate) fn fetch_followed(&self, context: &[u32], token: u32) {
        let last = context.last().copied().unwrap_or(super::keys::BOUNDARY);
        self.tables.pairs.fetch(pair_key(last, token));
    }

    /// The part of a context that can matter: the tokens after the last end token, as far as slots reach.
    pub(crate) fn view<'a>(&self, context: &'a [u32]) -> Result<&'a [u32], Error> {
        self.settings.check_tokens(context)?;
        let own = context.iter().rposition(|&token| token == self.settings.end);
        Ok(&context[own.map_or(0, |end| end + 1)..])
    }

    /// For each slot, its key after the context and its total; `None` where the block lies before the start.
    pub(crate) fn totals(&self, context: &[u32], blocks: &mut Blocks) -> Vec<Option<(u64, i64)>> {
        let first = context.len().saturating_sub(self.settings.reach() + 1);
        self.keys.blocks(&context[first..], blocks);
        let slots = 0..self.settings.slots.len();
        let keyed = slots.map(|slot| {
            let key = self.keys.key(blocks, slot, context.len() - first)?;
            Some((key, self.total(slot, key, context, (blocks, first))))
        });
        keyed.collect()
    }

    /// What is expected before any context is read; derived from the tables when first needed.
    pub(crate) fn prior(&self) -> &Prior {
        self.prior.get_or_init(|| Prior::new(&self.tables.continuations))
    }
}
