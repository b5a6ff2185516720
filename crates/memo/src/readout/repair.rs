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

/// The last words of a prompt that count.
const REST: usize = 16;

/// Half words of evidence that a prompt needs to be put right.
const ENOUGH: i64 = 6;

/// Tokens within which symbols at the end of a prompt are looked for.
const SYMBOLS: usize = 16;

/// What the memory says from a place on, laid beside the rest of a prompt.
#[derive(Default)]
struct Candidate {
    evidence: i64,
    /// The first word after the place.
    next: usize,
    said: Vec<u32>,
    aligned: Aligned,
}

impl Backoff {
    /// Puts a prompt right that the memory does not know as it is; `None` if nothing in the memory resembles it more.
    pub fn repair(
        &self,
        memory: &Memory,
        prompt: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Repair>, Error> {
        let view = memory.view(prompt)?;
        let offset = prompt.len() - view.len();
        let respelled = Respelled::new(memory, view)?;
        let Respelled { words, context, ends, .. } = &respelled;
        let matching = Matching::of(memory, context, scratch)?;
        let mut best = Candidate { evidence: ENOUGH - 1, ..Candidate::default() };
        let total = memory.unigrams().iter().sum();
        let rare: Vec<i64> =
            words.iter().map(|word| rarity(memory, total, &view[word.first..word.end])).collect();
        let counted = words.len().saturating_sub(REST);
        let mut reader = Reader::default();
        let mut tried = 0;
        for next in (1..words.len()).rev() {
            let place = ends[next - 1];
            if tried == PLACES || next <= counted || place < matching.first {
                break;
            }
            let first = successors(memory, &context[..place], &mut reader)?;
            // Words that are known together before the place: by their tokens, or in any layout.
            let known = matching.runs[place - matching.first];
            let start = |word: usize| word.checked_sub(1).map_or(0, |before| ends[before]);
            let by_tokens = (0..next).filter(|&word| start(word) + known >= place).count();
            let words_known = reader
                .levels
                .words()
                .last()
                .map_or(0, |level| memory.settings().context(level.slot).len());
            let before = by_tokens.max(words_known.min(next));
            if known < KNOWN.min(place) && before < 2 {
                continue;
            }
            tried += 1;
            let before: i64 = rare[next.saturating_sub(before).max(counted)..next].iter().sum();
            let tokens = (view.len() - words[next - 1].end) * 3 / 2 + 8;
            for first in first {
                let said = self.replay(memory, &context[..place], first, tokens)?;
                let aligned = align(&words[next..], &rare[next..], &spelled(memory, &said));
                let evidence = before + aligned.worth;
                if (evidence, best.aligned.differences) > (best.evidence, aligned.differences) {
                    best = Candidate { evidence, next, said, aligned };
                }
            }
        }
        let Candidate { next, said, aligned, .. } = best;
        if aligned.differences == 0 {
            // Nothing but case and layout may differ.
            let end = self.end(memory, context, &respelled.symbols)?;
            let context = [context, &end[..]].concat();
            let run = matching.run() + end.len();
            let quote = matching.is_quote(QUOTE);
            let whole = if context == view {
                !quote && respelled.is_quote()
            } else {
                quote || respelled.is_quote()
            };
            return Ok(whole.then(|| Repair {
                context,
                differ: (0..0, 0..0),
                differences: 0,
                run,
            }));
        }
        let place = ends[next - 1];
        let remembered = spelled(memory, &said);
        let last = aligned.end.checked_sub(1).map_or(0, |last| remembered[last].end);
        let (typed, kept) = &aligned.differ;
        let typed = tokens_of(words, typed.start + next..typed.end + next, offset);
        let kept = tokens_of(&remembered, kept.clone(), place);
        let mut context = [&context[..place], &said[..last]].concat();
        let end = self.end(memory, &context, &respelled.symbols)?;
        let run = matching.runs[place - matching.first] + last + end.len();
        context.extend(end);
        Ok(Some(Repair { context, differ: (typed, kept), differences: aligned.differences, run }))
    }

    /// Returns the symbols that were typed after the last word, as the memory has them: after that word, or after one that was left
    /// out.
    fn end(&self, memory: &Memory, context: &[u32], typed: &[u32]) -> Result<Vec<u32>, Error> {
        let Some(words) = memory.words().filter(|_| !typed.is_empty()) else {
            return Ok(Vec::new());
        };
        let said = Generator::new(memory, self, context, Sampling::default()).take(SYMBOLS);
        let said: Vec<u32> = said.collect::<Result<_, _>>()?;
        let mut spelling = Spelling::new();
        let mut best = (0, 0);
        for (i, &token) in said.iter().enumerate() {
            spelling.push(words, token);
            let Spelling { words, symbols, .. } = &spelling;
            // Symbols before the word that was left out count as typed.
            let agree = match words.len() {
                0 => symbols == typed,
                1 => typed.ends_with(symbols),
                _ => break,
            };
            if agree && symbols.len() > best.0 {
                best = (symbols.len(), i + 1);
            }
        }
        Ok(said[..best.1].to_vec())
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

/// What it is worth that a word is the same, in half words: 1 if it is as frequent as the most frequent ones, 3 if it is rare.
fn rarity(memory: &Memory, total: i64, word: &[u32]) -> i64 {
    let counts = word.iter().map(|&token| memory.unigrams()[token as usize].max(1));
    let share = counts.min().unwrap_or(1) as f64 / total.max(1) as f64;
    (-libm::log2(share) / 4.0).round().clamp(1.0, 3.0) as i64
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
