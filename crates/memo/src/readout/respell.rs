//! Respelling: a prompt as the memory has it, whatever its case, line ends and commas.
//!
//! Word by word, the memory is asked which of the tokens that followed spell the word that was typed. It knows contexts of
//! words whatever their case and layout, so a prompt in lower case is turned into the tokens of the text, and contexts of many
//! tokens are then known that were not.

use super::matching::QUOTE;
use crate::sparse::{Context, Error, Memory, Reader};
use crate::words::{Follower, SpelledWord, Spelling, WordState, Words};
use std::cmp::Reverse;

/// Tokens of a prompt that are respelled, the last ones.
const RESPELLED: usize = 96;

/// Words that must come first for the memory to know what follows.
const FIRST: usize = 2;

/// Contexts that are read for one word, at most, and how many of them one counts as that goes on in several ways: an indentation, which
/// goes on in one, may be long. Tokens that are tried after each, and spellings that are kept.
const MOST_READ: usize = 128;
const CHOICE: usize = 4;
const MOST_TRIED: usize = 6;
const SPELLINGS: usize = 3;

/// Tokens that may stand between two words, and tokens of a word with these, white space aside; and white space.
const MOST_BETWEEN: usize = 10;
const MOST_TOKENS: usize = 16;
const MOST_BLANK: usize = 48;

/// Words that make a quote in another layout, however long the prompt is.
pub(super) const QUOTED: usize = 6;

/// Ways to spell a prompt that are gone on with.
const WAYS: usize = 4;

/// A prompt in the memory's own tokens.
#[derive(Clone, Debug)]
pub(super) struct Respelled {
    /// Its words as they were typed, with places in the prompt.
    pub(super) words: Vec<SpelledWord>,
    /// The symbols after the last of them.
    pub(super) symbols: Vec<u32>,
    /// The prompt as the memory spells it, up to its last word.
    pub(super) context: Vec<u32>,
    /// How many tokens of that there are up to the end of each word.
    pub(super) ends: Vec<usize>,
    /// How many of the last words the memory knows, each after those before it.
    run: usize,
    /// How many of the last words stand together, of those that the memory has contexts for.
    together: usize,
}

/// A way to spell the first words of a prompt.
#[derive(Clone)]
struct Way {
    context: Vec<u32>,
    state: WordState,
    ends: Vec<usize>,
    /// How much the memory knew of each word's context, added up.
    known: usize,
    /// How many of the last words it knew.
    run: usize,
}

impl Way {
    /// Goes on by the tokens of some words.
    fn with(&self, words: &Words, tokens: &[u32], done: usize, known: usize) -> Self {
        let mut way = self.clone();
        tokens.iter().for_each(|&token| way.state.push(words, token));
        way.context.extend_from_slice(tokens);
        // What follows two words is known after them.
        let before = if way.ends.is_empty() { 0 } else { way.run.max(FIRST) };
        way.run = if known == 0 { 0 } else { before + done - way.ends.len() };
        way.ends.resize(done, way.context.len());
        way.known += known;
        way
    }
}

impl Respelled {
    /// Respells a prompt, which is a view.
    pub(super) fn new(memory: &Memory, prompt: &[u32]) -> Result<Self, Error> {
        let Some(words) = memory.words() else { return Ok(Respelled::tokens(prompt)) };
        let kept = prompt.len().saturating_sub(RESPELLED);
        let Spelling { symbols, words: mut typed, .. } = Spelling::of(words, &prompt[kept..]);
        for word in &mut typed {
            (word.first, word.end) = (word.first + kept, word.end + kept);
        }
        let mut state = WordState::start();
        prompt[..kept].iter().for_each(|&token| state.push(words, token));
        let mut ways = vec![Way {
            context: prompt[..kept].to_vec(),
            state,
            ends: Vec::new(),
            known: 0,
            run: 0,
        }];
        let mut speller = Speller { memory, words, reader: Reader::default(), left: 0 };
        for word in 0..typed.len() {
            let before = word.checked_sub(1).map_or(kept, |before| typed[before].end);
            let as_typed = &prompt[before..typed[word].end.max(before)];
            let (here, mut next): (Vec<Way>, Vec<Way>) =
                ways.into_iter().partition(|way| way.ends.len() == word);
            for way in here {
                if let Some(known) = speller.known(&way.context, as_typed)? {
                    next.push(way.with(words, as_typed, word + 1, known));
                    continue;
                }
                if word >= FIRST {
                    speller.left = MOST_READ;
                    let follower = Follower::new(&typed, word, way.state.clone());
                    let mut spellings = Vec::new();
                    speller.spell(
                        &way.context,
                        &follower,
                        word,
                        &mut Vec::new(),
                        &mut spellings,
                    )?;
                    for Spelled { tokens, done, known } in &spellings {
                        next.push(way.with(words, tokens, *done, *known));
                    }
                }
                next.push(way.with(words, as_typed, word + 1, 0));
            }
            // The best known first; a way that was found twice is kept once.
            next.sort_by_key(|way| Reverse(way.known));
            ways = Vec::new();
            for way in next {
                if ways.len() < WAYS && ways.iter().all(|kept| kept.context != way.context) {
                    ways.push(way);
                }
            }
        }
        let Way { context, ends, run, .. } = ways.swap_remove(0);
        speller.reader.read(memory, &context)?;
        let longest = speller.reader.levels.words().last();
        let together = longest.map_or(0, |level| memory.settings().context(level.slot).len());
        Ok(Respelled { words: typed, symbols, context, ends, run, together })
    }

    /// Whether all words of the prompt are known in the memory's own layout, or enough of the last ones.
    pub(super) fn is_quote(&self) -> bool {
        // The first two words are known if what follows them is, or at the end.
        let run = self.run.max(self.together);
        let needed = self.words.len().min(QUOTED);
        needed >= FIRST && run >= needed && self.together >= if needed < 4 { FIRST } else { 4 }
    }

    /// A prompt whose tokens are all that is known of it.
    fn tokens(prompt: &[u32]) -> Self {
        let words = (0..).zip(prompt).map(|(i, &token)| SpelledWord::token(token, i)).collect();
        let ends = (1..=prompt.len()).collect();
        Respelled {
            words,
            symbols: Vec::new(),
            context: prompt.to_vec(),
            ends,
            run: 0,
            together: 0,
        }
    }
}

struct Speller<'m> {
    memory: &'m Memory,
    words: &'m Words,
    reader: Reader,
    left: usize,
}

/// Tokens that spell a word.
struct Spelled {
    tokens: Vec<u32>,
    /// How many words are done with them.
    done: usize,
    /// Tokens of the longest context that knew the last of them.
    known: usize,
}

impl Speller<'_> {
    /// Whether tokens go on with a quote as they are: the shortest context that knew one of them.
    fn known(&mut self, context: &[u32], tokens: &[u32]) -> Result<Option<usize>, Error> {
        let mut text = context.to_vec();
        let mut known = usize::MAX;
        for &token in tokens {
            self.reader.read_tokens(self.memory, &text)?;
            let longest = self.reader.levels.tokens().last();
            match longest.filter(|level| level.span >= QUOTE && level.count(token) > 0) {
                Some(level) => known = known.min(level.span),
                None => return Ok(None),
            }
            text.push(token);
        }
        Ok((!tokens.is_empty()).then_some(known))
    }

    /// The tokens that followed a context and spell what comes next, with the longest context that knows each; those that the longest
    /// contexts know first.
    fn followed<'f>(
        &mut self,
        context: &[u32],
        follower: &Follower<'f>,
    ) -> Result<Vec<(u32, usize, Follower<'f>)>, Error> {
        self.reader.read(self.memory, context)?;
        let levels = &self.reader.levels;
        let mut known: Vec<(u32, usize, i64)> = Vec::new();
        for level in levels.tokens().iter().chain(levels.words()) {
            // White space does not make a context longer: it may be the memory's own.
            let len = match self.memory.settings().context(level.slot) {
                Context::Tokens(_) => {
                    let seen = &context[context.len() - level.span..];
                    seen.iter().filter(|&&token| !self.words.is_blank(token)).count()
                }
                of_words => of_words.len(),
            };
            known.extend(level.list.iter().map(|&(token, count)| (token, len, count)));
        }
        known.sort_unstable_by_key(|&(token, span, count)| (token, Reverse((span, count))));
        known.dedup_by_key(|&mut (token, ..)| token);
        let mut spelling: Vec<_> = Vec::new();
        for (token, span, count) in known {
            let mut next = follower.clone();
            if token != self.memory.settings().end && next.push(self.words, token) {
                spelling.push((token, span, count, next));
            }
        }
        // Layout has many forms, all of which would be tried before a rarer beginning of the word itself.
        spelling.sort_by_key(|(token, span, count, next)| {
            let spells = next.is_begun() || next.done() > follower.done();
            (Reverse((*span, spells, *count)), *token)
        });
        Ok(spelling.into_iter().map(|(token, span, _, next)| (token, span, next)).collect())
    }

    /// Finds tokens that spell a word after a context, and after those that were `spelled` so far.
    fn spell(
        &mut self,
        context: &[u32],
        follower: &Follower<'_>,
        word: usize,
        spelled: &mut Vec<u32>,
        found: &mut Vec<Spelled>,
    ) -> Result<(), Error> {
        let between = !follower.is_begun();
        let blank = spelled.iter().filter(|&&token| self.words.is_blank(token)).count();
        let most = if between { MOST_BETWEEN } else { MOST_TOKENS };
        if self.left == 0 || blank == MOST_BLANK || spelled.len() - blank == most {
            return Ok(());
        }
        let followed = self.followed(&[context, spelled].concat(), follower)?;
        let cost = if followed.len() > 1 { CHOICE } else { 1 };
        self.left = self.left.saturating_sub(cost);
        let mut tried = 0;
        for (token, known, next) in followed {
            spelled.push(token);
            let done = next.done();
            if done > word {
                found.push(Spelled { tokens: spelled.clone(), done, known });
            } else {
                self.spell(context, &next, word, spelled, found)?;
            }
            spelled.pop();
            tried += 1;
            if tried == MOST_TRIED || found.len() >= SPELLINGS {
                break;
            }
        }
        Ok(())
    }
}
