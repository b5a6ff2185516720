//! Confidence: how well a memory knows the place where a context ends. Whoever mixes its distribution with another, of a
//! neural model for example, weighs it by this.

use super::{Backoff, Distribution, Scratch};
use crate::sparse::{Error, Memory};

/// How well a memory knows the place where a context ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Confidence {
    /// How many of the last tokens the longest context has that occurred; 0 if not even the last one did.
    /// At the beginning of a document that is a token, too.
    pub matched: usize,
    /// How often that context occurred.
    pub times: i64,
    /// How many different tokens followed it.
    pub kinds: i64,
    /// The probability that the text is being quoted from the memory.
    pub quote: f64,
    /// How well the memory expected the last tokens: the mean natural logarithm of the probability that it gave each of them.
    pub familiarity: f64,
}

impl Backoff {
    /// Returns how well a memory knows the place where a context ends, and what follows there. It costs what
    /// [`Backoff::distribution`] costs, and depends on the memory and the context alone.
    pub fn confident<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<(Confidence, Distribution<'m>), Error> {
        let distribution = self.distribution(memory, context, scratch)?;
        // What was read for the distribution is still there.
        let quote = self.read(memory, context, scratch)?;
        let levels = &scratch.reader.levels;
        let (matched, totals, quote) = match levels.longest() {
            Some(level) => (level.span, &level.totals, quote),
            None => (levels.exact(), &levels.first, 0.0),
        };
        let vocabulary = memory.settings().vocabulary as usize;
        let confidence = Confidence {
            matched,
            times: totals.total.max(0),
            kinds: totals.kinds,
            quote,
            familiarity: scratch.trust.familiarity(vocabulary),
        };
        Ok((confidence, distribution))
    }

    /// Returns what the memory would say after a context, most probable tokens first to last, each with its probability: at
    /// most `most` of them, until one has a probability below `least` or is the end of a document.
    pub fn propose(
        &self,
        memory: &Memory,
        context: &[u32],
        most: usize,
        least: f64,
        scratch: &mut Scratch,
    ) -> Result<Vec<(u32, f64)>, Error> {
        let window = self.window(memory);
        let mut text = context[context.len().saturating_sub(window)..].to_vec();
        let mut proposed = Vec::new();
        while proposed.len() < most {
            let after = &text[text.len().saturating_sub(window)..];
            let distribution = self.distribution(memory, after, scratch)?;
            let token = self.settle(memory, after, scratch, &distribution, false)?;
            let p = distribution.probability(token)?;
            if p < least || token == memory.settings().end {
                break;
            }
            text.push(token);
            proposed.push((token, p));
        }
        Ok(proposed)
    }
}

impl Scratch {
    /// Returns whether a query after this context costs least: the one before it was the last that was read here, or it
    /// was itself.
    pub fn precedes(&self, memory: &Memory, readout: &Backoff, context: &[u32]) -> bool {
        memory
            .view(context)
            .is_ok_and(|context| self.trust.precedes(&readout.constants, memory, context))
    }
}
