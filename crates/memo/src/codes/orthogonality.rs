//! How orthogonal codes really are: the paper's NOV(ε, θ), measured.
//!
//! A set of vectors is nearly orthogonal with (ε, θ) when a pair's product misses its ideal (1 for a vector with
//! itself, 0 otherwise) by more than ε with probability at most θ. [`crate::capacity`] has what theory promises.

use super::TokenCodes;
use crate::kernels::{Mat, product};
use crate::random::{Purpose, Stream};

/// Codes compared at a time.
const PANEL: usize = 256;

/// The products of pairs of codes, as far as they miss their ideal.
///
/// ```
/// use memo::codes::{CodeKind, TokenCodes, orthogonality::Orthogonality};
/// let codes = TokenCodes::new(CodeKind::Gaussian, 500, 1024, 1)?;
/// let report = Orthogonality::measure(&codes, 100_000, 1);
/// assert_eq!((report.tokens(), report.pairs()), (447, 447 * 446 / 2));
/// assert!(report.theta(0.2) < 1e-4);       // hardly a pair exceeds 0.2
/// assert!(report.epsilon(0.01) < 0.1);     // 99 % stay below this
/// # Ok::<(), memo::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Orthogonality {
    vocab: usize,
    /// |a·b| of different codes, ascending.
    products: Vec<f32>,
    /// |a·a − 1|, ascending.
    norms: Vec<f32>,
}

impl Orthogonality {
    /// Compares all pairs of the vocabulary if there are at most `max_pairs`, and otherwise all pairs of a random
    /// choice of tokens that has about as many.
    pub fn measure(codes: &TokenCodes, max_pairs: usize, seed: u64) -> Self {
        let (n, d) = (codes.vocab(), codes.dim());
        // The largest m with m·(m − 1)/2 ≤ max_pairs.
        let fits = usize::midpoint(1, max_pairs.saturating_mul(8).saturating_add(1).isqrt());
        let mut tokens: Vec<u32> =
            if fits >= n { (0..n as u32).collect() } else { sample(n, fits, seed) };
        tokens.sort_unstable();
        let rows = codes.rows(&tokens);
        let m = tokens.len();
        let mut products = Vec::with_capacity(m * m.saturating_sub(1) / 2);
        let mut norms = Vec::with_capacity(m);
        for first in (0..m).step_by(PANEL) {
            let count = PANEL.min(m - first);
            // Only columns up to the panel's last row: the rest mirrors them.
            let width = first + count;
            let mut gram = vec![0.0; count * width];
            let panel = Mat::new(&rows[first * d..][..count * d], count, d);
            product(&mut gram, false, panel, Mat::new(&rows[..width * d], width, d));
            for (r, row) in gram.chunks_exact(width).enumerate() {
                products.extend(row[..first + r].iter().map(|p| p.abs()));
                norms.push((row[first + r] - 1.0).abs());
            }
        }
        products.sort_unstable_by(f32::total_cmp);
        norms.sort_unstable_by(f32::total_cmp);
        Orthogonality { vocab: n, products, norms }
    }

    /// How many tokens were compared.
    pub fn tokens(&self) -> usize {
        self.norms.len()
    }

    /// How many pairs of different tokens were compared.
    pub fn pairs(&self) -> usize {
        self.products.len()
    }

    /// Whether every pair of the vocabulary was compared.
    pub fn is_exhaustive(&self) -> bool {
        self.tokens() == self.vocab
    }

    /// The share of pairs whose product exceeds ε: the measured θ for this ε.
    pub fn theta(&self, epsilon: f32) -> f64 {
        share_above(&self.products, epsilon)
    }

    /// The smallest ε that all but a share θ of the pairs keep.
    pub fn epsilon(&self, theta: f64) -> f32 {
        let allowed = (theta.clamp(0.0, 1.0) * self.pairs() as f64) as usize;
        self.products.len().checked_sub(allowed + 1).map_or(0.0, |k| self.products[k])
    }

    /// The share of codes whose squared length misses 1 by more than ε.
    pub fn norm_theta(&self, epsilon: f32) -> f64 {
        share_above(&self.norms, epsilon)
    }

    /// The standard deviation of the products; 1/√d for independent random codes.
    pub fn deviation(&self) -> f64 {
        let squares: f64 = self.products.iter().map(|p| f64::from(*p) * f64::from(*p)).sum();
        (squares / self.pairs().max(1) as f64).sqrt()
    }
}

fn share_above(sorted: &[f32], epsilon: f32) -> f64 {
    let kept = sorted.partition_point(|p| *p <= epsilon);
    (sorted.len() - kept) as f64 / sorted.len().max(1) as f64
}

/// `count` different tokens of `0..n` (Floyd's method).
fn sample(n: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut reader = Stream::new(seed, Purpose::Sampling, 0).draws();
    let mut chosen = std::collections::HashSet::new();
    for top in n - count..n {
        let pick = reader.below(top as u64 + 1) as u32;
        if !chosen.insert(pick) {
            chosen.insert(top as u32);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::CodeKind;

    #[test]
    fn gaussian_products_spread_as_one_over_root_d() {
        let codes = TokenCodes::new(CodeKind::Gaussian, 600, 400, 5).unwrap();
        let report = Orthogonality::measure(&codes, 1 << 20, 5);
        assert!(report.is_exhaustive());
        assert_eq!(report.pairs(), 600 * 599 / 2);
        assert!((report.deviation() * 20.0 - 1.0).abs() < 0.02, "{}", report.deviation());
        // A Gaussian product exceeds two deviations in 4.55 % of the pairs.
        assert!((report.theta(0.1) - 0.0455).abs() < 0.005, "{}", report.theta(0.1));
        let epsilon = report.epsilon(0.01);
        assert!(report.theta(epsilon) <= 0.01 && report.theta(epsilon * 0.999) >= 0.0099);
    }

    #[test]
    fn hadamard_codes_are_orthogonal_within_a_run_and_exactly_of_length_one() {
        let one_run = TokenCodes::new(CodeKind::Hadamard, 256, 256, 5).unwrap();
        assert_eq!(Orthogonality::measure(&one_run, 1 << 20, 5).epsilon(0.0), 0.0);
        let codes = TokenCodes::new(CodeKind::Hadamard, 1000, 256, 5).unwrap();
        let report = Orthogonality::measure(&codes, 1 << 20, 5);
        assert_eq!(report.norm_theta(0.0), 0.0);
        // Three quarters of the pairs lie in different runs, where signs are random.
        assert!(report.deviation() < 1.0 / 16.0 && report.deviation() > 0.8 / 16.0);
    }

    #[test]
    fn the_lemma_is_cautious() {
        // It promises two vectors where a thousand fit; docs/errata.md says so.
        let codes = TokenCodes::new(CodeKind::Gaussian, 1000, 1024, 0).unwrap();
        assert!(Orthogonality::measure(&codes, 1 << 20, 0).epsilon(0.0) < 0.17);
        assert!(crate::capacity::vectors(1024, 0.17) < 3.0);
    }

    #[test]
    fn a_large_vocabulary_is_sampled() {
        let codes = TokenCodes::new(CodeKind::Hadamard, 50_000, 64, 5).unwrap();
        let report = Orthogonality::measure(&codes, 10_000, 5);
        assert!(!report.is_exhaustive());
        assert_eq!(report.tokens(), 141);
        assert!((report.deviation() * 8.0 - 1.0).abs() < 0.1);
    }
}
