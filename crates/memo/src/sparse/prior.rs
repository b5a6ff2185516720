//! The prior: what is expected before any context is read. A token counts by how many different tokens it has followed.
//!
//! This is Kneser and Ney's lowest order: "Francisco" is frequent but follows only "San", so it is not expected
//! elsewhere. What is taken off each count is spread evenly, so that every token can be reached; the more tokens have been
//! seen only once or twice, the more there is to spread.

use std::sync::OnceLock;

/// What is taken off each count.
const DISCOUNT: f64 = 0.75;

/// The least that is spread evenly.
const LEAST: f64 = 0.01;

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
        // Counts are negative only where more was forgotten than memorized.
        let seen = |count: i64| count.max(0) as f64;
        let whole: f64 = continuations.iter().map(|&count| seen(count)).sum();
        let kinds = continuations.iter().filter(|count| **count > 0).count() as f64;
        let even = if whole > 0.0 { (DISCOUNT * kinds / whole).max(LEAST) } else { 1.0 };
        let kept = whole - DISCOUNT * kinds;
        let p: Vec<f64> = continuations
            .iter()
            .map(|&count| {
                let over = (seen(count) - DISCOUNT).max(0.0);
                even / n + if kept > 0.0 { (1.0 - even) * over / kept } else { 0.0 }
            })
            .collect();
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
