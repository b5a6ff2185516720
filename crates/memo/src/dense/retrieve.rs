//! Retrieval: the paper's MM_r, for single contexts, batches of them, and every position of a text.

use super::encoder::{CACHED_ROWS, Encoder};
use super::memory::CorrelationMemory;
use super::model::DenseMemo;
use super::pass::{Pass, blend};
use super::windows::Windows;
use crate::error::{Error, check_tokens};
use crate::kernels::{add, dot};
use rayon::prelude::*;

/// Positions whose keys are read from the last memory by one matrix product.
const BATCH_ROWS: usize = 1024;

/// Floats that the codes of one batch of contexts may take.
const BATCH: usize = 1 << 24;

/// The token that a memory returns with the largest weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The token.
    pub token: u32,
    /// Its weight: about the number of stored windows, of every length, that match and are followed by it.
    pub weight: f32,
}

impl DenseMemo {
    /// The token that follows a context, and its weight. Only the last hˡ tokens of a context count; what a shorter
    /// one lacks is zero. An empty context returns token 0 with weight 0.
    pub fn predict(&self, context: &[u32]) -> Result<Prediction, Error> {
        Ok(self.predict_all(&[context])?[0])
    }

    /// The token that follows each context: the same as one after the other up to rounding, and faster, because a batch
    /// reads each memory once.
    pub fn predict_all(&self, contexts: &[&[u32]]) -> Result<Vec<Prediction>, Error> {
        let outputs = self.retrieve_all(contexts)?;
        Ok(self.on_threads(|| self.decode(&outputs)))
    }

    /// The weight of every token as the successor of a context: the paper's `E·O`.
    pub fn weights(&self, context: &[u32]) -> Result<Vec<f32>, Error> {
        self.weights_all(&[context])
    }

    /// The weights of every token for each context, n values a context.
    pub fn weights_all(&self, contexts: &[&[u32]]) -> Result<Vec<f32>, Error> {
        let outputs = self.retrieve_all(contexts)?;
        Ok(self.on_threads(|| self.codes().scores(&outputs)))
    }

    /// The paper's O⁽ˡᵃˢᵗ⁾ for a context: the sum of the codes of its successors.
    pub fn retrieve(&self, context: &[u32]) -> Result<Vec<f32>, Error> {
        self.retrieve_all(&[context])
    }

    /// The paper's O⁽ˡᵃˢᵗ⁾ for each context, d values each.
    pub fn retrieve_all(&self, contexts: &[&[u32]]) -> Result<Vec<f32>, Error> {
        for context in contexts {
            check_tokens(context, self.config().vocab)?;
        }
        Ok(self.on_threads(|| {
            let mut keys = vec![0.0; contexts.len() * self.config().dim];
            self.add_newest_keys(contexts, &mut keys);
            self.memories.last.read_batch(&keys)
        }))
    }

    /// Predictions along a text: element p is what follows `text[..=p]`. The same as [`predict`](Self::predict) for
    /// every prefix, at a fraction of its cost, because windows of neighbouring positions share their blocks.
    pub fn predict_along(&self, text: &[u32]) -> Result<Vec<Prediction>, Error> {
        Ok(self.predict_in_batches(text)?.flatten().collect())
    }

    /// The same, a thousand positions at a time, for callers that show how far it is or stop early.
    pub fn predict_in_batches<'a>(
        &'a self,
        text: &'a [u32],
    ) -> Result<impl Iterator<Item = Vec<Prediction>> + 'a, Error> {
        check_tokens(text, self.config().vocab)?;
        let mut pass = Pass::retrieving(&self.encoder);
        let d = self.config().dim;
        let piece = if self.encodes_fast() { CACHED_ROWS } else { BATCH_ROWS };
        Ok(text.chunks(BATCH_ROWS).map(move |tokens| {
            self.on_threads(|| {
                let mut keys = vec![0.0; tokens.len() * d];
                for (tokens, keys) in tokens.chunks(piece).zip(keys.chunks_mut(piece * d)) {
                    pass.advance(tokens, &self.memories.inner);
                    pass.add_keys(keys, |_, _| true);
                }
                self.decode(&self.memories.last.read_batch(&keys))
            })
        }))
    }

    /// Whether retrieval encodes by fast transforms only.
    fn encodes_fast(&self) -> bool {
        self.encoder.is_fast() && !self.config().has_inner_memories()
    }

    /// The sum of all layers' keys for the window at the end of each context. By linearity one read of the sum
    /// returns what the layers' reads would add up to.
    fn add_newest_keys(&self, contexts: &[&[u32]], sums: &mut [f32]) {
        let d = self.config().dim;
        let add_keys = |buffers: &mut Buffers, (contexts, sums): (&[&[u32]], &mut [f32])| {
            let mut tiles = Tiles::new(&self.encoder, contexts, std::mem::take(buffers));
            for i in 0..self.config().layers {
                add(sums, &tiles.newest_keys(i));
                tiles.climb(i, &self.memories.inner);
            }
            *buffers = Buffers { codes: tiles.computed, spare: tiles.spare };
        };
        if self.encodes_fast() {
            let contexts = contexts.par_chunks(1).zip(sums.par_chunks_mut(d));
            contexts.for_each_init(Buffers::default, add_keys);
            return;
        }
        let rows = first_run(&self.encoder, contexts);
        let batch = (BATCH / (rows * d)).clamp(1, BATCH_ROWS);
        let mut buffers = Buffers::default();
        let contexts = contexts.chunks(batch).zip(sums.chunks_mut(batch * d));
        contexts.for_each(|contexts| add_keys(&mut buffers, contexts));
    }

    fn decode(&self, outputs: &[f32]) -> Vec<Prediction> {
        let best = self.codes().best(outputs);
        best.into_iter().map(|(token, weight)| Prediction { token, weight }).collect()
    }
}

/// Blocks of layer 1 that a batch of contexts needs for each: as many tokens as the longest has, a multiple of h unless it
/// is one, and at most hˡ.
fn first_run(encoder: &Encoder, contexts: &[&[u32]]) -> usize {
    let longest = contexts.iter().map(|c| c.len()).max().unwrap_or(0);
    whole_windows(longest.min(encoder.config.window()), encoder.config.heads)
}

/// `blocks` rounded up to whole windows; one block stays alone.
fn whole_windows(blocks: usize, heads: usize) -> usize {
    if blocks <= 1 { 1 } else { blocks.next_multiple_of(heads) }
}

/// The blocks of the last hˡ tokens of some contexts, at one layer after the other: only the window at the end of a
/// context is encoded, and Flat tiles it exactly as the paper prints it.
pub(super) struct Tiles<'e> {
    encoder: &'e Encoder,
    contexts: usize,
    /// Blocks per context; see [`whole_windows`].
    run: usize,
    /// X: the blocks' computed codes, empty where neither recall nor a trace needs them.
    computed: Vec<f32>,
    /// X̂: the blocks' codes as recall gives them, where these are not the computed ones.
    recalled: Option<Vec<f32>>,
    /// What the inner memory returned for the blocks; kept for a trace only.
    stored: Option<Vec<f32>>,
    /// Room for the next layer's computed codes.
    spare: Vec<f32>,
    traced: bool,
}

/// Memory for the codes of two layers, handed from context to context: pages fresh from the system cost more than the
/// transforms that fill them.
#[derive(Default)]
pub(super) struct Buffers {
    codes: Vec<f32>,
    spare: Vec<f32>,
}

impl<'e> Tiles<'e> {
    pub(super) fn new(encoder: &'e Encoder, contexts: &[&[u32]], buffers: Buffers) -> Self {
        let d = encoder.config.dim;
        let run = first_run(encoder, contexts);
        let Buffers { codes: mut computed, spare } = buffers;
        computed.clear();
        computed.resize(contexts.len() * run * d, 0.0);
        for (context, rows) in contexts.iter().zip(computed.chunks_exact_mut(run * d)) {
            let kept = &context[context.len().saturating_sub(run)..];
            let missing = run - kept.len();
            for (token, row) in kept.iter().zip(rows[missing * d..].chunks_exact_mut(d)) {
                encoder.codes.write(*token, row);
            }
        }
        let contexts = contexts.len();
        let (recalled, stored) = (None, None);
        Tiles { encoder, contexts, run, computed, recalled, stored, spare, traced: false }
    }

    /// Keeps what a trace compares: the computed codes, and what the inner memories return.
    pub(super) fn traced(self) -> Self {
        Tiles { traced: true, ..self }
    }

    /// The codes that keys are made of.
    fn input(&self) -> &[f32] {
        self.recalled.as_ref().unwrap_or(&self.computed)
    }

    pub(super) fn newest_keys(&self, i: usize) -> Vec<f32> {
        let layer = &self.encoder.layers[i];
        let (heads, d) = (self.encoder.config.heads, layer.dim);
        // Only the newest window's rows are reduced.
        let width = heads.min(self.run);
        let mut rows = Vec::with_capacity(self.contexts * width * d);
        for run in self.input().chunks_exact(self.run * d) {
            rows.extend_from_slice(&run[(self.run - width) * d..]);
        }
        layer.keys(&layer.reduce(&rows), &Windows::newest(heads, width, self.contexts))
    }

    /// For each block of the newest window, the cosine between the code that recall takes from the inner memory, or
    /// computes if it uses none, and the computed code.
    pub(super) fn newest_cosines(&self) -> Vec<f32> {
        let (heads, d) = (self.encoder.config.heads, self.encoder.config.dim);
        let present = heads.min(self.run);
        let first = (self.run - present) * d;
        let returned = self.stored.as_ref().unwrap_or(&self.computed);
        let pairs = returned[first..].chunks_exact(d).zip(self.computed[first..].chunks_exact(d));
        let cosines = pairs.map(|(returned, computed)| {
            let lengths = dot(returned, returned).sqrt() * dot(computed, computed).sqrt();
            if lengths > 0.0 { dot(returned, computed) / lengths } else { 0.0 }
        });
        std::iter::repeat_n(0.0, heads - present).chain(cosines).collect()
    }

    /// Goes up from layer `i` (from 0): windows become the blocks of the next layer.
    pub(super) fn climb(&mut self, i: usize, inner: &[CorrelationMemory]) {
        let layer = &self.encoder.layers[i];
        let Some(composer) = &layer.composer else { return };
        let heads = self.encoder.config.heads;
        let windows = Windows::tiled(heads, self.run, self.contexts);
        let alpha = self.encoder.config.recall.alpha();
        let mut codes = std::mem::take(&mut self.spare);
        codes.clear();
        if alpha < 1.0 || self.traced {
            codes.resize(windows.count * layer.dim, 0.0);
            composer.compose(&self.computed, &windows, &mut codes);
        }
        let blocks = windows.count / self.contexts.max(1);
        let next = whole_windows(blocks, heads);
        let pad = |codes: Vec<f32>| with_missing(codes, blocks, next, layer.dim);
        if alpha > 0.0 {
            let keys = layer.keys(&layer.reduce(self.input()), &windows);
            let stored = inner[i].read_batch(&keys);
            self.stored = self.traced.then(|| pad(stored.clone()));
            self.recalled = Some(pad(blend(alpha, stored, &codes)));
        }
        self.spare = std::mem::replace(&mut self.computed, pad(codes));
        self.run = next;
    }
}

/// Runs of `blocks` rows as runs of `wanted`, with zeros for the missing older ones.
fn with_missing(codes: Vec<f32>, blocks: usize, wanted: usize, d: usize) -> Vec<f32> {
    if blocks == wanted || codes.is_empty() {
        return codes;
    }
    let mut padded = Vec::with_capacity(codes.len() / blocks * wanted);
    for run in codes.chunks_exact(blocks * d) {
        padded.resize(padded.len() + (wanted - blocks) * d, 0.0);
        padded.extend_from_slice(run);
    }
    padded
}
