//! How large a model should be, and how full one is.

use crate::args::model::SizeOptions;
use memo::sparse::{Memory, PARAMETERS_PER_TOKEN, Size};

/// Below this many cells a token a memory begins to lose what it was given.
pub(super) const LEAST: u64 = 60;

/// The size that was asked for.
pub(super) fn asked(options: &SizeOptions) -> Option<Size> {
    // One byte a cell.
    options.memory.or(options.params).map(Size::Parameters)
}

/// A size for this many tokens, with room for as many again, or for three million.
pub(super) fn fitting(tokens: u64) -> Size {
    Size::Parameters(((tokens + tokens.min(3_000_000)) * PARAMETERS_PER_TOKEN).max(1 << 22))
}

/// How full a sparse memory is, and what that does.
#[derive(Clone, Copy)]
pub(super) struct Fill {
    /// Tokens over those that fit at 92 cells each.
    pub(super) load: f64,
    /// The deviation of a count read from all long contexts together.
    pub(super) noise: f64,
    /// The share of tokens that should be recalled.
    pub(super) recall: f64,
}

/// Tokens that short contexts leave as candidates for a long one to choose from. An estimate: it gives .985, .9995 and
/// 1.0000 where .9857, .9987 and .9997 were measured on real text, at 40, 60 and 80 cells a token (docs/engine.md).
const CANDIDATES: f64 = 100.0;

impl Fill {
    pub(super) fn of(memory: &Memory, more: u64) -> Self {
        let tokens = memory.positions().max(0) as f64 + more as f64;
        let settings = memory.settings();
        let long = settings.slots.iter().filter(|slot| slot.len >= 4);
        let cells: u64 = long.map(|slot| slot.rows * u64::from(slot.width)).sum();
        let noise = (tokens / (cells.max(1) as f64)).sqrt();
        let load = tokens * PARAMETERS_PER_TOKEN as f64 / settings.parameters() as f64;
        // One right score of 1 against the largest of many that are noise alone.
        let wrong =
            if noise > 0.0 { upper_tail(1.0 / (noise * std::f64::consts::SQRT_2)) } else { 0.0 };
        Fill { load, noise, recall: (1.0 - wrong).powf(CANDIDATES) }
    }
}

/// The probability that a normal deviate exceeds z (Abramowitz and Stegun 26.2.17; error below 10⁻⁷).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_normal_one() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.158_655), (2.0, 0.022_750), (4.0, 3.167e-5)] {
            assert!((upper_tail(z) - p).abs() < 1e-6, "{z}");
        }
    }
}
