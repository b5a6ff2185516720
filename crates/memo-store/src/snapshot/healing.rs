//! Token healing: a prompt is continued as it was typed, wherever it ends.
//!
//! A prompt that ends in a space, inside a word or inside a character ends in tokens that the text does not have there: *reads* after
//! a space is one token with it, and a word that is cut off is cut into other tokens. So the tokens of the last word are taken
//! back, and the memory chooses tokens whose bytes agree with theirs, the most probable first, until these are used up; what
//! the last one has beyond them is the first text of the completion.
//!
//! The memory must know better to be believed: it departs from the tokens as typed only for a token that a longer context knew.
//! A prompt whose tokens are those of the text, or that the memory does not know at all, is continued from its own tokens.

use super::TokenScore;
use crate::error::Error;
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::Memory;
use memo_text::Tokenizer;

/// The most tokens that are taken back: scripts without spaces have no word that begins near.
const MOST_TAKEN: usize = 8;

/// The most probable tokens that are tried for whether they agree.
const MOST_TRIED: usize = 4096;

/// The end of a prompt that is chosen again.
#[derive(Clone)]
pub(super) struct Healing {
    /// The tokens that are left of the prompt, and those chosen after them.
    context: Vec<u32>,
    /// How many of them are left of the prompt.
    left: usize,
    /// The tokens that were taken back.
    typed: Vec<u32>,
    /// Bytes of theirs that no chosen token has yet.
    rest: Vec<u8>,
    scratch: Scratch,
}

/// What is chosen for the end of a prompt.
pub(super) enum Healed {
    /// A token that agrees with it, and, if it goes beyond and probabilities are asked for, its score.
    Token(u32, Option<TokenScore>),
    /// What was typed.
    Typed,
}

impl Healing {
    /// Takes back the last word of a prompt; `None` if no token could be another.
    pub(super) fn new(tokenizer: &Tokenizer, prompt: &[u32]) -> Option<Self> {
        if !tokenizer.is_subword() {
            return None;
        }
        // Something must be left for the memory to know.
        let most = prompt.len().saturating_sub(1).min(MOST_TAKEN);
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for &token in &prompt[prompt.len() - most..] {
            let piece = tokenizer.token_bytes(token).unwrap_or_default();
            starts.push(bytes.len());
            bytes.extend_from_slice(&piece);
        }
        let start = last_word(&bytes);
        let taken = starts.iter().rposition(|&at| at <= start)?;
        let left = prompt.len() - most + taken;
        Some(Healing {
            context: prompt[..left].to_vec(),
            left,
            typed: prompt[left..].to_vec(),
            rest: bytes.split_off(starts[taken]),
            scratch: Scratch::default(),
        })
    }

    /// The tokens that the next one is chosen after.
    pub(super) fn context(&self) -> &[u32] {
        &self.context
    }

    /// The tokens that were chosen.
    pub(super) fn chosen(&self) -> &[u32] {
        &self.context[self.left..]
    }

    /// What was left of the prompt, and what was taken back of it.
    pub(super) fn prompt(&self) -> (&[u32], &[u32]) {
        (&self.context[..self.left], &self.typed)
    }

    /// Chooses the next token; with `top`, one that goes beyond what was typed has its score.
    pub(super) fn choose(
        &mut self,
        memory: &Memory,
        tokenizer: &Tokenizer,
        top: Option<usize>,
    ) -> Result<Healed, Error> {
        let distribution = BACKOFF.distribution(memory, &self.context, &mut self.scratch)?;
        let bytes = |token| tokenizer.token_bytes(token).unwrap_or_default();
        let agrees = |token: &u32| {
            let bytes = bytes(*token);
            !bytes.is_empty() && (self.rest.starts_with(&bytes) || bytes.starts_with(&self.rest))
        };
        let mut best = Some(distribution.best()?).filter(agrees);
        if best.is_none() {
            best = distribution.top(MOST_TRIED)?.into_iter().map(|(token, _)| token).find(agrees);
        }
        let Some(best) = best else { return Ok(Healed::Typed) };
        let chosen = self.chosen().len();
        let as_typed = self.typed.get(chosen).filter(|_| self.chosen() == &self.typed[..chosen]);
        if as_typed != Some(&best) {
            let known = |token| memory.known(&self.context, token);
            let typed = as_typed.map_or(Ok(0), |&token| known(token))?;
            if known(best)? <= typed {
                return Ok(Healed::Typed);
            }
        }
        let beyond = bytes(best).len() > self.rest.len();
        let score = top.filter(|_| beyond);
        let score = score.map(|top| TokenScore::new(&distribution, best, top)).transpose()?;
        Ok(Healed::Token(best, score))
    }

    /// All that is chosen, after what was left of the prompt; `None` if the end stays as it was typed.
    pub(super) fn healed(
        &self,
        memory: &Memory,
        tokenizer: &Tokenizer,
    ) -> Result<Option<Vec<u32>>, Error> {
        let mut healing = self.clone();
        loop {
            match healing.choose(memory, tokenizer, None)? {
                Healed::Typed => return Ok(None),
                Healed::Token(token, _) => {
                    if healing.accept(tokenizer, token).is_some() {
                        return Ok(Some(healing.context));
                    }
                }
            }
        }
    }

    /// Goes on by a token; `None` until all that was taken back is chosen again, then whether this token goes beyond it.
    pub(super) fn accept(&mut self, tokenizer: &Tokenizer, token: u32) -> Option<bool> {
        let len = tokenizer.token_bytes(token).map_or(0, |bytes| bytes.len());
        let beyond = len > self.rest.len();
        self.rest.drain(..len.min(self.rest.len()));
        self.context.push(token);
        self.rest.is_empty().then_some(beyond)
    }
}

/// Where the last word begins, with the space before it; if white space comes last, where that begins, or the symbols before
/// it, which some vocabularies have in one token. Before it no token depends on what follows the text.
fn last_word(bytes: &[u8]) -> usize {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Space,
        Symbol,
        Word,
        /// Goes with words and with symbols.
        Apostrophe,
    }
    let kind = |byte: u8| match byte {
        byte if byte.is_ascii_whitespace() => Kind::Space,
        b'\'' => Kind::Apostrophe,
        byte if byte.is_ascii_punctuation() => Kind::Symbol,
        _ => Kind::Word,
    };
    let together = |a: Kind, b: Kind| match (a, b) {
        (Kind::Apostrophe, other) | (other, Kind::Apostrophe) => other != Kind::Space,
        (a, b) => a == b,
    };
    let start_of_run = |end: usize| {
        let Some(&last) = bytes[..end].last() else { return 0 };
        let other = |&byte: &u8| !together(kind(byte), kind(last));
        bytes[..end].iter().rposition(other).map_or(0, |at| at + 1)
    };
    let run = start_of_run(bytes.len());
    let is_space = bytes.last().is_some_and(|&byte| kind(byte) == Kind::Space);
    let start = match bytes[..run].last() {
        Some(&byte) if is_space && kind(byte) != Kind::Word => start_of_run(run),
        _ if is_space => return run,
        _ => run,
    };
    start - usize::from(bytes[..start].ends_with(b" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_taken_back_with_its_space() {
        let left = |text: &str| text[..last_word(text.as_bytes())].to_owned();
        assert_eq!(left("The owl rea"), "The owl");
        assert_eq!(left("The owl "), "The owl");
        assert_eq!(left("The owl \n\n"), "The owl");
        assert_eq!(left("The owl.\n"), "The owl");
        assert_eq!(left("The owl ("), "The owl");
        assert_eq!(left("The owl's"), "The");
        assert_eq!(left("The owl'"), "The");
        // An apostrophe goes with the word before it, whatever stands between: more is taken back than need be.
        assert_eq!(left("The owl.'\n"), "The");
        assert_eq!(left("Nacht é"), "Nacht");
        assert_eq!(left("owl"), "");
        assert_eq!(left(""), "");
    }
}
