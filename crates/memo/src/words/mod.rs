//! The stream of words beside the stream of tokens.
//!
//! People quote without care for case, line ends, commas and the kind of quotes, and the tokens of a careless quote are not
//! those of the text. Its words are. This module turns tokens into *contexts of words*: a hash of the last one to four words
//! in a normal form. A memory that also knows what followed such contexts finds a text again however it is laid out.
//!
//! ## The normal form
//!
//! Text is a sequence of words and of symbols between them.
//!
//! - **Word characters** are letters, digits and combining marks (Unicode's categories L, N and M), in lower case; ς is σ.
//! - **An apostrophe** (', ’) between two word characters is left out: *don’t* is *dont*.
//! - **Scripts written without spaces** (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) have a word for each character.
//! - **White space** of any kind only ends a word.
//! - **All other characters** are symbols, and end a word too. Quotes of all kinds are one symbol, and so are dashes, however
//!   many stand in a row; … is three full stops.
//! - **Characters that nobody sees** are left out: soft hyphens, joiners, marks of direction, variation selectors.
//! - **Bytes that are not UTF-8** are word characters, each its own.
//!
//! Characters are not otherwise taken apart or put together: é as one character and as two are different words. The
//! tables are those of Unicode 16 and part of the format of models: what was memorized with them must be forgotten with
//! them, so they do not follow the compiler's.
//!
//! ## Contexts
//!
//! [`WordState::context`] is a hash of the last k words, the last one as far as it has come, and of the symbols *after* it:
//! *night*, *night.* and *night, “* are followed by different things. Symbols between words do not count, so that a missing comma is no
//! difference. A context is a function of the bytes of a text alone, wherever the tokenizer cuts them: a character may
//! lie in several tokens.
//!
//! ```
//! use memo::words::{Words, WordState};
//! let words = Words::new(["The owl", " reads", "THE", "\nOW", "L,", " ", "don", "’t"]);
//! let context = |tokens: &[u32]| {
//!     let mut state = WordState::start();
//!     tokens.iter().for_each(|&token| state.push(&words, token));
//!     state.context(2)
//! };
//! assert_eq!(context(&[0, 1]), context(&[2, 3, 4, 1])); // The owl reads; THE\nOWL, reads
//! assert_ne!(context(&[0]), context(&[2, 3, 4]));       // The owl; THE\nOWL,
//! assert_eq!(context(&[5, 6, 7]), None);                // one word
//! ```
//!
//! ## Units
//!
//! Words and the runs of symbols between them are the *units* of a text, which a [lexicon](crate::lexicon) has classes for:
//! [`each_unit`] for those of a text, [`UnitState`] along tokens.

mod characters;
mod normal;
mod spans;
mod spelling;
mod state;
mod tables;
mod units;

pub use spans::each_word;
pub(crate) use spelling::{Follower, SpelledWord, Spelling};
pub use spelling::{alike, letters};
pub use state::WordState;
pub use units::{MAX_UNITS, UnitState, each_unit, normal_form, unit_hash};

use crate::lexicon::Lexicon;
use normal::{ASCII, Class, Code, each_code};
use std::sync::Arc;

/// The longest contexts, in words.
pub const MAX_WORDS: usize = 4;

/// Set in an offset whose token is kept as bytes.
const RAW: u32 = 1 << 31;

/// The tokens of a vocabulary in the normal form of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Where each token begins in `codes`, and one past the last; [`RAW`] for those that do not consist of whole characters.
    offsets: Box<[u32]>,
    /// [`Code`]s: one byte or three each.
    codes: Box<[u8]>,
    /// Whether the first letter of each token is a capital, 64 to a number.
    capitals: Box<[u64]>,
    /// Which units of text are alike, if somebody said so.
    lexicon: Option<Arc<Lexicon>>,
}

impl Words {
    /// The words of a vocabulary, from the bytes of each token, in the order of their ids. Tokens without bytes (the end of a
    /// document) contribute nothing.
    ///
    /// # Panics
    ///
    /// If the vocabulary has 2 GiB of text.
    pub fn new(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let (mut offsets, mut codes, mut capitals) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            let piece = piece.as_ref();
            let start = codes.len();
            if offsets.len() % 64 == 0 {
                capitals.push(0);
            }
            if let Some(last) = capitals.last_mut().filter(|_| begins_with_capital(piece)) {
                *last |= 1u64 << (offsets.len() % 64);
            }
            // A token that has bytes but no codes still ends a character that another one began.
            let raw = !piece.is_empty() && !Self::encode(piece, &mut codes);
            if raw {
                codes.truncate(start);
                codes.extend_from_slice(piece);
            }
            offsets.push(start as u32 | if raw { RAW } else { 0 });
            assert!(codes.len() < RAW as usize, "a vocabulary has less than 2 GiB of text");
        }
        offsets.push(codes.len() as u32);
        let (offsets, codes) = (offsets.into(), codes.into());
        Words { offsets, codes, capitals: capitals.into(), lexicon: None }
    }

    /// Adds a lexicon: which units of text are alike.
    #[must_use]
    pub fn with_lexicon(self, lexicon: Arc<Lexicon>) -> Self {
        Words { lexicon: Some(lexicon), ..self }
    }

    /// Returns the lexicon, if there is one.
    pub fn lexicon(&self) -> Option<&Arc<Lexicon>> {
        self.lexicon.as_ref()
    }

    /// Appends the codes of a piece; `false` if it does not consist of whole characters, or has no codes.
    fn encode(piece: &[u8], codes: &mut Vec<u8>) -> bool {
        let Ok(text) = std::str::from_utf8(piece) else { return false };
        let start = codes.len();
        for c in text.chars() {
            each_code(c, |code| match code.byte() {
                // White space only ends a word, which it can do but once.
                Some(b' ') if codes.len() > start && codes.last() == Some(&b' ') => {}
                Some(byte) => codes.push(byte),
                None => codes.extend_from_slice(&code.bytes()),
            });
        }
        codes.len() > start
    }

    /// The bytes that are held.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.capitals) + self.codes.len()
    }

    /// Whether the first letter of a token is a capital.
    pub(crate) fn is_capital(&self, token: u32) -> bool {
        let word = self.capitals.get(token as usize / 64).copied().unwrap_or(0);
        word >> (token % 64) & 1 == 1
    }

    /// Whether a token is white space alone.
    pub(crate) fn is_blank(&self, token: u32) -> bool {
        matches!(self.piece(token), Piece::Codes(b" "))
    }

    /// Whether a token has whole characters and ends with one that tells what may go on after it, whatever stood before.
    pub(crate) fn settles(&self, token: u32) -> bool {
        match self.piece(token) {
            Piece::Codes(bytes) => {
                codes(bytes).last().is_some_and(|code| code.class() != Class::Apostrophe)
            }
            Piece::Raw(_) => false,
        }
    }

    /// What a token contributes.
    fn piece(&self, token: u32) -> Piece<'_> {
        let token = token as usize;
        let Some(&[start, end]) = self.offsets.get(token..token + 2) else {
            return Piece::Codes(&[]);
        };
        let bytes = &self.codes[(start & !RAW) as usize..(end & !RAW) as usize];
        if start & RAW == 0 { Piece::Codes(bytes) } else { Piece::Raw(bytes) }
    }
}

/// Whether the first letter of a text is one that the normal form changes to a small one.
fn begins_with_capital(piece: &[u8]) -> bool {
    for c in String::from_utf8_lossy(piece).chars() {
        let mut letter = None;
        each_code(c, |code| {
            if letter.is_none() && code.class() == normal::Class::Letter {
                letter = Some(code.character());
            }
        });
        if let Some(letter) = letter {
            return letter != c as u32;
        }
    }
    false
}

/// What a token contributes to the stream.
enum Piece<'w> {
    /// The codes of whole characters.
    Codes(&'w [u8]),
    /// Bytes of which some belong to characters that other tokens begin or end.
    Raw(&'w [u8]),
}

/// The codes that [`Words::encode`] wrote.
fn codes(bytes: &[u8]) -> impl Iterator<Item = Code> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let &first = bytes.get(at)?;
        if first < ASCII {
            at += 1;
            return Some(Code::ascii(first));
        }
        let code = Code::from_bytes([first, bytes[at + 1], bytes[at + 2]]);
        at += 3;
        Some(code)
    })
}
