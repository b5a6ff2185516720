//! Perplexity of held-out text, with what is needed to say how sure it is and how much more text would do the same.
//!
//! A memory of more text knows more tokens, and the rarer ones are the harder ones. So memories of different amounts are compared on the
//! same tokens: those that the smaller amount has.

use super::text::Text;
use crate::Error;
use memo::lexicon::Lexicon;
use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, score};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parts that the held-out text is cut into, which are drawn again and again to see how sure a result is.
const BLOCKS: usize = 40;
const RESAMPLES: usize = 1_000;

/// The log-probabilities of some tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sum {
    count: u32,
    sum: f64,
}

/// What a memory made of the held-out text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldOut {
    /// Bytes a token that the memory holds.
    pub(super) bytes: f64,
    /// Words that have a class, and classes.
    pub(super) words: usize,
    pub(super) classes: usize,
    /// By block, the sums over tokens that the amount of each number has, up to the memory's own.
    blocks: Vec<Vec<Sum>>,
}

/// Memorizes tokens, which are the amount of that number, and scores what is held out.
pub(super) fn held_out(
    text: &Text,
    tokens: &[u32],
    amount: usize,
    lexicon: Option<&Arc<Lexicon>>,
    words: bool,
    seed: u64,
) -> Result<HeldOut, Error> {
    let memory = text.memory(tokens, lexicon.cloned(), words, seed)?;
    let scores = score(&memory, &BACKOFF, &text.held_out)?;
    let size = text.held_out.len().div_ceil(BLOCKS).max(1);
    let mut blocks = Vec::new();
    for (block, scores) in text.held_out.chunks(size).zip(scores.chunks(size)) {
        let mut sums = vec![Sum::default(); amount + 1];
        for (&token, score) in block.iter().zip(scores) {
            let first = text.known(token).unwrap_or(usize::MAX);
            for sum in sums.iter_mut().skip(first) {
                (sum.count, sum.sum) = (sum.count + 1, sum.sum + score);
            }
        }
        blocks.push(sums);
    }
    Ok(HeldOut {
        bytes: memory.usage().total() as f64 / memory.positions().max(1) as f64,
        words: lexicon.map_or(0, |lexicon| lexicon.len()),
        classes: lexicon.map_or(0, |lexicon| lexicon.classes(0)),
        blocks,
    })
}

impl HeldOut {
    /// The perplexity of tokens that the amount of that number has, over some blocks.
    fn perplexity_of(&self, amount: usize, blocks: &[usize]) -> f64 {
        let sums = blocks.iter().filter_map(|&block| self.blocks.get(block)?.get(amount));
        let all = sums.fold(Sum::default(), |all, sum| Sum {
            count: all.count + sum.count,
            sum: all.sum + sum.sum,
        });
        (-all.sum / f64::from(all.count.max(1))).exp()
    }

    /// The perplexity of tokens that the amount of that number has.
    pub(super) fn perplexity(&self, amount: usize) -> f64 {
        self.perplexity_of(amount, &self.all())
    }

    /// Tokens that the amount of that number has.
    pub(super) fn known(&self, amount: usize) -> u64 {
        self.blocks.iter().map(|sums| u64::from(sums[amount].count)).sum()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.blocks.len()).collect()
    }
}

/// A number, and the interval that 95 of 100 draws of blocks lie in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Estimates a function of blocks by drawing them with repetition.
fn estimate(blocks: usize, seed: u64, value: impl Fn(&[usize]) -> f64) -> Estimate {
    let mut draws = Stream::new(seed, Purpose::Sampling, 2).draws();
    let mut drawn = || (0..blocks).map(|_| draws.below(blocks.max(1) as u64) as usize).collect();
    let mut values: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let blocks: Vec<usize> = drawn();
            value(&blocks)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(share * (RESAMPLES - 1) as f64).round() as usize];
    let all: Vec<usize> = (0..blocks).collect();
    Estimate { value: value(&all), low: at(0.025), high: at(0.975) }
}

/// The perplexity of one memory over that of another, on the tokens that the amount of that number has.
pub(super) fn ratio(with: &HeldOut, without: &HeldOut, amount: usize, seed: u64) -> Estimate {
    estimate(with.blocks.len(), seed, |blocks| {
        with.perplexity_of(amount, blocks) / without.perplexity_of(amount, blocks)
    })
}

/// How many times as much text a memory without classes needs to be as good as one with classes after the amount of that number;
/// `curve` has the memories without, of each amount. Beyond the last it goes on as it did at the end, and is then said to be `beyond`.
pub(super) struct MoreText {
    pub(super) times: Estimate,
    pub(super) beyond: bool,
}

pub(super) fn more_text(
    with: &HeldOut,
    curve: &[(usize, &HeldOut)],
    amount: usize,
    seed: u64,
) -> Option<MoreText> {
    if curve.len() < 2 {
        return None;
    }
    // Where there is nothing later, the curve of tokens that the amount before has goes on.
    let own = amount.min(curve.len() - 2);
    let start = (curve[amount].0 as f64).ln();
    let needed = |blocks: &[usize]| {
        let wanted = with.perplexity_of(own, blocks).ln();
        let points = curve[own..].iter().map(|&(tokens, memory)| {
            ((tokens as f64).ln(), memory.perplexity_of(own, blocks).ln())
        });
        let points: Vec<(f64, f64)> = points.collect();
        let step = points.windows(2).find(|pair| pair[1].1 <= wanted);
        let [from, to] = step.map_or_else(
            || [points[points.len() - 2], points[points.len() - 1]],
            |pair| [pair[0], pair[1]],
        );
        let slope = (to.1 - from.1) / (to.0 - from.0);
        if slope >= 0.0 {
            return f64::INFINITY;
        }
        (from.0 + (wanted - from.1) / slope - start).exp()
    };
    let last = curve.last().map_or(0.0, |&(tokens, _)| (tokens as f64).ln());
    let times = estimate(with.blocks.len(), seed, needed);
    Some(MoreText { times, beyond: times.value > (last - start).exp() * (1.0 + 1e-9) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(perplexities: &[f64]) -> HeldOut {
        let sums = perplexities.iter().map(|p| Sum { count: 10, sum: -10.0 * p.ln() });
        let sums: Vec<Sum> = sums.collect();
        HeldOut { bytes: 0.0, words: 0, classes: 0, blocks: vec![sums; 3] }
    }

    #[test]
    fn more_text_is_read_off_the_curve() {
        // Perplexity falls with the square root of the text.
        let without = [memory(&[40.0]), memory(&[20.0, 20.0]), memory(&[10.0, 10.0, 10.0])];
        let curve: Vec<(usize, &HeldOut)> = [100, 400, 1_600].into_iter().zip(&without).collect();
        let more =
            |with: &[f64], amount: usize| more_text(&memory(with), &curve, amount, 1).unwrap();
        let found = more(&[20.0], 0);
        assert!((found.times.value - 4.0).abs() < 1e-6 && !found.beyond);
        let found = more(&[10.0, 14.142_135_6], 1);
        assert!((found.times.value - 2.0).abs() < 1e-6 && !found.beyond);
        let found = more(&[5.0, 5.0, 5.0], 2);
        assert!((found.times.value - 4.0).abs() < 1e-6 && found.beyond);
        assert_eq!((found.times.low, found.times.high), (found.times.value, found.times.value));
    }

    #[test]
    fn an_interval_holds_what_was_drawn() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let mean = |blocks: &[usize]| blocks.iter().map(|&b| values[b]).sum::<f64>() / 10.0;
        let found = estimate(10, 3, mean);
        // The standard error of the mean of ten is 2.87 / √10.
        assert!((found.value - 5.5).abs() < 1e-9);
        assert!((found.high - found.value - 1.78).abs() < 0.4, "{found:?}");
        assert!((found.value - found.low - 1.78).abs() < 0.4, "{found:?}");
    }
}
