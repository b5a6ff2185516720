//! Matrix products by the `gemm` crates, of which only that for f32 is built, behind views whose bounds are checked once.

use super::{dot, dots};
use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;
use rayon::prelude::*;

/// Up to this many rows a product is bound by reading the other operand, and dot products of a few rows at a time beat
/// a blocked product.
const DOTS: usize = 8;

/// Rows of the large operand that meet all rows of the small one at a time.
const PANEL: usize = 2;

/// Below this many rows the `gemm` crate is up to three times as fast on the transposed product, whose large operand it
/// then reads in place.
const FEW_ROWS: usize = 256;

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
        // Checked: a product that wraps must not pass for the length that bounds the raw pointers below.
        assert_eq!(Some(data.len()), rows.checked_mul(cols), "{rows}×{cols} matrix");
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
        let end = |row: usize| row.checked_add(1)?.checked_mul(cols);
        let last = rows.checked_sub(1).map(|rows| rows.checked_mul(step)?.checked_add(first));
        let fits = |last: Option<usize>| last.and_then(end).is_some_and(|end| end <= data.len());
        assert!(last.is_none_or(fits), "rows out of range");
        let data = if rows == 0 { &data[..0] } else { &data[first * cols..] };
        Mat { data, rows, cols, row_stride: step * cols, col_stride: 1 }
    }

    /// `width` columns from `first` on of the row-major `rows`×`cols` matrix in `data`.
    pub(crate) fn columns(
        data: &'a [f32],
        rows: usize,
        cols: usize,
        first: usize,
        width: usize,
    ) -> Self {
        let inside = first.checked_add(width).is_some_and(|end| end <= cols);
        assert!(rows.checked_mul(cols) == Some(data.len()) && inside, "columns out of range");
        let data = if rows == 0 { data } else { &data[first..] };
        Mat { data, rows, cols: width, row_stride: cols, col_stride: 1 }
    }

    /// Row `r` of a view whose columns are contiguous.
    fn row(&self, r: usize) -> &'a [f32] {
        &self.data[r * self.row_stride..][..self.cols]
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.cols
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
    assert_eq!(Some(out.len()), a.rows.checked_mul(b.cols), "output size");
    if out.is_empty() {
        return;
    }
    let (m, n, k) = (a.rows, b.cols, a.cols);
    let threads = rayon::current_num_threads();
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    // Its kernels write columns, so it is given the transposed product: outᵀ = bᵀ·aᵀ.
    // SAFETY: `Mat`'s constructors checked that every (row, column) lies inside its slice, `out` was checked above,
    // and `out` is a unique borrow, so it overlaps neither operand.
    unsafe {
        get_gemm_fn()(
            n,
            m,
            k,
            out.as_mut_ptr(),
            n as isize,
            1,
            accumulate,
            b.data.as_ptr(),
            b.row_stride as isize,
            b.col_stride as isize,
            a.data.as_ptr(),
            a.row_stride as isize,
            a.col_stride as isize,
            1.0,
            scale,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// `out ← a·bᵀ`, or `out += a·bᵀ`, both operands row by row and contiguous in their rows.
pub(crate) fn product(out: &mut [f32], accumulate: bool, a: Mat<'_>, b: Mat<'_>) {
    if a.rows >= FEW_ROWS {
        return multiply_add(out, accumulate, 1.0, a, b.transposed());
    }
    assert!(a.col_stride == 1 && b.col_stride == 1 && a.cols == b.cols, "operands are row-major");
    assert_eq!(Some(out.len()), a.rows.checked_mul(b.rows), "output size");
    if a.rows == 0 {
        return;
    }
    let mut columns = vec![0.0; out.len()];
    if a.rows > DOTS {
        multiply_add(&mut columns, false, 1.0, b, a.transposed());
    } else {
        // Each row of `b` is read once and meets all rows of `a`.
        let rows: Vec<&[f32]> = (0..a.rows).map(|r| a.row(r)).collect();
        let panels = columns.par_chunks_mut(PANEL * a.rows).with_min_len(32).enumerate();
        panels.for_each(|(p, columns)| {
            if columns.len() == PANEL * a.rows {
                let (even, odd) = columns.split_at_mut(a.rows);
                dots([b.row(PANEL * p), b.row(PANEL * p + 1)], &rows, [even, odd]);
            } else {
                for (value, row) in columns.iter_mut().zip(&rows) {
                    *value = dot(b.row(PANEL * p), row);
                }
            }
        });
    }
    out.par_chunks_mut(b.rows).enumerate().for_each(|(r, out)| {
        for (out, column) in out.iter_mut().zip(columns.chunks_exact(a.rows)) {
            *out = if accumulate { *out + column[r] } else { column[r] };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_and_many_give_the_same_product() {
        let (inner, cols) = (9, 70);
        let b: Vec<f32> = (0..cols * inner).map(|k| ((k * 3) % 7) as f32 - 3.0).collect();
        for rows in [0, 1, DOTS, DOTS + 1, 40, FEW_ROWS, FEW_ROWS + 9] {
            let a: Vec<f32> = (0..rows * inner).map(|k| ((k * 5) % 11) as f32 - 5.0).collect();
            let mut out = vec![1.0; rows * cols];
            product(&mut out, false, Mat::new(&a, rows, inner), Mat::new(&b, cols, inner));
            product(&mut out, true, Mat::new(&a, rows, inner), Mat::new(&b, cols, inner));
            for (r, out) in out.chunks_exact(cols).enumerate() {
                for (c, value) in out.iter().enumerate() {
                    let exact: f32 = (0..inner).map(|k| a[r * inner + k] * b[c * inner + k]).sum();
                    assert_eq!(*value, 2.0 * exact, "{rows} rows");
                }
            }
        }
    }

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
