//! The back-off read-out: contexts from the shortest to the longest, each correcting what the shorter ones expect.
//!
//! 1. **Interpolate** (Kneser and Ney). After each context that occurred, a successor gets what its count is worth less a
//!    discount, and what was taken off is shared out as the shorter context expects: p ← (x − D_x)/Σx + λ·p. It begins with the
//!    prior and what followed the token before the last one (`base`). Worths and discounts follow from the counts of the memory (`sparse::smoothing`).
//! 2. **Quote or not.** Discounts are those of running text, in which a context that occurred once is mostly followed by
//!    something new. But a prompt that is all in the memory is probably a quote, and goes on as it did there. How well the
//!    longest context has foretold the last few tokens, compared with step 1, says how probable that is (`trust`), and so
//!    much of the probability goes to what followed the longest context. New text is not foretold and loses nothing.
//! 3. **What the text says itself** (`recent`), if that is asked for: its own names and phrases are expected again.

use super::ahead::Ahead;
use super::base::Base;
use super::recent::{ContextMemory, Recent};
use super::trust::Trust;
use super::{Constants, Distribution};
use crate::sparse::{Context, Error, Level, Levels, Memory, Reader, Totals, Weighing};

/// The back-off read-out.
#[derive(Clone, Debug, PartialEq)]
pub struct Backoff {
    /// Its constants.
    pub constants: Constants,
    /// How much generalised contexts count, from not at all to as much as was measured best.
    pub generalize: f64,
    /// How much the context memory counts, which expects again what the text itself said: from not at all to as much as was measured
    /// best. It sees further back than anything else: see [`Backoff::window`].
    pub recent: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::DEFAULT
    }
}

/// The back-off read-out with its default constants: what reads a memory unless something else is asked for.
pub static BACKOFF: Backoff = Backoff::DEFAULT;

/// Buffers of a read-out, to be kept between queries; one a thread. A query for the token after the one before costs least.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) reader: Reader,
    pub(super) trust: Trust,
    pub(super) ahead: Ahead,
    pub(super) recent: ContextMemory,
}

/// The most that generalised contexts count.
const MOST_GENERALIZED: f64 = 0.999;

/// A level's share of the probability, and what it leaves to the shorter contexts.
pub(super) struct Interpolation {
    weighing: Weighing,
    worth: f64,
    /// λ: what is taken off, in all.
    pub(super) rest: f64,
}

impl Interpolation {
    pub(super) fn new(totals: &Totals) -> Self {
        let Totals { total, weighing, worth, off, .. } = *totals;
        if total <= 0 {
            return Interpolation { weighing, worth: 1.0, rest: 1.0 };
        }
        Interpolation { weighing, worth, rest: off / worth }
    }

    /// What a successor gets, which also followed the next longer context `longer` times.
    #[inline(always)]
    pub(super) fn share(&self, count: i64, longer: i64) -> f64 {
        let worth = self.weighing.worth(count, longer);
        self.of_gain(worth - self.weighing.off(worth))
    }

    /// What a successor gets whose count is worth so much, less what is taken off.
    #[inline(always)]
    pub(super) fn of_gain(&self, gain: f64) -> f64 {
        gain / self.worth
    }
}

impl Levels {
    /// The contexts of words that see further back than any of tokens that occurred; none if all of these did.
    pub(super) fn further_words(&self) -> &[Level] {
        if self.whole {
            return &[];
        }
        let longest = self.tokens().last().map_or(1, |level| level.span);
        let nearer = self.words().partition_point(|level| level.span <= longest);
        &self.words()[nearer..]
    }

    /// The tokens of the longest exact context that occurred.
    pub(super) fn exact(&self) -> usize {
        self.tokens().last().map_or(usize::from(self.first.total > 0), |level| level.span)
    }

    /// The longest context that occurred, if it has more than one token.
    pub(super) fn longest(&self) -> Option<&Level> {
        self.further_words().last().or(self.tokens().last())
    }
}

impl Backoff {
    const DEFAULT: Backoff =
        Backoff { constants: Constants::DEFAULT, generalize: 1.0, recent: 0.0 };

    /// Returns the distribution of the token after a context: every probability is positive, and they sum to 1. It depends on the
    /// memory and the context alone.
    pub fn distribution<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Distribution<'m>, Error> {
        self.distribution_after(memory, context, context, scratch)
    }

    /// Returns the same where the context memory has another text: while a prompt is continued, the prompt, so that what is said
    /// does not repeat itself.
    pub(super) fn distribution_after<'m>(
        &self,
        memory: &'m Memory,
        said: &[u32],
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Distribution<'m>, Error> {
        let quote = self.read(memory, context, scratch)?;
        let recent = self.recent(memory, said, context, scratch)?;
        let levels = &scratch.reader.levels;
        self.weighed(memory, levels, quote, recent)
    }

    fn weighed<'m>(
        &self,
        memory: &'m Memory,
        levels: &Levels,
        quote: f64,
        recent: Option<Recent>,
    ) -> Result<Distribution<'m>, Error> {
        let base = Base::new(memory, levels, self.constants.skip);
        Distribution::new(memory, levels, quote, self.generalized(levels), recent, base)
    }

    /// Returns what the context memory of a text expects after a context that was read.
    fn recent(
        &self,
        memory: &Memory,
        said: &[u32],
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Recent>, Error> {
        if self.recent <= 0.0 {
            return Ok(None);
        }
        let recency = &self.constants.recent;
        let Scratch { reader, recent, .. } = scratch;
        recent.follow(memory, memory.view(said)?, recency);
        let exact = reader.levels.exact();
        Ok(recent.read(memory.view(context)?, exact, self.recent, recency))
    }

    /// Returns what generalised contexts that were read count beside exact ones.
    fn generalized(&self, levels: &Levels) -> f64 {
        if levels.general.iter().all(|general| general.levels().is_empty()) {
            return 0.0;
        }
        // Exact contexts always count.
        (self.generalize * self.constants.general(levels)).clamp(0.0, MOST_GENERALIZED)
    }

    /// Returns the most probable next token.
    pub fn best(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<u32, Error> {
        self.distribution(memory, context, scratch)?.best()
    }

    /// Returns the most probable next token; if a text is being quoted, that of the longest match, however long.
    pub fn best_ahead(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<u32, Error> {
        let distribution = self.distribution(memory, context, scratch)?;
        self.settle(memory, context, scratch, &distribution, false)
    }

    /// Returns what [`Backoff::best_ahead`] does, from a distribution that was just read. `quoting` says that the text is known to
    /// be a quote.
    pub(super) fn settle(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
        distribution: &Distribution<'_>,
        quoting: bool,
    ) -> Result<u32, Error> {
        if quoting {
            let best = match scratch.reader.levels.longest() {
                Some(level) => most_frequent(level, |token| distribution.probability(token))?,
                None => distribution.best()?,
            };
            return furthest(memory, context, scratch, best);
        }
        let best = distribution.best()?;
        if scratch.trust.quote(&self.constants) < 0.5 {
            return Ok(best);
        }
        furthest(memory, context, scratch, best)
    }

    /// Returns the most probable token after a text that is known to be a quote. How probable a quote is, which takes reading
    /// its last tokens one by one, need not be known for that.
    pub(super) fn best_of_quote(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<u32, Error> {
        let Scratch { reader, trust, .. } = scratch;
        trust.read(memory, memory.view(context)?, reader)?;
        let levels = &reader.levels;
        let weigh = |quote| self.weighed(memory, levels, quote, None);
        let best = match levels.longest() {
            Some(level) => {
                // What all get that followed equally often does not change their order.
                let mut weighed = None;
                most_frequent(level, |token| match &mut weighed {
                    Some(distribution) => Distribution::probability(distribution, token),
                    none => none.insert(weigh(0.5)?).probability(token),
                })?
            }
            None => weigh(0.0)?.best()?,
        };
        furthest(memory, context, scratch, best)
    }

    /// Returns whether a token is the most probable one by what followed the longest part of a context that occurred, whatever
    /// shorter contexts expect: these are shared with other texts, so what is written after one of those may change it.
    pub fn settles(
        &self,
        memory: &Memory,
        context: &[u32],
        token: u32,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let quote = self.read(memory, context, scratch)?;
        let recent = self.recent(memory, context, context, scratch)?;
        let Some(level) = scratch.reader.levels.longest() else { return Ok(false) };
        let own = Interpolation::new(&level.totals);
        let each = quote / level.totals.total as f64;
        let general = self.generalized(&scratch.reader.levels);
        let recent = recent.map_or(0.0, |recent| recent.weight);
        let exact = (1.0 - quote) * (1.0 - general) * (1.0 - recent);
        let gets = |count: i64| exact * own.share(count, 0) + count as f64 * each;
        let others = level.list.iter().filter(|(other, _)| *other != token);
        let most = others.map(|&(_, count)| gets(count)).fold(0.0, f64::max);
        // At worst, one of the others gets all that is left to shorter contexts, to generalised ones and to the text itself.
        let others = exact * own.rest + (1.0 - quote) * (general * (1.0 - recent) + recent);
        Ok(gets(level.count(token)) > most + others)
    }

    /// Reads what followed a context; returns how probable it is that it is being quoted.
    pub(super) fn read(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<f64, Error> {
        let context = memory.view(context)?;
        let Scratch { reader, trust, .. } = scratch;
        trust.follow(&self.constants, memory, context, reader)?;
        let quote = trust.quote(&self.constants);
        // Words that stand together in the memory in another layout are a quote more often than not.
        Ok(
            match reader
                .levels
                .further_words()
                .last()
                .map(|level| memory.settings().context(level.slot))
            {
                Some(Context::Words(len)) => quote.max(self.constants.words[usize::from(len > 2)]),
                _ => quote,
            },
        )
    }

    /// Returns how many of the last tokens of a context can matter.
    pub fn window(&self, memory: &Memory) -> usize {
        let window = memory.settings().reach() + self.constants.window + 1;
        if self.recent > 0.0 { window.max(self.constants.recent.window) } else { window }
    }
}

/// Returns the token that goes on with the longest match of a context that was just read: `best`, if no other does.
fn furthest(
    memory: &Memory,
    context: &[u32],
    scratch: &mut Scratch,
    best: u32,
) -> Result<u32, Error> {
    let Scratch { reader, ahead, .. } = scratch;
    let Some(level) = reader.levels.tokens().last() else { return Ok(best) };
    let furthest = ahead.furthest(memory, memory.view(context)?, level, best)?;
    Ok(furthest.unwrap_or(best))
}

/// Returns the token that followed a context most often; of equals, the most probable.
fn most_frequent(
    level: &Level,
    mut probability: impl FnMut(u32) -> Result<f64, Error>,
) -> Result<u32, Error> {
    let most = level.list.iter().map(|&(_, count)| count).max().unwrap_or(0);
    let mut equals = level.list.iter().filter(|&&(_, count)| count == most).map(|entry| entry.0);
    let Some(mut best) = equals.next() else { return Ok(0) };
    let mut highest = None;
    for token in equals {
        let before = highest.map_or_else(|| probability(best), Ok)?;
        let p = probability(token)?;
        if p > before {
            best = token;
        }
        highest = Some(p.max(before));
    }
    Ok(best)
}
