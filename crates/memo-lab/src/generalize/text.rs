//! A text whose last fifth is held out, and memories of parts of the rest.

use crate::Error;
use memo::lexicon::Lexicon;
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use memo_text::{Tokenizer, TokenizerSpec};
use std::sync::Arc;

/// The smallest amount of text that is memorized, in tokens.
const LEAST: usize = 10_000;
const QUICK_LEAST: usize = 2_000;

pub(super) struct Text {
    pub(super) name: String,
    pub(super) tokenizer: Tokenizer,
    words: Words,
    /// What can be memorized, and what never is.
    pub(super) tokens: Vec<u32>,
    pub(super) held_out: Vec<u32>,
    /// How many of the first tokens are memorized: each about twice as many as before, and all in the end.
    pub(super) amounts: Vec<usize>,
    /// The number of the first amount that has a token, for each token of the vocabulary.
    known: Vec<Option<usize>>,
}

impl Text {
    pub(super) fn new(
        name: String,
        content: &str,
        spec: &TokenizerSpec,
        scored: usize,
        quick: bool,
    ) -> Result<Self, Error> {
        let (first, rest) = cut(content);
        let tokenizer = Tokenizer::for_texts(spec, [first])?;
        let tokens = tokenizer.encode(first)?;
        let mut held_out = tokenizer.encode(rest)?;
        held_out.truncate(scored);
        let amounts = amounts(tokens.len(), if quick { QUICK_LEAST } else { LEAST });
        let mut known = vec![None; tokenizer.vocab_size()];
        for (amount, &end) in amounts.iter().enumerate() {
            for &token in &tokens[..end] {
                known[token as usize].get_or_insert(amount);
            }
        }
        let words = Words::new(tokenizer.pieces());
        Ok(Text { name, tokenizer, words, tokens, held_out, amounts, known })
    }

    /// The number of the first amount that has a token.
    pub(super) fn known(&self, token: u32) -> Option<usize> {
        self.known.get(token as usize).copied().flatten()
    }

    /// A memory of tokens as one document, as models are: with contexts of words unless these are left out.
    pub(super) fn memory(
        &self,
        tokens: &[u32],
        lexicon: Option<Arc<Lexicon>>,
        words: bool,
        seed: u64,
    ) -> Result<Memory, Error> {
        let settings =
            Settings::new(self.tokenizer.vocab_size() as u32, self.tokenizer.eos(), seed)?;
        let settings = if words { settings.with_words() } else { settings };
        let settings = settings.with_lexicon(lexicon.as_deref());
        let with = words || lexicon.is_some();
        let stream = match lexicon {
            Some(lexicon) => self.words.clone().with_lexicon(lexicon),
            None => self.words.clone(),
        };
        let mut memory = Memory::with_words(settings, with.then(|| Arc::new(stream)))?;
        memory.memorize(tokens)?;
        Ok(memory)
    }
}

/// Cuts a text at the end of the line in which the first four fifths of its characters end.
fn cut(text: &str) -> (&str, &str) {
    let characters = text.chars().count() * 4 / 5;
    let place = text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place);
    let end = text[place..].find('\n').map_or(place, |end| place + end + 1);
    // A text of one line is cut at a character.
    text.split_at(if end < text.len() { end } else { place })
}

fn amounts(all: usize, least: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(least), |amount| Some(amount * 2));
    // The last step is a fifth at least, or it would say little.
    doubled.take_while(|amount| amount * 6 / 5 < all).chain([all]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_after_four_fifths_and_memorized_by_doubling() {
        assert_eq!(cut("0123\n567\n"), ("0123\n56", "7\n"));
        assert_eq!(cut("0\n2\n4\n6\n8\nab\n"), ("0\n2\n4\n6\n8\n", "ab\n"));
        assert_eq!(cut("ééééé"), ("éééé", "é"));
        assert_eq!(amounts(45, 10), [10, 20, 45]);
        assert_eq!(amounts(50, 10), [10, 20, 40, 50]);
        assert_eq!(amounts(9, 10), [9]);
    }
}
