//! Reading buckets: the scores of 64 tokens at a time from the two rows that they share.
//!
//! Most buckets hold no successor and only need to be seen to hold none. They are read in 16-bit integers, both rows
//! in one transform; the few in which something stands out are read again, row by row, and settled in floats.

use super::{LEAST_SIGMA, LINE, SOFTENING, Scale, WIDE, masks, quantize, settle};
use crate::kernels::dispatch;
use crate::kernels::walsh::fwht_line;

/// The two rows of one bucket of 64 tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// The rows.
    pub(crate) rows: [u32; 2],
    /// Their signs.
    pub(crate) signs: [u64; 2],
}

dispatch! {
    /// Reads buckets of two rows of 64 cells: unbinds both, weighs them by their energy, and transforms their mean. If
    /// that finds successors and `rounds` are left, they are peeled off as in [`settle`].
    /// Buckets with a wide row are left and their indices returned in `left`.
    pub(crate) fn read_buckets / read_buckets_at(cells: &[i8], buckets: &[Bucket], rounds: usize, scores: &mut [i16], scales: &mut [Scale], left: &mut Vec<u32>) = read_buckets_body
}

/// Buckets weighed together.
const BATCH: usize = 16;

#[inline(always)]
fn read_buckets_body(
    cells: &[i8],
    buckets: &[Bucket],
    rounds: usize,
    scores: &mut [i16],
    scales: &mut [Scale],
    left: &mut Vec<u32>,
) {
    let outs = scores.as_chunks_mut::<LINE>().0.chunks_mut(BATCH).zip(scales.chunks_mut(BATCH));
    for (batch, (buckets, (scores, scales))) in buckets.chunks(BATCH).zip(outs).enumerate() {
        let mut rows = [[[0i8; LINE]; 2]; BATCH];
        let mut wide = [false; BATCH];
        let mut sums = Sums::default();
        for (j, bucket) in buckets.iter().enumerate() {
            for q in 0..2 {
                let line: &[i8; LINE] =
                    cells[bucket.rows[q] as usize * LINE..].first_chunk().expect("a row is whole");
                wide[j] |= line[0] == WIDE;
                let masks = masks(bucket.signs[q]);
                let row = &mut rows[j][q];
                let (mut size, mut energy) = (0, 0);
                for k in 0..LINE {
                    row[k] = (line[k] ^ masks[k]).wrapping_sub(masks[k]);
                    let x = i32::from(row[k]);
                    size += x.abs();
                    energy += x * x;
                }
                sums.size[q][j] = size as f32;
                sums.energy[q][j] = energy as f32 * (1.0 / LINE as f32);
            }
        }
        let weighed = weigh(&sums);
        for j in 0..buckets.len() {
            let factors = [weighed.factors[0][j], weighed.factors[1][j]];
            if wide[j] {
                left.push((batch * BATCH + j) as u32);
                continue;
            }
            if weighed.coarse[j] {
                scales[j] = peel(&rows[j], rounds, &mut scores[j]);
                continue;
            }
            let mut mean = [0i16; LINE];
            for k in 0..LINE {
                let (a, b) = (i16::from(rows[j][0][k]), i16::from(rows[j][1][k]));
                mean[k] = a.wrapping_mul(factors[0]).wrapping_add(b.wrapping_mul(factors[1]));
            }
            let out = &mut scores[j];
            *out = fwht_line(&mean);
            scales[j] = Scale { unit: weighed.unit[j], sigma: weighed.sigma[j] };
            let threshold = (scales[j].threshold() / scales[j].unit).min(32_767.0) as i16;
            let mut any = 0;
            for &score in &*out {
                any |= u8::from(score > threshold);
            }
            if rounds > 1 && any != 0 {
                scales[j] = peel(&rows[j], rounds, out);
            }
        }
    }
}

/// Σ|x| and Σx²/64 of both rows of some buckets.
#[derive(Default)]
struct Sums {
    size: [[f32; BATCH]; 2],
    energy: [[f32; BATCH]; 2],
}

/// Integer weights of both rows, and the scale that results. Too coarse: weights of no precision.
#[derive(Default)]
struct Weighed {
    factors: [[i16; BATCH]; 2],
    unit: [f32; BATCH],
    sigma: [f32; BATCH],
    coarse: [bool; BATCH],
}

/// Weighs rows inversely to their energy, with integers as large as 16-bit sums allow.
#[inline(always)]
fn weigh(sums: &Sums) -> Weighed {
    let mut weighed = Weighed::default();
    for j in 0..BATCH {
        let (e0, e1) = (sums.energy[0][j], sums.energy[1][j]);
        let (w0, w1) = (1.0 / (e0 + SOFTENING), 1.0 / (e1 + SOFTENING));
        // The sum of all absolute values bounds every partial sum of the transform.
        let size = w0 * sums.size[0][j] + w1 * sums.size[1][j];
        let most = if w0 > w1 { w0 } else { w1 };
        let precision = 32_767.0 / if size > most { size } else { most };
        let (f0, f1) = ((w0 * precision) as i32, (w1 * precision) as i32);
        let whole = (f0 + f1) as f32;
        let (share0, share1) = (f0 as f32 / whole, f1 as f32 / whole);
        let variance = share0 * share0 * e0 + share1 * share1 * e1;
        let sigma = (variance / LINE as f32).sqrt();
        weighed.factors[0][j] = f0 as i16;
        weighed.factors[1][j] = f1 as i16;
        weighed.coarse[j] = whole < 16.0;
        weighed.unit[j] = 1.0 / (whole * LINE as f32);
        weighed.sigma[j] = if sigma > LEAST_SIGMA { sigma } else { LEAST_SIGMA };
    }
    weighed
}

/// A bucket again, row by row, with its successors peeled off.
#[inline(always)]
fn peel(rows: &[[i8; LINE]; 2], rounds: usize, out: &mut [i16; LINE]) -> Scale {
    let mut each = [0.0f32; 2 * LINE];
    for (each, row) in each.as_chunks_mut::<LINE>().0.iter_mut().zip(rows) {
        let mut wider = [0i16; LINE];
        for k in 0..LINE {
            wider[k] = i16::from(row[k]);
        }
        let row = fwht_line(&wider);
        for k in 0..LINE {
            each[k] = f32::from(row[k]) * (1.0 / LINE as f32);
        }
    }
    let (mut mean, mut counts) = ([0.0; LINE], [0.0; LINE]);
    let sigma = settle(&each, rounds, &mut mean, &mut counts);
    quantize(&mean, sigma, out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{random_cells, sign};
    use super::*;
    use crate::kernels::Path;
    use crate::random::{Purpose, Stream};

    #[test]
    fn buckets_are_read_as_defined() {
        let rows = 40u32;
        let mut cells = random_cells(rows as usize * LINE, 20, 2);
        cells[..LINE].fill(0);
        cells[LINE] = WIDE;
        let mut reader = Stream::new(6, Purpose::Sampling, 0).draws();
        let mut buckets: Vec<Bucket> = (0..100)
            .map(|_| Bucket {
                rows: std::array::from_fn(|_| reader.below(u64::from(rows)) as u32),
                signs: std::array::from_fn(|_| reader.word()),
            })
            .collect();
        buckets[0].rows = [0, 0];
        buckets[1].rows = [0, 5];
        for path in Path::available() {
            let mut scores = vec![7i16; buckets.len() * LINE];
            let mut scales = vec![Scale::default(); buckets.len()];
            let mut left = Vec::new();
            read_buckets_at(path, &cells, &buckets, 1, &mut scores, &mut scales, &mut left);
            for (i, bucket) in buckets.iter().enumerate() {
                let wide = bucket.rows.contains(&1);
                assert_eq!(left.contains(&(i as u32)), wide);
                if wide {
                    continue;
                }
                let row = |q: usize, k: usize| {
                    let cell = cells[bucket.rows[q] as usize * LINE + k];
                    f64::from(cell) * f64::from(sign(bucket.signs[q], k))
                };
                let energy =
                    |q: usize| (0..LINE).map(|k| row(q, k) * row(q, k)).sum::<f64>() / 64.0;
                let weight = [0, 1].map(|q| 1.0 / (energy(q) + 0.05));
                let share = weight.map(|w| w / (weight[0] + weight[1]));
                let sigma =
                    ((0..2).map(|q| share[q] * share[q] * energy(q)).sum::<f64>() / 64.0).sqrt();
                assert!(
                    (f64::from(scales[i].sigma) - sigma.max(0.02)).abs() < 0.03 * sigma.max(0.02)
                );
                for t in 0..LINE {
                    let expected: f64 = (0..LINE)
                        .map(|k| {
                            let walsh =
                                if (t & k).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                            (share[0] * row(0, k) + share[1] * row(1, k)) * walsh / 64.0
                        })
                        .sum();
                    let got = f64::from(scores[i * LINE + t]) * f64::from(scales[i].unit);
                    // Weights are rounded to 16-bit integers; that moves scores by a small part of σ.
                    assert!(
                        (got - expected).abs() < 0.15 * sigma.max(0.02),
                        "{path:?} {got} {expected} {sigma}"
                    );
                }
            }
        }
    }

    /// Two rows share three successors; one of them also carries much noise, which the peeled weights must see.
    #[test]
    fn peeling_finds_the_quiet_row() {
        let mut reader = Stream::new(7, Purpose::Sampling, 0).draws();
        let walsh =
            |t: usize, k: usize| if (t & k).count_ones().is_multiple_of(2) { 1 } else { -1 };
        let signs = [reader.word(), reader.word()];
        let mut cells = vec![0i8; 2 * LINE];
        for (q, noise) in [(0, 0), (1, 25)] {
            for k in 0..LINE {
                let value: i32 =
                    [(3, 40), (17, 9), (60, 1)].iter().map(|&(t, c)| c * walsh(t, k)).sum();
                let noise = reader.below(2 * noise + 1) as i32 - noise as i32;
                cells[q * LINE + k] = ((value + noise) * sign(signs[q], k)) as i8;
            }
        }
        let buckets = [Bucket { rows: [0, 1], signs }];
        for path in Path::available() {
            let (mut scores, mut scales, mut left) = ([0i16; LINE], [Scale::default()], Vec::new());
            read_buckets_at(path, &cells, &buckets, 4, &mut scores, &mut scales, &mut left);
            let count = |t: usize| f32::from(scores[t]) * scales[0].unit;
            assert!(left.is_empty() && scales[0].sigma < 0.05, "{scales:?}");
            for t in 0..LINE {
                let expected = [(3, 40.0), (17, 9.0), (60, 1.0)]
                    .iter()
                    .find(|e| e.0 == t)
                    .map_or(0.0, |e| e.1);
                assert!((count(t) - expected).abs() < 0.1, "{path:?} token {t}: {}", count(t));
            }
        }
    }
}
