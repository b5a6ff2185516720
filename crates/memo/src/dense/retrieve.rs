//! Retrieval: the paper's MM_r, for single contexts, batches of them, and every position of a text.

use super::config::Recall;
use super::encoder::{CACHED_ROWS, Encoder};
use super::memory::CorrelationMemory;
use super::model::DenseMemo;
use super::pass::{Pass, recalled};
use super::windows::Windows;
use crate::error::{Error, check_tokens};
use crate::kernels::{add, dot};
use crate::language::Prediction;
use rayon::prelude::*;

/// Positions whose keys are read from the last memory by one matrix product.
const BATCH_ROWS: usize = 1024;

/// Floats that the codes of one batch of contexts may take.
const BATCH: usize = 1 << 24;

impl DenseMemo {
    /// The token that follows a context, and its weight. Only the last hˡ tokens of a context count; what a shorter
    /// one lacks is zero. An empty context returns token 0 with weight 0.
    pub fn predict(&self, context: &[u32]) -> Result<Prediction, Error> {
        Ok(self.predict_batch(&[context])?[0])
    }

    /// The token that follows each context.
    pub fn predict_batch(&self, contexts: &[&[u32]]) -> Result<Vec<Prediction>, Error> {
        let outputs = self.retrieve_batch(contexts)?;
        Ok(self.on_threads(|| self.decode(&outputs)))
    }

    /// The weight of every token as the successor of a context: the paper's `E·O`.
    pub fn weights(&self, context: &[u32]) -> Result<Vec<f32>, Error> {
        self.weights_batch(&[context])
    }

    /// The weights of every token for each context, n values a context.
    pub fn weights_batch(&self, contexts: &[&[u32]]) -> Result<Vec<f32>, Error> {
        let outputs = self.retrieve_batch(contexts)?;
        Ok(self.on_threads(|| self.codes().scores(&outputs)))
    }

    /// The paper's O⁽ˡᵃˢᵗ⁾ for each context, d values each: the sum of the codes of its successors.
    pub fn retrieve_batch(&self, contexts: &[&[u32]]) -> Result<Vec<f32>, Error> {
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
        check_tokens(text, self.config().vocab)?;
        Ok(self.on_threads(|| {
            let mut predictions = Vec::with_capacity(text.len());
            let mut pass = Pass::retrieving(&self.encoder);
            let d = self.config().dim;
            let piece = if self.encodes_fast() { CACHED_ROWS } else { BATCH_ROWS };
            for tokens in text.chunks(BATCH_ROWS) {
                let mut keys = vec![0.0; tokens.len() * d];
                for (tokens, keys) in tokens.chunks(piece).zip(keys.chunks_mut(piece * d)) {
                    pass.advance(tokens, &self.memories.inner);
                    pass.add_keys(keys, |_, _| true);
                }
                predictions.extend(self.decode(&self.memories.last.read_batch(&keys)));
            }
            predictions
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
        let add_keys = |(contexts, sums): (&[&[u32]], &mut [f32])| {
            let mut tiles = Tiles::new(&self.encoder, contexts);
            for i in 0..self.config().layers {
                add(sums, &tiles.newest_keys(i));
                tiles.climb(i, &self.memories.inner);
            }
        };
        if self.encodes_fast() {
            contexts.par_chunks(1).zip(sums.par_chunks_mut(d)).for_each(add_keys);
            return;
        }
        let longest = contexts.iter().map(|c| c.len()).max().unwrap_or(0);
        let rows = self.config().window().min(longest.max(1));
        let batch = (BATCH / (rows * d)).clamp(1, BATCH_ROWS);
        contexts.chunks(batch).zip(sums.chunks_mut(batch * d)).for_each(add_keys);
    }

    fn decode(&self, outputs: &[f32]) -> Vec<Prediction> {
        let best = self.codes().best(outputs);
        best.into_iter().map(|(token, weight)| Prediction { token, weight }).collect()
    }
}

/// The blocks of the last hˡ tokens of some contexts, at one layer after the other: only the window at the end of a
/// context is encoded, and Flat tiles it exactly as the paper prints it.
pub(super) struct Tiles<'e> {
    encoder: &'e Encoder,
    contexts: usize,
    /// Blocks per context: a power of h, 1 in layers whose windows are longer than the contexts.
    run: usize,
    /// X: the blocks' computed codes, empty where recall does not need them.
    pub(super) computed: Vec<f32>,
    /// X̂: the blocks' recalled codes, where they differ from the computed ones.
    pub(super) recalled: Option<Vec<f32>>,
    recall: Recall,
}

impl<'e> Tiles<'e> {
    pub(super) fn new(encoder: &'e Encoder, contexts: &[&[u32]]) -> Self {
        let (h, d) = (encoder.config.heads, encoder.config.dim);
        let longest = contexts.iter().map(|c| c.len()).max().unwrap_or(0);
        let mut run = 1;
        for _ in 0..encoder.config.layers {
            if run < longest {
                run *= h;
            }
        }
        let mut computed = vec![0.0; contexts.len() * run * d];
        for (context, rows) in contexts.iter().zip(computed.chunks_exact_mut(run * d)) {
            let kept = &context[context.len().saturating_sub(run)..];
            let missing = run - kept.len();
            for (token, row) in kept.iter().zip(rows[missing * d..].chunks_exact_mut(d)) {
                encoder.codes.write(*token, row);
            }
        }
        let recall = encoder.config.recall;
        Tiles { encoder, contexts: contexts.len(), run, computed, recalled: None, recall }
    }

    /// Also compute the codes that recall does not need, to compare with.
    pub(super) fn with_computed(mut self) -> Self {
        if self.recall == Recall::Stored {
            self.recall = Recall::Blend(1.0);
        }
        self
    }

    /// The codes that keys are made of.
    fn input(&self) -> &[f32] {
        self.recalled.as_ref().unwrap_or(&self.computed)
    }

    pub(super) fn newest_keys(&self, i: usize) -> Vec<f32> {
        let layer = &self.encoder.layers[i];
        let heads = self.encoder.config.heads;
        // Only the newest window's rows are reduced.
        let width = heads.min(self.run);
        let d = layer.dim;
        let rows: Vec<f32> = self
            .input()
            .chunks_exact(self.run * d)
            .flat_map(|run| &run[(self.run - width) * d..])
            .copied()
            .collect();
        layer.keys(&layer.reduce(&rows), &Windows::newest(heads, width, self.contexts))
    }

    /// For each block of the newest window, the cosine between its recalled and its computed code.
    pub(super) fn newest_cosines(&self) -> Vec<f32> {
        let (heads, d) = (self.encoder.config.heads, self.encoder.config.dim);
        let present = heads.min(self.run);
        let first = (self.run - present) * d;
        let pairs =
            self.input()[first..].chunks_exact(d).zip(self.computed[first..].chunks_exact(d));
        let cosines = pairs.map(|(recalled, computed)| {
            let lengths = dot(recalled, recalled).sqrt() * dot(computed, computed).sqrt();
            if lengths > 0.0 { dot(recalled, computed) / lengths } else { 0.0 }
        });
        std::iter::repeat_n(0.0, heads - present).chain(cosines).collect()
    }

    /// Goes up from layer `i` (from 0): windows become the blocks of the next layer.
    pub(super) fn climb(&mut self, i: usize, inner: &[CorrelationMemory]) {
        let layer = &self.encoder.layers[i];
        let Some(composer) = &layer.composer else { return };
        let windows = Windows::tiled(self.encoder.config.heads, self.run, self.contexts);
        let alpha = self.recall.alpha();
        let wanted = alpha < 1.0 || matches!(self.recall, Recall::Blend(_));
        let mut codes = vec![0.0; if wanted { windows.count * layer.dim } else { 0 }];
        if wanted {
            composer.compose(&self.computed, &windows, &mut codes);
        }
        if alpha > 0.0 {
            let keys = layer.keys(&layer.reduce(self.input()), &windows);
            let computed = wanted.then_some(codes.as_slice());
            self.recalled = Some(recalled(self.recall, &inner[i], &keys, computed));
        }
        self.computed = codes;
        self.run = (self.run / self.encoder.config.heads).max(1);
    }
}
