//! The fast Walsh–Hadamard transform in Sylvester order: `x ← H·x` with `H[r][k] = (−1)^popcount(r & k)`.
//!
//! Not normalised: applied twice it multiplies by the length.

use super::dispatch;

/// Strides below this are handled inside a register-sized chunk.
const LANES: usize = 16;

dispatch! {
    /// Transforms one vector in place. Its length must be a power of two.
    pub(crate) fn fwht / fwht_at(x: &mut [f32]) = body
}

dispatch! {
    /// Transforms every column of a row-major matrix of `width` columns in place.
    /// The number of rows must be a power of two.
    pub(crate) fn fwht_columns / fwht_columns_at(x: &mut [f32], width: usize) = columns_body
}

dispatch! {
    /// Row `row` of H times the values of `factors`: `out[k] = factors[k]·scale·(−1)^popcount(row & k)`.
    pub(crate) fn walsh_row / walsh_row_at(out: &mut [f32], factors: &[f32], row: usize, scale: f32) = walsh_row_body
}

#[inline(always)]
fn walsh_row_body(out: &mut [f32], factors: &[f32], row: usize, scale: f32) {
    let signed = |k: usize| if (row & k).count_ones().is_multiple_of(2) { scale } else { -scale };
    // Within a chunk the signs repeat; a chunk as a whole is negated or not.
    let base: [f32; LANES] = std::array::from_fn(signed);
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    let (factors, factors_rest) = factors.as_chunks::<LANES>();
    for (c, (out, factors)) in out.iter_mut().zip(factors).enumerate() {
        let negate = ((row & (c * LANES)).count_ones() % 2) << 31;
        for k in 0..LANES {
            out[k] = f32::from_bits((factors[k] * base[k]).to_bits() ^ negate);
        }
    }
    // Only a vector shorter than a chunk has a rest.
    for (k, (out, factor)) in out_rest.iter_mut().zip(factors_rest).enumerate() {
        *out = factor * signed(k);
    }
}

#[inline(always)]
fn body(x: &mut [f32]) {
    assert!(x.len().is_power_of_two(), "Walsh–Hadamard transform of {} values", x.len());
    if x.len() < LANES {
        butterflies(x, 1);
        return;
    }
    for chunk in x.as_chunks_mut::<LANES>().0 {
        *chunk = within_chunk(*chunk);
    }
    butterflies(x, LANES);
}

#[inline(always)]
fn columns_body(x: &mut [f32], width: usize) {
    assert!(width > 0 && x.len().is_multiple_of(width) && (x.len() / width).is_power_of_two());
    butterflies(x, width);
}

/// All stages of stride `first`, `2·first`, … up to the whole slice, two stages per pass over memory.
#[inline(always)]
fn butterflies(x: &mut [f32], first: usize) {
    let mut stride = first;
    while stride * 4 <= x.len() {
        for quad in x.chunks_exact_mut(stride * 4) {
            let (ab, cd) = quad.split_at_mut(stride * 2);
            let (a, b) = ab.split_at_mut(stride);
            let (c, d) = cd.split_at_mut(stride);
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                let (s, t, u, v) = (*a + *b, *a - *b, *c + *d, *c - *d);
                (*a, *b, *c, *d) = (s + u, t + v, s - u, t - v);
            }
        }
        stride *= 4;
    }
    if stride * 2 <= x.len() {
        for pair in x.chunks_exact_mut(stride * 2) {
            let (a, b) = pair.split_at_mut(stride);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
    }
}

/// Strides 1, 2, 4 and 8 of one chunk, each as a permutation, a sign and an addition.
#[inline(always)]
fn within_chunk(mut x: [f32; LANES]) -> [f32; LANES] {
    x = stage::<1>(x);
    x = stage::<2>(x);
    x = stage::<4>(x);
    stage::<8>(x)
}

#[inline(always)]
fn stage<const STRIDE: usize>(x: [f32; LANES]) -> [f32; LANES] {
    let mut partner = [0.0; LANES];
    let mut signed = [0.0; LANES];
    for k in 0..LANES {
        partner[k] = x[k ^ STRIDE];
        signed[k] = f32::from_bits(x[k].to_bits() ^ if k & STRIDE == 0 { 0 } else { 1 << 31 });
    }
    for k in 0..LANES {
        signed[k] += partner[k];
    }
    signed
}

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::*;

    fn naive(x: &[f32]) -> Vec<f32> {
        (0..x.len())
            .map(|r| {
                let signed = |(k, v): (usize, &f32)| {
                    if (r & k).count_ones() % 2 == 0 { f64::from(*v) } else { -f64::from(*v) }
                };
                x.iter().enumerate().map(signed).sum::<f64>() as f32
            })
            .collect()
    }

    #[test]
    fn every_path_equals_the_definition() {
        for path in Path::available() {
            for log in 0..=11 {
                // Small integers: sums are exact, so equality is exact.
                let x: Vec<f32> =
                    (0..1 << log).map(|k| ((k * 37 + 11) % 19) as f32 - 9.0).collect();
                let mut fast = x.clone();
                fwht_at(path, &mut fast);
                assert_eq!(fast, naive(&x), "{path:?}, length {}", x.len());
            }
        }
    }

    #[test]
    fn a_row_is_the_transform_of_a_unit_vector() {
        for path in Path::available() {
            for log in 0..=7 {
                let n = 1 << log;
                let factors: Vec<f32> = (0..n).map(|k| (k % 3) as f32 - 1.0).collect();
                for row in 0..n {
                    let mut unit = vec![0.0; n];
                    unit[row] = 1.0;
                    let expected: Vec<f32> =
                        naive(&unit).iter().zip(&factors).map(|(h, f)| h * f * 0.5).collect();
                    let mut got = vec![9.0; n];
                    walsh_row_at(path, &mut got, &factors, row, 0.5);
                    assert_eq!(got, expected, "{path:?}, row {row} of {n}");
                }
            }
        }
    }

    #[test]
    fn columns_are_transformed_each_on_its_own() {
        for path in Path::available() {
            for (rows, width) in [(1, 3), (2, 1), (8, 5), (64, 16)] {
                let x: Vec<f32> =
                    (0..rows * width).map(|k| ((k * 29 + 3) % 23) as f32 - 11.0).collect();
                let mut fast = x.clone();
                fwht_columns_at(path, &mut fast, width);
                for c in 0..width {
                    let column: Vec<f32> = (0..rows).map(|r| x[r * width + c]).collect();
                    let got: Vec<f32> = (0..rows).map(|r| fast[r * width + c]).collect();
                    assert_eq!(got, naive(&column), "{path:?}, {rows}×{width}, column {c}");
                }
            }
        }
    }
}
