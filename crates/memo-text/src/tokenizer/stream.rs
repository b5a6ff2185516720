//! Incremental decoding: text that appears token by token and is never cut inside a character.
//!
//! A token of a byte-level vocabulary may end inside a character (many emoji take several tokens),
//! and whether a space precedes a word can depend on the token before it. So a stream keeps state:
//! the last token, and the bytes of a character that is not complete yet.

use super::words::Words;
use super::{Kind, Tokenizer};

/// Ids that a Hugging Face decoder may see before the newest one, so that work per token is bounded.
const WINDOW: usize = 8;

/// Decodes tokens one at a time.
///
/// What [`push`](Self::push) and [`finish`](Self::finish) give, one after the other, is what
/// [`Tokenizer::decode_lossy`] gives for all the tokens together.
///
/// ```
/// use memo_text::{StreamDecoder, Tokenizer};
///
/// let tokenizer = Tokenizer::bytes();
/// let mut stream = StreamDecoder::new(&tokenizer);
/// assert_eq!(stream.push(0xc3), ""); // half of a character
/// assert_eq!(stream.push(0xa9), "é");
/// assert_eq!(stream.push(0xc3), "");
/// assert_eq!(stream.finish(), "\u{fffd}"); // the other half never came
/// ```
#[derive(Debug, Clone)]
pub struct StreamDecoder {
    tokenizer: Tokenizer,
    /// Bytes of a character that is not complete yet: at most three.
    held: Vec<u8>,
    /// The last token, where the next one's spacing depends on it.
    last: Option<u32>,
    /// Tokens whose text the next ones are decoded with, and how many of them are already out.
    window: Vec<u32>,
    shown: usize,
}

impl StreamDecoder {
    /// A stream at the start of a text.
    pub fn new(tokenizer: &Tokenizer) -> Self {
        Self {
            tokenizer: tokenizer.clone(),
            held: Vec::new(),
            last: None,
            window: Vec::new(),
            shown: 0,
        }
    }

    /// A stream that goes on after `prompt`, whose own text is not given again.
    ///
    /// ```
    /// use memo_text::{StreamDecoder, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::words(["one two three"])?;
    /// let prompt = tokenizer.encode("one two")?;
    /// let three = tokenizer.encode("three")?[0];
    /// assert_eq!(StreamDecoder::after(&tokenizer, &prompt).push(three), " three");
    /// # Ok::<(), memo_text::TokenizerError>(())
    /// ```
    pub fn after(tokenizer: &Tokenizer, prompt: &[u32]) -> Self {
        let mut stream = Self::new(tokenizer);
        for &id in &prompt[prompt.len().saturating_sub(WINDOW)..] {
            stream.push(id);
        }
        stream
    }

    /// Takes the next token and gives the text that it completes.
    pub fn push(&mut self, id: u32) -> String {
        match &self.tokenizer.kind {
            Kind::Words(words) => {
                let Some(text) = words.text(id) else { return String::new() };
                let space = if Words::spaced(self.last, id) { " " } else { "" };
                self.last = Some(id);
                format!("{space}{text}")
            }
            Kind::HuggingFace(file) if !file.is_byte_level() => self.push_window(id),
            _ => {
                if let Some(bytes) = self.tokenizer.token_bytes(id) {
                    self.held.extend_from_slice(&bytes);
                }
                take_complete(&mut self.held)
            }
        }
    }

    /// Whether all tokens so far have given their text: none waits for the rest of a character.
    pub fn is_whole(&self) -> bool {
        self.held.is_empty() && self.shown == self.window.len()
    }

    /// Ends the stream and returns the rest, with U+FFFD in place of an incomplete character.
    pub fn finish(mut self) -> String {
        let rest = self.rest_of_window(true);
        rest + &String::from_utf8_lossy(&self.held)
    }

    fn push_window(&mut self, id: u32) -> String {
        self.window.push(id);
        let text = self.rest_of_window(false);
        if self.shown == self.window.len() && self.window.len() > WINDOW {
            // Half of the window is context enough, and dropping it rarely keeps this cheap.
            self.window.drain(..WINDOW / 2);
            self.shown = self.window.len();
        }
        text
    }

    /// The text that the tokens not shown yet add to that of the others. It is empty if it ends in a possibly
    /// incomplete character, unless `all` is set or enough tokens have been waited for.
    fn rest_of_window(&mut self, all: bool) -> String {
        let Kind::HuggingFace(file) = &self.tokenizer.kind else { return String::new() };
        let before = file.decode_string(&self.window[..self.shown]);
        let text = file.decode_string(&self.window);
        let waiting = self.window.len() - self.shown;
        if !all && waiting < WINDOW && text.ends_with(char::REPLACEMENT_CHARACTER) {
            return String::new();
        }
        self.shown = self.window.len();
        text.strip_prefix(&before).unwrap_or_default().to_owned()
    }
}

/// Takes from `held` all that is final: complete characters, and U+FFFD for bytes that no
/// further byte can complete.
fn take_complete(held: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut done = 0;
    for chunk in held.utf8_chunks() {
        text.push_str(chunk.valid());
        done += chunk.valid().len();
        let bad = chunk.invalid();
        // Only at the end can more bytes still mend it.
        let mendable = std::str::from_utf8(bad).is_err_and(|e| e.error_len().is_none());
        if done + bad.len() == held.len() && mendable {
            break;
        }
        if !bad.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            done += bad.len();
        }
    }
    held.drain(..done);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_of_bytes_is_the_whole(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select("é€😀a".as_bytes().to_vec())], 0..40)) {
            let tokenizer = Tokenizer::bytes();
            let mut stream = StreamDecoder::new(&tokenizer);
            let mut text = String::new();
            for &b in &bytes {
                text += &stream.push(u32::from(b));
                prop_assert!(stream.held.len() <= 3);
            }
            text += &stream.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
