//! One layer's transforms: W_V, which turns codes into keys, and Prj, which composes codes for the next layer.

use super::compose::Composer;
use super::config::DenseConfig;
use super::windows::Windows;
use crate::codes::CodeKind;
use crate::random::{Purpose, Stream};
use crate::transform::{FastTransform, GaussianTransform, Transform};
use rayon::prelude::*;

#[derive(Debug)]
pub(super) struct Layer {
    pub(super) dim: usize,
    pub(super) reduction: Box<dyn Transform>,
    /// Prj; the last layer has none, its windows are keys only.
    pub(super) composer: Option<Composer>,
}

impl Layer {
    pub(super) fn new(config: &DenseConfig, layer: usize) -> Self {
        let d = config.dim;
        Layer {
            dim: d,
            reduction: reduction(
                config.codes,
                d,
                d / config.heads,
                config.heads,
                config.seed,
                layer,
            ),
            composer: (layer + 1 < config.layers).then(|| Composer::new(config, layer)),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.reduction.bytes() + self.composer.as_ref().map_or(0, Composer::bytes)
    }

    /// `X·W_Vᵀ`: d/h values for each row of x.
    pub(super) fn reduce(&self, x: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; x.len() / self.dim * self.reduction.output_dim()];
        self.reduction.apply_rows(x, &mut out);
        out
    }

    /// The keys I of windows over reduced rows: the window's h reduced blocks side by side, zeros for missing ones.
    pub(super) fn keys(&self, reduced: &[f32], windows: &Windows) -> Vec<f32> {
        let width = self.reduction.output_dim();
        let key_dim = windows.heads() * width;
        let mut keys = vec![0.0; windows.count * key_dim];
        keys.par_chunks_exact_mut(key_dim).enumerate().for_each(|(w, key)| {
            for (j, head) in key.chunks_exact_mut(width).enumerate() {
                if let Some(row) = windows.row(w, j) {
                    head.copy_from_slice(&reduced[row * width..][..width]);
                }
            }
        });
        keys
    }
}

/// W_V: from d dimensions to those of one head, scaled so that `(W·x)ᵀ(W·x) ≈ 1/h`.
pub(super) fn reduction(
    kind: CodeKind,
    dim: usize,
    head_dim: usize,
    heads: usize,
    seed: u64,
    layer: usize,
) -> Box<dyn Transform> {
    let stream = Stream::new(seed, Purpose::Reduction, layer as u32);
    let scale = 1.0 / (heads as f32).sqrt();
    match kind {
        CodeKind::Gaussian => Box::new(GaussianTransform::drawn(dim, head_dim, scale, stream)),
        CodeKind::Hadamard => Box::new(FastTransform::drawn(dim, head_dim, scale, stream)),
    }
}
