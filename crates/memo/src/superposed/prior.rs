//! The prior: what is expected before any context is read. A token counts by how many different tokens it has followed.
//!
//! This is Kneser and Ney's lowest order: "Francisco" is frequent but follows only "San", so it is not expected
//! elsewhere. One hundredth is spread evenly, so that every token can be reached.

use super::LINE;

/// The probability that is spread evenly over the vocabulary.
const EVEN: f64 = 0.01;

/// Probabilities before any context.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    /// Probability of each token.
    pub(crate) p: Vec<f64>,
    /// Their logarithms, padded to whole lines with −∞.
    pub(crate) ln: Vec<f32>,
    /// The most probable token.
    pub(crate) best: u32,
}

impl Prior {
    pub(crate) fn new(continuations: &[i64]) -> Self {
        let n = continuations.len() as f64;
        // Counts are negative only where more was forgotten than memorized.
        let seen = |count: i64| count.max(0) as f64;
        let whole: f64 = continuations.iter().map(|&count| seen(count)).sum();
        let p: Vec<f64> =
            continuations
                .iter()
                .map(|&count| {
                    if whole > 0.0 {
                        (1.0 - EVEN) * seen(count) / whole + EVEN / n
                    } else {
                        1.0 / n
                    }
                })
                .collect();
        let mut ln = vec![f32::NEG_INFINITY; p.len().next_multiple_of(LINE)];
        // Logarithms repeat: most tokens follow only a few others.
        let mut known = [(0.0, 0.0); 64];
        for (t, (ln, &p)) in ln.iter_mut().zip(&p).enumerate() {
            let slot = &mut known[continuations[t].unsigned_abs() as usize % 64];
            if slot.0 != p {
                *slot = (p, libm::log(p) as f32);
            }
            *ln = slot.1;
        }
        let best = (0..p.len()).fold(0, |best, t| if p[t] > p[best] { t } else { best });
        Prior { p, ln, best: best as u32 }
    }
}
