//! Repair: a prompt that the memory nearly has is put right by what it has in its place.
//!
//! The prompt is respelled first (`respell`): case, line ends and commas are then those of the text, and if all of it is known in
//! that form there is nothing else to do. Otherwise a word may be another, missing, doubled, or exchanged with its neighbour.
//! From places that the memory knows, it is asked how each of its successors goes on, and what it says is laid beside the
//! rest of the prompt (`align`). Words that are the same speak for it, those that differ against it; if enough speaks
//! for it, the answer goes on after the place in the memory where the prompt ends. No more is stored for that: damage is
//! paid for when asking.

use super::align::{Aligned, align};
use super::matching::QUOTE;
use super::respell::{QUOTED, Respelled};
use super::{Backoff, Generation, Generator, Matching, Sampling, Scratch};
use crate::sparse::{Error, Memory, Reader};
use crate::words::{SpelledWord, Spelling, WordState};
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
    /// The tokens of the last word of `context`, and how many letters of it were typed, if that are not all and no token ends there.
    pub begun: Option<(Range<usize>, usize)>,
}

/// Successors that are tried after a place, and tokens that are replayed in all.
const SUCCESSORS: usize = 8;
const REPLAYED: usize = 1_500;

/// Words that are replayed beyond those that were typed, and tokens of a replay at most, white space included.
const MORE: usize = 4;
const LONGEST: usize = 160;

/// Tokens of a replay without one that was typed near, white space aside, after which it is about something else.
const ASTRAY: usize = 12;

/// The last tokens of a prompt of which one may be another.
const REPLACED: usize = 9;

/// The last words of a prompt that count.
const REST: usize = 16;

/// Half words of evidence that a prompt needs to be put right.
const ENOUGH: i64 = 6;

/// Tokens of text that tell how frequent the words of a language are.
const LANGUAGE: f64 = 20_000.0;

/// Tokens within which symbols at the end of a prompt are looked for, white space included: it may be an indentation.
const SYMBOLS: usize = 64;

/// A place in a prompt that the memory can go on from.
struct Place {
    /// The first word after it.
    next: usize,
    /// What followed what stands before it.
    first: Vec<u32>,
    /// How many words are known before it, half words of evidence in them, and the most that there can be in all.
    known: usize,
    before: i64,
    most: i64,
}

/// What the memory says from a place on, laid beside the rest of a prompt.
#[derive(Default)]
struct Candidate {
    evidence: i64,
    /// The first word after the place.
    next: usize,
    /// How many words stand together there, if none differs.
    together: usize,
    said: Vec<u32>,
    aligned: Aligned,
}

impl Backoff {
    /// Puts a prompt right that the memory does not know as it is, by its matching; `None` if nothing in the memory resembles it
    /// more.
    pub fn repair(
        &self,
        memory: &Memory,
        prompt: &[u32],
        matching: &Matching,
        scratch: &mut Scratch,
    ) -> Result<Option<Repair>, Error> {
        let view = memory.view(prompt)?;
        let offset = prompt.len() - view.len();
        if let Some(repair) = Self::replace_token(memory, view, offset, matching, scratch)? {
            return Ok(Some(repair));
        }
        let respelled = Respelled::new(memory, view)?;
        let Respelled { words, context, ends, .. } = &respelled;
        let whole = matching;
        let matching = self.matching(memory, context, scratch)?;
        let best = self.best_candidate(memory, &respelled, [whole, &matching], view, scratch)?;
        let Candidate { next, together, said, aligned, .. } = best;
        let known = |place: usize| matching.runs[place - matching.first];
        let place = next.checked_sub(1).map_or(matching.first, |before| ends[before]);
        let remembered = spelled(memory, &said);
        let (last, begun) = match aligned.end.checked_sub(1).map(|last| &remembered[last]) {
            Some(last) => {
                let (end, letters) = cut(memory, &said, last, &words[words.len() - 1]);
                (end, letters.map(|letters| (place + last.first..place + end, letters)))
            }
            None => (0, None),
        };
        // All words may stand together elsewhere than where the memory's own spelling of the prompt has led.
        let elsewhere = together >= words.len().min(QUOTED) && known(place) + last > matching.run();
        if aligned.differences == 0 && !elsewhere {
            // Nothing but case and layout may differ.
            let end = self.end(memory, context, &respelled.symbols)?;
            let context = [context, &end[..]].concat();
            let run = matching.run() + end.len();
            let quote = matching.is_quote();
            let whole = if context == view {
                !quote && respelled.is_quote()
            } else {
                quote || respelled.is_quote()
            };
            let differ = (0..0, 0..0);
            return Ok(whole.then_some(Repair {
                context,
                differ,
                differences: 0,
                run,
                begun: None,
            }));
        }
        let (typed, kept) = &aligned.differ;
        let typed = tokens_of(words, typed.start + next..typed.end + next, offset);
        let kept = tokens_of(&remembered, kept.clone(), place);
        let mut context = [&context[..place], &said[..last]].concat();
        let end = self.end(memory, &context, &respelled.symbols)?;
        let run = known(place) + last + end.len();
        context.extend(end);
        // A last word that has only begun is not all there.
        let kept = kept.start.min(context.len())..kept.end.min(context.len());
        let (differ, differences) = ((typed, kept), aligned.differences);
        Ok(Some(Repair { context, differ, differences, run, begun }))
    }

    /// Puts a prompt right in which a single token is another, if what follows it then follows in the memory too.
    fn replace_token(
        memory: &Memory,
        view: &[u32],
        offset: usize,
        matching: &Matching,
        scratch: &mut Scratch,
    ) -> Result<Option<Repair>, Error> {
        let known = |place: usize| matching.runs[place - matching.first];
        let places = (matching.first..view.len()).rev().take(REPLACED);
        let Some(place) = places.into_iter().find(|&place| known(place) >= QUOTE) else {
            return Ok(None);
        };
        // A few tokens that stand elsewhere too are no reason to overlook what comes before them.
        if known(place) < (place - matching.first).min(2 * QUOTE) {
            return Ok(None);
        }
        let (before, rest) = (&view[..place], &view[place + 1..]);
        // Nothing follows that could tell.
        if rest.is_empty() {
            return Ok(None);
        }
        scratch.trust.clear();
        let tokens = successors(memory, before, rest, &mut scratch.reader)?;
        for token in tokens {
            let mut context = [before, &[token]].concat();
            for &next in rest {
                scratch.reader.read_tokens(memory, &context)?;
                let longest = scratch.reader.levels.tokens().last();
                if !longest.is_some_and(|level| level.span >= QUOTE && level.count(next) > 0) {
                    break;
                }
                context.push(next);
            }
            if context.len() == view.len() && token != view[place] {
                let (typed, run) =
                    (place + offset..place + offset + 1, known(place) + 1 + rest.len());
                let differ = (typed, place..place + 1);
                return Ok(Some(Repair { context, differ, differences: 1, run, begun: None }));
            }
        }
        Ok(None)
    }

    /// Returns what the memory says that most speaks for being the prompt, by the matching of that and of what it was respelled to.
    fn best_candidate(
        &self,
        memory: &Memory,
        respelled: &Respelled,
        [whole, matching]: [&Matching; 2],
        view: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Candidate, Error> {
        let Respelled { words, context, ends, .. } = respelled;
        // In floats, because a hostile file may have counts whose sum no integer holds.
        let total = memory.unigrams().iter().map(|&count| count.max(0) as f64).sum();
        let rare = |word: &SpelledWord| rarity(memory, total, &view[word.first..word.end]);
        let rare: Vec<i64> = words.iter().map(rare).collect();
        let counted = words.len().saturating_sub(REST);
        let mut reader = Reader::default();
        let mut places = Vec::new();
        for next in (counted.max(1)..words.len()).rev() {
            let place = ends[next - 1];
            if place < matching.first {
                break;
            }
            let (before, rest) = context.split_at(place);
            let near = solid(memory, rest, NEXT);
            let first = successors(memory, before, &near, &mut reader)?;
            // Words that are known together before the place: by their tokens, or in any layout.
            let known = matching.runs[place - matching.first];
            let start = |word: usize| word.checked_sub(1).map_or(0, |before| ends[before]);
            let by_tokens = (0..next).filter(|&word| start(word) + known >= place).count();
            let in_words = reader.levels.words().last();
            let in_words = in_words.map_or(0, |level| memory.settings().context(level.slot).len());
            let known = by_tokens.max(in_words.min(next));
            if known > 0 {
                let before = rare[next.saturating_sub(known).max(counted)..next].iter().sum();
                let most = before + rare[next..].iter().sum::<i64>();
                places.push(Place { next, first, known, before, most });
            }
        }
        // What can be worth most first, and of equals what is nearest to the end.
        places.sort_by_key(|place| std::cmp::Reverse(place.most));
        // A quote at the end is worth something too, and only what is worth more is better.
        let quoted = view.len() - if whole.is_quote() { whole.run() } else { 0 };
        let in_quote = words.iter().zip(&rare).filter(|(word, _)| word.first >= quoted);
        let quoted: i64 = in_quote.map(|(_, rare)| rare).sum();
        let mut best = Candidate { evidence: quoted.max(ENOUGH - 1), ..Candidate::default() };
        let mut left = REPLAYED;
        for Place { next, first, known, before: worth, most } in places {
            let (before, rest) = context.split_at(ends[next - 1]);
            let rest = solid(memory, rest, rest.len());
            let typed = Typed { rest: &rest, words: words.len() - next };
            for first in first {
                if most <= best.evidence || left == 0 {
                    return Ok(best);
                }
                let replays = self.replay(memory, before, first, typed, scratch)?;
                for said in replays {
                    left = left.saturating_sub(said.len());
                    let aligned = align(&words[next..], &rare[next..], &spelled(memory, &said));
                    let evidence = worth + aligned.worth;
                    // One word may differ, and one more for each six that there are.
                    if aligned.differences > 1 + (words.len() - counted) / 6 {
                        continue;
                    }
                    if (evidence, best.aligned.differences) > (best.evidence, aligned.differences) {
                        let together = known + words.len() - next;
                        best = Candidate { evidence, next, together, said, aligned };
                    }
                }
            }
        }
        Ok(best)
    }

    /// Returns the symbols that were typed after the last word, as the memory has them: after that word, or after one that was left
    /// out.
    fn end(&self, memory: &Memory, context: &[u32], typed: &[u32]) -> Result<Vec<u32>, Error> {
        let Some(words) = memory.words().filter(|_| !typed.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut said = Vec::new();
        let mut spelling = Spelling::new();
        let mut best = (0, 0);
        for token in Generator::new(memory, self, context, Sampling::default()).take(SYMBOLS) {
            let token = token?;
            said.push(token);
            spelling.push(words, token);
            let Spelling { words, symbols, .. } = &spelling;
            if words.len() > 1 {
                break;
            }
            // The last of them agree, and no fewer than half: one may be missing, twice, or that of a word that was left out.
            let both = symbols.iter().rev().zip(typed.iter().rev());
            let agree = both.take_while(|(a, b)| a == b).count();
            if agree > best.0 && 2 * agree >= typed.len() {
                best = (agree, said.len());
            }
        }
        said.truncate(best.1);
        Ok(said)
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
        let matching = self.matching(memory, prompt, scratch)?;
        // After a long quote the last token may be another, whatever it is; to words, it may be none.
        if let ([before @ .., _], [.., known, _]) = (prompt, matching.runs.as_slice())
            && *known >= 2 * QUOTE
        {
            let last = self.best_ahead(memory, before, scratch)?;
            return self.best_ahead(memory, &[before, &[last]].concat(), scratch);
        }
        match self.repair(memory, prompt, &matching, scratch)? {
            Some(repair) => self.best_ahead(memory, &repair.context, scratch),
            None => Ok(best),
        }
    }

    /// Returns what the memory says after a text and a token, as a quote of it: as it goes on after the longest match, and, if
    /// something else that was typed followed there too, with that.
    fn replay(
        &self,
        memory: &Memory,
        text: &[u32],
        first: u32,
        typed: Typed<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let text = [&text[text.len().saturating_sub(self.window(memory))..], &[first]].concat();
        let mut all = Vec::new();
        for guided in [false, true] {
            let quote = Generation::new(&text, Sampling::default()).quoting();
            let mut generation = quote.with_scratch(std::mem::take(scratch));
            let mut place = TypedPlace::new(typed.rest);
            let (mut said, mut other) = (vec![first], false);
            place.hear(memory, first);
            while said.len() < LONGEST && place.words < typed.words + MORE && place.unheard < ASTRAY
            {
                let mut choice = generation.choose(memory, self)?;
                if let Some(token) = place.also(generation.followed(), choice.token) {
                    other = true;
                    if guided {
                        choice.token = token;
                    }
                }
                generation.accept(choice);
                if generation.ends(memory, choice.token) {
                    break;
                }
                place.hear(memory, choice.token);
                said.push(choice.token);
            }
            *scratch = generation.into_scratch();
            all.push(said);
            if !other {
                break;
            }
        }
        Ok(all)
    }
}

/// The first tokens of a text, white space aside: whose layout it is nobody knows.
fn solid(memory: &Memory, text: &[u32], count: usize) -> Vec<u32> {
    let blank = |token: u32| memory.words().is_some_and(|words| words.is_blank(token));
    text.iter().copied().filter(|&token| !blank(token)).take(count).collect()
}

/// The rest of a prompt, beside which a replay is laid: its tokens, white space aside, and how many words they are.
#[derive(Clone, Copy)]
struct Typed<'t> {
    rest: &'t [u32],
    words: usize,
}

/// A place in the rest of a prompt, up to which a replay has come.
struct TypedPlace<'t> {
    rest: &'t [u32],
    /// The words of the replay so far.
    state: WordState,
    words: usize,
    /// Its tokens since the last one that was typed there, white space aside.
    unheard: usize,
}

/// Tokens that were typed and that a replay may skip, and those of them that may come next in it.
const SKIPPED: usize = 8;
const NEXT: usize = 6;

impl<'t> TypedPlace<'t> {
    fn new(rest: &'t [u32]) -> Self {
        TypedPlace { rest, state: WordState::start(), words: 0, unheard: 0 }
    }

    /// Goes on by a token of the replay, in the rest too if it was typed near.
    fn hear(&mut self, memory: &Memory, token: u32) {
        let blank = memory.words().is_some_and(|words| words.is_blank(token));
        match memory.words() {
            Some(words) => {
                self.state.push(words, token);
                self.words = self.state.words_seen() as usize;
            }
            None => self.words += 1,
        }
        if blank {
            return;
        }
        if let Some(at) = self.rest.iter().take(SKIPPED).position(|&typed| typed == token) {
            (self.rest, self.unheard) = (&self.rest[at + 1..], 0);
        } else {
            self.unheard += 1;
        }
    }

    /// A token that was typed next, and that followed what was said as well as the one that was chosen.
    fn also(&self, followed: &[(u32, i64)], chosen: u32) -> Option<u32> {
        let typed = self.rest.iter().take(NEXT).copied();
        let also =
            |&token: &u32| followed.binary_search_by_key(&token, |&(token, _)| token).is_ok();
        typed.into_iter().take_while(|&token| token != chosen).find(also)
    }
}

/// Returns how many tokens of what the memory said to keep: up to the end of a word, or, if only its beginning was typed and a token
/// ends there, up to that. If none does, also how many letters were typed of it.
fn cut(
    memory: &Memory,
    said: &[u32],
    remembered: &SpelledWord,
    typed: &SpelledWord,
) -> (usize, Option<usize>) {
    let len = typed.letters.len();
    if len >= remembered.letters.len() || typed.resembles(remembered) || !typed.begins(remembered) {
        return (remembered.end, None);
    }
    for end in remembered.first + 1..remembered.end {
        let begun = spelled(memory, &said[remembered.first..end]);
        if begun.last().is_some_and(|word| word.letters.len() == len) {
            return (end, None);
        }
    }
    (remembered.end, Some(len))
}

/// The tokens that followed the longest contexts of a text: those that were typed near first, then the most frequent ones.
fn successors(
    memory: &Memory,
    text: &[u32],
    near: &[u32],
    reader: &mut Reader,
) -> Result<Vec<u32>, Error> {
    reader.read(memory, text)?;
    let levels = &reader.levels;
    let end = memory.settings().end;
    let longest = levels.tokens().last().into_iter().chain(levels.further_words().last());
    let mut known: Vec<(bool, i64, u32)> = Vec::new();
    let rank = |token: u32, count: i64| (!near.contains(&token), -count, token);
    for &(token, count) in longest.flat_map(|level| &level.list) {
        if token != end && known.iter().all(|&(.., seen)| seen != token) {
            known.push(rank(token, count));
        }
    }
    if let (true, Some(&last)) = (known.is_empty(), text.last()) {
        memory.each_successor(last, |token, count| {
            if token != end && count > 0 {
                known.push(rank(token, count));
            }
        })?;
    }
    known.sort_unstable();
    known.truncate(SUCCESSORS);
    Ok(known.into_iter().map(|(.., token)| token).collect())
}

/// What it is worth that a word is the same, in half words: 1 if it is as frequent as the most frequent ones, 3 if it is rare.
fn rarity(memory: &Memory, total: f64, word: &[u32]) -> i64 {
    let counts = word.iter().map(|&token| memory.unigrams()[token as usize].max(1));
    // A small memory says little of how rare a word is.
    let share = counts.min().unwrap_or(1) as f64 / total.max(LANGUAGE);
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
