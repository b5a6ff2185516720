//! Why the memory says what it says: one context, layer by layer.

use super::model::DenseMemo;
use super::retrieve::{Buffers, Tiles};
use crate::error::{Error, check_tokens};
use crate::kernels::{add, dot};
use serde::Serialize;

/// A token that the memory returns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The token.
    pub token: u32,
    /// Its weight.
    pub weight: f32,
}

/// One block of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockTrace {
    /// The tokens of the block; fewer than its length where the context does not reach that far back.
    pub tokens: Vec<u32>,
    /// The cosine between the code that the inner memory returned for this block and the computed one: 1 is perfect
    /// recall, 0 none. It is 1 where recall is computed and in the first layer, whose blocks are tokens, and 0 for a
    /// block that has no code at all.
    pub cosine: f32,
}

/// What one layer contributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerTrace {
    /// The layer, counted from 1.
    pub layer: usize,
    /// The h blocks of the window at the end of the context, oldest first.
    pub blocks: Vec<BlockTrace>,
    /// The tokens that this layer's key returns with the largest weights.
    pub candidates: Vec<Candidate>,
    /// The noise σ in those weights, predicted from the load and the size of the last memory.
    pub noise: f64,
}

/// What retrieval did with a context.
///
/// ```
/// use memo::dense::{DenseConfig, DenseMemo};
/// let mut memo = DenseMemo::new(DenseConfig::new(100, 2048, 2, 3))?;
/// memo.memorize(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// let trace = memo.trace(&[1, 2, 3, 4, 5, 6, 7, 8], 3)?;
/// assert_eq!(trace.candidates[0].token, 9);
/// assert_eq!(trace.layers[1].blocks[1].tokens, [7, 8]);
/// assert!(trace.layers.iter().all(|layer| layer.candidates[0].token == 9));
/// # Ok::<(), memo::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Each layer's part.
    pub layers: Vec<LayerTrace>,
    /// The tokens with the largest weights in all.
    pub candidates: Vec<Candidate>,
    /// The noise σ in those weights.
    pub noise: f64,
}

impl DenseMemo {
    /// Follows a context up the layers and reports the `top` candidates of each.
    pub fn trace(&self, context: &[u32], top: usize) -> Result<Trace, Error> {
        check_tokens(context, self.config().vocab)?;
        Ok(self.on_threads(|| self.trace_here(context, top)))
    }

    fn trace_here(&self, context: &[u32], top: usize) -> Trace {
        let config = self.config();
        let mut tiles = Tiles::new(&self.encoder, &[context], Buffers::default()).traced();
        let mut sum = vec![0.0; config.dim];
        let mut layers = Vec::with_capacity(config.layers);
        for i in 0..config.layers {
            let key = tiles.newest_keys(i);
            let cosines = tiles.newest_cosines();
            let noise = self.layer_noise(i) * f64::from(dot(&key, &key)).sqrt();
            let blocks = (0..config.heads)
                .map(|j| {
                    let age = config.heads - 1 - j;
                    BlockTrace { tokens: block(context, config.span(i), age), cosine: cosines[j] }
                })
                .collect();
            let candidates = self.top(&self.memories.last.read(&key), top);
            layers.push(LayerTrace { layer: i + 1, blocks, candidates, noise });
            add(&mut sum, &key);
            tiles.climb(i, &self.memories.inner);
        }
        let candidates = self.top(&self.memories.last.read(&sum), top);
        let noise = layers.iter().map(|l| l.noise * l.noise).sum::<f64>().sqrt();
        Trace { layers, candidates, noise }
    }

    fn top(&self, output: &[f32], count: usize) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = self
            .codes()
            .scores(output)
            .into_iter()
            .enumerate()
            .map(|(token, weight)| Candidate { token: token as u32, weight })
            .collect();
        // The lowest id comes first among equals.
        let order = |a: &Candidate, b: &Candidate| {
            b.weight.total_cmp(&a.weight).then(a.token.cmp(&b.token))
        };
        if count < candidates.len() {
            candidates.select_nth_unstable_by(count, order);
            candidates.truncate(count);
        }
        candidates.sort_unstable_by(order);
        candidates
    }
}

/// The tokens of the block of `span` tokens that lies `age` blocks before the end of the context.
fn block(context: &[u32], span: usize, age: usize) -> Vec<u32> {
    let end = context.len().saturating_sub(age.saturating_mul(span));
    context[end.saturating_sub(span)..end].to_vec()
}
