//! ROUGE-L: how much of a reference comes again in order.

/// The longest common subsequence of two texts, over the length of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RougeL {
    /// Over the candidate's length.
    pub precision: f64,
    /// Over the reference's length.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
}

/// ROUGE-L of a candidate against a reference, both as lists of words or tokens. Everything is 0 if one is empty.
///
/// ```
/// use memo::metrics::{rouge_l, words};
/// let score = rouge_l(&words("The cat sat."), &words("the cat has sat down"));
/// assert_eq!((score.precision, score.recall), (1.0, 0.6));
/// ```
pub fn rouge_l<T: PartialEq>(candidate: &[T], reference: &[T]) -> RougeL {
    let common = longest_common(candidate, reference) as f64;
    let over = |length: usize| common / length.max(1) as f64;
    let (precision, recall) = (over(candidate.len()), over(reference.len()));
    let f1 = if common > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    RougeL { precision, recall, f1 }
}

/// The length of the longest common subsequence: one row of the table at a time.
fn longest_common<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// The words of a text as ROUGE counts them: runs of letters and digits, in lower case. No stemming.
pub fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        // Lin's own example: the same four words in two orders.
        let reference = words("police killed the gunman");
        let close = rouge_l(&words("police kill the gunman"), &reference);
        assert_eq!((close.precision, close.recall, close.f1), (0.75, 0.75, 0.75));
        let far = rouge_l(&words("the gunman kill police"), &reference);
        assert_eq!((far.precision, far.recall, far.f1), (0.5, 0.5, 0.5));
        // 2 in common of 3 and of 4: F = 2·(2/3)(1/2)/(2/3 + 1/2) = 4/7.
        let score = rouge_l(&[1, 2, 9], &[1, 3, 2, 4]);
        assert!((score.f1 - 4.0 / 7.0).abs() < 1e-12, "{score:?}");
        assert_eq!(rouge_l::<u32>(&[], &[1]), RougeL { precision: 0.0, recall: 0.0, f1: 0.0 });
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        assert_eq!(words("It's 1,956: Ünder-way!"), ["it", "s", "1", "956", "ünder", "way"]);
    }
}
