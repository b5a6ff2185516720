//! The transform by a matrix of independent Gaussians.

use super::Transform;
use crate::kernels::{Mat, product};
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// `y = M·x` with M an m×k matrix of independent N(0, scale²/m) entries.
#[derive(Clone, Debug)]
pub struct GaussianTransform {
    input: usize,
    output: usize,
    scale: f32,
    /// Row-major m×k.
    matrix: Vec<f32>,
}

impl GaussianTransform {
    /// A transform from `input` to `output` dimensions that keeps lengths; `index` tells apart transforms of one seed.
    ///
    /// # Panics
    /// If the matrix would not fit in memory.
    pub fn new(input: usize, output: usize, seed: u64, index: u32) -> Self {
        Self::drawn(input, output, 1.0, Stream::new(seed, Purpose::Reduction, index))
    }

    pub(crate) fn drawn(input: usize, output: usize, scale: f32, stream: Stream) -> Self {
        let size = output.checked_mul(input).expect("a matrix that fits in memory");
        let mut matrix = vec![0.0; size];
        let blocks = input.div_ceil(4) as u64;
        let deviation = scale / (output as f32).sqrt();
        matrix.par_chunks_exact_mut(input.max(1)).enumerate().for_each(|(row, values)| {
            stream.gaussians(row as u64 * blocks, deviation, values);
        });
        GaussianTransform { input, output, scale, matrix }
    }

    /// The matrix M, row by row.
    pub fn matrix(&self) -> &[f32] {
        &self.matrix
    }

    /// Adds to the rows of `out` the image of `x`'s rows under columns `first..first + x's width` of M.
    pub(crate) fn add_part(&self, x: Mat<'_>, first: usize, out: &mut [f32]) {
        let part = Mat::columns(&self.matrix, self.output, self.input, first, x.width());
        product(out, true, x, part);
    }
}

impl Transform for GaussianTransform {
    fn input_dim(&self) -> usize {
        self.input
    }

    fn output_dim(&self) -> usize {
        self.output
    }

    fn scale(&self) -> f32 {
        self.scale
    }

    fn apply_rows(&self, x: &[f32], out: &mut [f32]) {
        let rows = x.len() / self.input.max(1);
        let matrix = Mat::new(&self.matrix, self.output, self.input);
        product(out, false, Mat::new(x, rows, self.input), matrix);
    }

    fn bytes(&self) -> usize {
        self.matrix.len() * 4
    }

    fn stored(&self) -> Option<&[f32]> {
        Some(&self.matrix)
    }
}
