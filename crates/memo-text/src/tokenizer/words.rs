//! `words`: one token a word, the vocabulary fixed once, from a given text.
//!
//! This is the tokenizer of the language-modelling tables: text that was already cut into words by
//! spaces (as `WikiText` is) and a closed vocabulary. White space separates words; a line feed is a
//! token of its own. A word outside the vocabulary becomes the out-of-vocabulary token, which is an
//! id and not a spelling: corpora that already contain the word `<unk>` keep it as a word like any
//! other, apart from what *this* vocabulary does not know.
//!
//! Ids follow first appearance in the given text and never what is memorized later, so the same
//! text gives the same ids everywhere and forgetting leaves no trace in them.
//!
//! Decoding writes single spaces between words and none around line feeds. So text comes back
//! exactly if it is in that form and all its words are known; runs of spaces, tabs, carriage
//! returns and spaces at the ends of lines come back as that form, and an unknown word as U+FFFD.

use super::error::TokenizerError;
use super::{MAX_VOCABULARY, Token};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A word that the vocabulary lacks.
pub(super) const UNKNOWN: u32 = 0;
/// A line feed.
const LINE_END: u32 = 1;
/// The end of a document. Not 0: some clients take a special id of 0 for "there is none".
const EOS: u32 = 2;
/// The first word.
const FIRST: u32 = 3;

/// The name of the end of a document. No word of a text is encoded as it.
pub(super) const EOS_TEXT: &str = "<eos>";
/// The text of an unknown word when it is decoded.
const UNKNOWN_TEXT: &str = "\u{fffd}";

/// The value of `format` in a words file, which distinguishes it from a Hugging Face file.
pub(super) const FORMAT: &str = "memo-words";
const VERSION: u32 = 1;

/// A closed vocabulary of words.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<Arc<str>>,
    // The standard hasher, which resists chosen keys, because the text is unknown.
    ids: HashMap<Arc<str>, u32>,
}

/// The file: the words in the order of their ids, which is therefore not written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<S> {
    format: String,
    version: u32,
    words: Vec<S>,
}

impl Words {
    pub(super) fn from_texts<S: AsRef<str>>(
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Self, TokenizerError> {
        let mut vocabulary = Self { words: Vec::new(), ids: HashMap::new() };
        for text in texts {
            for word in text.as_ref().split_whitespace() {
                if !vocabulary.ids.contains_key(word) {
                    vocabulary.add(word)?;
                }
            }
        }
        Ok(vocabulary)
    }

    fn add(&mut self, word: &str) -> Result<(), TokenizerError> {
        let id = FIRST as usize + self.words.len();
        if id >= MAX_VOCABULARY {
            return Err(TokenizerError::TooManyTokens { size: id as u64 + 1 });
        }
        let word: Arc<str> = word.into();
        self.words.push(Arc::clone(&word));
        self.ids.insert(word, id as u32);
        Ok(())
    }

    pub(super) fn from_json(json: &[u8]) -> Result<Self, TokenizerError> {
        let file: File<String> = serde_json::from_slice(json)
            .map_err(|e| TokenizerError::NotAWordsFile { reason: e.to_string() })?;
        if file.format != FORMAT {
            let reason = format!("its format is {:?}, not {FORMAT:?}", file.format);
            return Err(TokenizerError::NotAWordsFile { reason });
        }
        if file.version != VERSION {
            return Err(TokenizerError::WordsVersion { found: file.version, known: VERSION });
        }
        let mut vocabulary = Self { words: Vec::new(), ids: HashMap::new() };
        for (index, word) in file.words.into_iter().enumerate() {
            if word.is_empty() || word.contains(char::is_whitespace) {
                return Err(TokenizerError::NotAWord { index, word });
            }
            if vocabulary.ids.contains_key(word.as_str()) {
                return Err(TokenizerError::WordTwice { index, word });
            }
            vocabulary.add(&word)?;
        }
        Ok(vocabulary)
    }

    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        let words: Vec<&str> = self.words.iter().map(|w| &**w).collect();
        serde_json::to_string(&File { format: FORMAT.to_owned(), version: VERSION, words })
    }

    pub(super) fn vocab_size(&self) -> usize {
        FIRST as usize + self.words.len()
    }

    pub(super) fn eos() -> u32 {
        EOS
    }

    pub(super) fn encode_with_offsets(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            for word in line.split_whitespace() {
                // `word` is a slice of `text`, so its place is the distance between the two.
                let at = word.as_ptr() as usize - text.as_ptr() as usize;
                let id = self.ids.get(word).copied().unwrap_or(UNKNOWN);
                tokens.push(Token { id, start: at, end: at + word.len() });
            }
            start += line.len();
            if line.ends_with('\n') {
                tokens.push(Token { id: LINE_END, start: start - 1, end: start });
            }
        }
        tokens
    }

    /// A token's own characters, without the space that may stand before it.
    pub(super) fn text(&self, id: u32) -> Option<&str> {
        match id {
            UNKNOWN => Some(UNKNOWN_TEXT),
            LINE_END => Some("\n"),
            EOS => Some(""),
            _ => self.words.get((id - FIRST) as usize).map(|w| &**w),
        }
    }

    /// Whether decoding puts a space between these two neighbours.
    pub(super) fn spaced(left: Option<u32>, right: u32) -> bool {
        left.is_some_and(Self::is_word) && Self::is_word(right)
    }

    /// Whether a token is a word, known or not.
    pub(super) fn is_word(id: u32) -> bool {
        id == UNKNOWN || id >= FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(words: &Words, text: &str) -> Vec<u32> {
        words.encode_with_offsets(text).iter().map(|t| t.id).collect()
    }

    #[test]
    fn the_word_unk_is_not_the_unknown_word() {
        let words = Words::from_texts(["a <unk> b"]).unwrap();
        assert_eq!(ids(&words, "<unk> c"), [FIRST + 1, UNKNOWN]);
    }

    #[test]
    fn no_word_is_the_end_of_a_document() {
        let words = Words::from_texts([EOS_TEXT, UNKNOWN_TEXT]).unwrap();
        assert_eq!(ids(&words, "<eos> \u{fffd} \n"), [FIRST, FIRST + 1, LINE_END]);
    }

    #[test]
    fn a_bad_file_is_refused_by_what_is_wrong_with_it() {
        let parse = |json: &str| Words::from_json(json.as_bytes()).unwrap_err();
        let file =
            |words: &str| format!(r#"{{"format":"memo-words","version":1,"words":{words}}}"#);
        assert!(matches!(parse("{"), TokenizerError::NotAWordsFile { .. }));
        assert!(matches!(parse(&file("3")), TokenizerError::NotAWordsFile { .. }));
        assert!(matches!(parse(&file(r#"["a",1]"#)), TokenizerError::NotAWordsFile { .. }));
        assert!(matches!(
            parse(r#"{"format":"other","version":1,"words":[]}"#),
            TokenizerError::NotAWordsFile { .. }
        ));
        assert!(matches!(
            parse(r#"{"format":"memo-words","version":9,"words":[]}"#),
            TokenizerError::WordsVersion { found: 9, known: 1 }
        ));
        assert!(matches!(
            parse(&file(r#"["a","b","a"]"#)),
            TokenizerError::WordTwice { index: 2, .. }
        ));
        for bad in [r#"["a",""]"#, r#"["a","b c"]"#, r#"["a","\n"]"#] {
            assert!(
                matches!(parse(&file(bad)), TokenizerError::NotAWord { index: 1, .. }),
                "{bad}"
            );
        }
    }

    proptest! {
        #[test]
        fn ids_do_not_depend_on_how_the_text_is_handed_over(lines in prop::collection::vec("[a-d ]{0,8}", 0..8)) {
            let whole = Words::from_texts([lines.join("\n")]).unwrap();
            let parts = Words::from_texts(&lines).unwrap();
            prop_assert_eq!(&whole.words, &parts.words);
            let reread = Words::from_json(whole.to_json().unwrap().as_bytes()).unwrap();
            prop_assert_eq!(&whole.words, &reread.words);
            prop_assert_eq!(&whole.ids, &reread.ids);
        }
    }
}
