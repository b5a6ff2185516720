//! The part of a model that the seed alone determines: token codes and every layer's transforms. It turns text into
//! keys and codes and never changes; what was memorized lives in [`Memories`](super::memories::Memories).

use super::config::{DenseConfig, Edges, Stride};
use super::layer::Layer;
use crate::codes::{CodeKind, TokenCodes};
use crate::error::ConfigError;

/// Rows whose codes fit in a second-level cache at d = 4096.
pub(super) const CACHED_ROWS: usize = 64;

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

    /// Whether encoding, as far as it needs no memories, is fast transforms only. Those want few rows at a time, that
    /// stay in the cache; matrix products want many.
    pub(super) fn is_fast(&self) -> bool {
        self.config.codes == CodeKind::Hadamard
    }

    /// How many layers store anything of a text of this length.
    pub(super) fn active_layers(&self, tokens: usize) -> usize {
        let reaches =
            |i: &usize| self.config.edges == Edges::Padded || self.config.span(i + 1) <= tokens;
        (0..self.config.layers).take_while(reaches).count()
    }
}
