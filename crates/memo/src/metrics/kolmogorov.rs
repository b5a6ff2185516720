//! The two-sample test of Kolmogorov and Smirnov: could both samples come from one distribution?

use serde::{Deserialize, Serialize};

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KolmogorovSmirnov {
    /// The largest distance between the two empirical distribution functions, 0 to 1.
    pub statistic: f64,
    /// How probable a distance at least as large is if both samples come from one distribution. 1 cannot be told apart.
    pub p_value: f64,
}

/// Above this many values in the larger sample the p-value is Kolmogorov's limit instead of counted.
const COUNTED: usize = 10_000;

/// The test, two-sided. The p-value counts the orders of two samples without ties (exact; with ties it is rather too
/// large); if a sample has more than 10,000 values it is the limit for large samples. Of an empty sample nothing can be
/// said: distance 0, p = 1.
///
/// ```
/// // Two below two: of the six orders of four values, two are as extreme.
/// let test = memo::metrics::kolmogorov_smirnov(&[1.0, 2.0], &[3.0, 4.0]);
/// assert_eq!(test.statistic, 1.0);
/// assert!((test.p_value - 1.0 / 3.0).abs() < 1e-12);
/// ```
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> KolmogorovSmirnov {
    if a.is_empty() || b.is_empty() {
        return KolmogorovSmirnov { statistic: 0.0, p_value: 1.0 };
    }
    let distance = distance(a, b);
    let (m, n) = (a.len() as u64, b.len() as u64);
    let statistic = distance as f64 / (m * n) as f64;
    let p_value = if distance == 0 {
        1.0
    } else if a.len().max(b.len()) <= COUNTED {
        counted(m, n, distance)
    } else {
        limit(statistic * (m as f64 * n as f64 / (m + n) as f64).sqrt())
    };
    KolmogorovSmirnov { statistic, p_value }
}

/// The largest distance between the distribution functions, times both sizes: a whole number.
fn distance(a: &[f64], b: &[f64]) -> u64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let (mut i, mut j, mut most) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        most = most.max((i as u64 * b.len() as u64).abs_diff(j as u64 * a.len() as u64));
    }
    most
}

/// The share of all orders of m and n values whose distance reaches `distance`. An order is a path from (0, 0) to
/// (m, n); `reached[j]` is the probability that a random path to (i, j) has come that far from the diagonal. A path to
/// (i, j) came from the left with probability i/(i + j).
fn counted(m: u64, n: u64, distance: u64) -> f64 {
    let far = |i: u64, j: u64| (i * n).abs_diff(j * m) >= distance;
    let mut reached = vec![0.0f64; n as usize + 1];
    for j in 1..=n {
        reached[j as usize] = if far(0, j) { 1.0 } else { reached[j as usize - 1] };
    }
    for i in 1..=m {
        reached[0] = if far(i, 0) { 1.0 } else { reached[0] };
        for j in 1..=n {
            let (left, below) = (reached[j as usize], reached[j as usize - 1]);
            let share = i as f64 / (i + j) as f64;
            let here = if far(i, j) { 1.0 } else { share * left + (1.0 - share) * below };
            reached[j as usize] = here;
        }
    }
    reached[n as usize]
}

/// Kolmogorov's distribution: the probability that the scaled distance exceeds x, 2 Σ (−1)ᵏ⁻¹ exp(−2k²x²).
fn limit(x: f64) -> f64 {
    // Below this the sum needs many terms, and is 1 to nine digits.
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} against {b}");
    }

    #[test]
    fn small_samples_are_counted() {
        // Three below three: 2 of C(6,3) = 20 orders.
        let test = kolmogorov_smirnov(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!(test.statistic, 1.0);
        close(test.p_value, 0.1);
        // 1 3 | 2: distance 1/2. Every one of the three orders has at least that.
        let test = kolmogorov_smirnov(&[1.0, 3.0], &[2.0]);
        assert_eq!(test.statistic, 0.5);
        close(test.p_value, 1.0);
        // a a b b a b over three each: the distance is 2/3. Written as steps ±1 that sum to 0, 20 orders in all, those
        // that never leave ±1 are 2³ = 8, so 12 of 20 reach 2.
        let test = kolmogorov_smirnov(&[1.0, 2.0, 5.0], &[3.0, 4.0, 6.0]);
        close(test.statistic, 2.0 / 3.0);
        close(test.p_value, 0.6);
        // The same values: no distance.
        let test = kolmogorov_smirnov(&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0]);
        assert_eq!((test.statistic, test.p_value), (0.0, 1.0));
        assert_eq!(kolmogorov_smirnov(&[], &[1.0]).p_value, 1.0);
    }

    #[test]
    fn large_samples_take_kolmogorov_s_limit() {
        // The tables' critical values: 1.3581 at 5 %, 1.6276 at 1 %.
        assert!((limit(1.3581) - 0.05).abs() < 1e-5, "{}", limit(1.3581));
        assert!((limit(1.6276) - 0.01).abs() < 1e-5, "{}", limit(1.6276));
        // Counted and limit agree where both can be had: n = m = 2000, distance 0.05.
        let (n, distance) = (2_000u64, 2_000 * 100);
        let scaled: f64 = 0.05 * (1_000f64).sqrt();
        assert!((counted(n, n, distance) - limit(scaled)).abs() < 0.005);
        // And a shifted sample is told apart, an unshifted one is not.
        let uniform = |n: usize, shift: f64| -> Vec<f64> {
            (0..n).map(|k| (k as f64 * 0.618_033_988_75).fract() + shift).collect()
        };
        let same = kolmogorov_smirnov(&uniform(12_000, 0.0), &uniform(11_000, 0.0));
        let other = kolmogorov_smirnov(&uniform(12_000, 0.0), &uniform(11_000, 0.03));
        assert!(same.p_value > 0.99 && other.p_value < 1e-4, "{same:?} {other:?}");
    }
}
