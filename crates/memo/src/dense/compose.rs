//! Composition: h codes become one (the paper's `X⁽ⁱ⁺¹⁾ = Flat_h(X⁽ⁱ⁾)·Prj⁽ⁱ⁾`, and its alternatives).

use super::config::{Composition, DenseConfig};
use super::windows::Windows;
use crate::codes::CodeKind;
use crate::kernels::{Mat, fwht, gather_add, gather_bind};
use crate::random::{Purpose, Stream};
use crate::transform::{GaussianTransform, Transform, signed_permutation};
use rayon::prelude::*;

/// The composition of one layer.
#[derive(Clone, Debug)]
pub enum Composer {
    /// Prj as a matrix of h·d inputs, entries N(0, 1/(h·d)).
    Gaussian(GaussianTransform),
    /// Prj as sign flips and permutations, one table a head, summed and followed by one Walsh–Hadamard transform.
    /// Entry k of a table names the source dimension; its highest bit flips the sign.
    Fast(Vec<Vec<u32>>),
    /// The product of the blocks' signs, each permuted and flipped by its head's table. Random permutations are not
    /// linear in the index, without which products of Walsh codes would collide.
    Bind(Vec<Vec<u32>>),
}

impl Composer {
    pub(super) fn new(config: &DenseConfig, layer: usize) -> Self {
        let (d, h) = (config.dim, config.heads);
        let stream = |index| Stream::new(config.seed, Purpose::Composition, index);
        let tables =
            || (0..h).map(|j| signed_permutation(d, stream((layer * h + j) as u32))).collect();
        match (config.composition, config.codes) {
            (Composition::Bind, _) => Composer::Bind(tables()),
            (Composition::Jlt, CodeKind::Hadamard) => Composer::Fast(tables()),
            (Composition::Jlt, CodeKind::Gaussian) => {
                // Keeps the length of one code, not of h of them side by side.
                let scale = 1.0 / (h as f32).sqrt();
                Composer::Gaussian(GaussianTransform::drawn(
                    h * d,
                    d,
                    scale,
                    stream((layer * h) as u32),
                ))
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Composer::Gaussian(matrix) => matrix.bytes(),
            Composer::Fast(tables) | Composer::Bind(tables) => {
                tables.iter().map(|t| t.len() * 4).sum()
            }
        }
    }

    /// The codes of `windows` over the rows of `x`, d values each.
    pub(super) fn compose(&self, d: usize, x: &[f32], windows: &Windows) -> Vec<f32> {
        let mut out = vec![0.0; windows.count * d];
        match self {
            Composer::Gaussian(matrix) => {
                // Flat is never laid out: each head adds its share, by linearity.
                for j in 0..windows.heads() {
                    let from = windows.from(j);
                    if let Some(row) = windows.row(from, j).filter(|_| from < windows.count) {
                        let part = Mat::strided(x, row, windows.step(), windows.count - from, d);
                        matrix.add_part(part, j * d, &mut out[from * d..]);
                    }
                }
            }
            Composer::Fast(tables) => {
                let scale = 1.0 / ((tables.len() * d) as f32).sqrt();
                out.par_chunks_exact_mut(d).enumerate().for_each(|(w, out)| {
                    for (j, table) in tables.iter().enumerate() {
                        if let Some(row) = windows.row(w, j) {
                            gather_add(out, &x[row * d..][..d], table);
                        }
                    }
                    fwht(out);
                    for value in out {
                        *value *= scale;
                    }
                });
            }
            Composer::Bind(tables) => {
                let scale = 1.0 / (d as f32).sqrt();
                out.par_chunks_exact_mut(d).enumerate().for_each(|(w, out)| {
                    let rows: Option<Vec<usize>> =
                        (0..tables.len()).map(|j| windows.row(w, j)).collect();
                    // A sequence with a missing block has no code.
                    if let Some(rows) = rows {
                        out.fill(scale);
                        for (row, table) in rows.into_iter().zip(tables) {
                            gather_bind(out, &x[row * d..][..d], table);
                        }
                    }
                });
            }
        }
        out
    }
}
