//! Fast Walsh–Hadamard transforms of 16-bit integers, and the scans over their results.
//!
//! Decoding a row into the scores of all n tokens is n/width transforms of the same row under different signs. Tokens
//! are numbered so that neighbours are in different blocks: 32 blocks lie side by side, one a lane, and a transform
//! of all of them needs no shuffles. Callers bound Σ|x| by 32,767, so no sum can overflow.

use super::dispatch;
use super::integer::LINE;

/// Blocks side by side in the widest layout.
pub(crate) const LANES: usize = 32;

/// Rows of one register-blocked pass: four stages at once.
const RADIX: usize = 16;

dispatch! {
    /// `out[g][k][lane] = Σ_j ±H[k][j]·x[j]` under the signs of block `g·lanes + lane`: `signs[g][j][lane]` is −1 where
    /// they negate and 0 elsewhere. `lanes` is a power of two up to 32.
    pub(crate) fn walsh_blocks / walsh_blocks_at(x: &[i16], signs: &[i8], lanes: usize, out: &mut [i16]) = blocks_body
}

dispatch! {
    /// `g += weight·scores`, or `g = weight·scores` if `fresh`; one weight for each 64 tokens.
    pub(crate) fn accumulate / accumulate_at(g: &mut [f32], scores: &[i16], weights: &[f32], fresh: bool) = accumulate_body
}

dispatch! {
    /// The tokens where `g + prior + bias > 0`; one bias for each 64 tokens.
    pub(crate) fn candidates / candidates_at(g: &[f32], prior: &[f32], biases: &[f32], found: &mut Vec<u32>) = candidates_body
}

dispatch! {
    /// The tokens whose score is above its threshold; one threshold for each 64 tokens.
    pub(crate) fn above / above_at(scores: &[i16], thresholds: &[i16], found: &mut Vec<u32>) = above_body
}

#[inline(always)]
fn blocks_body(x: &[i16], signs: &[i8], lanes: usize, out: &mut [i16]) {
    let width = x.len();
    assert!(width.is_power_of_two() && lanes.is_power_of_two() && lanes <= LANES);
    let groups = signs.chunks_exact(width * lanes).zip(out.chunks_exact_mut(width * lanes));
    for (signs, out) in groups {
        if lanes == LANES && width == RADIX * RADIX {
            let rows = out.as_chunks_mut::<LANES>().0;
            let signs = signs.as_chunks::<LANES>().0;
            for first in 0..RADIX {
                let mut some = [[0; LANES]; RADIX];
                for (j, row) in some.iter_mut().enumerate() {
                    *row = signed(x[first + j * RADIX], &signs[first + j * RADIX]);
                }
                for (j, row) in butterflies16(some).into_iter().enumerate() {
                    rows[first + j * RADIX] = row;
                }
            }
            for rows in rows.as_chunks_mut::<RADIX>().0 {
                *rows = butterflies16(*rows);
            }
        } else {
            let rows = out.chunks_exact_mut(lanes).zip(signs.chunks_exact(lanes));
            for ((row, signs), &x) in rows.zip(x) {
                for (out, &sign) in row.iter_mut().zip(signs) {
                    *out = (x ^ i16::from(sign)).wrapping_sub(i16::from(sign));
                }
            }
            stages(out, lanes);
        }
    }
}

/// `x` in every lane under its sign.
#[inline(always)]
fn signed(x: i16, signs: &[i8; LANES]) -> [i16; LANES] {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        let sign = i16::from(signs[lane]);
        out[lane] = (x ^ sign).wrapping_sub(sign);
    }
    out
}

#[inline(always)]
fn butterflies16(mut x: [[i16; LANES]; RADIX]) -> [[i16; LANES]; RADIX] {
    let mut stride = 1;
    while stride < RADIX {
        for j in 0..RADIX {
            if j & stride == 0 {
                for lane in 0..LANES {
                    let (a, b) = (x[j][lane], x[j + stride][lane]);
                    x[j][lane] = a.wrapping_add(b);
                    x[j + stride][lane] = a.wrapping_sub(b);
                }
            }
        }
        stride *= 2;
    }
    x
}

/// All stages from stride `first` on.
#[inline(always)]
fn stages(x: &mut [i16], first: usize) {
    let mut stride = first;
    while stride < x.len() {
        for pair in x.chunks_exact_mut(stride * 2) {
            let (a, b) = pair.split_at_mut(stride);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (a.wrapping_add(*b), a.wrapping_sub(*b));
            }
        }
        stride *= 2;
    }
}

/// The transform of one line of 64 values: strides below 16 within chunks, as permutations that the compiler knows,
/// the others between chunks.
#[inline(always)]
pub(crate) fn fwht_line(x: &[i16; LINE]) -> [i16; LINE] {
    let mut chunks = [[0; 16]; 4];
    for (chunk, x) in chunks.iter_mut().zip(x.as_chunks::<16>().0) {
        *chunk = stage::<8>(stage::<4>(stage::<2>(stage::<1>(*x))));
    }
    let [a, b, c, d] = chunks;
    let mut out = [0; LINE];
    for k in 0..16 {
        let (s, t) = (a[k].wrapping_add(b[k]), a[k].wrapping_sub(b[k]));
        let (u, v) = (c[k].wrapping_add(d[k]), c[k].wrapping_sub(d[k]));
        out[k] = s.wrapping_add(u);
        out[k + 16] = t.wrapping_add(v);
        out[k + 32] = s.wrapping_sub(u);
        out[k + 48] = t.wrapping_sub(v);
    }
    out
}

#[inline(always)]
fn stage<const STRIDE: usize>(x: [i16; 16]) -> [i16; 16] {
    let mut partner = [0; 16];
    let mut signed = [0; 16];
    for k in 0..16 {
        partner[k] = x[k ^ STRIDE];
        let mask = if k & STRIDE == 0 { 0 } else { -1 };
        signed[k] = (x[k] ^ mask).wrapping_sub(mask);
    }
    for k in 0..16 {
        signed[k] = partner[k].wrapping_add(signed[k]);
    }
    signed
}

#[inline(always)]
fn accumulate_body(g: &mut [f32], scores: &[i16], weights: &[f32], fresh: bool) {
    let lines = g.as_chunks_mut::<LINE>().0.iter_mut().zip(scores.as_chunks::<LINE>().0);
    for ((g, scores), &weight) in lines.zip(weights) {
        for k in 0..LINE {
            let evidence = f32::from(scores[k]) * weight;
            g[k] = if fresh { evidence } else { g[k] + evidence };
        }
    }
}

#[inline(always)]
fn candidates_body(g: &[f32], prior: &[f32], biases: &[f32], found: &mut Vec<u32>) {
    let lines = g.as_chunks::<LINE>().0.iter().zip(prior.as_chunks::<LINE>().0);
    for (i, ((g, prior), &bias)) in lines.zip(biases).enumerate() {
        // The largest of each lane first: most lines have nothing to collect.
        let mut most = [f32::NEG_INFINITY; 16];
        for (g, prior) in g.as_chunks::<16>().0.iter().zip(prior.as_chunks::<16>().0) {
            for k in 0..16 {
                let sum = g[k] + prior[k] + bias;
                most[k] = if sum > most[k] { sum } else { most[k] };
            }
        }
        let mut any = 0;
        for most in most {
            any |= u32::from(most > 0.0);
        }
        if any != 0 {
            for k in 0..LINE {
                if g[k] + prior[k] + bias > 0.0 {
                    found.push((i * LINE + k) as u32);
                }
            }
        }
    }
}

#[inline(always)]
fn above_body(scores: &[i16], thresholds: &[i16], found: &mut Vec<u32>) {
    let lines = scores.as_chunks::<LINE>().0.iter().zip(thresholds);
    for (i, (scores, &threshold)) in lines.enumerate() {
        let mut most = [i16::MIN; 32];
        for scores in scores.as_chunks::<32>().0 {
            for k in 0..32 {
                most[k] = if scores[k] > most[k] { scores[k] } else { most[k] };
            }
        }
        let mut any = 0;
        for most in most {
            any |= u16::from(most > threshold);
        }
        if any != 0 {
            for (k, &score) in scores.iter().enumerate() {
                if score > threshold {
                    found.push((i * LINE + k) as u32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::*;
    use crate::random::{Purpose, Stream};

    fn naive(x: &[i16]) -> Vec<i16> {
        let sign = |r: usize, k: usize| if (r & k).count_ones().is_multiple_of(2) { 1 } else { -1 };
        (0..x.len()).map(|r| (0..x.len()).map(|k| x[k] * sign(r, k)).sum()).collect()
    }

    fn values(len: usize) -> Vec<i16> {
        (0..len).map(|k| ((k * 37 + 11) % 59) as i16 - 29).collect()
    }

    #[test]
    fn blocks_are_transformed_each_under_its_signs() {
        let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
        for width in [64, 128, 256, 512, 1024] {
            for lanes in [1, 2, 8, 32] {
                let (x, groups) = (values(width), 2);
                let signs: Vec<i8> =
                    (0..groups * width * lanes).map(|_| -((reader.word() & 1) as i8)).collect();
                for path in Path::available() {
                    let mut out = vec![0; groups * width * lanes];
                    walsh_blocks_at(path, &x, &signs, lanes, &mut out);
                    for (g, lane) in (0..groups).flat_map(|g| (0..lanes).map(move |lane| (g, lane)))
                    {
                        let flipped: Vec<i16> = (0..width)
                            .map(|k| {
                                if signs[(g * width + k) * lanes + lane] == 0 {
                                    x[k]
                                } else {
                                    -x[k]
                                }
                            })
                            .collect();
                        let got: Vec<i16> =
                            (0..width).map(|k| out[(g * width + k) * lanes + lane]).collect();
                        assert_eq!(got, naive(&flipped), "{path:?} width {width} lanes {lanes}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_is_transformed() {
        let x: [i16; LINE] = values(LINE).try_into().unwrap();
        assert_eq!(fwht_line(&x).to_vec(), naive(&x));
    }

    #[test]
    fn scans_find_what_is_above() {
        let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
        let scores: Vec<i16> = (0..640).map(|_| reader.below(2000) as i16 - 1000).collect();
        let weights: Vec<f32> = (0..10).map(|k| k as f32 / 8.0).collect();
        let thresholds: Vec<i16> = (0..10).map(|k| k * 150 - 500).collect();
        let prior: Vec<f32> = (0..640).map(|_| -(reader.below(50) as f32)).collect();
        for path in Path::available() {
            let mut found = Vec::new();
            above_at(path, &scores, &thresholds, &mut found);
            let naive: Vec<u32> =
                (0..640).filter(|&t| scores[t as usize] > thresholds[t as usize / 64]).collect();
            assert_eq!(found, naive);

            let mut g = vec![f32::NAN; 640];
            accumulate_at(path, &mut g, &scores, &weights, true);
            accumulate_at(path, &mut g, &scores, &weights, false);
            assert!((0..640).all(|t| g[t] == 2.0 * f32::from(scores[t]) * weights[t / 64]));
            found.clear();
            let biases: Vec<f32> = weights.iter().map(|w| -w * 300.0).collect();
            candidates_at(path, &g, &prior, &biases, &mut found);
            let naive: Vec<u32> = (0..640u32)
                .filter(|&t| g[t as usize] + prior[t as usize] + biases[t as usize / 64] > 0.0)
                .collect();
            assert_eq!(found, naive);
        }
    }
}
