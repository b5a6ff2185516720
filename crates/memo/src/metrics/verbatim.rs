//! Whether a text is known by heart: what is right, token by token, when the true tokens before it are given.

/// Exact memorization: the share of tokens that were right; 0 of nothing.
///
/// ```
/// assert_eq!(memo::metrics::exact_memorization(&[true, false, true, true]), 0.75);
/// ```
pub fn exact_memorization(right: &[bool]) -> f64 {
    let count = right.iter().filter(|right| **right).count();
    count as f64 / right.len().max(1) as f64
}

/// Extraction strength: 1 − k/length for the smallest k such that every token from k on was right. It is 1 if the whole
/// text comes from its prompt alone, and 0 if not even its last token does.
///
/// ```
/// // Once the first two of five tokens are given, the rest follows.
/// assert_eq!(memo::metrics::extraction_strength(&[true, false, true, true, true]), 0.6);
/// ```
pub fn extraction_strength(right: &[bool]) -> f64 {
    let suffix = right.iter().rev().take_while(|right| **right).count();
    suffix as f64 / right.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_by_heart_not_at_all_and_between() {
        for (right, exact, strength) in [
            (&[true; 4][..], 1.0, 1.0),
            (&[false; 4], 0.0, 0.0),
            // The last token alone is wrong: nothing can be extracted to the end.
            (&[true, true, true, false], 0.75, 0.0),
            // By hand: k = 3 of 4.
            (&[true, false, false, true], 0.5, 0.25),
            (&[], 0.0, 0.0),
        ] {
            assert_eq!(exact_memorization(right), exact, "{right:?}");
            assert_eq!(extraction_strength(right), strength, "{right:?}");
        }
    }
}
