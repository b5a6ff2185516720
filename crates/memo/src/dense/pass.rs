//! A text on its way up the layers, a piece at a time, so that memory stays bounded however long the text is.

use super::config::Recall;
use super::encoder::Encoder;
use super::memory::CorrelationMemory;
use super::windows::{Rows, Windows};
use crate::kernels::add;
use rayon::prelude::*;

/// The rows of every layer for the current piece of text, and those before it that its windows reach back to.
pub(super) struct Pass<'e> {
    encoder: &'e Encoder,
    recall: Recall,
    /// Tokens before the current piece, and in it.
    before: usize,
    count: usize,
    layers: Vec<LayerRows>,
    /// X⁽ⁱ⁾, and one layer more where the topmost windows' codes are wanted too.
    computed: Vec<Rows>,
}

struct LayerRows {
    /// X̂⁽ⁱ⁾·W_Vᵀ.
    reduced: Rows,
    /// X̂⁽ⁱ⁾ of the current piece, where it is not the computed one.
    recalled: Option<Vec<f32>>,
}

impl<'e> Pass<'e> {
    /// A pass that encodes a text for memorizing it in the first `layers` layers.
    pub(super) fn memorizing(encoder: &'e Encoder, layers: usize) -> Self {
        let composed = if encoder.config.has_inner_memories() { layers } else { layers.max(1) - 1 };
        Self::new(encoder, layers, composed, Recall::Computed)
    }

    /// A pass through all layers with inner codes as retrieval takes them.
    pub(super) fn retrieving(encoder: &'e Encoder) -> Self {
        let layers = encoder.layers.len();
        Self::new(encoder, layers, layers - 1, encoder.config.recall)
    }

    fn new(encoder: &'e Encoder, layers: usize, composed: usize, recall: Recall) -> Self {
        let composed = composed.min(encoder.layers.len() - 1);
        let rows = |layer: &super::layer::Layer| LayerRows {
            reduced: Rows::new(layer.reduction.output_dim()),
            recalled: None,
        };
        Pass {
            encoder,
            recall,
            before: 0,
            count: 0,
            layers: encoder.layers[..layers].iter().map(rows).collect(),
            computed: vec![Rows::new(encoder.config.dim); composed + 1],
        }
    }

    /// Moves on to the next tokens. `inner` are the inner memories; a pass that computes all codes needs none.
    pub(super) fn advance(&mut self, tokens: &[u32], inner: &[CorrelationMemory]) {
        let config = &self.encoder.config;
        self.before += self.count;
        self.count = tokens.len();
        for (i, rows) in self.computed.iter_mut().enumerate() {
            rows.keep_last((config.heads - 1) * config.span(i));
        }
        self.encoder.codes.write_rows(tokens, self.computed[0].grow(tokens.len()));
        for i in 0..self.layers.len().max(self.computed.len() - 1) {
            if i < self.layers.len() {
                self.reduce(i);
            }
            if i + 1 < self.computed.len() {
                self.climb(i, inner);
            }
        }
    }

    /// `X̂⁽ⁱ⁾·W_Vᵀ` of the current piece.
    fn reduce(&mut self, i: usize) {
        let config = &self.encoder.config;
        let LayerRows { reduced, recalled } = &mut self.layers[i];
        reduced.keep_last((config.heads - 1) * config.span(i));
        let input = recalled.as_deref().unwrap_or_else(|| self.computed[i].last(self.count));
        self.encoder.layers[i].reduction.apply_rows(input, reduced.grow(self.count));
    }

    /// The codes of the piece's windows: rows of the next layer.
    fn climb(&mut self, i: usize, inner: &[CorrelationMemory]) {
        let alpha = self.recall.alpha();
        if alpha < 1.0 {
            let windows = self.windows(i, self.computed[i].origin);
            let (below, above) = self.computed.split_at_mut(i + 1);
            let composer = self.encoder.layers[i].composer.as_ref().expect("inner layers compose");
            composer.compose(&below[i].data, &windows, above[0].grow(self.count));
        }
        if alpha > 0.0 {
            let computed = if alpha < 1.0 { self.computed[i + 1].last(self.count) } else { &[] };
            let codes = blend(alpha, inner[i].read_batch(&self.keys(i)), computed);
            self.layers[i + 1].recalled = Some(codes);
        }
    }

    /// The windows of layer i (from 0) that end at the piece's tokens, over rows that begin at `origin`.
    fn windows(&self, i: usize, origin: usize) -> Windows {
        let config = &self.encoder.config;
        Windows::sliding(config.heads, config.span(i), self.before, self.count, origin)
    }

    /// I⁽ⁱ⁾ (i from 0): the keys of the windows that end at the piece's tokens.
    pub(super) fn keys(&self, i: usize) -> Vec<f32> {
        let reduced = &self.layers[i].reduced;
        self.encoder.layers[i].keys(&reduced.data, &self.windows(i, reduced.origin))
    }

    /// X⁽ⁱ⁺¹⁾ (i from 0): the computed codes of those windows.
    pub(super) fn codes(&self, i: usize) -> &[f32] {
        self.computed[i + 1].last(self.count)
    }

    /// Adds to the rows of `sums` (d values for each of the piece's first tokens) the keys of all layers, but only
    /// those of windows for which `wanted(layer, row)` holds.
    pub(super) fn add_keys(&self, sums: &mut [f32], wanted: impl Fn(usize, usize) -> bool + Sync) {
        let windows: Vec<Windows> = (0..self.layers.len())
            .map(|i| self.windows(i, self.layers[i].reduced.origin))
            .collect();
        sums.par_chunks_exact_mut(self.encoder.config.dim).enumerate().for_each(|(r, sum)| {
            for (i, windows) in windows.iter().enumerate().filter(|(i, _)| wanted(*i, r)) {
                let LayerRows { reduced, .. } = &self.layers[i];
                let width = self.encoder.layers[i].reduction.output_dim();
                for (j, head) in sum.chunks_exact_mut(width).enumerate() {
                    if let Some(row) = windows.row(r, j) {
                        add(head, &reduced.data[row * width..][..width]);
                    }
                }
            }
        });
    }
}

/// What retrieval takes for the codes of windows: α of what the memory returned and 1 − α of the computed ones, which may
/// be empty where α is 1.
pub(super) fn blend(alpha: f32, mut stored: Vec<f32>, computed: &[f32]) -> Vec<f32> {
    if alpha < 1.0 {
        for (code, computed) in stored.iter_mut().zip(computed) {
            *code = alpha * *code + (1.0 - alpha) * computed;
        }
    }
    stored
}
