//! The prior: what is expected before any context is read. A token counts by how many different tokens it has followed.
//!
//! This is Kneser and Ney's lowest order: "Francisco" is frequent but follows only "San", so it is not expected
//! elsewhere. What is taken off each count is spread evenly, so that every token can be reached; the more tokens have been
//! seen only once or twice, the more there is to spread.

use super::smoothing::discounts;
use super::tables::Histogram;
use std::sync::OnceLock;

/// Probabilities before any context.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    /// Probability of each token.
    pub(crate) p: Vec<f64>,
    /// The most probable token.
    pub(crate) best: u32,
    /// All tokens, the most probable first, once somebody asks.
    order: OnceLock<Vec<u32>>,
}

impl Prior {
    pub(crate) fn new(continuations: &[i64]) -> Self {
        let n = continuations.len() as f64;
        let mut few = Histogram::default();
        let (mut whole, mut kinds) = (0.0, [0i64; 3]);
        // Counts are negative only where more was forgotten than memorized.
        for &count in continuations.iter().filter(|count| **count > 0) {
            // A hostile file may have counts whose sum no integer holds.
            whole += count as f64;
            kinds[kind(count)] += 1;
            if let Some(few) = few.get_mut(count as usize - 1) {
                *few += 1;
            }
        }
        let discounts = discounts(few);
        let off: f64 = kinds.iter().zip(discounts).map(|(&kinds, d)| kinds as f64 * d).sum();
        let even = if whole > 0.0 { off / whole / n } else { 1.0 / n };
        let each = |&count: &i64| {
            even + if count > 0 { (count as f64 - discounts[kind(count)]) / whole } else { 0.0 }
        };
        let p: Vec<f64> = continuations.iter().map(each).collect();
        let best = (0..p.len()).fold(0, |best, t| if p[t] > p[best] { t } else { best });
        Prior { p, best: best as u32, order: OnceLock::new() }
    }

    /// Returns all tokens, the most probable first; of equals, the one with the lowest number.
    pub(crate) fn order(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let mut order: Vec<u32> = (0..self.p.len() as u32).collect();
            let p = |token: u32| self.p[token as usize];
            order.sort_unstable_by(|&a, &b| p(b).total_cmp(&p(a)).then(a.cmp(&b)));
            order
        })
    }
}

/// Returns which discount a count takes.
fn kind(count: i64) -> usize {
    (count.min(3) - 1) as usize
}
