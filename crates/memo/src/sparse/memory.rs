//! The memory itself: making, changing and copying it. `read` reads it, `saved` restores it, `digest` hashes it.

use super::digest::{Digest, Digests};
use super::general::Members;
use super::keys::Keys;
use super::lists::SharedLists;
use super::prior::Prior;
use super::scope::Scope;
use super::settings::LexiconSettings;
use super::smoothing::{Smoothing, Weighing};
use super::tables::Tables;
use super::write::{Span, Writer};
use super::{Error, Settings};
use crate::lexicon::Lexicon;
use crate::words::Words;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A sparse memory: tables, and the keys that settings define. A clone shares what neither of the two changes afterwards.
///
/// ```
/// use memo::sparse::{Memory, Settings};
/// let mut memory = Memory::new(Settings::new(100, 99, 7)?)?;
/// let empty = memory.digest()?;
/// memory.memorize(&[1, 2, 3, 4, 5])?;
/// memory.forget(&[1, 2, 3, 4, 5])?;
/// assert_eq!(memory.digest()?, empty);
/// # Ok::<(), memo::sparse::Error>(())
/// ```
#[derive(Clone)]
pub struct Memory {
    settings: Arc<Settings>,
    pub(super) keys: Arc<Keys>,
    words: Option<Arc<Words>>,
    pub(super) tables: Tables,
    pub(super) digests: Digests,
    pub(super) prior: OnceLock<Arc<Prior>>,
    smoothing: OnceLock<Arc<Smoothing>>,
    /// By level of the lexicon.
    members: OnceLock<Arc<Vec<Members>>>,
    lists: Arc<SharedLists>,
    /// The digest of the memory that was frozen, if this is what was made of it.
    pub(super) frozen: Option<Digest>,
    /// The number of its state, which no other has in this process.
    stamp: u64,
}

/// The number of the next state of any memory.
static STAMP: AtomicU64 = AtomicU64::new(1);

/// Bytes that a memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Counts of the vocabulary's tokens.
    pub vocabulary: usize,
    /// Tables, in memory or mapped.
    pub tables: usize,
}

impl MemoryUsage {
    /// Returns their sum.
    pub fn total(&self) -> usize {
        self.vocabulary + self.tables
    }
}

impl Memory {
    /// Makes an empty memory without contexts of words.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        Self::with_words(settings, None)
    }

    /// Makes an empty memory; `words` are those of the vocabulary, which settings with contexts of words need.
    pub fn with_words(settings: Settings, words: Option<Arc<Words>>) -> Result<Self, Error> {
        settings.check()?;
        if words.is_none() && settings.needs_words() {
            return Err(Error::Words);
        }
        let lexicon = words.as_ref().and_then(|words| words.lexicon());
        if lexicon.map(|lexicon| LexiconSettings::of(lexicon)) != settings.lexicon {
            return Err(Error::Lexicon);
        }
        let words = words.filter(|_| settings.needs_words());
        Ok(Memory {
            keys: Arc::new(Keys::new(&settings)),
            tables: Tables::new(&settings),
            digests: Digests::new(&settings),
            prior: OnceLock::new(),
            smoothing: OnceLock::new(),
            members: OnceLock::new(),
            lists: Arc::default(),
            frozen: None,
            stamp: STAMP.fetch_add(1, Ordering::Relaxed),
            settings: Arc::new(settings),
            words,
        })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the words of the vocabulary, if there are contexts of words.
    pub fn words(&self) -> Option<&Arc<Words>> {
        self.words.as_ref()
    }

    /// Memorizes a document. The end token is added by the memory.
    pub fn memorize(&mut self, document: &[u32]) -> Result<(), Error> {
        self.write(&[Span::whole(document, 1)])
    }

    /// Forgets a document: exactly undoes memorizing it, whatever came in between.
    pub fn forget(&mut self, document: &[u32]) -> Result<(), Error> {
        self.write(&[Span::whole(document, -1)])
    }

    /// Refuses spans that [`Memory::write`] would refuse, damaged bytes aside.
    pub fn check(&self, spans: &[Span<'_>]) -> Result<(), Error> {
        spans.iter().try_for_each(|span| span.check(&self.settings))
    }

    /// Adds spans of documents with their weights, many at once. If it fails, nothing has changed: spans, and the bytes of files
    /// that they need, are checked first.
    pub fn write(&mut self, spans: &[Span<'_>]) -> Result<(), Error> {
        self.write_within(&Scope::EVERYTHING, spans)
    }

    /// Writes what [`Memory::write`] would write, but only within a scope; the rest of the memory stays as it is. A memory that is
    /// larger than RAM is made scope by scope.
    pub fn write_within(&mut self, scope: &Scope, spans: &[Span<'_>]) -> Result<(), Error> {
        self.check(spans)?;
        if self.is_frozen() {
            return Err(Error::Frozen);
        }
        self.begin_change();
        let Memory { settings, keys, words, tables, .. } = self;
        Writer { settings, keys, words: words.as_deref(), tables, scope }.write(spans)
    }

    /// Adds what another memory of the same settings has memorized.
    pub fn merge(&mut self, other: &Memory) -> Result<(), Error> {
        let (a, b) = (&self.settings, &other.settings);
        let differs = [
            (a.vocabulary != b.vocabulary, "the vocabulary"),
            (a.end != b.end, "the end token"),
            (a.seed != b.seed, "the seed"),
            (a.tokens != b.tokens || a.words != b.words, "the contexts in use"),
            (a.lexicon != b.lexicon, "the lexicon"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            return Err(Error::Merge(what));
        }
        if self.is_frozen() || other.is_frozen() {
            return Err(Error::Frozen);
        }
        self.begin_change();
        self.tables.merge(&other.tables)
    }

    /// Returns whether the memory is frozen: packed to be read only ([`Memory::frozen_partition`]).
    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Returns the bytes that the memory takes.
    pub fn usage(&self) -> MemoryUsage {
        let vocabulary = (self.tables.unigrams.len() + self.tables.continuations.len()) * 8;
        MemoryUsage { vocabulary, tables: self.tables.held() }
    }

    /// Returns how many cells are not zero.
    pub fn cells(&self) -> u64 {
        self.tables.entries()
    }

    /// Returns how many next tokens were memorized, ends included.
    pub fn positions(&self) -> i64 {
        self.tables.unigrams.iter().sum()
    }

    /// Returns how often each token was memorized as a next token.
    pub fn unigrams(&self) -> &[i64] {
        &self.tables.unigrams
    }

    /// Has all bytes of files checked, and that entries are in order.
    pub fn verify(&self) -> Result<(), Error> {
        for table in &self.tables.tables {
            table.partitions.par_iter().try_for_each(|partition| partition.check(table.layout))?;
        }
        Ok(())
    }

    /// Returns the number of the memory's state. A clone has the same, until one of the two is changed.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Returns the lists that all who read this state share.
    pub(super) fn lists(&self) -> &SharedLists {
        &self.lists
    }

    /// Returns what is expected before any context is read, derived from the tables when first needed.
    pub(crate) fn prior(&self) -> &Prior {
        self.prior.get_or_init(|| Arc::new(Prior::new(&self.tables.continuations)))
    }

    /// Returns how the successors of a context count in running text; `first` is its first token, unless it begins before a
    /// document or is one of words.
    pub(crate) fn weighing(&self, slot: usize, first: Option<u32>) -> Weighing {
        let (settings, tables) = (&self.settings, &self.tables);
        let made = self.smoothing.get_or_init(|| Arc::new(Smoothing::new(settings, tables)));
        made.weighing(settings, slot, first)
    }

    /// Returns the lexicon, if there is one, with the words of the vocabulary.
    pub(crate) fn lexicon(&self) -> Option<(&Words, &Lexicon)> {
        let words = self.words.as_deref()?;
        Some((words, words.lexicon()?))
    }

    /// Returns the members of the classes of a level of the lexicon.
    pub(crate) fn members(&self, level: usize) -> Result<&Members, Error> {
        if let Some(made) = self.members.get() {
            return Ok(&made[level]);
        }
        let prior = &self.prior().p;
        let of = |level| Members::new(&self.settings, &self.keys, &self.tables, prior, level);
        let made = (0..self.settings.levels()).map(of).collect::<Result<_, Error>>()?;
        let made = self.members.get_or_init(|| Arc::new(made));
        Ok(&made[level])
    }

    /// Gives the state another number: what was derived from the old one is derived anew.
    pub(super) fn stamp_anew(&mut self) {
        // Of a memory that is elsewhere, they may have been read in part.
        self.members = OnceLock::new();
        self.lists = Arc::default();
        self.stamp = STAMP.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_changed(&mut self, changed: bool) {
        self.tables.set_changed(changed);
    }

    /// Begins a change: drops what was derived from the contents.
    pub(super) fn begin_change(&mut self) {
        self.prior = OnceLock::new();
        self.smoothing = OnceLock::new();
        self.stamp_anew();
        if self.digests.begin_change() {
            self.set_changed(false);
        }
    }
}
