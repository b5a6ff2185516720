//! The arithmetic of scores: from the scores of several rows to counts and their noise.
//!
//! Rows are weighed inversely to their energy. What stands out of the noise is peeled off, after which the energy
//! tells the noise alone and the weights are better.

/// Added to a row's energy before it is inverted, so that an empty row does not count alone.
pub(crate) const SOFTENING: f32 = 0.05;

/// Estimated counts are never believed to be better than this.
pub(crate) const LEAST_SIGMA: f32 = 0.02;

/// What is known of a bucket's scores: a score times `unit` estimates a count, with deviation `sigma`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scale {
    /// The count that a score of 1 stands for.
    pub(crate) unit: f32,
    /// Standard deviation of the estimated counts.
    pub(crate) sigma: f32,
}

impl Scale {
    /// The estimated count above which a successor is certain enough to be peeled off.
    #[inline(always)]
    pub(crate) fn threshold(self) -> f32 {
        (4.5 * self.sigma).max(0.5)
    }
}

/// Estimates counts from the scores of several rows, peeling off what is certain.
///
/// `rows` holds the scores of each row, one after the other; their squares sum to the row's energy. Rows are weighed
/// inversely to it. Counts that stand out are taken off, the weights found again from what is left, which now
/// shows the noise alone, and so on. In a bucket this is exact in the scores: its codes are orthogonal, so a peeled
/// code touches no other score. Returns σ; `counts` must be zero.
#[inline(always)]
pub(crate) fn settle(rows: &[f32], rounds: usize, mean: &mut [f32], counts: &mut [f32]) -> f32 {
    let width = mean.len();
    let mut pass = 1;
    loop {
        mean.copy_from_slice(counts);
        let (mut whole, mut variance) = (0.0, 0.0);
        for row in rows.chunks_exact(width) {
            whole += 1.0 / (energy(row, counts) + SOFTENING);
        }
        for row in rows.chunks_exact(width) {
            let energy = energy(row, counts);
            let weight = 1.0 / (energy + SOFTENING) / whole;
            variance += weight * weight * energy;
            for ((mean, &score), &count) in mean.iter_mut().zip(row).zip(&*counts) {
                *mean += weight * (score - count);
            }
        }
        let sigma = (variance / width as f32).sqrt().max(LEAST_SIGMA);
        let threshold = Scale { unit: 1.0, sigma }.threshold();
        let mut found = 0u8;
        if pass < rounds {
            for (count, &mean) in counts.iter_mut().zip(&*mean) {
                let rest = mean - *count;
                let certain = rest > threshold;
                found |= u8::from(certain);
                *count += if certain { f32::from(round(rest)) } else { 0.0 };
            }
        }
        if found == 0 {
            return sigma;
        }
        pass += 1;
    }
}

/// Σ(score − count)², summed in a fixed shape.
#[inline(always)]
fn energy(row: &[f32], counts: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    for (row, counts) in row.as_chunks::<16>().0.iter().zip(counts.as_chunks::<16>().0) {
        for k in 0..16 {
            let rest = row[k] - counts[k];
            sums[k] += rest * rest;
        }
    }
    let mut half = 8;
    while half > 0 {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
        half /= 2;
    }
    sums[0]
}

/// The nearest integer, ties to even, of a number that fits: adding 1.5·2²³ leaves no room for a fraction.
#[inline(always)]
pub(crate) fn round(x: f32) -> i16 {
    const SHIFT: f32 = 12_582_912.0;
    (x + SHIFT - SHIFT) as i32 as i16
}

/// Counts as 16-bit scores; what that rounds away is counted as noise.
#[inline(always)]
pub(crate) fn quantize(counts: &[f32], sigma: f32, out: &mut [i16]) -> Scale {
    let largest = counts.iter().fold(0.0f32, |most, count| most.max(count.abs()));
    // Fine enough for the smallest σ, or as fine as the largest count allows.
    let unit = (largest / 32_000.0).max(LEAST_SIGMA / 16.0);
    for (out, &count) in out.iter_mut().zip(counts) {
        *out = round(count / unit);
    }
    Scale { unit, sigma: (sigma * sigma + unit * unit / 12.0).sqrt() }
}
