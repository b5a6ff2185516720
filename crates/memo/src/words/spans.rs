//! The words of a whole text, with their places in it.

use super::WordState;
use super::characters::each_character;
use super::normal::Code;
use super::state::Part;
use std::ops::Range;

/// Calls `take` with the hash of each word of a text, in order, and with its place in bytes. Words with the same normal form have the
/// same hash.
///
/// ```
/// use memo::words::each_word;
/// let text = "Don’t! DON'T";
/// let mut words = Vec::new();
/// each_word(text.as_bytes(), |hash, place| words.push((hash, &text[place])));
/// assert_eq!(words[0].0, words[1].0);
/// assert_eq!((words[0].1, words[1].1), ("Don’t", "DON'T"));
/// ```
pub fn each_word(text: &[u8], mut take: impl FnMut(u64, Range<usize>)) {
    let mut state = WordState::start();
    let mut place: Option<Range<usize>> = None;
    let mut push = |code: Code, range: Range<usize>| match (state.take(code), &mut place) {
        (Part::First, before) => {
            if let Some(before) = before.replace(range) {
                take(state.word(1), before);
            }
        }
        (Part::Next, Some(word)) => word.end = range.end,
        _ => {}
    };
    each_character(text, &mut push);
    if let Some(last) = place {
        take(state.word(0), last);
    }
}
