//! The part of a model that the seed alone determines: token codes and every layer's transforms. It turns text into
//! keys and codes and never changes; what was memorized lives in [`Memories`](super::memories::Memories).

use super::config::{DenseConfig, Edges, Recall, Stride};
use super::layer::Layer;
use super::memory::CorrelationMemory;
use super::windows::{Rows, Windows};
use crate::codes::TokenCodes;
use crate::error::ConfigError;

#[derive(Debug)]
pub(super) struct Encoder {
    pub(super) config: DenseConfig,
    pub(super) codes: TokenCodes,
    pub(super) layers: Vec<Layer>,
}

impl Encoder {
    /// Draws everything; the configuration must have been checked.
    pub(super) fn new(config: DenseConfig) -> Result<Self, ConfigError> {
        let codes = TokenCodes::new(config.codes, config.vocab, config.dim, config.seed)?;
        let layers = (0..config.layers).map(|i| Layer::new(&config, i)).collect();
        Ok(Encoder { config, codes, layers })
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.bytes() + self.layers.iter().map(Layer::bytes).sum::<usize>()
    }

    /// Whether the window of layer `i` (from 0) that ends at token p of a text is stored.
    pub(super) fn is_stored(&self, i: usize, p: usize) -> bool {
        let span = self.config.span(i + 1);
        let inside = self.config.edges == Edges::Padded || p + 1 >= span;
        let on_stride = self.config.stride == Stride::Token || (p + 1).is_multiple_of(span);
        inside && on_stride
    }

    /// How many layers store anything of a text of this length.
    pub(super) fn active_layers(&self, tokens: usize) -> usize {
        let reaches =
            |i: &usize| self.config.edges == Edges::Padded || self.config.span(i + 1) <= tokens;
        (0..self.config.layers).take_while(reaches).count()
    }
}

/// What retrieval takes for the codes of windows: those that the memory returns for their keys, the computed ones, or
/// a blend.
pub(super) fn recalled(
    recall: Recall,
    memory: &CorrelationMemory,
    keys: &[f32],
    computed: Option<&[f32]>,
) -> Vec<f32> {
    let mut codes = memory.read_batch(keys);
    if let Some(computed) = computed {
        let alpha = recall.alpha();
        for (code, computed) in codes.iter_mut().zip(computed) {
            *code = alpha * *code + (1.0 - alpha) * computed;
        }
    }
    codes
}

/// A text on its way up the layers, a piece at a time, so that memory stays bounded however long the text is. Keeps
/// the rows of each layer that later windows reach back to.
pub(super) struct Pass<'e> {
    encoder: &'e Encoder,
    recall: Recall,
    /// Whether the topmost layer's codes are wanted too, though no layer of the pass is built on them.
    top_codes: bool,
    tokens: usize,
    rows: Vec<LayerRows>,
}

struct LayerRows {
    reduced: Rows,
    computed: Rows,
}

/// What one layer makes of a piece of text: one row for every token of it, the window that ends there.
pub(super) struct Piece {
    /// I⁽ⁱ⁾: the windows' keys.
    pub(super) keys: Vec<f32>,
    /// X⁽ⁱ⁺¹⁾: the windows' computed codes, if the pass computes them.
    pub(super) codes: Vec<f32>,
}

impl<'e> Pass<'e> {
    /// A pass that encodes a text for memorizing it in the first `layers` layers.
    pub(super) fn memorizing(encoder: &'e Encoder, layers: usize) -> Self {
        let top_codes = encoder.config.has_inner_memories();
        Self::new(encoder, layers, Recall::Computed, top_codes)
    }

    /// A pass through all layers with inner codes as retrieval takes them.
    pub(super) fn retrieving(encoder: &'e Encoder) -> Self {
        Self::new(encoder, encoder.layers.len(), encoder.config.recall, false)
    }

    fn new(encoder: &'e Encoder, layers: usize, recall: Recall, top_codes: bool) -> Self {
        let rows = encoder.layers[..layers]
            .iter()
            .map(|layer| LayerRows {
                reduced: Rows::new(layer.reduction.output_dim()),
                computed: Rows::new(layer.dim),
            })
            .collect();
        Pass { encoder, recall, top_codes, tokens: 0, rows }
    }

    /// Takes the next tokens and returns each layer's windows that end at them. `memories` are the inner ones; a
    /// pass that computes its codes needs none.
    pub(super) fn advance(&mut self, tokens: &[u32], memories: &[CorrelationMemory]) -> Vec<Piece> {
        let config = &self.encoder.config;
        let (heads, d, count) = (config.heads, config.dim, tokens.len());
        let alpha = self.recall.alpha();
        let mut computed = self.encoder.codes.rows(tokens);
        let mut stored = None::<Vec<f32>>;
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.rows.len());
        let composed = self.rows.len() - usize::from(!self.top_codes && !self.rows.is_empty());
        for (i, rows) in self.rows.iter_mut().enumerate() {
            let layer = &self.encoder.layers[i];
            let span = config.span(i);
            let reach = (heads - 1) * span;
            rows.reduced.push(&layer.reduce(stored.as_ref().unwrap_or(&computed)));
            let windows = Windows::sliding(heads, span, self.tokens, count, rows.reduced.origin);
            let keys = layer.keys(&rows.reduced.data, &windows);
            rows.reduced.keep_last(reach);
            let mut codes = Vec::new();
            if let Some(composer) = layer.composer.as_ref().filter(|_| i < composed) {
                if alpha < 1.0 {
                    rows.computed.push(&computed);
                    let origin = rows.computed.origin;
                    let windows = Windows::sliding(heads, span, self.tokens, count, origin);
                    codes = composer.compose(d, &rows.computed.data, &windows);
                    rows.computed.keep_last(reach);
                }
                if alpha > 0.0 {
                    let computed = (!codes.is_empty()).then_some(codes.as_slice());
                    stored = Some(recalled(self.recall, &memories[i], &keys, computed));
                }
            }
            if let Some(previous) = pieces.last_mut() {
                previous.codes = computed;
            }
            computed = codes;
            pieces.push(Piece { keys, codes: Vec::new() });
        }
        if let Some(top) = pieces.last_mut() {
            top.codes = computed;
        }
        self.tokens += count;
        pieces
    }
}
