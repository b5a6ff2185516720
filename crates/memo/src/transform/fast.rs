//! The fast transform: sign flips, a permutation, one Walsh–Hadamard transform, and a subsample of its output.
//!
//! `y = scale/√m · S·H·P·D·x`. D flips signs at random and P permutes; H is the Walsh–Hadamard matrix over x padded
//! with zeros to a power of two; S keeps the first m rows. Those rows, with M = m rounded up to a power of two,
//! are the M-point transform of x folded into pieces of M values, so that is what is computed: O(k + m·log m)
//! instead of O(k·log k).

use super::Transform;
use crate::kernels::{fwht, gather_add};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// A Johnson–Lindenstrauss transform without a matrix.
#[derive(Clone, Debug)]
pub struct FastTransform {
    input: usize,
    output: usize,
    scale: f32,
    /// P and D: entry i names the input that lands at place i, its highest bit the sign.
    table: Vec<u32>,
}

impl FastTransform {
    /// A transform from `input` to `output` dimensions that keeps lengths; `index` tells apart transforms of one seed.
    ///
    /// # Panics
    /// If `input` is 2³¹ or more.
    pub fn new(input: usize, output: usize, seed: u64, index: u32) -> Self {
        Self::drawn(input, output, 1.0, Stream::new(seed, Purpose::Reduction, index))
    }

    pub(crate) fn drawn(input: usize, output: usize, scale: f32, stream: Stream) -> Self {
        FastTransform { input, output, scale, table: signed_permutation(input, stream) }
    }
}

/// A random permutation of `0..n` with a random sign in each entry's highest bit.
pub(crate) fn signed_permutation(n: usize, stream: Stream) -> Vec<u32> {
    assert!(n < 1 << 31, "a signed permutation of {n} entries");
    let mut reader = stream.reader();
    let mut table = reader.permutation(n);
    for entries in table.chunks_mut(64) {
        let mut bits = reader.word();
        for entry in entries {
            *entry |= ((bits & 1) as u32) << 31;
            bits >>= 1;
        }
    }
    table
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
        let size = self.output.next_power_of_two();
        let factor = self.scale / (self.output as f32).sqrt();
        assert_eq!(x.len() / self.input, out.len() / self.output, "as many rows out as in");
        x.par_chunks_exact(self.input).zip(out.par_chunks_exact_mut(self.output)).for_each_init(
            || vec![0.0; size],
            |folded, (x, y)| {
                folded.fill(0.0);
                for places in self.table.chunks(size) {
                    gather_add(folded, x, places);
                }
                fwht(folded);
                for (y, value) in y.iter_mut().zip(folded) {
                    *y = *value * factor;
                }
            },
        );
    }

    fn bytes(&self) -> usize {
        self.table.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_sign_flips_permutation_hadamard_and_subsample() {
        for (input, output) in [(8, 8), (16, 4), (12, 5), (5, 12), (64, 1)] {
            let fast = FastTransform::new(input, output, 7, 2);
            let x: Vec<f32> = (0..input).map(|k| ((k * 7 + 3) % 11) as f32 - 5.0).collect();
            // P·D·x, padded to a size that both the input and the output fit in, then the first rows of H.
            let size = input.max(output).next_power_of_two();
            let mut placed = vec![0.0f64; size];
            for (place, entry) in fast.table.iter().enumerate() {
                let value = f64::from(x[(entry & !(1 << 31)) as usize]);
                placed[place] = if entry >> 31 == 1 { -value } else { value };
            }
            let y = fast.apply(&x);
            for (row, got) in y.iter().enumerate() {
                let sum: f64 = placed
                    .iter()
                    .enumerate()
                    .map(|(k, v)| if (row & k).count_ones() % 2 == 0 { *v } else { -v })
                    .sum();
                let expected = sum / (output as f64).sqrt();
                assert!((f64::from(*got) - expected).abs() < 1e-4, "{input} → {output}, row {row}");
            }
        }
    }
}
