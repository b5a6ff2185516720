//! Repair: a prompt that the memory nearly has is put right by what it has in its place.
//!
//! The prompt is respelled first (`respell`): case, line ends and commas are then those of the text, and if all of it is known in
//! that form there is nothing else to do. Otherwise a word may be another, missing, doubled, or exchanged with its neighbour.
//! From places that the memory knows, it is asked how each of its successors goes on, and what it says is laid beside the
//! rest of the prompt (`align`). Words that are the same speak for it, those that differ against it; if enough speaks
//! for it, the answer goes on after the place in the memory where the prompt ends. No more is stored for that: damage is
//! paid for when asking.

use super::align::{Aligned, align};
use super::respell::Respelled;
use super::{Backoff, Generator, Matching, Sampling, Scratch};
use crate::sparse::{Error, Memory, Reader};
use crate::words::{SpelledWord, Spelling};
use std::ops::Range;

/// A prompt that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The tokens to go on from.
    pub context: Vec<u32>,
    /// Where words differ, from the first to the last that does: tokens of the prompt, and tokens of `context`. Both are empty if only
    /// case and layout differ.
    pub differ: (Range<usize>, Range<usize>),
    /// How many words differ.
    pub differences: usize,
    /// How many of the last tokens of `context` stand together in the memory, at least.
    pub run: usize,
}

/// Tokens that make a quote if they stand together, however long the prompt is.
const QUOTE: usize = 8;

/// Tokens that must stand together before a place for the memory to go on from it.
const KNOWN: usize = 3;

/// Places that are tried, and successors after each.
const PLACES: usize = 24;
const SUCCESSORS: usize = 8;

/// Words after a place that are looked at, at most.
const REST: usize = 16;

/// Half words of evidence that a prompt needs to be put right.
const ENOUGH: i64 = 6;

/// The most half words that what is known before a place counts for.
const MOST_BEFORE: i64 = 12;

impl Backoff {
    /// Puts a prompt right that the memory does not know as it is; `None` if nothing in the memory resembles it.
    pub fn repair(
        &self,
        memory: &Memory,
        prompt: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Repair>, Error> {
        let view = memory.view(prompt)?;
        let offset = prompt.len() - view.len();
        let Respelled { words, context, ends } = Respelled::new(memory, view)?;
        let matching = Matching::of(memory, &context, scratch)?;
        if context != view && matching.is_quote(QUOTE) {
            let run = matching.run();
            return Ok(Some(Repair { context, differ: (0..0, 0..0), differences: 0, run }));
        }
        let mut reader = Reader::default();
        let mut best: Option<((i64, i64), usize, Vec<u32>, Aligned)> = None;
        let mut tried = 0;
        for next in (1..words.len()).rev() {
            if tried == PLACES || words.len() - next > REST {
                break;
            }
            let place = ends[next - 1];
            let Some(known) = place.checked_sub(matching.first).map(|at| matching.runs[at]) else {
                break;
            };
            if known < KNOWN.min(place) {
                continue;
            }
            tried += 1;
            // Words that lie within what is known.
            let before = (0..next)
                .filter(|&word| (if word == 0 { 0 } else { ends[word - 1] }) + known >= place);
            let before = (2 * before.count() as i64).min(MOST_BEFORE);
            let tokens = (view.len() - words[next - 1].end) * 3 / 2 + 8;
            for first in successors(memory, &context[..place], &mut reader)? {
                let said = self.replay(memory, &context[..place], first, tokens)?;
                let aligned = align(&words[next..], &spelled(memory, &said));
                let rank = (before + aligned.worth, -(aligned.differences as i64));
                if best.as_ref().is_none_or(|(most, ..)| rank > *most) {
                    best = Some((rank, next, said, aligned));
                }
            }
        }
        let Some(((evidence, _), next, said, aligned)) = best else { return Ok(None) };
        if evidence < ENOUGH || aligned.differences == 0 {
            return Ok(None);
        }
        let place = ends[next - 1];
        let remembered = spelled(memory, &said);
        let mut end = aligned.end.checked_sub(1).map_or(0, |last| remembered[last].end);
        // Symbols after the last word, if they are the same.
        let after = &view[words[words.len() - 1].end..];
        if said[end..].starts_with(after) {
            end += after.len();
        }
        let (typed, kept) = &aligned.differ;
        let typed = tokens_of(&words, typed.start + next..typed.end + next, offset);
        let kept = tokens_of(&remembered, kept.clone(), place);
        let context = [&context[..place], &said[..end]].concat();
        let run = matching.runs[place - matching.first] + end;
        Ok(Some(Repair { context, differ: (typed, kept), differences: aligned.differences, run }))
    }

    /// Returns the most probable next token after a prompt, which is put right if the memory does not know its end.
    pub fn best_repaired(
        &self,
        memory: &Memory,
        prompt: &[u32],
        scratch: &mut Scratch,
    ) -> Result<u32, Error> {
        let best = self.best_ahead(memory, prompt, scratch)?;
        let levels = &scratch.reader.levels;
        if levels.tokens().last().is_some_and(|level| level.span >= QUOTE) {
            return Ok(best);
        }
        match self.repair(memory, prompt, scratch)? {
            Some(repair) => self.best_ahead(memory, &repair.context, scratch),
            None => Ok(best),
        }
    }

    /// Returns what the memory says after a text and a token.
    fn replay(
        &self,
        memory: &Memory,
        text: &[u32],
        first: u32,
        tokens: usize,
    ) -> Result<Vec<u32>, Error> {
        let text = [text, &[first]].concat();
        let more = Generator::new(memory, self, &text, Sampling::default()).take(tokens);
        std::iter::once(Ok(first)).chain(more).collect()
    }
}

/// The tokens that followed the longest contexts of a text, the most frequent first.
fn successors(memory: &Memory, text: &[u32], reader: &mut Reader) -> Result<Vec<u32>, Error> {
    reader.read(memory, text)?;
    let levels = &reader.levels;
    let end = memory.settings().end;
    let longest = levels.tokens().last().into_iter().chain(levels.further_words().last());
    let mut known: Vec<(i64, u32)> = Vec::new();
    for &(token, count) in longest.flat_map(|level| &level.list) {
        if token != end && known.iter().all(|&(_, seen)| seen != token) {
            known.push((-count, token));
        }
    }
    known.sort_unstable();
    known.truncate(SUCCESSORS);
    Ok(known.into_iter().map(|(_, token)| token).collect())
}

/// The words of some tokens, or the tokens if the memory knows tokens alone.
fn spelled(memory: &Memory, tokens: &[u32]) -> Vec<SpelledWord> {
    match memory.words() {
        Some(words) => Spelling::of(words, tokens).words,
        None => (0..).zip(tokens).map(|(i, &token)| SpelledWord::token(token, i)).collect(),
    }
}

/// The tokens of some words, of which the first is `offset`.
fn tokens_of(words: &[SpelledWord], range: Range<usize>, offset: usize) -> Range<usize> {
    let start = match (words.get(range.start), range.is_empty()) {
        (Some(word), false) => word.first,
        _ => range.start.checked_sub(1).map_or(0, |before| words[before].end),
    };
    let end = if range.is_empty() { start } else { words[range.end - 1].end };
    start + offset..end + offset
}
