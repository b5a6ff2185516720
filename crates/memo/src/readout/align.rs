//! Alignment: a typed sequence of words laid beside what the memory says.

use crate::words::SpelledWord;
use std::ops::Range;

/// What differences are worth, in half words of evidence that one text is the other. A word that is the same is worth more the
/// rarer it is.
mod worth {
    /// Another word in its place.
    pub(super) const OTHER: i64 = -4;
    /// A word that was left out, or put in; and each that goes with it: what people take for one word may be several, as an
    /// address or a path.
    pub(super) const MISSING: i64 = -3;
    pub(super) const ADDED: i64 = -3;
    pub(super) const ANOTHER: i64 = -1;
    /// A word that was typed twice.
    pub(super) const DOUBLED: i64 = -1;
    /// Two words in the wrong order, beside what both are worth.
    pub(super) const SWAPPED: i64 = -2;
    /// Nothing that is the same comes after a word that differs: the text may just go on with something else.
    pub(super) const LAST: i64 = -8;
    /// The last word is rather another than too many.
    pub(super) const LAST_ADDED: i64 = -10;
}

/// The most words that are left out, or put in, as one.
const MOST_TOGETHER: usize = 4;

/// How two sequences agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Aligned {
    /// Half words of evidence.
    pub(super) worth: i64,
    /// How many words of the second sequence the first is laid beside.
    pub(super) end: usize,
    /// Places that differ.
    pub(super) differences: usize,
    /// The words of both from the first difference to the last.
    pub(super) differ: (Range<usize>, Range<usize>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Same,
    Alike,
    Other,
    /// Words of the second sequence that the first lacks, and of the first that the second lacks.
    Missing(usize),
    Added(usize),
    Swapped,
    /// Words of the first sequence that are one of the second, and words of the second that are one of the first.
    Joined(usize),
    Split(usize),
}

impl Step {
    /// How many words of each sequence it takes.
    fn takes(self) -> (usize, usize) {
        match self {
            Step::Begin => (0, 0),
            Step::Same | Step::Alike | Step::Other => (1, 1),
            Step::Missing(words) => (0, words),
            Step::Added(words) => (words, 0),
            Step::Swapped => (2, 2),
            Step::Joined(words) => (words, 1),
            Step::Split(words) => (1, words),
        }
    }
}

/// Lays all of the first sequence beside the beginning of the second so that most speaks for it. The last word of the first may
/// be only begun. `rare` has what each word of the first is worth.
pub(super) fn align(typed: &[SpelledWord], rare: &[i64], remembered: &[SpelledWord]) -> Aligned {
    let (n, m) = (typed.len(), remembered.len());
    let same = |i: usize, j: usize| typed[i].letters == remembered[j].letters;
    let last = |i: usize| if i == n { worth::LAST } else { 0 };
    let mut best = vec![vec![(0i64, Step::Begin); m + 1]; n + 1];
    for i in 0..=n {
        for j in 0..=m {
            if i == 0 && j == 0 {
                continue;
            }
            let mut most = (i64::MIN, Step::Begin);
            let mut consider = |from: i64, worth: i64, step: Step| {
                if from + worth > most.0 {
                    most = (from + worth, step);
                }
            };
            if i > 0 && j > 0 {
                let (worth, step) = if same(i - 1, j - 1) {
                    (rare[i - 1], Step::Same)
                } else if typed[i - 1].resembles(&remembered[j - 1])
                    || (i == n && typed[i - 1].begins(&remembered[j - 1]))
                {
                    // A slip of the fingers.
                    (rare[i - 1] - 1, Step::Alike)
                } else {
                    (worth::OTHER + last(i), Step::Other)
                };
                consider(best[i - 1][j - 1].0, worth, step);
            }
            if i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1) {
                let worth = rare[i - 2] + rare[i - 1] + worth::SWAPPED;
                consider(best[i - 2][j - 2].0, worth, Step::Swapped);
            }
            for words in 2..=MOST_TOGETHER {
                // Letters are all there, as with a slip of the fingers.
                if words <= i && j > 0 && is_joined(&typed[i - words..i], &remembered[j - 1]) {
                    let worth = rare[i - words..i].iter().sum::<i64>() - 1;
                    consider(best[i - words][j - 1].0, worth, Step::Joined(words));
                }
                if words <= j && i > 0 && is_joined(&remembered[j - words..j], &typed[i - 1]) {
                    consider(best[i - 1][j - words].0, rare[i - 1] - 1, Step::Split(words));
                }
            }
            for (words, more) in (1..=MOST_TOGETHER).zip((0..).map(|more| more * worth::ANOTHER)) {
                if words <= j {
                    consider(best[i][j - words].0, worth::MISSING + more, Step::Missing(words));
                }
                if words <= i {
                    let last = if i == n { worth::LAST_ADDED } else { 0 };
                    consider(best[i - words][j].0, worth::ADDED + more + last, Step::Added(words));
                }
            }
            if i > 1 && typed[i - 1].letters == typed[i - 2].letters {
                consider(best[i - 1][j].0, worth::DOUBLED, Step::Added(1));
            }
            best[i][j] = most;
        }
    }
    // Of equals, the one that leaves as many words as were typed: the last one is another, not missing.
    let end =
        (0..=m).max_by_key(|&j| (best[n][j].0, std::cmp::Reverse(j.abs_diff(n)))).unwrap_or(0);
    let mut aligned =
        Aligned { worth: best[n][end].0, end, differences: 0, differ: (n..n, end..end) };
    let (mut i, mut j) = (n, end);
    while i > 0 || j > 0 {
        let step = best[i][j].1;
        let (typed, remembered) = step.takes();
        if step != Step::Same {
            if aligned.differences == 0 {
                (aligned.differ.0.end, aligned.differ.1.end) = (i, j);
            }
            (aligned.differ.0.start, aligned.differ.1.start) = (i - typed, j - remembered);
            aligned.differences += 1;
        }
        (i, j) = (i - typed, j - remembered);
    }
    aligned
}

/// Whether some words, one after the other, are one word.
fn is_joined(words: &[SpelledWord], one: &SpelledWord) -> bool {
    words.iter().flat_map(|word| &word.letters).eq(&one.letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<SpelledWord> {
        let each = text.split(' ').filter(|word| !word.is_empty()).enumerate();
        each.map(|(i, word)| SpelledWord {
            letters: word.chars().map(u32::from).collect(),
            first: i,
            end: i + 1,
        })
        .collect()
    }

    #[test]
    fn slips_are_found_where_they_are() {
        let remembered = words("the heavy register before breakfast then nobody spoke");
        let found = |typed: &str| {
            let Aligned { end, differences, differ, .. } =
                align(&words(typed), &[2; 9], &remembered);
            (end, differences, differ)
        };
        assert_eq!(found("the heavy register"), (3, 0, (3..3, 3..3)));
        assert_eq!(found("the haevy register"), (3, 1, (1..2, 1..2)));
        assert_eq!(found("the register before"), (4, 1, (1..1, 1..2)));
        assert_eq!(found("the heavy heavy register"), (3, 1, (2..3, 2..2)));
        assert_eq!(found("heavy the register"), (3, 1, (0..2, 0..2)));
        assert_eq!(found("the heavy regi"), (3, 1, (2..3, 2..3)));
        assert_eq!(found("the heavy zebra"), (3, 1, (2..3, 2..3)));
        assert_eq!(found("the huge register bfeore breakfast"), (5, 2, (1..4, 1..4)));
        // Words that are written as one, or one as several.
        assert_eq!(found("the heavyregister before"), (4, 1, (1..2, 1..3)));
        assert_eq!(found("the heavy reg ist er before"), (4, 1, (2..5, 2..3)));
        // Several words that go together, as those of an address, are one difference.
        assert_eq!(found("the heavy then nobody spoke"), (8, 1, (2..2, 2..5)));
        assert_eq!(found("the heavy old blue red register before"), (4, 1, (2..5, 2..2)));
    }

    #[test]
    fn what_has_little_in_common_speaks_against_itself() {
        let remembered = words("the heavy register before breakfast then nobody spoke");
        let worth = |typed: &str| align(&words(typed), &[2; 9], &remembered).worth;
        assert!(worth("a small dog") < 0);
        assert!(worth("the haevy register") > 2);
        assert!(worth("the heavy stone") < worth("the huge register"));
    }
}
