//! The update of the last memory: `C += weight · Σ_p I_p·y_pᵀ`, all layers' keys added before (by linearity, as all
//! layers predict the same token at a position).
//!
//! With Gaussian codes this is one matrix product, 2·d² operations a token. With Hadamard codes a large batch does
//! better: keys are summed per next token, and since `y_t = D_b ⊙ H[t mod d]/√d`, one Walsh–Hadamard transform per
//! run of d tokens turns those sums into their contribution to C. Its cost, (n/d)·d²·log d, does not depend on the
//! number of positions.

use super::memory::CorrelationMemory;
use crate::codes::{HadamardCodes, TokenCodes};
use crate::kernels::{add, add_scaled, fwht_columns};
use rayon::prelude::*;

/// Key dimensions transformed at a time: a tile of d rows stays in the second-level cache up to d = 8192.
const TILE: usize = 32;

/// A buffer of keys and next tokens that is added to a memory when full.
pub(super) struct Update {
    width: usize,
    keys: Vec<f32>,
    next: Vec<u32>,
    /// Pairs, one per layer and position; a row of `keys` is the sum of several.
    pairs: f64,
    weight: f32,
    capacity: usize,
}

/// Positions added by one matrix product.
const BATCH: usize = 1024;

/// What a buffer of keys may take, in floats, or as much as the memory itself. Only sums per token profit from more than
/// a few thousand rows: their cost is that of a flush, whatever is in the buffer.
const BUFFER: usize = 1 << 25;

impl Update {
    /// Keys of `width` values that will be added with `weight`.
    pub(super) fn new(codes: &TokenCodes, width: usize, weight: f32) -> Self {
        let rows = (BUFFER / width).max(codes.dim()).max(1);
        let capacity = if codes.hadamard().is_some() { rows } else { BATCH };
        Update { width, keys: Vec::new(), next: Vec::new(), pairs: 0.0, weight, capacity }
    }

    /// Makes room for positions followed by the tokens `next`, which stand for `pairs` pairs in all, and returns their
    /// rows to add keys to: a row is the sum of its layers' keys.
    pub(super) fn grow(&mut self, next: &[u32], pairs: usize) -> &mut [f32] {
        let start = self.keys.len();
        self.keys.resize(start + next.len() * self.width, 0.0);
        self.next.extend_from_slice(next);
        self.pairs += pairs as f64;
        &mut self.keys[start..]
    }

    /// Adds positions of one pair each.
    pub(super) fn extend(&mut self, keys: &[f32], next: &[u32]) {
        self.grow(next, next.len()).copy_from_slice(keys);
    }

    /// Writes to the memory if the buffer is full.
    pub(super) fn flush_if_full(&mut self, memory: &mut CorrelationMemory, codes: &TokenCodes) {
        if self.next.len() >= self.capacity {
            self.flush(memory, codes);
        }
    }

    /// Writes everything to the memory.
    pub(super) fn flush(&mut self, memory: &mut CorrelationMemory, codes: &TokenCodes) {
        match codes.hadamard() {
            Some(codes) if sums_pay(codes, memory.value_dim(), &self.next) => {
                add_sums(memory, codes, &self.keys, &self.next, self.weight);
            }
            _ => {
                let rows = self.keys.chunks(BATCH * self.width).zip(self.next.chunks(BATCH));
                for (keys, next) in rows {
                    memory.add_rows(keys, &codes.rows(next), self.weight);
                }
            }
        }
        memory.add_load(f64::from(self.weight) * self.pairs);
        self.keys.clear();
        self.next.clear();
        self.pairs = 0.0;
    }
}

/// Whether transforms of sums cost less than a matrix product, whose operations run about ten times as fast.
fn sums_pay(codes: &HadamardCodes, dim: usize, next: &[u32]) -> bool {
    let mut used = vec![false; codes.runs()];
    for token in next {
        used[*token as usize / dim] = true;
    }
    let runs = used.iter().filter(|used| **used).count();
    next.len() > 5 * runs * (dim.ilog2() as usize)
}

/// `C += weight · Σ_p key_p · code(next_p)ᵀ` by sums per token.
fn add_sums(
    memory: &mut CorrelationMemory,
    codes: &HadamardCodes,
    keys: &[f32],
    next: &[u32],
    weight: f32,
) {
    let (width, d) = (memory.key_dim(), memory.value_dim());
    // The positions of each run of d tokens, so that a tile takes them run by run.
    let mut positions: Vec<Vec<(usize, usize)>> = vec![Vec::new(); codes.runs()];
    for (p, token) in next.iter().enumerate() {
        positions[*token as usize / d].push((p, *token as usize % d));
    }
    let factor = weight * codes.scale();
    let tile = |first: usize| -> Vec<f32> {
        let columns = TILE.min(width - first);
        let mut total = vec![0.0; d * columns];
        let mut sums = vec![0.0; d * columns];
        for (run, positions) in positions.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
            sums.fill(0.0);
            for &(p, row) in positions {
                add(&mut sums[row * columns..][..columns], &keys[p * width + first..][..columns]);
            }
            fwht_columns(&mut sums, columns);
            let rows = total.chunks_exact_mut(columns).zip(sums.chunks_exact(columns));
            for ((total, sums), sign) in rows.zip(codes.signs(run)) {
                add_scaled(total, factor * sign, sums);
            }
        }
        total
    };
    // A few tiles at a time, so that memory stays small and the cells are visited in long rows.
    let group = 4 * rayon::current_num_threads().max(1);
    let firsts: Vec<usize> = (0..width).step_by(TILE).collect();
    for firsts in firsts.chunks(group) {
        let tiles: Vec<Vec<f32>> = firsts.par_iter().map(|&first| tile(first)).collect();
        memory.cells_mut().par_chunks_exact_mut(width).enumerate().for_each(|(v, cells)| {
            for (tile, &first) in tiles.iter().zip(firsts) {
                let columns = tile.len() / d;
                add(&mut cells[first..][..columns], &tile[v * columns..][..columns]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::CodeKind;
    use crate::random::{Purpose, Stream};

    #[test]
    fn sums_per_token_equal_outer_products() {
        let mut reader = Stream::new(3, Purpose::Sampling, 0).draws();
        // Key dimensions that fill tiles and that do not; vocabularies of one run and of several.
        for (key_dim, dim, vocab) in [(40, 16, 10), (96, 32, 32), (7, 64, 200)] {
            let codes = TokenCodes::new(CodeKind::Hadamard, vocab, dim, 1).unwrap();
            let next = reader.tokens(300, vocab);
            let mut keys = vec![0.0; next.len() * key_dim];
            Stream::new(4, Purpose::Sampling, 0).gaussians(0, 1.0, &mut keys);
            let mut expected = CorrelationMemory::new(key_dim, dim);
            expected.add_batch(&keys, &codes.rows(&next), -2.0);
            let mut got = CorrelationMemory::new(key_dim, dim);
            add_sums(&mut got, codes.hadamard().unwrap(), &keys, &next, -2.0);
            for (a, b) in got.cells().iter().zip(expected.cells()) {
                assert!((a - b).abs() < 1e-3, "{a} against {b}");
            }
        }
    }
}
