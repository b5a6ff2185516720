//! The authors' model with Gaussian codes, computed without its matrix.
//!
//! With linear composition and computed recall every key is linear in the codes of its window's tokens, and the memory is
//! `C = Σ_t s_t·e_tᵀ` with s_t the sum of the keys that token t follows. So the n vectors s_t say all that C says, and a query k
//! returns `Σ_t (k·s_t)·e_t`. That takes three products with n×d matrices a query and, for every place in a window, one of the whole
//! vocabulary with a d/h×d matrix, instead of 19.5·d² operations a memorized token (with three layers). The numbers are the
//! same up to rounding, and d = 8192 takes minutes instead of an hour.
//!
//! Keys are made in slices, a few of the d/h dimensions of a head at a time, which bounds the memory that the products of the
//! vocabulary take.

use super::texts::Batch;
use crate::Share;
use memo::dense::{Composer, CorrelationMemory, DenseMemo};
use rayon::prelude::*;

/// Columns of the largest table: the dimensions of a slice, times the tokens of a block of the last layer.
pub(super) const COLUMNS: usize = 4096;

/// A batch to memorize, and the first and the current batch with the samples that are tried after it.
#[derive(Clone)]
pub(super) struct Round {
    pub(super) memorized: Batch,
    pub(super) tried: [Batch; 2],
}

impl Round {
    /// What comes before every position that is tried.
    fn contexts(&self) -> Vec<&[u32]> {
        self.tried.iter().flat_map(Batch::contexts).collect()
    }
}

/// Recall of both batches after each round, for several texts: what `memo`, whose codes and transforms are used, would answer if it
/// memorized the rounds of one text one after the other. It must have Gaussian codes, linear composition and computed recall. No table
/// has more than `columns` columns.
pub(super) fn recalls(
    memo: &DenseMemo,
    texts: &[Vec<Round>],
    columns: usize,
) -> Vec<Vec<[Share; 2]>> {
    let config = memo.config();
    let (heads, head_dim) = (config.heads, config.dim / config.heads);
    let width = (columns / heads.pow(config.layers as u32 - 1)).clamp(1, head_dim);
    // k·s_t: a row for every token t, a column for every query.
    let empty = |round: &Round| vec![0.0; config.vocab * round.contexts().len()];
    let mut products: Vec<Vec<Vec<f32>>> =
        texts.iter().map(|rounds| rounds.iter().map(empty).collect()).collect();
    for first in (0..head_dim).step_by(width) {
        let slice = Slice::new(memo, first, width.min(head_dim - first));
        for (rounds, products) in texts.iter().zip(&mut products) {
            slice.add_products(config.vocab, rounds, products);
        }
    }
    let codes = memo.codes().stored().expect("Gaussian codes are stored");
    let answer = |(round, products): (&Round, Vec<f32>)| {
        let mut outputs = CorrelationMemory::new(config.dim, products.len() / config.vocab);
        outputs.add_batch(codes, &products, 1.0);
        let best = memo.codes().best(outputs.cells());
        let (first, current) = best.split_at(round.tried[0].tried.len());
        let share = |best: &[(u32, f32)], batch: &Batch| {
            Share::of(best.iter().map(|(token, _)| *token), batch.wanted())
        };
        [share(first, &round.tried[0]), share(current, &round.tried[1])]
    };
    let texts = texts.iter().zip(products);
    texts.map(|(rounds, products)| rounds.iter().zip(products).map(answer).collect()).collect()
}

/// Some dimensions of every head of a key.
struct Slice {
    heads: usize,
    width: usize,
    /// For each layer, a row for every token: what it adds to a block at each of the block's places, `width` values each.
    tables: Vec<Vec<f32>>,
}

impl Slice {
    /// The dimensions `first..first + width` of every head.
    fn new(memo: &DenseMemo, first: usize, width: usize) -> Self {
        let (d, heads) = (memo.config().dim, memo.config().heads);
        let codes = memo.codes().stored().expect("Gaussian codes are stored");
        let table = |layer: usize| {
            let reduction = memo.reduction(layer).and_then(|r| r.stored());
            let reduction = reduction.expect("Gaussian transforms are stored");
            let mut matrix = reduction[first * d..][..width * d].to_vec();
            for below in (1..layer).rev() {
                let Some(Composer::Gaussian(projection)) = memo.composer(below) else {
                    unreachable!("composition is linear and Gaussian")
                };
                let mut product = CorrelationMemory::new(heads * d, matrix.len() / d);
                product.add_batch(projection.matrix(), &transposed(&matrix, d), 1.0);
                matrix = product.cells().to_vec();
            }
            // From places of each dimension to dimensions of each place.
            let places = matrix.len() / (width * d);
            let rows = (0..places).flat_map(|place| (0..width).map(move |k| k * places + place));
            let rows: Vec<f32> = rows.flat_map(|row| &matrix[row * d..][..d]).copied().collect();
            let mut memory = CorrelationMemory::new(d, places * width);
            memory.set_cells(&rows);
            memory.read_batch(codes)
        };
        let tables = (1..=memo.config().layers).map(table).collect();
        Slice { heads, width, tables }
    }

    fn key_dim(&self) -> usize {
        self.heads * self.width
    }

    /// Adds to k·s_t, after each round of a text, what these dimensions have in it.
    fn add_products(&self, vocabulary: usize, rounds: &[Round], products: &mut [Vec<f32>]) {
        let mut sums = vec![0.0; vocabulary * self.key_dim()];
        for (round, products) in rounds.iter().zip(products) {
            self.memorize(&round.memorized, &mut sums);
            let contexts = round.contexts();
            let mut queries = CorrelationMemory::new(self.key_dim(), contexts.len());
            queries.set_cells(&self.queries(&contexts));
            let part = queries.read_batch(&sums);
            products.par_iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Adds the block of a layer (from 0) at the end of `context`; tokens before its beginning count as zero.
    fn add_block(&self, layer: usize, context: &[u32], block: &mut [f32]) {
        let places = self.heads.pow(layer as u32);
        for (back, token) in context.iter().rev().take(places).enumerate() {
            let row = *token as usize * places + places - 1 - back;
            add(block, &self.tables[layer][row * self.width..][..self.width]);
        }
    }

    /// Adds the keys of all windows that lie inside a chunk of the batch to the sums of the tokens that follow them.
    fn memorize(&self, batch: &Batch, sums: &mut [f32]) {
        // A few chunks at a time, so that their keys take little memory.
        for chunks in batch.chunks.chunks(rayon::current_num_threads().max(1)) {
            let keys: Vec<Vec<f32>> = chunks.par_iter().map(|chunk| self.keys(chunk)).collect();
            for (chunk, keys) in chunks.iter().zip(&keys) {
                for (token, key) in chunk.iter().zip(keys.chunks_exact(self.key_dim())) {
                    add(&mut sums[*token as usize * self.key_dim()..][..self.key_dim()], key);
                }
            }
        }
    }

    /// For each token of a chunk the sum of the keys that it follows.
    fn keys(&self, chunk: &[u32]) -> Vec<f32> {
        let mut keys = vec![0.0; chunk.len() * self.key_dim()];
        for layer in 0..self.tables.len() {
            let places = self.heads.pow(layer as u32);
            // A block is part of h windows.
            let mut blocks = vec![0.0; chunk.len() * self.width];
            for (end, block) in blocks.chunks_exact_mut(self.width).enumerate() {
                self.add_block(layer, &chunk[..=end], block);
            }
            for (end, key) in
                keys.chunks_exact_mut(self.key_dim()).enumerate().skip(self.heads * places)
            {
                for (head, part) in key.chunks_exact_mut(self.width).enumerate() {
                    let block = end - 1 - (self.heads - 1 - head) * places;
                    add(part, &blocks[block * self.width..][..self.width]);
                }
            }
        }
        keys
    }

    /// The key of each context, row by row.
    fn queries(&self, contexts: &[&[u32]]) -> Vec<f32> {
        let mut keys = vec![0.0; contexts.len() * self.key_dim()];
        keys.par_chunks_exact_mut(self.key_dim()).zip(contexts).for_each(|(key, context)| {
            for layer in 0..self.tables.len() {
                let places = self.heads.pow(layer as u32);
                for (head, part) in key.chunks_exact_mut(self.width).enumerate() {
                    let back = (self.heads - 1 - head) * places;
                    self.add_block(layer, &context[..context.len().saturating_sub(back)], part);
                }
            }
        });
        keys
    }
}

fn add(sum: &mut [f32], part: &[f32]) {
    sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
}

/// The transpose of a matrix of `columns` columns.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let column = |c: usize| matrix[c..].iter().step_by(columns);
    (0..columns).into_par_iter().flat_map_iter(column).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::texts::{HEADS, VOCABULARY};
    use memo::dense::DenseConfig;

    /// Slices that do not divide a head evenly, decoys, windows longer than some contexts, and a memory that is too full to
    /// recall everything: every share as the dense engine has it.
    #[test]
    fn recall_is_the_dense_engine_s() {
        let config = DenseConfig { seed: 5, ..DenseConfig::authors(VOCABULARY, 256, HEADS, 3) };
        let mut memo = DenseMemo::new(config).unwrap();
        let batch = |k| Batch::new(5, k, 1, 6, 60);
        let rounds: Vec<Round> = (0..2)
            .map(|k| Round { memorized: batch(k), tried: [batch(0), batch(k).tried_again(9)] })
            .collect();
        let [got] = recalls(&memo, std::slice::from_ref(&rounds), 16 * 24).try_into().unwrap();
        for (round, got) in rounds.iter().zip(got) {
            memo.memorize_all(&round.memorized.texts()).unwrap();
            for (batch, got) in round.tried.iter().zip(got) {
                let best = memo.predict_all(&batch.contexts()).unwrap();
                let expected = Share::of(best.iter().map(|best| best.token), batch.wanted());
                assert!(expected.right > 0 && expected.right < 60, "{expected:?} tells little");
                assert_eq!(got, expected);
            }
        }
    }
}
