//! A text on its way up the layers, a piece at a time: memory stays bounded however long the text is.

use super::config::{DenseConfig, Recall};
use super::layer::Layer;
use super::windows::{Rows, Windows};

/// What one layer makes of a piece of text: for every token of it, the window that ends there.
pub(super) struct Piece {
    /// I⁽ⁱ⁾: the windows' keys, d values each.
    pub(super) keys: Vec<f32>,
    /// X⁽ⁱ⁺¹⁾: the windows' computed codes, where they were computed; empty otherwise.
    pub(super) codes: Vec<f32>,
}

/// The state between pieces: the rows of each layer that later windows still reach back to.
pub(super) struct Pass<'m> {
    config: &'m DenseConfig,
    layers: &'m [Layer],
    recall: Recall,
    tokens: usize,
    rows: Vec<LayerRows>,
}

struct LayerRows {
    reduced: Rows,
    computed: Rows,
}

impl<'m> Pass<'m> {
    /// A pass through `layers`. With [`Recall::Computed`] it encodes as memorizing does; otherwise inner codes come
    /// from the memories, as in retrieval.
    pub(super) fn new(config: &'m DenseConfig, layers: &'m [Layer], recall: Recall) -> Self {
        let rows = layers
            .iter()
            .map(|layer| LayerRows {
                reduced: Rows::new(layer.reduction.output_dim()),
                computed: Rows::new(layer.dim),
            })
            .collect();
        Pass { config, layers, recall, tokens: 0, rows }
    }

    /// Takes the codes of the next tokens (rows of d values) and returns each layer's windows that end at them.
    pub(super) fn advance(&mut self, codes: Vec<f32>) -> Vec<Piece> {
        let (heads, d) = (self.config.heads, self.config.dim);
        let count = codes.len() / d;
        let (mut computed, mut recalled) = (codes, None::<Vec<f32>>);
        let mut pieces = Vec::with_capacity(self.layers.len());
        for (i, (layer, rows)) in self.layers.iter().zip(&mut self.rows).enumerate() {
            let span = self.config.span(i);
            let reach = (heads - 1) * span;
            rows.reduced.push(&layer.reduce(recalled.as_ref().unwrap_or(&computed)));
            let origin = rows.reduced.origin;
            let windows = Windows::sliding(heads, span, self.tokens, count, origin);
            let keys = layer.keys(&rows.reduced.data, &windows);
            rows.reduced.keep_last(reach);
            let mut next = Vec::new();
            if let Some(inner) = layer.inner.as_ref().filter(|_| i + 1 < self.layers.len()) {
                if self.recall.alpha() < 1.0 {
                    rows.computed.push(&computed);
                    let origin = rows.computed.origin;
                    let windows = Windows::sliding(heads, span, self.tokens, count, origin);
                    next = inner.composer.compose(d, &rows.computed.data, &windows);
                    rows.computed.keep_last(reach);
                }
                if self.recall.alpha() > 0.0 {
                    let computed = (!next.is_empty()).then_some(next.as_slice());
                    recalled = Some(inner.recall(self.recall, &keys, computed));
                }
            }
            computed.clone_from(&next);
            pieces.push(Piece { keys, codes: next });
        }
        self.tokens += count;
        pieces
    }
}
