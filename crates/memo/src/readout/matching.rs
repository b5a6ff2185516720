//! Matching: how much of a text stands in the memory as it is.

use super::{Backoff, Scratch};
use crate::sparse::{Error, Levels, Memory};

/// How many tokens of a text are looked at, the last ones.
const LOOKED_AT: usize = 192;

/// Tokens that make a quote if they stand together, however long the text is.
pub(super) const QUOTE: usize = 8;

/// How a text is known, position by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The first position that was looked at.
    pub first: usize,
    /// How many tokens before each position from there on stand together in the memory.
    pub runs: Vec<usize>,
    /// How often the longest context before the end that occurred did so.
    pub times: i64,
}

/// The longest context that occurred, of those that there is text for.
fn longest(levels: &Levels, tokens: usize) -> usize {
    levels.tokens().last().map_or(0, |level| level.span.min(tokens))
}

impl Backoff {
    /// Looks at the end of a text. A query for the token after it then costs little.
    pub fn matching(
        &self,
        memory: &Memory,
        text: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Matching, Error> {
        let text = memory.view(text)?;
        let first = text.len().saturating_sub(LOOKED_AT);
        let Scratch { reader, trust, .. } = scratch;
        trust.begin();
        let (mut runs, mut run) = (vec![0], 0);
        for p in first..text.len() {
            reader.read_tokens(memory, &text[first..p])?;
            let levels = &reader.levels;
            run = run.max(longest(levels, p - first));
            if let Some(last) = runs.last_mut() {
                *last = run;
            }
            let token = text[p];
            let knows = |list: &[(u32, i64)]| list.binary_search_by_key(&token, |e| e.0).is_ok();
            let knowing = levels.tokens().iter().rev().find(|level| knows(&level.list));
            run = match knowing {
                // A context that occurred once occurred where the run is.
                Some(level) if level.totals.total == 1 => run.max(level.span) + 1,
                Some(level) => level.span + 1,
                None if p > first && memory.followed(text[p - 1], token)? > 0 => 2,
                None => usize::from(memory.unigrams()[token as usize] > 0),
            };
            runs.push(run);
            if p + self.constants.window >= text.len() {
                trust.hear(&self.constants, memory, levels, token)?;
            }
        }
        reader.read(memory, &text[first..])?;
        trust.keep(memory, text);
        if let Some(last) = runs.last_mut() {
            *last = run.max(longest(&reader.levels, text.len() - first));
        }
        let times = reader.levels.tokens().last().map_or(0, |level| level.totals.total);
        Ok(Matching { first, runs, times })
    }
}

impl Matching {
    /// Returns whether the text is a quote: all of it stands together in the memory, or its last eight tokens do.
    pub fn is_quote(&self) -> bool {
        self.run() > 0 && self.run() >= (self.runs.len() - 1).min(QUOTE)
    }

    /// Returns whether all of the text stands together in the memory, or as much of its end as stands there once.
    pub fn is_settled(&self) -> bool {
        self.times == 1 || self.run() + 1 >= self.runs.len()
    }

    /// Returns how many of the last tokens stand together in the memory.
    pub fn run(&self) -> usize {
        self.runs.last().copied().unwrap_or(0)
    }
}
