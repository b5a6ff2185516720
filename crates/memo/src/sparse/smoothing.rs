//! Smoothing: what counts of running text are worth, derived from the counts themselves.
//!
//! Kneser and Ney's lower orders count in how many *different* contexts a token followed: a shorter context is asked only
//! where the longer one is silent, so what counts is what happens after other tokens than the one before it. With hashed contexts
//! these numbers are not kept. They follow from what is:
//!
//! - *The first token of a context* tells how varied what stands before it is: c occurrences of u have N different tokens before
//!   them, both known exactly. So a successor that followed the context r times is worth r^β, β = ln N / ln c: "Francisco"
//!   only ever follows "San", so whatever followed it, however often, followed in one context (β = 0).
//! - *The longer context*, if it occurred, says how many of the r it had itself. These are worth 1, being one context, and the
//!   others what they would be without them.
//!
//! What is taken off a worth of 1, 2, and 3 or more is modified Kneser and Ney's (Chen and Goodman), from how many contexts of the
//! slot were followed by a token once, twice, three and four times. Of those seen twice with different tokens before them, only a part has
//! two different ones a token further back, and so on; 2^(β−1) of them by the same law, with the mean β, so that the discount of
//! 1 is nearer to 1 the longer the context.
//!
//! A single token is taken to have been followed once more ([`NEW`]), by what had never followed it: after one that occurred twice, next to
//! nothing is known.
//!
//! Everything is a function of integers that are the same however a memory came about, in a fixed order.

use super::Settings;
use super::settings::Context;
use super::tables::{Histogram, Tables};
use std::sync::LazyLock;

/// Steps of the exponents from 0 to 1.
const STEPS: usize = 256;

/// Counts whose worth is in a table.
const LISTED: usize = 64;

/// Worths by exponent and count.
static WORTHS: LazyLock<Vec<[f64; LISTED]>> = LazyLock::new(|| {
    let power = |step: usize, count: usize| libm::pow(count as f64, step as f64 / STEPS as f64);
    (0..=STEPS)
        .map(|step| std::array::from_fn(|count| if count == 0 { 0.0 } else { power(step, count) }))
        .collect()
});

/// Contexts of this many tokens and more take the discount of 1 alike.
const FURTHEST: usize = 3;

/// Contexts that a memory is assumed to hold before anything is counted, by Zipf's law: a small one has the law's discounts.
const ASSUMED: f64 = 20.0;

/// The most that is taken off a worth of 1, and the most that each further one adds. A context that occurred must count.
const MOST: f64 = 0.95;
const MOST_MORE: f64 = 0.9;

/// The worth of what is taken to have followed each single token besides what did.
pub(crate) const NEW: f64 = 1.0;

/// What is taken off worths of 1, 2, and 3 and more.
pub(crate) type Discounts = [f64; 3];

/// Returns modified Kneser and Ney's discounts of counts, of which so many are 1, 2, 3 and 4.
pub(crate) fn discounts(counts: Histogram) -> Discounts {
    let [n1, n2, n3, n4] = std::array::from_fn(|i| {
        let r = (i + 1) as f64;
        counts[i].max(0) as f64 + ASSUMED / (r * (r + 1.0))
    });
    let y = n1 / (n1 + 2.0 * n2);
    bounded([y, 2.0 - 3.0 * y * n3 / n2, 3.0 - 4.0 * y * n4 / n3])
}

/// Has what is left of a worth grow with it.
fn bounded([one, two, three]: Discounts) -> Discounts {
    let one = one.clamp(0.0, MOST);
    let two = two.clamp(one, one + MOST_MORE);
    [one, two, three.clamp(two, two + MOST_MORE)]
}

/// How what followed contexts of one kind counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weighing {
    /// In steps.
    exponent: usize,
    discounts: Discounts,
}

impl Weighing {
    /// Returns what a token is worth that followed so often, `longer` of these times a longer context too.
    #[inline(always)]
    pub(crate) fn worth(&self, count: i64, longer: i64) -> f64 {
        let others = count - longer.max(0);
        let own = if longer > 0 { 1.0 } else { 0.0 };
        own + match others {
            ..=0 => 0.0,
            1 => 1.0,
            // What a power of one would be, to the last bit.
            count if self.exponent == STEPS => count as f64,
            count if count < LISTED as i64 => WORTHS[self.exponent][count as usize],
            count => libm::pow(count as f64, self.exponent as f64 / STEPS as f64),
        }
    }

    /// Returns what is taken off a worth.
    #[inline(always)]
    pub(crate) fn off(&self, worth: f64) -> f64 {
        let [one, two, three] = self.discounts;
        if worth <= 1.0 {
            one * worth
        } else if worth < 2.0 {
            one + (worth - 1.0) * (two - one)
        } else if worth < 3.0 {
            two + (worth - 2.0) * (three - two)
        } else {
            three
        }
    }
}

/// What weighs counts in one state of a memory.
#[derive(Clone, Debug)]
pub(crate) struct Smoothing {
    /// By slot.
    discounts: Vec<Discounts>,
    /// The exponents of contexts by their first token, in steps; and that of an average token.
    exponents: Vec<u16>,
    mean: usize,
}

/// Returns the exponent of contexts that begin with a token that occurred so often, after so many different ones.
fn exponent(occurred: i64, continuations: i64) -> f64 {
    if occurred <= 1 {
        return 1.0;
    }
    libm::log(continuations.clamp(1, occurred) as f64) / libm::log(occurred as f64)
}

fn steps(exponent: f64) -> usize {
    libm::round(exponent * STEPS as f64) as usize
}

impl Smoothing {
    pub(crate) fn new(settings: &Settings, tables: &Tables) -> Self {
        let (mut sum, mut weight) = (0.0, 0.0);
        let mut exponents = Vec::with_capacity(tables.unigrams.len());
        for (&occurred, &continuations) in tables.unigrams.iter().zip(&*tables.continuations) {
            let exponent = exponent(occurred, continuations);
            exponents.push(steps(exponent) as u16);
            if occurred > 1 {
                sum += occurred as f64 * exponent;
                weight += occurred as f64;
            }
        }
        let mean = if weight > 0.0 { sum / weight } else { 1.0 };
        let slots = 0..settings.all_slots();
        let discounts = slots.map(|slot| {
            let [one, two, three] = discounts(tables.histograms[slot]);
            let further = if settings.is_last(slot) { 0 } else { settings.context(slot).len() };
            let kept = libm::exp2((mean - 1.0) * further.min(FURTHEST) as f64);
            bounded([1.0 - (1.0 - one) * kept, two, three])
        });
        Smoothing { discounts: discounts.collect(), exponents, mean: steps(mean) }
    }

    /// Returns how the successors of a context count. `first` is its first token, if it is one of tokens and does not begin before
    /// a document.
    pub(crate) fn weighing(
        &self,
        settings: &Settings,
        slot: usize,
        first: Option<u32>,
    ) -> Weighing {
        let exponent = match (settings.context(slot), first) {
            // What no longer context is asked before counts in full.
            _ if settings.is_last(slot) => STEPS,
            (Context::Words(_), _) => self.mean,
            (_, None) => STEPS,
            (_, Some(first)) => self.exponents.get(first as usize).map_or(STEPS, |&e| e.into()),
        };
        Weighing { exponent, discounts: self.discounts[slot] }
    }
}
