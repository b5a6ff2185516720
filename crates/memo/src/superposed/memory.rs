//! The memory itself: making, changing and copying it. `lookup` reads it, `digest` hashes it.

use super::cells::Cells;
use super::codes::Codes;
use super::keys::Keys;
use super::prior::Prior;
use super::storage::Ram;
use super::tables::Tables;
use super::write::Writer;
use super::{Error, Settings, Span};
use std::sync::{Arc, OnceLock};

/// A superposed memory: cells and tables, and the keys and codes that settings define.
///
/// ```
/// use memo::superposed::{Memory, Settings, Shape};
/// let settings = Settings::new(100, 99, 7, &Shape::default(), 1 << 20)?;
/// let mut memory = Memory::new(settings)?;
/// let empty = memory.digest();
/// memory.memorize(&[1, 2, 3, 4, 5])?;
/// memory.forget(&[1, 2, 3, 4, 5])?;
/// assert_eq!(memory.digest(), empty);
/// # Ok::<(), memo::superposed::Error>(())
/// ```
pub struct Memory {
    settings: Settings,
    pub(crate) keys: Keys,
    pub(crate) codes: Vec<Arc<Codes>>,
    pub(crate) cells: Cells,
    pub(crate) tables: Tables,
    pub(super) prior: OnceLock<Prior>,
    /// What is expected if not even the tables are asked: every token alike.
    pub(super) even: OnceLock<Prior>,
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
    /// Of these, pairs.
    pub pairs: usize,
    /// Of these, totals.
    pub totals: usize,
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
        let cells = Ram::new(Cells::len(&settings))?;
        Self::with_cells(settings, cells)
    }

    /// Makes a memory of other cells, as many as [`Memory::cells`] of these settings, and of empty tables: what is left of a memory
    /// if its cells are changed.
    pub fn with_cells(settings: Settings, cells: Ram) -> Result<Self, Error> {
        settings.check()?;
        let keys = Keys::new(&settings);
        let codes = Codes::of(&settings);
        let cells = Cells::new(&settings, cells)?;
        let tables = Tables::new(settings.vocabulary);
        Ok(Memory {
            settings,
            keys,
            codes,
            cells,
            tables,
            prior: OnceLock::new(),
            even: OnceLock::new(),
        })
    }

    /// Returns all cells, slots one after another.
    pub fn cells(&self) -> &[u8] {
        self.cells.bytes()
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

    /// Refuses spans that [`Memory::write`] would refuse.
    pub fn check(&self, spans: &[Span<'_>]) -> Result<(), Error> {
        let Settings { vocabulary, end, .. } = self.settings;
        let reach = self.settings.reach();
        spans.iter().try_for_each(|span| span.check_tokens(vocabulary, end, reach))
    }

    /// Adds spans of documents with their weights, many at once. If it fails, nothing has changed: spans are checked first.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.check(spans)?;
        self.begin_change();
        let Memory { settings, keys, codes, cells, tables, .. } = self;
        Writer { settings, keys, codes, cells, tables }.write(spans);
        Ok(())
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
        self.cells.merge(&other.cells);
        self.tables.merge(&other.tables);
        Ok(())
    }

    /// Returns the bytes that the memory takes.
    pub fn usage(&self) -> MemoryUsage {
        let (cells, wide) = self.cells.held();
        let Tables { unigrams, continuations, pairs, totals, .. } = &self.tables;
        let (pairs, totals) = (pairs.held(), totals.held());
        let tables = (unigrams.len() + continuations.len()) * 8 + pairs + totals;
        MemoryUsage { cells, wide, tables, pairs, totals }
    }

    /// Returns how many next tokens were memorized, ends included.
    pub fn positions(&self) -> i64 {
        self.tables.unigrams.iter().sum()
    }

    /// Returns how often each token was memorized as a next token.
    pub fn unigrams(&self) -> &[i64] {
        &self.tables.unigrams
    }

    /// Begins a change: drops what was derived from the contents.
    pub(super) fn begin_change(&mut self) {
        self.prior = OnceLock::new();
    }
}
