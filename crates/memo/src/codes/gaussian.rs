//! Gaussian codes: the paper's matrix E, n×d entries from N(0, 1/d).

use crate::kernels::{Mat, product};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// Tokens scored at a time: keeps a batch's scores in cache instead of n of them per vector in memory.
const PANEL: usize = 1024;

#[derive(Clone, Debug)]
pub(super) struct GaussianCodes {
    dim: usize,
    table: Vec<f32>,
}

impl GaussianCodes {
    pub(super) fn new(vocab: usize, dim: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, Purpose::GaussianCodes, 0);
        // A row begins at a block of its own, so that it depends on the token alone.
        let blocks = dim.div_ceil(4) as u64;
        let scale = 1.0 / (dim as f32).sqrt();
        let mut table = vec![0.0; vocab * dim];
        table.par_chunks_exact_mut(dim).enumerate().for_each(|(token, row)| {
            stream.gaussians(token as u64 * blocks, scale, row);
        });
        GaussianCodes { dim, table }
    }

    pub(super) fn vocab(&self) -> usize {
        self.table.len() / self.dim
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn table(&self) -> &[f32] {
        &self.table
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.len() * 4
    }

    pub(super) fn row(&self, token: u32) -> &[f32] {
        &self.table[token as usize * self.dim..][..self.dim]
    }

    pub(super) fn scan<T: Send>(
        &self,
        vectors: &[f32],
        results: &mut [T],
        each: impl Fn(&mut T, usize, &[f32]) + Sync,
    ) {
        let rows = results.len();
        // A few vectors are bound by reading E: then the longer the panel, the fewer times threads meet.
        let panel = if rows < 8 { self.vocab() } else { PANEL };
        let mut scores = vec![0.0; rows * panel];
        for (i, codes) in self.table.chunks(panel * self.dim).enumerate() {
            let tokens = codes.len() / self.dim;
            let part = &mut scores[..rows * tokens];
            product(
                part,
                false,
                Mat::new(vectors, rows, self.dim),
                Mat::new(codes, tokens, self.dim),
            );
            results
                .par_iter_mut()
                .zip(part.par_chunks_exact(tokens))
                .for_each(|(result, scores)| each(result, i * panel, scores));
        }
    }
}
