//! Matrix products by the `gemm` crate, behind views whose bounds are checked once.

use gemm::Parallelism;

/// A read-only matrix view: element (r, c) is `data[r·row_stride + c·col_stride]`.
#[derive(Clone, Copy)]
pub(crate) struct Mat<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a> Mat<'a> {
    /// A row-major matrix that fills `data`.
    pub(crate) fn new(data: &'a [f32], rows: usize, cols: usize) -> Self {
        assert_eq!(data.len(), rows * cols, "{rows}×{cols} matrix");
        Mat { data, rows, cols, row_stride: cols, col_stride: 1 }
    }

    /// `rows` rows of `cols` columns in a row-major buffer, taking every `step`-th row from `first` on.
    pub(crate) fn strided(
        data: &'a [f32],
        first: usize,
        step: usize,
        rows: usize,
        cols: usize,
    ) -> Self {
        let data = &data[first * cols..];
        assert!(rows == 0 || ((rows - 1) * step + 1) * cols <= data.len(), "rows out of range");
        Mat { data, rows, cols, row_stride: step * cols, col_stride: 1 }
    }

    /// The same numbers, rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Mat {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }
}

/// `out ← keep·out + scale·a·b`, with `out` row-major and `keep` 0 (overwrite) or 1 (accumulate).
/// Runs on the threads of the current rayon pool.
pub(crate) fn multiply_add(out: &mut [f32], accumulate: bool, scale: f32, a: Mat<'_>, b: Mat<'_>) {
    assert_eq!(a.cols, b.rows, "inner dimensions");
    assert_eq!(out.len(), a.rows * b.cols, "output size");
    if out.is_empty() {
        return;
    }
    let (m, n, k) = (a.rows, b.cols, a.cols);
    let threads = rayon::current_num_threads();
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    // SAFETY: `Mat`'s constructors checked that every (row, column) lies inside its slice, `out` was checked above,
    // and `out` is a unique borrow, so it overlaps neither operand.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            accumulate,
            a.data.as_ptr(),
            a.col_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.col_stride as isize,
            b.row_stride as isize,
            1.0,
            scale,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_and_transposed_products_equal_the_definition() {
        let (rows, inner, cols) = (5, 7, 3);
        let a: Vec<f32> = (0..rows * 2 * inner).map(|k| ((k * 5) % 11) as f32 - 5.0).collect();
        let bt: Vec<f32> = (0..cols * inner).map(|k| ((k * 3) % 7) as f32 - 3.0).collect();
        for accumulate in [false, true] {
            let mut out = vec![1.0; rows * cols];
            let left = Mat::strided(&a, 1, 2, rows, inner);
            multiply_add(&mut out, accumulate, 2.0, left, Mat::new(&bt, cols, inner).transposed());
            for r in 0..rows {
                for c in 0..cols {
                    let exact: f32 =
                        (0..inner).map(|k| a[(1 + 2 * r) * inner + k] * bt[c * inner + k]).sum();
                    let kept = if accumulate { 1.0 } else { 0.0 };
                    assert_eq!(out[r * cols + c], kept + 2.0 * exact);
                }
            }
        }
    }
}
