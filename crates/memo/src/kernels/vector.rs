//! Vector kernels: sums and dot products.

use super::dispatch;
use super::prefetch;

/// Independent partial sums in [`dot`]: four AVX-512 registers, enough to hide the latency of an addition.
const LANES: usize = 64;

dispatch! {
    /// `Σ aᵢ·bᵢ` over the shorter length, summed in a fixed order.
    pub(crate) fn dot / dot_at(a: &[f32], b: &[f32]) -> f32 = dot_body
}

dispatch! {
    /// The dot products of two vectors with each of `rows`, all of one length: `out[q][r] = pair[q]·rows[r]`.
    pub(crate) fn dots / dots_at(pair: [&[f32]; 2], rows: &[&[f32]], out: [&mut [f32]; 2]) = dots_body
}

dispatch! {
    /// The largest value; −∞ if there is none. Values must not be NaN.
    pub(crate) fn max / max_at(x: &[f32]) -> f32 = max_body
}

dispatch! {
    /// `y += x`.
    pub(crate) fn add / add_at(y: &mut [f32], x: &[f32]) = add_body
}

dispatch! {
    /// `y += s·x`.
    pub(crate) fn add_scaled / add_scaled_at(y: &mut [f32], s: f32, x: &[f32]) = add_scaled_body
}

dispatch! {
    /// `y += s ⊙ x`.
    pub(crate) fn add_product / add_product_at(y: &mut [f32], s: &[f32], x: &[f32]) = add_product_body
}

#[inline(always)]
fn dot_body(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0f32; LANES];
    let ((a_full, a_rest), (b_full, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (x, y) in a_full.iter().zip(b_full) {
        for k in 0..LANES {
            sums[k] += x[k] * y[k];
        }
    }
    for (k, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[k] += x * y;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            sums[k] += sums[k + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Rows that meet a pair of vectors at a time: eight sums, enough to hide the latency of an addition.
const QUAD: usize = 4;
const WIDTH: usize = 16;

/// How far ahead the pair, which comes from memory, is asked for: the CPU's own guesses end with a page.
const AHEAD: usize = 256;

#[inline(always)]
fn dots_body(pair: [&[f32]; 2], rows: &[&[f32]], [even, odd]: [&mut [f32]; 2]) {
    let outs = even.chunks_mut(QUAD).zip(odd.chunks_mut(QUAD));
    for (rows, (even, odd)) in rows.chunks(QUAD).zip(outs) {
        // A last group repeats its first row.
        let quad: [&[f32]; QUAD] = std::array::from_fn(|r| *rows.get(r).unwrap_or(&rows[0]));
        let sums = eight_dots(pair, quad);
        even.copy_from_slice(&sums[0][..even.len()]);
        odd.copy_from_slice(&sums[1][..odd.len()]);
    }
}

#[inline(always)]
fn eight_dots(pair: [&[f32]; 2], quad: [&[f32]; QUAD]) -> [[f32; QUAD]; 2] {
    let [(x, x_rest), (y, y_rest)] = pair.map(<[f32]>::as_chunks::<WIDTH>);
    let quads = quad.map(<[f32]>::as_chunks::<WIDTH>);
    let [(a, _), (b, _), (c, _), (d, _)] = quads;
    let zero = [0.0f32; WIDTH];
    let ([mut xa, mut xb, mut xc, mut xd], [mut ya, mut yb, mut yc, mut yd]) =
        ([zero; 4], [zero; 4]);
    let chunks = x.iter().zip(y).zip(a.iter().zip(b)).zip(c.iter().zip(d));
    for (((x, y), (a, b)), (c, d)) in chunks {
        prefetch(x, AHEAD);
        prefetch(y, AHEAD);
        (xa, ya) = (plus_product(xa, x, a), plus_product(ya, y, a));
        (xb, yb) = (plus_product(xb, x, b), plus_product(yb, y, b));
        (xc, yc) = (plus_product(xc, x, c), plus_product(yc, y, c));
        (xd, yd) = (plus_product(xd, x, d), plus_product(yd, y, d));
    }
    let (xs, ys) = ([xa, xb, xc, xd], [ya, yb, yc, yd]);
    let rest = |x: &[f32], r: usize| x.iter().zip(quads[r].1).map(|(x, y)| x * y).sum::<f32>();
    let total = |sums: &[[f32; WIDTH]; QUAD], x_rest: &[f32]| {
        std::array::from_fn(|r| sums[r].iter().sum::<f32>() + rest(x_rest, r))
    };
    [total(&xs, x_rest), total(&ys, y_rest)]
}

#[inline(always)]
fn plus_product(mut sums: [f32; WIDTH], x: &[f32; WIDTH], y: &[f32; WIDTH]) -> [f32; WIDTH] {
    for k in 0..WIDTH {
        sums[k] += x[k] * y[k];
    }
    sums
}

#[inline(always)]
fn max_body(x: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut tops = [f32::NEG_INFINITY; LANES];
    let (full, rest) = x.as_chunks::<LANES>();
    for chunk in full {
        for k in 0..LANES {
            tops[k] = larger(tops[k], chunk[k]);
        }
    }
    tops.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| larger(a, *b))
}

#[inline(always)]
fn add_body(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

#[inline(always)]
fn add_scaled_body(y: &mut [f32], s: f32, x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}

#[inline(always)]
fn add_product_body(y: &mut [f32], s: &[f32], x: &[f32]) {
    for ((y, s), x) in y.iter_mut().zip(s).zip(x) {
        *y += s * x;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::*;

    fn values(n: usize, salt: usize) -> Vec<f32> {
        (0..n).map(|k| ((k * 31 + salt) % 17) as f32 - 8.0).collect()
    }

    #[test]
    fn every_path_equals_the_definition() {
        for path in Path::available() {
            for n in [0, 1, 7, 31, 32, 33, 100, 257] {
                let (a, b) = (values(n, 1), values(n, 5));
                // Small integers: every order of summation gives the same float.
                let exact: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
                assert_eq!(dot_at(path, &a, &b), exact, "{path:?} dot of {n}");

                let largest = a.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(max_at(path, &a), largest, "{path:?} max of {n}");

                for rows in 1..=5 {
                    let rows: Vec<Vec<f32>> = (0..rows).map(|r| values(n, r + 9)).collect();
                    let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
                    let (mut even, mut odd) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
                    dots_at(path, [&a, &b], &rows, [&mut even, &mut odd]);
                    for (r, row) in rows.iter().enumerate() {
                        assert_eq!(even[r], dot_at(path, &a, row), "{path:?} dots of {n}");
                        assert_eq!(odd[r], dot_at(path, &b, row), "{path:?} dots of {n}");
                    }
                }

                let mut y = b.clone();
                add_at(path, &mut y, &a);
                assert!(y.iter().zip(a.iter().zip(&b)).all(|(y, (a, b))| *y == a + b));
                let mut y = b.clone();
                add_product_at(path, &mut y, &a, &a);
                assert!(y.iter().zip(a.iter().zip(&b)).all(|(y, (a, b))| *y == b + a * a));
                let mut y = b.clone();
                add_scaled_at(path, &mut y, -3.0, &a);
                assert!(y.iter().zip(a.iter().zip(&b)).all(|(y, (a, b))| *y == b - 3.0 * a));
            }
        }
    }
}
