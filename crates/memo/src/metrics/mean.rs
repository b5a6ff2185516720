//! Means and quantiles.

/// The arithmetic mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The harmonic mean of values from 0 on: 0 as soon as one of them is 0, and of nothing.
///
/// ```
/// assert_eq!(memo::metrics::harmonic_mean(&[1.0, 0.5]), 2.0 / 3.0);
/// ```
pub fn harmonic_mean(values: &[f64]) -> f64 {
    if values.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return 0.0;
    }
    values.len() as f64 / values.iter().map(|value| value.recip()).sum::<f64>()
}

/// The values at `parts` + 1 equally spaced ranks, from the smallest to the largest; nothing of nothing.
pub fn quantiles(values: &[f64], parts: usize) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let rank = |part: usize| (last as f64 * part as f64 / parts.max(1) as f64).round() as usize;
    (0..=parts).map(|part| sorted[rank(part)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_quantiles_by_hand() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(harmonic_mean(&[1.0, 0.25, 0.25]), 1.0 / 3.0);
        assert_eq!(harmonic_mean(&[1.0, 0.0]), 0.0);
        assert_eq!(quantiles(&[5.0, 1.0, 3.0, 2.0, 4.0], 2), [1.0, 3.0, 5.0]);
        assert!(quantiles(&[], 2).is_empty());
    }
}
