//! Repair: a prompt with a wrong, missing, doubled or swapped word is put right by what the memory has in its place.
//!
//! Where the text stops being what the memory has, the memory is asked how it goes on from the last place that it knew, and what
//! it says is laid beside the rest of the prompt, word by word. If the two agree but for a word or two, the answer goes
//! on after the place in the memory where the prompt ends. No more is stored for that: damage is paid for when asking.

use super::{Backoff, Generator, Matching, Sampling, Scratch};
use crate::sparse::{Error, Memory};
use crate::words::{MAX_WORDS, WordState};

/// A prompt that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The tokens to go on from.
    pub context: Vec<u32>,
    /// How many of the prompt's tokens they begin with.
    pub kept: usize,
    /// How many words differ.
    pub differences: usize,
}

/// Tokens that need no repair if they stand together.
const QUOTE: usize = 8;

/// Tokens that must stand together before a place for the memory to go on from it.
const KNOWN: usize = 3;

/// Places that are tried.
const PLACES: usize = 24;

/// Tokens after a place that are looked at, at most.
const REST: usize = 48;

/// A word in a sequence of tokens, or a token.
struct Unit {
    /// What it is after each of its tokens, and how many tokens of the sequence there are then.
    steps: Vec<(u64, usize)>,
}

impl Unit {
    /// What it is as a whole.
    fn whole(&self) -> (u64, usize) {
        self.steps.last().copied().unwrap_or_default()
    }
}

impl Backoff {
    /// Puts a prompt right whose end the memory does not know as it is; `None` if it does, or if nothing in it resembles the prompt.
    pub fn repair(
        &self,
        memory: &Memory,
        prompt: &[u32],
        matching: &Matching,
    ) -> Result<Option<Repair>, Error> {
        let view = memory.view(prompt)?;
        let offset = prompt.len() - view.len();
        let mut best: Option<(i64, Repair)> = None;
        let mut tried = 0;
        for place in (matching.first + 1..view.len()).rev() {
            let known = matching.runs[place - matching.first];
            let rest = &view[place..];
            if rest.len() > REST || tried == PLACES {
                break;
            }
            // Only where a word begins, and after what the memory knows.
            if known < KNOWN.min(place) || !begins_word(memory, view, place) {
                continue;
            }
            tried += 1;
            let said = self.replay(memory, &view[..place], rest.len() * 3 / 2 + 8)?;
            let (typed, remembered) = (units(memory, rest), units(memory, &said));
            let Some(Aligned { mut end, same, differences }) = align(&typed, &remembered) else {
                continue;
            };
            let score = 3 * same as i64 - 2 * differences as i64 + known.min(12) as i64;
            if best.as_ref().is_none_or(|(highest, _)| score > *highest) {
                // Symbols after the last word, if they are the same.
                let after = &rest[typed.last().map_or(0, |unit| unit.whole().1)..];
                if said[end..].starts_with(after) {
                    end += after.len();
                }
                let context = [&prompt[..offset + place], &said[..end]].concat();
                best = Some((score, Repair { context, kept: offset + place, differences }));
            }
        }
        Ok(best.map(|(_, repair)| repair))
    }

    /// Returns the most probable next token after a prompt, which is put right if the memory does not know its end.
    pub fn best_repaired(
        &self,
        memory: &Memory,
        prompt: &[u32],
        scratch: &mut Scratch,
    ) -> Result<u32, Error> {
        let best = self.best(memory, prompt, scratch)?;
        let levels = &scratch.reader.levels;
        if levels.tokens().last().is_some_and(|level| level.span >= QUOTE) {
            return Ok(best);
        }
        let matching = Matching::of(memory, prompt, scratch)?;
        match self.repair(memory, prompt, &matching)? {
            Some(repair) => self.best(memory, &repair.context, scratch),
            None => Ok(best),
        }
    }

    /// Returns what the memory says after a text.
    fn replay(&self, memory: &Memory, text: &[u32], tokens: usize) -> Result<Vec<u32>, Error> {
        Generator::new(memory, self, text, Sampling::default()).take(tokens).collect()
    }
}

/// Whether a token begins a word; every token does if the memory knows tokens alone.
fn begins_word(memory: &Memory, text: &[u32], place: usize) -> bool {
    let Some(words) = memory.words() else { return true };
    let mut state = WordState::cut();
    let before = place.saturating_sub(2);
    text[before..place].iter().for_each(|&token| state.push(words, token));
    let word = state.words_seen();
    state.push(words, text[place]);
    state.words_seen() > word
}

/// The words of some tokens, or the tokens if the memory knows tokens alone.
fn units(memory: &Memory, tokens: &[u32]) -> Vec<Unit> {
    let Some(words) = memory.words() else {
        let each = tokens.iter().enumerate();
        return each.map(|(i, &token)| Unit { steps: vec![(token.into(), i + 1)] }).collect();
    };
    let mut units: Vec<Unit> = Vec::new();
    let mut state = WordState::start();
    for (i, &token) in tokens.iter().enumerate() {
        state.push(words, token);
        // A token may hold several words.
        let new = (state.words_seen() as usize).saturating_sub(units.len());
        for back in (0..new.min(MAX_WORDS)).rev() {
            units.push(Unit { steps: vec![(state.word(back), i + 1)] });
        }
        if let Some(last) = units.last_mut().filter(|last| last.whole().0 != state.word(0)) {
            last.steps.push((state.word(0), i + 1));
        }
    }
    units
}

/// How two sequences agree.
struct Aligned {
    /// How many tokens of the second the first is laid beside.
    end: usize,
    same: usize,
    differences: usize,
}

/// Lays all of the first sequence beside the beginning of the second, with as few differences as can be: a unit that is
/// another, missing, or too many, or two that are swapped. The last unit may be only begun. `None` if they hardly agree.
fn align(typed: &[Unit], remembered: &[Unit]) -> Option<Aligned> {
    let (n, m) = (typed.len(), remembered.len());
    if n == 0 || m == 0 {
        return None;
    }
    let begun = |j: usize| {
        let (last, _) = typed[n - 1].whole();
        remembered[j].steps.iter().find(|(hash, _)| *hash == last).map(|&(_, end)| end)
    };
    let equal = |i: usize, j: usize| {
        typed[i].whole().0 == remembered[j].whole().0 || (i + 1 == n && begun(j).is_some())
    };
    // Differences, and (negative) units that are the same, so that the least is the best.
    let mut cost = vec![vec![(0usize, 0i64); m + 1]; n + 1];
    for i in 0..=n {
        for j in 0..=m {
            if i == 0 && j == 0 {
                continue;
            }
            let mut least = (usize::MAX, 0);
            let mut consider = |(differences, same): (usize, i64), more: usize, also: i64| {
                least = least.min((differences + more, same - also));
            };
            if i > 0 {
                consider(cost[i - 1][j], 1, 0);
            }
            if j > 0 {
                consider(cost[i][j - 1], 1, 0);
            }
            if i > 0 && j > 0 {
                let same = equal(i - 1, j - 1);
                consider(cost[i - 1][j - 1], usize::from(!same), i64::from(same));
            }
            if i > 1 && j > 1 && equal(i - 1, j - 2) && equal(i - 2, j - 1) {
                consider(cost[i - 2][j - 2], 1, 2);
            }
            cost[i][j] = least;
        }
    }
    // Of equals, the one that leaves as many words as were typed: the last one is another, not missing.
    let end = (1..=m).min_by_key(|&j| (cost[n][j], j.abs_diff(n)))?;
    let (differences, same) = (cost[n][end].0, usize::try_from(-cost[n][end].1).unwrap_or(0));
    // One word may differ, and one more for each four that agree.
    let fits = differences <= 1 + same / 4 && (same > 0 || n == 1);
    let tokens = begun(end - 1).unwrap_or(remembered[end - 1].whole().1);
    fits.then_some(Aligned { end: tokens, same, differences })
}
