//! Vector kernels: sums and dot products.

use super::dispatch;

/// Independent partial sums in [`dot`]: four AVX-512 registers, enough to hide the latency of an addition.
const LANES: usize = 64;

dispatch! {
    /// `Σ aᵢ·bᵢ` over the shorter length, summed in a fixed order.
    pub(crate) fn dot / dot_at(a: &[f32], b: &[f32]) -> f32 = dot_body
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
