//! Trust: how probable it is that a text is being quoted from memory, by how well the memory has foretold it so far.
//!
//! Each token speaks for a quote as much as the longest context that had occurred made it more probable than running text
//! would be: ln(q/p), within limits. The sum over the last tokens, and what is expected before, are the log-odds. This is the
//! match model of compressors that mix contexts: it costs new text nothing, because new text is not foretold.

use super::Constants;
use super::backoff::Interpolation;
use super::base::Base;
use super::distribution::followed;
use crate::sparse::{Error, Levels, Memory, Reader};

/// What the last tokens of a text say.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust {
    /// The memory's state, and the context that was read last.
    stamp: u64,
    context: Vec<u32>,
    /// Whether what the tokens before it say was taken in.
    heard: bool,
    /// What each of the last tokens said, the newest last.
    gains: Vec<f64>,
    /// The logarithm of what running text gave each of them.
    logs: Vec<f64>,
}

impl Trust {
    /// Reads what followed a context, after what its last tokens say. `reader` must be the one of the last call.
    pub(super) fn follow(
        &mut self,
        constants: &Constants,
        memory: &Memory,
        context: &[u32],
        reader: &mut Reader,
    ) -> Result<(), Error> {
        if self.heard && self.stamp == memory.stamp() && self.context == context {
            return Ok(());
        }
        let goes_on = self.goes_on(constants, memory, context);
        if let (true, Some(&token)) = (goes_on, context.last()) {
            self.hear(constants, memory, &reader.levels, token)?;
        } else {
            // A failure must not leave levels of another context behind.
            self.clear();
            self.gains.clear();
            self.logs.clear();
            for p in context.len().saturating_sub(constants.window)..context.len() {
                // Words say nothing here.
                reader.read_tokens(memory, &context[..p])?;
                self.hear(constants, memory, &reader.levels, context[p])?;
            }
        }
        self.clear();
        self.read(memory, context, reader)?;
        self.heard = true;
        Ok(())
    }

    /// Reads what followed a context, whatever its last tokens say. `reader` must be the one of the last call.
    pub(super) fn read(
        &mut self,
        memory: &Memory,
        context: &[u32],
        reader: &mut Reader,
    ) -> Result<(), Error> {
        if self.stamp == memory.stamp() && self.context == context {
            return Ok(());
        }
        self.clear();
        reader.read(memory, context)?;
        self.context.clear();
        self.context.extend_from_slice(context);
        self.stamp = memory.stamp();
        Ok(())
    }

    /// Whether a context is the one that was read last, or goes on after it by one token.
    pub(super) fn precedes(&self, constants: &Constants, memory: &Memory, context: &[u32]) -> bool {
        let same = self.heard && self.stamp == memory.stamp() && self.context == context;
        same || self.goes_on(constants, memory, context)
    }

    fn goes_on(&self, constants: &Constants, memory: &Memory, context: &[u32]) -> bool {
        let known = self.heard && self.stamp == memory.stamp();
        let before = context.split_last().map(|(_, before)| before);
        known && before.is_some_and(|before| self.ends_as(memory, constants, before))
    }

    /// Whether the context that was read last and another are the same as far as can matter.
    fn ends_as(&self, memory: &Memory, constants: &Constants, other: &[u32]) -> bool {
        let seen = memory.settings().reach() + constants.window;
        let last = |tokens: &[u32]| tokens.len().saturating_sub(seen);
        self.context[last(&self.context)..] == other[last(other)..]
    }

    /// Takes in the token that came after the context that was read last.
    fn hear(
        &mut self,
        constants: &Constants,
        memory: &Memory,
        levels: &Levels,
        token: u32,
    ) -> Result<(), Error> {
        let base = Base::new(memory, levels, constants.skip);
        let (p, q) = expected(memory, levels, &base, token)?;
        let q = (1.0 - constants.slip) * q + constants.slip * p;
        let gain = if levels.first.total > 0 { libm::log(q / p) } else { 0.0 };
        let [most, least] = constants.gain;
        if self.gains.len() == constants.window {
            self.gains.remove(0);
            self.logs.remove(0);
        }
        self.logs.push(libm::log(p));
        self.gains.push(gain.clamp(-least, most));
        Ok(())
    }

    /// The probability that what follows is a quote.
    pub(super) fn quote(&self, constants: &Constants) -> f64 {
        let odds = constants.quote + self.gains.iter().sum::<f64>();
        1.0 / (1.0 + libm::exp(-odds))
    }

    /// How well the last tokens were expected: the mean logarithm of what running text gave each. Two tokens of a vocabulary
    /// of this size, of which nothing is known, stand before them.
    pub(super) fn familiarity(&self, vocabulary: usize) -> f64 {
        let unknown = -2.0 * libm::log(vocabulary as f64);
        (self.logs.iter().sum::<f64>() + unknown) / (self.logs.len() as f64 + 2.0)
    }

    /// Has the next context read from its beginning.
    pub(super) fn clear(&mut self) {
        (self.stamp, self.heard) = (0, false);
    }
}

/// The probability of a token in running text, and that in a quote.
fn expected(
    memory: &Memory,
    levels: &Levels,
    base: &Base<'_>,
    token: u32,
) -> Result<(f64, f64), Error> {
    let count = memory.followed(levels.before, token)?;
    let (first, tokens) = (Interpolation::new(&levels.first), levels.tokens());
    let mut next = followed(tokens.first(), token);
    let mut p = first.share(count, next) + first.rest * base.p(token);
    let mut q = if levels.first.total > 0 { count as f64 / levels.first.total as f64 } else { p };
    for (i, level) in tokens.iter().enumerate() {
        let (own, count) = (Interpolation::new(&level.totals), next);
        next = followed(tokens.get(i + 1), token);
        p = own.share(count, next) + own.rest * p;
        q = count as f64 / level.totals.total as f64;
    }
    Ok((p, q))
}
