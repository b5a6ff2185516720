//! Composition: h codes become one (the paper's `X⁽ⁱ⁺¹⁾ = Flat_h(X⁽ⁱ⁾)·Prj⁽ⁱ⁾`, and its alternatives).

use super::config::{Composition, DenseConfig};
use super::windows::Windows;
use crate::codes::CodeKind;
use crate::kernels::{Mat, add_product, dot, fwht, gather_bind};
use crate::random::{Purpose, Stream};
use crate::transform::{GaussianTransform, Transform, signed_permutation};
use rayon::prelude::*;

/// The composition of one layer.
#[derive(Clone, Debug)]
pub enum Composer {
    /// Prj as a matrix of h·d inputs, entries N(0, 1/(h·d)).
    Gaussian(GaussianTransform),
    /// Prj as sign flips, one vector of ±1 a head, summed and followed by one Walsh–Hadamard transform. `H·D` with
    /// random signs D is a random rotation; as nothing is cut off, no permutation is needed to make it one.
    Fast(Vec<Vec<f32>>),
    /// The product of the blocks' signs, each permuted and flipped by its head's table: entry k names the source
    /// dimension, its highest bit flips the sign. Random permutations are not linear in the index, without which
    /// products of Walsh codes would collide.
    Bind(Vec<Vec<u32>>),
    /// The product of the blocks' codes, brought to length 1; the number is d.
    Product(usize),
}

impl Composer {
    pub(super) fn new(config: &DenseConfig, layer: usize) -> Self {
        let (d, h) = (config.dim, config.heads);
        let stream =
            |j: usize| Stream::new(config.seed, Purpose::Composition, (layer * h + j) as u32);
        match (config.composition, config.codes) {
            (Composition::Bind, _) => {
                Composer::Bind((0..h).map(|j| signed_permutation(d, stream(j))).collect())
            }
            (Composition::Product, _) => Composer::Product(d),
            (Composition::Jlt, CodeKind::Hadamard) => {
                let signs = |j| {
                    let mut signs = vec![0.0; d];
                    stream(j).signs(0, &mut signs);
                    signs
                };
                Composer::Fast((0..h).map(signs).collect())
            }
            (Composition::Jlt, CodeKind::Gaussian) => {
                // Keeps the length of one code, not of h of them side by side.
                let scale = 1.0 / (h as f32).sqrt();
                Composer::Gaussian(GaussianTransform::drawn(h * d, d, scale, stream(0)))
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Composer::Gaussian(matrix) => matrix.bytes(),
            Composer::Fast(signs) => signs.iter().map(|s| s.len() * 4).sum(),
            Composer::Bind(tables) => tables.iter().map(|t| t.len() * 4).sum(),
            Composer::Product(_) => 0,
        }
    }

    /// d, the dimension of codes.
    fn dim(&self) -> usize {
        match self {
            Composer::Gaussian(matrix) => matrix.output_dim(),
            Composer::Fast(signs) => signs[0].len(),
            Composer::Bind(tables) => tables[0].len(),
            Composer::Product(d) => *d,
        }
    }

    /// The code of each block: a block is `heads` codes, one after the other.
    ///
    /// # Panics
    /// If there are not `heads` codes of d values for each block.
    pub fn code(&self, codes: &[f32], heads: usize) -> Vec<f32> {
        let d = self.dim();
        assert!(codes.len().is_multiple_of(heads * d), "{} values for {heads} heads", codes.len());
        let blocks = codes.len() / (heads * d);
        let mut out = vec![0.0; blocks * d];
        self.compose(codes, &Windows::tiled(heads, heads, blocks), &mut out);
        out
    }

    /// Writes the codes of `windows` over the rows of `x`, d values each, to the zeros of `out`.
    pub(super) fn compose(&self, x: &[f32], windows: &Windows, out: &mut [f32]) {
        if windows.count == 0 {
            return;
        }
        let d = out.len() / windows.count;
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
            Composer::Fast(signs) => {
                let scale = 1.0 / ((signs.len() * d) as f32).sqrt();
                out.par_chunks_exact_mut(d).enumerate().for_each(|(w, out)| {
                    for (j, signs) in signs.iter().enumerate() {
                        if let Some(row) = windows.row(w, j) {
                            add_product(out, signs, &x[row * d..][..d]);
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
            Composer::Product(_) => {
                // Entries are about 1/√d: of that size again after each factor, so that none underflows.
                let scale = (d as f32).sqrt();
                out.par_chunks_exact_mut(d).enumerate().for_each(|(w, out)| {
                    let rows: Option<Vec<usize>> =
                        (0..windows.heads()).map(|j| windows.row(w, j)).collect();
                    let Some(rows) = rows else { return };
                    out.fill(1.0 / scale);
                    for row in rows {
                        let code = out.iter_mut().zip(&x[row * d..][..d]);
                        code.for_each(|(value, factor)| *value *= scale * factor);
                    }
                    let length = dot(out, out).sqrt();
                    if length > 0.0 {
                        out.iter_mut().for_each(|value| *value /= length);
                    }
                });
            }
        }
    }
}
