//! The place in the streams of words and of units at the end of the context that was read last: one that goes on by a token where that
//! ended is not read again.

use super::Memory;
use super::settings::WORD_REACH;
use crate::words::{UnitState, WordState};

/// The place after a context.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    stamp: u64,
    /// The length of the context, and its last tokens.
    len: usize,
    tail: Vec<u32>,
    words: WordState,
    units: UnitState,
}

/// Tokens that a place depends on: those within reach, and what [`WordState::before`] reads before them.
const TAIL: usize = WORD_REACH + 8;

impl Default for Place {
    fn default() -> Self {
        let (words, units) = (WordState::start(), UnitState::start());
        Place { stamp: 0, len: 0, tail: Vec::new(), words, units }
    }
}

impl Place {
    /// Goes to the end of a context, in the streams that the memory has.
    pub(crate) fn follow(&mut self, memory: &Memory, context: &[u32]) {
        let Some(words) = memory.words() else { return };
        let goes_on = context.split_last().filter(|(_, before)| {
            let from = before.len().saturating_sub(TAIL);
            let from_start = before.len() < TAIL;
            self.stamp == memory.stamp()
                && (!from_start || self.len == before.len())
                && before[from..] == *self.tail
        });
        let (has_words, has_units) =
            (!memory.settings().words.is_empty(), memory.lexicon().is_some());
        if has_words {
            match goes_on {
                Some((&token, _)) => self.words.push(words, token),
                None => {
                    self.words = WordState::before(words, context, context.len(), WORD_REACH);
                }
            }
        }
        if has_units {
            // Units that began within the reach depend on the tokens there, and on what was open before them, which a token that
            // ends with a character other than an apostrophe tells; it may stand further back, where both contexts are the same.
            let settled = |before: &[u32]| {
                let reach = before.len().checked_sub(WORD_REACH);
                reach.is_none_or(|reach| {
                    let from = before.len().saturating_sub(TAIL);
                    before[from..=reach].iter().rev().any(|&token| words.settles(token))
                })
            };
            match goes_on.filter(|(_, before)| settled(before)) {
                Some((&token, _)) => self.units.push(words, token),
                None => {
                    self.units = UnitState::before(words, context, context.len(), WORD_REACH);
                }
            }
        }
        (self.stamp, self.len) = (memory.stamp(), context.len());
        self.tail.clear();
        self.tail.extend_from_slice(&context[context.len().saturating_sub(TAIL)..]);
    }

    /// Returns the place in the stream of words.
    pub(crate) fn words(&self) -> &WordState {
        &self.words
    }

    /// Returns the place in the stream of units.
    pub(crate) fn units(&self) -> &UnitState {
        &self.units
    }
}
