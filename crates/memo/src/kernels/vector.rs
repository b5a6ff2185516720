//! Vector kernels: sums, dot products, and signed permutations.

use super::dispatch;

/// Independent partial sums in [`dot`]: wide enough to fill two AVX-512 registers.
const LANES: usize = 32;

dispatch! {
    /// `Σ aᵢ·bᵢ` over the shorter length, summed in a fixed order.
    pub(crate) fn dot / dot_at(a: &[f32], b: &[f32]) -> f32 = dot_body
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
    /// `y[k] += ±x[j]` where entry k of `table` holds j in its low 31 bits and the sign in the highest.
    pub(crate) fn gather_add / gather_add_at(y: &mut [f32], x: &[f32], table: &[u32]) = gather_add_body
}

dispatch! {
    /// `y[k] *= ±sgn(x[j])` where entry k of `table` holds j in its low 31 bits and the sign in the highest;
    /// sgn(0) is 0.
    pub(crate) fn gather_bind / gather_bind_at(y: &mut [f32], x: &[f32], table: &[u32]) = gather_bind_body
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

const SIGN: u32 = 1 << 31;

#[inline(always)]
fn pick(x: &[f32], entry: u32) -> f32 {
    f32::from_bits(x[(entry & !SIGN) as usize].to_bits() ^ (entry & SIGN))
}

#[inline(always)]
fn gather_add_body(y: &mut [f32], x: &[f32], table: &[u32]) {
    for (y, &entry) in y.iter_mut().zip(table) {
        *y += pick(x, entry);
    }
}

#[inline(always)]
fn gather_bind_body(y: &mut [f32], x: &[f32], table: &[u32]) {
    for (y, &entry) in y.iter_mut().zip(table) {
        let v = pick(x, entry);
        *y *= if v == 0.0 { 0.0 } else { 1f32.copysign(v) };
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

                let mut y = b.clone();
                add_at(path, &mut y, &a);
                assert!(y.iter().zip(a.iter().zip(&b)).all(|(y, (a, b))| *y == a + b));
                let mut y = b.clone();
                add_scaled_at(path, &mut y, -3.0, &a);
                assert!(y.iter().zip(a.iter().zip(&b)).all(|(y, (a, b))| *y == b - 3.0 * a));
            }
        }
    }

    #[test]
    fn signed_permutations_move_and_flip() {
        let x = values(64, 3);
        let table: Vec<u32> =
            (0..64u32).map(|k| ((k * 13) % 64) | if k % 3 == 0 { SIGN } else { 0 }).collect();
        let moved = |k: usize| if k % 3 == 0 { -x[(k * 13) % 64] } else { x[(k * 13) % 64] };
        for path in Path::available() {
            let mut sum = values(64, 8);
            gather_add_at(path, &mut sum, &x, &table);
            let mut product = values(64, 8);
            gather_bind_at(path, &mut product, &x, &table);
            for (k, before) in values(64, 8).into_iter().enumerate() {
                assert_eq!(sum[k], before + moved(k), "{path:?}");
                let sign = if moved(k) == 0.0 { 0.0 } else { moved(k).signum() };
                assert_eq!(product[k], before * sign, "{path:?}");
            }
        }
    }
}
