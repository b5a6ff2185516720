//! How much fits: the paper's Appendix A, and the linear law of its Fig. 3.
//!
//! **Codes.** How many nearly orthogonal vectors a space of d dimensions can host. The paper's appendix derives this
//! from the Johnson–Lindenstrauss lemma, but the closed form that it prints does not follow from the lemma; the
//! functions here use what does ([`vectors`], [`dimension`]), and `docs/errata.md` shows the difference.
//!
//! **Memories.** A memory of P cells that holds m pairs returns the right value with weight 1 and every other with
//! noise σ = √(m/P). It errs when one of n − 1 noisy weights exceeds the right one, so its recall depends on m/P and n
//! alone: capacity is linear in the number of cells, whatever the shape of the matrix.
//!
//! ```
//! use memo::capacity;
//! // The paper's Fig. 3: vocabulary 100,000, recall 0.9.
//! let law = capacity::parameters_per_pair(100_000, 0.9);
//! assert!((30.0..36.0).contains(&law));
//! let pairs = capacity::pairs(1 << 24, 100_000, 0.9);
//! assert!((capacity::recall(pairs / (1 << 24) as f64, 100_000) - 0.9).abs() < 1e-6);
//! ```

use std::f64::consts::{PI, SQRT_2};

/// ln m for the number m of nearly orthogonal vectors that `dim` dimensions can host when products may miss their ideal
/// by ε: `d·(ε²/32 − ε³/96)`, for 0 < ε < 2.
///
/// From the lemma `d ≥ 4·ln m / (ϵ²/2 − ϵ³/3)` with ε = 2ϵ.
pub fn ln_vectors(dim: usize, epsilon: f64) -> f64 {
    dim as f64 * (epsilon * epsilon / 32.0 - epsilon * epsilon * epsilon / 96.0)
}

/// The number m of nearly orthogonal vectors that `dim` dimensions can host; see [`ln_vectors`].
pub fn vectors(dim: usize, epsilon: f64) -> f64 {
    libm::exp(ln_vectors(dim, epsilon))
}

/// ln m by the closed form that the paper prints, `8·(ε² − 4/3·ε³)·d`. It does not follow from the lemma and is far too
/// large; kept to show by how much.
pub fn printed_ln_vectors(dim: usize, epsilon: f64) -> f64 {
    8.0 * (epsilon * epsilon - 4.0 / 3.0 * epsilon * epsilon * epsilon) * dim as f64
}

/// The dimension that suffices for `vectors` nearly orthogonal vectors with ε: the inverse of [`vectors`], rounded up.
pub fn dimension(vectors: f64, epsilon: f64) -> usize {
    let per_dimension = ln_vectors(1, epsilon);
    (libm::log(vectors.max(1.0)) / per_dimension).ceil() as usize
}

/// The probability with which a pair of m vectors may miss ε: `θ = 2/m² − 1/m⁴`.
pub fn theta(vectors: f64) -> f64 {
    let tau = 1.0 / (vectors * vectors);
    2.0 * tau - tau * tau
}

/// The share of stored pairs that a memory still returns when it holds `density` pairs per cell and the right token
/// competes with all others of the vocabulary.
pub fn recall(density: f64, vocab: usize) -> f64 {
    Reading { noise: density.sqrt(), ..Reading::exact(vocab) }.recall()
}

/// What one reading of a memory looks like, in units of the right token's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The noise σ in every token's weight.
    pub noise: f64,
    /// The deviation of the right token's weight beyond that noise: random codes are not exactly of length 1.
    pub spread: f64,
    /// The relative deviation of the noise from token to token: that of the codes' lengths.
    pub unevenness: f64,
    /// The number n of tokens that compete.
    pub vocab: usize,
}

impl Reading {
    /// A reading without noise.
    pub fn exact(vocab: usize) -> Self {
        Reading { noise: 0.0, spread: 0.0, unevenness: 0.0, vocab }
    }

    /// The standard deviation of the right token's weight.
    pub fn deviation(&self) -> f64 {
        (self.noise * self.noise + self.spread * self.spread).sqrt()
    }

    /// The probability that the right token has the largest weight.
    pub fn recall(&self) -> f64 {
        if self.noise <= 0.0 || self.vocab <= 1 {
            return 1.0;
        }
        let rivals = (self.vocab - 1) as f64;
        let own = self.deviation();
        // The right weight is 1 + own·z. It wins if all rivals stay below it, each of them N(0, (noise·length)²).
        let share = integrate(|z| {
            let weight = 1.0 + own * z;
            let above = |noise: f64| 0.5 * libm::erfc(weight / noise / SQRT_2);
            let above = if self.unevenness > 0.0 {
                let length = |y: f64| (1.0 + self.unevenness * y).max(0.01);
                integrate(|y| above(self.noise * length(y)))
            } else {
                above(self.noise)
            };
            libm::exp(rivals * libm::log1p(-above.min(1.0 - 1e-16)))
        });
        share.clamp(0.0, 1.0)
    }
}

/// The mean of a function of a standard Gaussian, by Simpson's rule.
fn integrate(f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: i32 = 400;
    let (low, high) = (-9.0, 9.0);
    let width = (high - low) / f64::from(STEPS);
    let sum: f64 = (0..=STEPS)
        .map(|k| {
            let z = low + width * f64::from(k);
            let weight = match k {
                0 | STEPS => 1.0,
                k if k % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * f(z) * libm::exp(-z * z / 2.0)
        })
        .sum();
    sum * width / 3.0 / (2.0 * PI).sqrt()
}

/// The cells that each stored pair needs for a given recall: the slope of Fig. 3. Recall must lie strictly between
/// 1/n and 1.
pub fn parameters_per_pair(vocab: usize, wanted: f64) -> f64 {
    // Recall rises with the cells per pair, so bisect their logarithm.
    let (mut low, mut high) = (-20.0f64, 20.0f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if recall(libm::exp(-middle), vocab) < wanted { low = middle } else { high = middle }
    }
    libm::exp(f64::midpoint(low, high))
}

/// The pairs that `parameters` cells hold at a given recall.
pub fn pairs(parameters: u64, vocab: usize, wanted: f64) -> f64 {
    parameters as f64 / parameters_per_pair(vocab, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_lemma_s_own() {
        for (m, epsilon) in [(1000.0, 0.1), (50_000.0, 0.3), (1e9, 0.5)] {
            let d = dimension(m, epsilon);
            let e = epsilon / 2.0;
            let lemma = 4.0 / (e * e / 2.0 - e * e * e / 3.0) * f64::ln(m);
            assert_eq!(d, lemma.ceil() as usize);
            assert!(vectors(d, epsilon) >= m && vectors(d - 1, epsilon) < m);
        }
        assert!((theta(10.0) - (0.02 - 1e-4)).abs() < 1e-15);
    }

    #[test]
    fn the_printed_bound_is_far_too_large() {
        // At d = 1024 and ε = 0.1 the lemma promises e^0.3 vectors, that is one; the printed form says e^71.
        let (lemma, printed) = (ln_vectors(1024, 0.1), printed_ln_vectors(1024, 0.1));
        assert!((lemma - 0.309).abs() < 0.001, "{lemma}");
        assert!((printed - 70.997).abs() < 0.01, "{printed}");
    }

    #[test]
    fn recall_falls_with_density_and_vocabulary() {
        let mut last = 1.0;
        for k in 1..60 {
            let now = recall(f64::from(k) * 0.002, 50_000);
            assert!(now <= last + 1e-12);
            last = now;
        }
        assert!(recall(0.03, 1000) > recall(0.03, 100_000));
        assert_eq!(recall(0.0, 100), 1.0);
        // With one rival the difference of two weights is N(1, 2σ²).
        let sigma = 0.8;
        let exact = 0.5 * libm::erfc(-1.0 / (2.0 * sigma));
        assert!((recall(sigma * sigma, 2) - exact).abs() < 1e-6);
    }

    #[test]
    fn the_linear_law_inverts_recall() {
        for (n, wanted) in [(100, 0.5), (50_000, 0.9), (100_000, 0.99)] {
            let law = parameters_per_pair(n, wanted);
            assert!((recall(1.0 / law, n) - wanted).abs() < 1e-9);
            assert!((pairs(1 << 20, n, wanted) * law - 1_048_576.0).abs() < 1e-6);
        }
    }
}
