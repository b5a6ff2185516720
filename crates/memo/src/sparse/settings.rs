//! Settings of a sparse memory: its vocabulary, its seed and its slots.
//!
//! A *slot* is a context in use: the last 1, 2, 3 … tokens before a position (the newest head of a layer of that length), or
//! the last few words in their normal form ([`crate::words`]), or the token before the last one whatever that is, or the last few units
//! of text, those that a lexicon has classes for as their classes ([`crate::lexicon`]). Settings are plain numbers: equal settings and equal texts give equal memories, bit for bit.

use super::Error;
use super::partition::TOKEN_BITS;
use super::tables::TableKind;
use crate::lexicon::Lexicon;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The largest vocabulary: a token, or the boundary symbol, fits in an entry.
pub const MAX_VOCABULARY: u32 = (1 << TOKEN_BITS) - 1;

/// Tokens before a position within which its context of words must begin.
pub(crate) const WORD_REACH: usize = 64;

/// The most slots whose keys are in one table: a slot's number there is part of a key.
pub(crate) const MOST_SLOTS: usize = 16;

/// The lengths of generalised contexts, in units.
pub(crate) const GENERAL: [u32; 4] = [1, 2, 4, 8];

/// How many of these, from the shortest on, can be listed.
pub(crate) const GENERAL_LISTED: usize = 2;

/// Slots of a level of a lexicon: one of members (a class, and the tokens that units of it began with), and generalised contexts.
pub(crate) const GENERAL_SLOTS: usize = 1 + GENERAL.len();

/// The context that a slot sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// The last so many tokens.
    Tokens(u32),
    /// The last so many words, and the symbols after them.
    Words(u32),
    /// The token before the last one, whatever the last one is.
    Skip,
    /// The last so many units of text, with the classes that a level of the lexicon has for them.
    Classes {
        /// The level.
        level: u32,
        /// The units.
        units: u32,
    },
}

impl Context {
    /// Returns its length, in tokens, words or units.
    pub(crate) fn len(self) -> usize {
        match self {
            Context::Tokens(len) | Context::Words(len) | Context::Classes { units: len, .. } => {
                len as usize
            }
            Context::Skip => 1,
        }
    }
}

/// Everything that a sparse memory depends on besides the text.
///
/// ```
/// use memo::sparse::{Context, Settings};
/// let settings = Settings::new(50_257, 50_256, 7)?;
/// assert_eq!(settings.context(2), Context::Tokens(3));
/// assert_eq!(settings.reach(), 64);
/// # Ok::<(), memo::sparse::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Tokens in the vocabulary (n), the end token included.
    pub vocabulary: u32,
    /// The token that is written after the last token of every document.
    pub end: u32,
    /// The seed of all keys.
    pub seed: u64,
    /// The lengths of the contexts of tokens, the shortest first: 1, 2 and longer ones.
    pub tokens: Vec<u32>,
    /// The lengths of the contexts of words, the shortest first; none for a memory of tokens alone.
    #[serde(default)]
    pub words: Vec<u32>,
    /// The lexicon that contexts are generalised by, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<LexiconSettings>,
    /// Whether events of one context lie together; in memories that were made by earlier versions they lie
    /// anywhere, which is read more slowly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grouped: bool,
    /// Whether the token before the last one is a context, whatever the last one is; in memories that were made by earlier
    /// versions it is not, which foretell new text less well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip: bool,
}

/// What a memory depends on of a lexicon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LexiconSettings {
    /// Its digest, in hexadecimal digits.
    pub digest: String,
    /// How many classes each of its levels has.
    pub classes: Vec<u32>,
}

impl LexiconSettings {
    /// Returns those of a lexicon.
    pub fn of(lexicon: &Lexicon) -> Self {
        LexiconSettings {
            digest: blake3::Hash::from_bytes(lexicon.digest()).to_hex().to_string(),
            classes: (0..lexicon.levels()).map(|level| lexicon.classes(level) as u32).collect(),
        }
    }
}

impl Settings {
    /// Contexts of tokens, as measured best (docs/engine.md): close together where cues are short, up to what code repeats.
    pub const TOKENS: [u32; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64];

    /// Contexts of words.
    pub const WORDS: [u32; 2] = [2, 4];

    /// Makes settings with the default contexts of tokens, and none of words.
    pub fn new(vocabulary: u32, end: u32, seed: u64) -> Result<Self, Error> {
        let (tokens, words) = (Self::TOKENS.to_vec(), Vec::new());
        let settings = Settings {
            vocabulary,
            end,
            seed,
            tokens,
            words,
            lexicon: None,
            grouped: false,
            skip: false,
        };
        let settings = settings.current();
        settings.check()?;
        Ok(settings)
    }

    /// Has the layout of memories that are made now, whatever that of an earlier version was.
    #[must_use]
    pub fn current(self) -> Self {
        Settings { grouped: true, skip: true, ..self }
    }

    /// Adds the default contexts of words.
    #[must_use]
    pub fn with_words(self) -> Self {
        Settings { words: Self::WORDS.to_vec(), ..self }
    }

    /// Adds generalised contexts, by a lexicon or by none.
    #[must_use]
    pub fn with_lexicon(self, lexicon: Option<&Lexicon>) -> Self {
        Settings { lexicon: lexicon.map(LexiconSettings::of), ..self }
    }

    /// Returns how many slots there are of tokens and words, and of the token before the last one, which is the last of them.
    pub fn slots(&self) -> usize {
        self.consecutive() + usize::from(self.skip)
    }

    /// Returns how many slots there are of the last few tokens and words.
    fn consecutive(&self) -> usize {
        self.tokens.len() + self.words.len()
    }

    /// Returns the slot of the token before the last one.
    pub(crate) fn skip_slot(&self) -> Option<usize> {
        self.skip.then(|| self.consecutive())
    }

    /// Returns whether the words of the vocabulary are needed.
    pub(crate) fn needs_words(&self) -> bool {
        !self.words.is_empty() || self.lexicon.is_some()
    }

    /// Returns how many levels the lexicon has.
    pub(crate) fn levels(&self) -> usize {
        self.lexicon.as_ref().map_or(0, |lexicon| lexicon.classes.len())
    }

    /// Returns how many slots there are, with those of the lexicon's levels, which are the last.
    pub(crate) fn all_slots(&self) -> usize {
        self.slots() + self.levels() * GENERAL_SLOTS
    }

    /// Returns the slot of a level's members.
    pub(crate) fn members(&self, level: usize) -> usize {
        self.slots() + level * GENERAL_SLOTS
    }

    /// Returns how many numbers the classes of a level have where they are what came next: two each, with a capital and without.
    pub(crate) fn expected(&self, level: usize) -> u32 {
        let classes = self.lexicon.as_ref().and_then(|lexicon| lexicon.classes.get(level));
        classes.map_or(0, |classes| classes.saturating_mul(2))
    }

    /// Returns one past the largest number that stands for what came next: a token or, from the vocabulary on, a class.
    pub(crate) fn symbols(&self) -> u32 {
        let classes = (0..self.levels()).map(|level| self.expected(level)).max();
        self.vocabulary.saturating_add(classes.unwrap_or(0))
    }

    /// Returns the bits of what came next after contexts of a slot; those of tokens and words do not depend on the lexicon.
    pub(crate) fn symbol_bits(&self, slot: usize) -> u32 {
        let symbols = if slot < self.slots() { self.vocabulary } else { self.symbols() };
        (u32::BITS - (symbols - 1).leading_zeros()).max(1)
    }

    /// Returns the context of a slot.
    pub fn context(&self, slot: usize) -> Context {
        if let Some(general) = slot.checked_sub(self.slots()) {
            let units = (general % GENERAL_SLOTS).checked_sub(1).map_or(0, |i| GENERAL[i]);
            return Context::Classes { level: (general / GENERAL_SLOTS) as u32, units };
        }
        let words = || {
            let words = self.words.get(slot - self.tokens.len());
            words.map_or(Context::Skip, |&len| Context::Words(len))
        };
        self.tokens.get(slot).map_or_else(words, |&len| Context::Tokens(len))
    }

    /// Returns the table of a slot's contexts.
    pub(crate) fn table(&self, slot: usize) -> TableKind {
        match (slot, self.listed(slot)) {
            (0, _) => TableKind::Pairs,
            (_, true) => TableKind::Successors,
            (_, false) => TableKind::Events,
        }
    }

    /// Returns the numbers of all slots in keys, of which each table has its own; `None` if there are too many slots. Those of
    /// tokens and words do not depend on the lexicon.
    pub(crate) fn numbers(&self) -> Option<Vec<usize>> {
        let mut numbers: Vec<usize> = (0..self.consecutive()).collect();
        for slot in self.consecutive()..self.all_slots() {
            let table = self.table(slot);
            let taken = |number: usize| {
                let facts = table == TableKind::Successors && number == self.fact_number();
                facts || (0..slot).any(|s| self.table(s) == table && numbers[s] == number)
            };
            numbers.push((0..MOST_SLOTS).find(|&number| !taken(number))?);
        }
        Some(numbers)
    }

    /// Returns the number of facts in the keys of the table that they are in: the last one that no slot of tokens or words has there.
    pub(crate) fn fact_number(&self) -> usize {
        let taken = |number: &usize| *number < self.consecutive() && self.listed(*number);
        (0..MOST_SLOTS).rev().find(|number| !taken(number)).unwrap_or(0)
    }

    /// Returns whether the successors of a slot's contexts can be listed: those of the shortest contexts, which are many, and of
    /// the shortest of words, and of the token before the last one.
    pub(crate) fn listed(&self, slot: usize) -> bool {
        match self.context(slot) {
            Context::Tokens(len) => len <= 3,
            Context::Words(len) => Some(&len) == self.words.first(),
            Context::Skip => true,
            Context::Classes { units, .. } => units <= GENERAL[GENERAL_LISTED - 1],
        }
    }

    /// Returns whether counts of a slot's contexts count in full: the longest of their kind, and those that are no last tokens or words.
    pub(crate) fn is_last(&self, slot: usize) -> bool {
        slot + 1 == self.tokens.len() || slot + 1 >= self.consecutive()
    }

    /// Returns the longest context of tokens.
    pub(crate) fn longest(&self) -> usize {
        self.tokens.last().map_or(1, |&len| len as usize)
    }

    /// Returns how many tokens before a position slots can see.
    pub fn reach(&self) -> usize {
        let words = if self.needs_words() { WORD_REACH } else { 0 };
        self.longest().max(words)
    }

    /// Refuses tokens outside the vocabulary.
    pub fn check_tokens(&self, tokens: &[u32]) -> Result<(), Error> {
        check_positions(self.vocabulary, tokens, &(0..tokens.len()), 0).map(|_| ())
    }

    /// Refuses settings that describe no memory.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Settings(what));
        if self.vocabulary == 0 || self.vocabulary > MAX_VOCABULARY {
            return wrong(format!("a vocabulary of {} (1 to {MAX_VOCABULARY})", self.vocabulary));
        }
        if self.end >= self.vocabulary {
            return wrong(format!("end token {} is outside the vocabulary", self.end));
        }
        if self.consecutive() > MOST_SLOTS {
            return wrong(format!("{} contexts (at most {MOST_SLOTS})", self.consecutive()));
        }
        if self.symbols() > MAX_VOCABULARY {
            return wrong(format!("{} tokens and classes", self.symbols()));
        }
        if self.numbers().is_none() {
            return wrong(format!("a lexicon of {} levels (at most 2)", self.levels()));
        }
        if self.tokens.len() < 2 || self.tokens[..2] != [1, 2] {
            return wrong("contexts of tokens begin with 1 and 2".into());
        }
        for (lens, most, what) in [(&self.tokens, 1 << 16, "tokens"), (&self.words, 4, "words")] {
            if lens.windows(2).any(|pair| pair[0] >= pair[1])
                || lens.iter().any(|&len| len == 0 || len > most)
            {
                return wrong(format!(
                    "contexts of {what} are {lens:?} (growing lengths, at most {most})"
                ));
            }
        }
        Ok(())
    }
}

/// Refuses positions that a text does not have, and tokens outside the vocabulary at those positions or among the `before`
/// tokens that precede them: only what will be read is checked. Returns the range of these tokens.
pub(crate) fn check_positions(
    vocabulary: u32,
    text: &[u32],
    &Range { start, end }: &Range<usize>,
    before: usize,
) -> Result<Range<usize>, Error> {
    let positions = text.len() + 1;
    if start > end || end > positions {
        return Err(Error::Range { start, end, positions });
    }
    let read = start.saturating_sub(before)..end.min(text.len());
    match text[read.clone()].iter().position(|&token| token >= vocabulary) {
        Some(i) => {
            let position = read.start + i;
            Err(Error::Token { token: text[position], position, vocabulary })
        }
        None => Ok(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_describe_no_memory_are_refused() {
        let good = Settings::new(1000, 999, 1).unwrap().with_words();
        good.check().unwrap();
        let wrong = |change: &dyn Fn(&mut Settings)| {
            let mut settings = good.clone();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(wrong(&|s| s.vocabulary = 0).contains("vocabulary of 0"));
        assert!(wrong(&|s| s.vocabulary = 1 << 21).contains("vocabulary"));
        assert!(wrong(&|s| s.end = 1000).contains("end token"));
        assert!(wrong(&|s| s.tokens = vec![1, 3]).contains("begin with 1 and 2"));
        assert!(wrong(&|s| s.tokens[13] = 32).contains("growing"));
        assert!(wrong(&|s| s.tokens = (1..20).collect()).contains("at most 16"));
        assert!(wrong(&|s| s.words = vec![5]).contains("words"));
    }
}
