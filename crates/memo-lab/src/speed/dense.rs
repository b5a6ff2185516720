//! The dense engine, timed against the matrix product.

use super::{VOCABULARY, best_of, bounds, texts};
use crate::Error;
use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

const HEADS: usize = 4;
const LAYERS: usize = 3;

/// Tokens in a text.
const CHUNK: usize = 1024;

/// The timings at one dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Timed {
    pub(super) dim: usize,
    pub(super) threads: usize,
    pub(super) tokens: usize,
    pub(super) cells: u64,
    /// Tokens a second.
    pub(super) memorize: f64,
    /// Milliseconds of one query, and predictions a second of 256 contexts at once.
    pub(super) query: f64,
    pub(super) batch: f64,
    /// Floating-point operations a second of the matrix product, before and after.
    pub(super) product: f64,
    /// Operations a token that memorizing needs in matrix products; with Hadamard codes transforms and sums take their place.
    pub(super) operations: Option<f64>,
}

/// Times the model as the authors ran it: four heads, three layers, computed recall.
pub(super) fn timed(codes: CodeKind, dim: usize, chunks: usize, seed: u64) -> Result<Timed, Error> {
    let config = DenseConfig::authors(VOCABULARY as usize, dim, HEADS, LAYERS);
    let mut memo = DenseMemo::new(DenseConfig { codes, seed, ..config })?;
    let product = bounds::products(dim);
    let text = texts::random(chunks.max(1) * CHUNK, VOCABULARY, seed);
    let texts: Vec<&[u32]> = text.chunks(CHUNK).collect();
    memo.memorize_all(&texts[..1])?;
    let mut failed = None;
    let seconds = best_of(2, || failed = memo.memorize_all(&texts).err());
    failed.take().map_or(Ok(()), Err)?;
    let reach = HEADS.pow(LAYERS as u32);
    let contexts: Vec<&[u32]> =
        (0..256).map(|k| &text[k * 7919 % (text.len() - reach)..][..reach]).collect();
    memo.predict(contexts[0])?;
    let query = best_of(8, || {
        black_box(memo.predict(contexts[1]).ok());
    });
    let batch = best_of(3, || {
        black_box(memo.predict_all(&contexts).ok());
    });
    let product = product.max(bounds::products(dim));
    // For each token W_V in every layer, Prj in the inner ones, and one update of the memory.
    let square = 2.0 * (dim * dim) as f64;
    let parts = LAYERS as f64 / HEADS as f64 + (LAYERS - 1) as f64 * HEADS as f64 + 1.0;
    Ok(Timed {
        dim,
        threads: rayon::current_num_threads(),
        tokens: text.len(),
        cells: memo.parameters() as u64,
        memorize: text.len() as f64 / seconds,
        query: query * 1e3,
        batch: contexts.len() as f64 / batch,
        product,
        operations: (codes == CodeKind::Gaussian).then_some(square * parts),
    })
}
