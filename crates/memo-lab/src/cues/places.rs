//! Places of a text: its tokens and its words, what of them is unique, and where to ask.

use memo::random::{Draws, Purpose, Stream};
use std::collections::HashMap;
use std::ops::Range;

/// A text, as it was memorized.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<u32>,
    /// Where each word lies.
    pub(super) words: Vec<Range<usize>>,
    seed: u64,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str, tokens: Vec<u32>, seed: u64) -> Self {
        Text { text, tokens, words: words(text), seed }
    }

    /// A word.
    pub(super) fn word(&self, i: usize) -> &'t str {
        &self.text[self.words[i].clone()]
    }

    /// Some words as they stand in the text.
    pub(super) fn quote(&self, words: Range<usize>) -> &'t str {
        &self.text[self.words[words.start].start..self.words[words.end - 1].end]
    }

    /// Words after a place in the text, one space between them.
    pub(super) fn after(&self, at: usize, words: usize) -> String {
        let rest = self.text[at..].split_whitespace().take(words);
        rest.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn draws(&self, question: u32) -> Draws {
        Stream::new(self.seed, Purpose::Sampling, question).draws()
    }

    /// Random places, in any order, each once.
    pub(super) fn places(&self, question: u32, places: Range<usize>) -> Vec<usize> {
        let order = self.draws(question).permutation(places.len());
        order.into_iter().map(|place| places.start + place as usize).collect()
    }
}

/// Where the words of a text lie: what stands between white space; of scripts that have none, two characters.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let first = word.as_ptr() as usize - text.as_ptr() as usize;
        let (mut start, end, mut unspaced) = (first, first + word.len(), 0);
        for (at, c) in word.char_indices().map(|(i, c)| (first + i, c)) {
            if unspaced == 2 && c.is_alphanumeric() {
                words.push(start..at);
                (start, unspaced) = (at, 0);
            }
            unspaced += usize::from(is_unspaced(c));
        }
        words.push(start..end);
    }
    words
}

/// Whether a character is of a script that has no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// How often each run of `len` items occurs.
pub(super) fn occurrences<T: std::hash::Hash + Eq>(items: &[T], len: usize) -> HashMap<&[T], u32> {
    let mut seen = HashMap::new();
    for run in items.windows(len) {
        *seen.entry(run).or_default() += 1;
    }
    seen
}

/// What followed each run of `len` items most often; of equals, what came first.
pub(super) fn most_frequent_next(tokens: &[u32], len: usize) -> HashMap<&[u32], u32> {
    let mut followed: HashMap<&[u32], Vec<(u32, u32)>> = HashMap::new();
    for run in tokens.windows(len + 1) {
        let (context, next) = (&run[..len], run[len]);
        let counts = followed.entry(context).or_default();
        match counts.iter_mut().find(|(token, _)| *token == next) {
            Some((_, count)) => *count += 1,
            None => counts.push((next, 1)),
        }
    }
    let best = |counts: Vec<(u32, u32)>| counts.into_iter().rev().max_by_key(|&(_, count)| count);
    followed.into_iter().filter_map(|(run, counts)| Some((run, best(counts)?.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_stand() {
        let text = Text::new("The owl,\n reads  at night", vec![], 1);
        assert_eq!((text.words.len(), text.word(4)), (5, "night"));
        assert_eq!(text.quote(1..3), "owl,\n reads");
        assert_eq!(text.after(text.words[1].end, 2), "reads at");
        let mut places = text.places(7, 2..9);
        places.sort_unstable();
        assert!(places.into_iter().eq(2..9));
    }

    #[test]
    fn words_without_spaces_are_two_characters() {
        let text = "床前明月光，疑是 地上霜。Linux 系统";
        let cut: Vec<&str> = words(text).into_iter().map(|word| &text[word]).collect();
        assert_eq!(cut, ["床前", "明月", "光，疑", "是", "地上", "霜。Linux", "系统"]);
    }

    #[test]
    fn what_follows_most_often_is_the_best_answer() {
        let tokens = [1, 2, 3, 1, 2, 4, 1, 2, 4, 5];
        assert_eq!(most_frequent_next(&tokens, 2)[&[1, 2][..]], 4);
        assert_eq!(most_frequent_next(&tokens, 1)[&[4][..]], 1);
        assert_eq!(occurrences(&tokens, 2)[&[1, 2][..]], 3);
    }
}
