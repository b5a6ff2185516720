//! Lexicons that are induced from text: words that stand between the same words are alike.
//!
//! [`UnitCounts`] counts which units of texts follow which, and [`UnitCounts::induce`] puts those that are frequent enough into classes. The same texts
//! make the same lexicon, bit for bit, whatever their order and the number of threads. It names the [digests](source_digest) of the texts, because it
//! says something about them: which words they have, and which of them have alike neighbours.

use super::exchange::{Bigrams, exchange};
use super::{Error, Lexicon, MAX_BYTES, source_digest};
use crate::words::{each_unit, normal_form};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;
use thiserror::Error;

/// The most classes that can be induced: their table of pairs takes 8 bytes for the square of their number.
pub const MAX_INDUCED: usize = 5_000;
/// The class of units that are too rare for one of their like. What follows a rare word is known from other rare words. No class that is named by its
/// members has this name, because they have spaces between them.
pub const RARE: &str = "(rare)";
/// The most members that a class is named by.
const NAMED_BY: usize = 3;

/// How a lexicon is induced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InduceOptions {
    /// How many classes there are at most.
    pub classes: usize,
    /// How often a unit must occur to get a class of its like; those that are rarer share one, [`RARE`].
    pub min_count: u32,
    /// How often all units are looked at, at most.
    pub rounds: usize,
}

impl Default for InduceOptions {
    fn default() -> Self {
        InduceOptions { classes: 200, min_count: 2, rounds: 10 }
    }
}

/// A lexicon that was induced, and how well it fits its texts.
#[derive(Clone, Debug)]
pub struct Induced {
    /// One level of classes, each named by its most frequent members.
    pub lexicon: Lexicon,
    /// Rounds through all units, the last of which moved none unless the rounds were over.
    pub rounds: usize,
    /// The perplexity of the texts under a bigram model of the classes, before the first round and after each. It never rises.
    pub perplexities: Vec<f64>,
}

/// Why no lexicon was induced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InduceError {
    /// A number of classes that cannot be.
    #[error("{0} classes: from 1 to {MAX_INDUCED} can be induced")]
    Classes(usize),
    /// No unit occurs often enough.
    #[error(
        "no word occurs {min_count} times in the text, so none gets a class: give more text, or a smaller least count"
    )]
    TooLittle {
        /// How often one would have to.
        min_count: u32,
    },
    /// More units than counts can hold.
    #[error("{0} words and symbols: at most 4,294,967,295 can be counted")]
    TooMuch(u64),
    /// The progress asked for it.
    #[error("inducing was stopped")]
    Stopped,
    /// Two words cannot be told apart.
    #[error(transparent)]
    Lexicon(#[from] Error),
}

/// How often units of texts follow each other.
///
/// ```
/// use memo::lexicon::{InduceOptions, UnitCounts};
/// use memo::words::unit_hash;
/// use std::ops::ControlFlow;
/// let mut counts = UnitCounts::default();
/// counts.add("Anna drives a Volvo to Rome. Paul drives a Fiat to Bonn.");
/// counts.add("Anna drives a Fiat to Bonn. Paul drives a Volvo to Rome.");
/// let options = InduceOptions { classes: 7, ..InduceOptions::default() };
/// let lexicon = counts.induce(&options, &mut |_| ControlFlow::Continue(()))?.lexicon;
/// let class = |word: &str| lexicon.class(0, unit_hash(word).unwrap());
/// assert_eq!((class("Volvo"), class("Rome")), (class("Fiat"), class("Bonn")));
/// assert_ne!(class("Volvo"), class("Rome"));
/// assert_eq!(lexicon.name(0, class("Anna").unwrap()), "anna paul");
/// # Ok::<(), memo::lexicon::InduceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnitCounts {
    numbers: HashMap<u64, u32>,
    /// The normal form of each unit, in the order in which they were met.
    forms: Vec<Box<str>>,
    counts: Vec<u32>,
    /// Pairs that follow each other; [`EDGE`] stands before the first unit of a text and after its last.
    pairs: HashMap<(u32, u32), u32>,
    units: u64,
    texts: u64,
    sources: Vec<[u8; 32]>,
}

/// The edge of a text.
const EDGE: u32 = u32::MAX;

impl UnitCounts {
    /// Counts the units of a text.
    pub fn add(&mut self, text: &str) {
        let mut before = EDGE;
        let mut pair = |first: u32, second: u32| {
            let count = self.pairs.entry((first, second)).or_insert(0);
            *count = count.saturating_add(1);
        };
        each_unit(text.as_bytes(), |hash, place| {
            let unit = *self.numbers.entry(hash).or_insert_with(|| {
                self.forms.push(normal_form(&text[place]).into());
                self.counts.push(0);
                self.forms.len() as u32 - 1
            });
            self.counts[unit as usize] = self.counts[unit as usize].saturating_add(1);
            self.units += 1;
            pair(before, unit);
            before = unit;
        });
        if before != EDGE {
            pair(before, EDGE);
            self.texts += 1;
            self.sources.push(source_digest(text.as_bytes()));
        }
    }

    /// The number of units, counted as often as they occur.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The number of different units.
    pub fn distinct(&self) -> usize {
        self.forms.len()
    }

    /// The [digests](source_digest) of the texts that have units.
    pub fn sources(&self) -> &[[u8; 32]] {
        &self.sources
    }

    /// Different units with how often each occurs, the most frequent first.
    pub fn by_count(&self) -> Vec<(&str, u32)> {
        let mut units: Vec<(&str, u32)> =
            self.forms.iter().zip(&self.counts).map(|(form, &count)| (&**form, count)).collect();
        units.sort_unstable_by_key(|&(form, count)| (Reverse(count), form));
        units
    }

    /// Puts units into classes by the exchange algorithm, on the threads of the current pool. `progress` is told how much of the work is done, from 0 to
    /// 1, and may stop it. It may be over sooner than it seemed.
    pub fn induce(
        &self,
        options: &InduceOptions,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Induced, InduceError> {
        let &InduceOptions { classes, min_count, rounds } = options;
        if !(1..=MAX_INDUCED).contains(&classes) {
            return Err(InduceError::Classes(classes));
        }
        let total = self.units + self.texts;
        if total > u64::from(u32::MAX) {
            return Err(InduceError::TooMuch(self.units));
        }
        let mut frequent: Vec<u32> = (0..self.forms.len() as u32).collect();
        frequent.retain(|&unit| {
            self.counts[unit as usize] >= min_count && self.forms[unit as usize].len() <= MAX_BYTES
        });
        let key = |&unit: &u32| (Reverse(self.counts[unit as usize]), &*self.forms[unit as usize]);
        frequent.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        if frequent.is_empty() {
            return Err(InduceError::TooLittle { min_count });
        }
        let bigrams = self.bigrams(&frequent);
        let work = (rounds * frequent.len()).max(1) as f64;
        let found = exchange(&bigrams, classes, rounds, &mut |done| progress(done as f64 / work))
            .ok_or(InduceError::Stopped)?;
        // What F leaves out of the likelihood: the units within their classes, which no class changes.
        let mut counts = self.counts.clone();
        counts.sort_unstable();
        let within: f64 = counts.iter().map(|&n| f64::from(n) * libm::log(f64::from(n))).sum();
        let edges = self.texts as f64 * libm::log((self.texts as f64).max(1.0));
        let perplexity = |f: &f64| libm::exp(-(f + within + edges) / total as f64);
        let perplexities = found.likelihoods.iter().map(perplexity).collect();
        let lexicon = self.lexicon(&frequent, &found.classes)?;
        Ok(Induced { lexicon, rounds: found.rounds, perplexities })
    }

    /// The pairs of frequent units, by their rank; then one symbol for all others, and one for the edges of texts.
    fn bigrams(&self, frequent: &[u32]) -> Bigrams {
        let (others, edge) = (frequent.len() as u32, frequent.len() as u32 + 1);
        let mut rank = vec![others; self.forms.len()];
        for (at, &unit) in frequent.iter().enumerate() {
            rank[unit as usize] = at as u32;
        }
        let symbol = |unit: u32| if unit == EDGE { edge } else { rank[unit as usize] };
        let mut pairs: Vec<(u32, u32, u32)> = self
            .pairs
            .iter()
            .map(|(&(first, second), &count)| (symbol(first), symbol(second), count))
            .collect();
        pairs.sort_unstable();
        // Pairs of rare units have become equal.
        pairs.dedup_by(|next, last| {
            let same = (next.0, next.1) == (last.0, last.1);
            if same {
                last.2 += next.2;
            }
            same
        });
        Bigrams::new(frequent.len(), frequent.len() + 2, &pairs)
    }

    fn lexicon(&self, frequent: &[u32], classes: &[u32]) -> Result<Lexicon, Error> {
        let form = |unit: u32| &*self.forms[unit as usize];
        // The most frequent members come first. No unit has a space, so that no two classes have the same name.
        let mut names: HashMap<u32, (usize, String)> = HashMap::new();
        for (&unit, &class) in frequent.iter().zip(classes) {
            let (members, name) = names.entry(class).or_default();
            if *members == 0 {
                form(unit).clone_into(name);
            } else if *members < NAMED_BY && name.len() + 1 + form(unit).len() <= MAX_BYTES {
                *name = format!("{name} {}", form(unit));
            }
            *members += 1;
        }
        let entries = frequent.iter().zip(classes).map(|(&unit, class)| {
            (form(unit).to_owned(), vec![names.get(class).map(|(_, name)| name.clone())])
        });
        let mut rare = vec![true; self.forms.len()];
        frequent.iter().for_each(|&unit| rare[unit as usize] = false);
        let rare = (0..self.forms.len() as u32)
            .filter(|&unit| rare[unit as usize] && form(unit).len() <= MAX_BYTES)
            .map(|unit| (form(unit).to_owned(), vec![Some(RARE.to_owned())]));
        Ok(Lexicon::new(entries.chain(rare))?.with_sources(self.sources.iter().copied()))
    }
}
