//! The fast transform: sign flips, one Walsh–Hadamard transform, and a random choice of its outputs.
//!
//! `y = scale/√m · S·P·H·D·x`. D flips signs at random, H is the Walsh–Hadamard matrix over x padded with zeros to a
//! power of two, P permutes at random and S keeps the first m. Flipping and transforming first spreads even a vector
//! with a single entry over all outputs, so that any choice of them has its share. O(k·log k) instead of O(k·m).

use super::Transform;
use crate::kernels::{add_product, fwht, gather_add};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// A Johnson–Lindenstrauss transform without a matrix.
#[derive(Clone, Debug)]
pub struct FastTransform {
    input: usize,
    output: usize,
    scale: f32,
    /// D, one sign an input.
    signs: Vec<f32>,
    /// P and S: the outputs of H that are kept.
    kept: Vec<u32>,
}

impl FastTransform {
    /// A transform from `input` to `output` dimensions that keeps lengths; `index` tells apart transforms of one seed.
    ///
    /// # Panics
    /// If a dimension is 2³¹ or more.
    pub fn new(input: usize, output: usize, seed: u64, index: u32) -> Self {
        Self::drawn(input, output, 1.0, Stream::new(seed, Purpose::Reduction, index))
    }

    pub(crate) fn drawn(input: usize, output: usize, scale: f32, stream: Stream) -> Self {
        assert!(input.max(output) < 1 << 31, "a fast transform {input} → {output}");
        let mut reader = stream.draws();
        let mut kept = reader.permutation(input.max(output).next_power_of_two());
        kept.truncate(output);
        kept.shrink_to_fit();
        let signs = reader.signs(input);
        FastTransform { input, output, scale, signs, kept }
    }
}

/// A random permutation of `0..n` with a random sign in each entry's highest bit.
pub(crate) fn signed_permutation(n: usize, stream: Stream) -> Vec<u32> {
    assert!(n < 1 << 31, "a signed permutation of {n} entries");
    let mut reader = stream.draws();
    let table = reader.permutation(n);
    let signs = reader.signs(n);
    table.iter().zip(signs).map(|(entry, sign)| entry | u32::from(sign < 0.0) << 31).collect()
}

impl Transform for FastTransform {
    fn input_dim(&self) -> usize {
        self.input
    }

    fn output_dim(&self) -> usize {
        self.output
    }

    fn scale(&self) -> f32 {
        self.scale
    }

    fn apply_rows(&self, x: &[f32], out: &mut [f32]) {
        let size = self.input.max(self.output).next_power_of_two();
        let factor = self.scale / (self.output as f32).sqrt();
        assert_eq!(x.len() % self.input.max(1), 0, "rows of {} values", self.input);
        assert_eq!(out.len(), x.len() / self.input.max(1) * self.output, "as many rows out as in");
        if out.is_empty() {
            return;
        }
        x.par_chunks_exact(self.input).zip(out.par_chunks_exact_mut(self.output)).for_each_init(
            || vec![0.0; size],
            |spread, (x, y)| {
                spread.fill(0.0);
                add_product(spread, &self.signs, x);
                fwht(spread);
                y.fill(0.0);
                gather_add(y, spread, &self.kept);
                for value in y {
                    *value *= factor;
                }
            },
        );
    }

    fn bytes(&self) -> usize {
        (self.signs.len() + self.kept.len()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_sign_flips_hadamard_and_a_choice_of_rows() {
        for (input, output) in [(8, 8), (16, 4), (12, 5), (5, 12), (64, 1)] {
            let fast = FastTransform::new(input, output, 7, 2);
            let x: Vec<f32> = (0..input).map(|k| ((k * 7 + 3) % 11) as f32 - 5.0).collect();
            let mut rows = fast.kept.clone();
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), output, "every row is chosen once");
            for (row, got) in fast.kept.iter().zip(fast.apply(&x)) {
                let term = |(k, (x, sign)): (usize, (&f32, &f32))| {
                    let odd = (*row as usize & k).count_ones() % 2 == 1;
                    f64::from(x * sign) * if odd { -1.0 } else { 1.0 }
                };
                let sum: f64 = x.iter().zip(&fast.signs).enumerate().map(term).sum();
                let expected = sum / (output as f64).sqrt();
                assert!((f64::from(got) - expected).abs() < 1e-4, "{input} → {output}, row {row}");
            }
        }
    }
}
