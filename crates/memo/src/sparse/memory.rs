//! The memory itself: making, changing and copying it. `lookup` reads it, `saved` restores it, `digest` hashes it.

use super::cells::Cells;
use super::codes::Codes;
use super::digest::Digests;
use super::keys::Keys;
use super::prior::Prior;
use super::scope::Scope;
use super::storage::{Ram, Storage};
use super::tables::Tables;
use super::write::{Span, Writer};
use super::{Error, Settings};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

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
    pub(super) prior: OnceLock<Prior>,
    /// Called with the key of each pair that a read-out looks up in vain.
    pub(super) on_absent_pair: Option<Box<dyn Fn(u64) + Send + Sync>>,
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
    /// Returns their sum.
    pub fn total(&self) -> usize {
        self.cells + self.wide + self.tables
    }
}

impl Memory {
    /// Makes an empty memory in RAM.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let storage = Ram::new(Cells::len(&settings))?;
        Self::with_storage(settings, Box::new(storage))
    }

    /// Makes an empty memory over storage of [`Memory::storage_len`] bytes that are all zero.
    pub fn with_storage(settings: Settings, storage: Box<dyn Storage>) -> Result<Self, Error> {
        settings.check()?;
        let keys = Keys::new(&settings);
        let codes = Codes::of(&settings);
        let cells = Cells::new(&settings, storage)?;
        let tables = Tables::new(settings.vocabulary);
        let digests = Digests::new(&settings);
        let prior = OnceLock::new();
        Ok(Memory { settings, keys, codes, cells, tables, digests, prior, on_absent_pair: None })
    }

    /// Returns the bytes of storage that settings need.
    pub fn storage_len(settings: &Settings) -> usize {
        Cells::len(settings)
    }

    /// Returns the settings.
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

    /// Refuses spans that [`Memory::write`] would refuse, damaged storage aside.
    pub fn check(&self, spans: &[Span<'_>]) -> Result<(), Error> {
        spans.iter().try_for_each(|span| span.check(&self.settings))
    }

    /// Adds spans of documents with their weights, many at once. If it fails, nothing has changed: spans, and the pages of guarded
    /// storage that they need, are checked first.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.write_within(&Scope::EVERYTHING, spans)
    }

    /// Writes what [`Memory::write`] would write, but only within a scope; the rest of the memory stays as it is. A memory that is
    /// larger than RAM is made scope by scope: cells that nothing is written to take no memory.
    pub fn write_within(&mut self, scope: &Scope, spans: &[Span<'_>]) -> Result<(), Error> {
        self.check(spans)?;
        self.begin_change();
        let Memory { settings, keys, codes, cells, tables, .. } = self;
        Writer { settings, keys, codes, cells, tables, scope }.write(spans)
    }

    /// Adds what another memory of the same settings has memorized.
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

    /// Returns the bytes that the memory takes.
    pub fn usage(&self) -> MemoryUsage {
        let (cells, wide) = self.cells.held();
        let Tables { unigrams, continuations, pairs, totals, .. } = &self.tables;
        let tables = (unigrams.len() + continuations.len()) * 8 + pairs.held() + totals.held();
        MemoryUsage { cells, wide, tables }
    }

    /// Returns how many next tokens were memorized, ends included.
    pub fn positions(&self) -> i64 {
        self.tables.unigrams.iter().sum()
    }

    /// Returns how often each token was memorized as a next token.
    pub fn unigrams(&self) -> &[i64] {
        &self.tables.unigrams
    }

    /// Has guarded storage check all pages that it has not checked yet.
    pub fn verify_cells(&self) -> Result<(), Error> {
        let pages = (0..self.cells.pages()).into_par_iter();
        pages.try_for_each(|page| self.cells.verify_page(page))
    }

    /// Copies the cells of guarded storage into RAM, after which writes need not be checked. That pays before large writes.
    pub fn own_cells(&mut self) -> Result<(), Error> {
        if !self.cells.guarded() {
            return Ok(());
        }
        self.verify_cells()?;
        let own = Ram::copy(self.cells.bytes())?;
        self.cells.replace_storage(Box::new(own));
        Ok(())
    }

    /// Copies a memory whose cells are in RAM. Returns `None` if storage is guarded: what it is mapped from can be mapped again.
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
            on_absent_pair: None,
        }))
    }

    pub(super) fn set_changed(&mut self, changed: bool) {
        self.cells.set_changed(changed);
        self.tables.set_changed(changed);
    }

    /// Begins a change: drops what was derived from the contents.
    pub(super) fn begin_change(&mut self) {
        self.prior = OnceLock::new();
        if self.digests.begin_change() {
            self.set_changed(false);
        }
    }
}
