//! Hadamard codes: ±1/√d, generated and never stored.
//!
//! Token t belongs to run b = t div d and has the code `D_b ⊙ H[t mod d] / √d`, where H is the Walsh–Hadamard
//! matrix and D_b a vector of random signs. All scores of a run are one fast transform: `H·(D_b ⊙ y) / √d`.

use crate::kernels::{fwht, walsh_row};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

#[derive(Clone, Debug)]
pub(crate) struct HadamardCodes {
    vocab: usize,
    dim: usize,
    /// D_b of every run: as many values as tokens, rounded up to whole runs.
    signs: Vec<f32>,
}

impl HadamardCodes {
    pub(super) fn new(vocab: usize, dim: usize, seed: u64) -> Self {
        let mut signs = vec![0.0; vocab.next_multiple_of(dim)];
        for (b, signs) in signs.chunks_exact_mut(dim).enumerate() {
            Stream::new(seed, Purpose::HadamardSigns, b as u32).signs(0, signs);
        }
        HadamardCodes { vocab, dim, signs }
    }

    pub(super) fn vocab(&self) -> usize {
        self.vocab
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn bytes(&self) -> usize {
        self.signs.len() * 4
    }

    /// The number of runs of d tokens.
    pub(crate) fn runs(&self) -> usize {
        self.signs.len() / self.dim
    }

    /// The signs D_b of a run.
    pub(crate) fn signs(&self, run: usize) -> &[f32] {
        &self.signs[run * self.dim..][..self.dim]
    }

    /// What each entry of a code is, up to its sign: 1/√d.
    pub(crate) fn scale(&self) -> f32 {
        1.0 / (self.dim as f32).sqrt()
    }

    pub(super) fn write(&self, token: u32, out: &mut [f32]) {
        let (run, row) = (token as usize / self.dim, token as usize % self.dim);
        walsh_row(out, self.signs(run), row, self.scale());
    }

    pub(super) fn scan<T: Send>(
        &self,
        vectors: &[f32],
        results: &mut [T],
        each: impl Fn(&mut T, usize, &[f32]) + Sync,
    ) {
        results.par_iter_mut().zip(vectors.par_chunks_exact(self.dim)).for_each_init(
            || vec![0.0; self.dim],
            |scores, (result, vector)| {
                for run in 0..self.runs() {
                    for ((score, value), sign) in scores.iter_mut().zip(vector).zip(self.signs(run))
                    {
                        *score = value * sign * self.scale();
                    }
                    fwht(scores);
                    let first = run * self.dim;
                    each(result, first, &scores[..self.dim.min(self.vocab - first)]);
                }
            },
        );
    }
}
