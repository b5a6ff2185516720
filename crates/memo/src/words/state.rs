//! A place in the stream of words: what is needed to go on, and to name the contexts that end here.

use super::characters::Characters;
use super::normal::{Class, Code, DASH, QUOTE};
use super::{MAX_WORDS, Words};

/// A place in a stream of words, which tokens are pushed to.
///
/// ```
/// use memo::words::WordState;
/// let mut state = WordState::cut();
/// state.push_bytes(b"ight. The cat"); // whoever cut this cut the first word
/// let mut whole = WordState::start();
/// whole.push_bytes(b"Owls read at night. The cat");
/// assert_eq!(state.contexts()[..2], whole.contexts()[..2]);
/// assert_eq!((state.context(3), whole.context(3).is_some()), (None, true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordState {
    /// Hashes of the last words, newest first; the newest may go on.
    words: [u64; MAX_WORDS],
    /// How many of them were seen from their beginning.
    seen: u8,
    /// What the last character was to the last word.
    last: Last,
    /// The hash of the symbols after the last word; 0 if there are none.
    symbols: u64,
    /// The last of them.
    symbol: u32,
    /// Tokens pushed so far, and how many there were when each of the last words began.
    tokens: u32,
    began: [u32; MAX_WORDS],
    /// Words that began so far.
    count: u32,
    characters: Characters,
}

/// What a letter that comes now belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// A new word.
    Nothing,
    /// The last word.
    Letter,
    /// The last word: the apostrophe between is left out.
    Apostrophe,
}

/// What a character is to the words of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The first character of a word.
    First,
    /// A later one.
    Next,
    /// None of a word.
    Beside,
}

impl WordState {
    /// The start of a document.
    pub fn start() -> Self {
        WordState {
            words: [0; MAX_WORDS],
            seen: 0,
            last: Last::Nothing,
            symbols: 0,
            symbol: 0,
            tokens: 0,
            count: 0,
            began: [0; MAX_WORDS],
            characters: Characters::default(),
        }
    }

    /// A place in the middle of a text. The first word may have begun before it, so it does not count.
    pub fn cut() -> Self {
        // As if a word that was not seen from its beginning went on.
        WordState { last: Last::Letter, ..WordState::start() }
    }

    /// The place before a token of a document, as far as the last `reach` tokens tell: [`WordState::within`] is then the same as
    /// if all of the document had been pushed.
    pub fn before(words: &Words, document: &[u32], place: usize, reach: usize) -> Self {
        // A character that the cut divides has its end within a few tokens, and what it was is known after that.
        let first = place.saturating_sub(reach + 8);
        let mut state = if first == 0 { WordState::start() } else { WordState::cut() };
        document[first..place].iter().for_each(|&token| state.push(words, token));
        state
    }

    /// Goes on by a token. One that the vocabulary lacks, or without bytes, changes nothing.
    #[inline]
    pub fn push(&mut self, words: &Words, token: u32) {
        self.push_seen(words, token, |_, _| {});
    }

    /// The same; `see` is called with each character and what it is to the words.
    #[inline]
    pub(super) fn push_seen(&mut self, words: &Words, token: u32, mut see: impl FnMut(Part, Code)) {
        self.tokens = self.tokens.wrapping_add(1);
        let mut characters = self.characters;
        characters.push(words, token, |code| see(self.take(code), code));
        self.characters = characters;
    }

    /// Goes on by some bytes of text, which may begin or end inside a character.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        let mut characters = self.characters;
        for &byte in bytes {
            characters.push_byte(byte, &mut |code| {
                self.take(code);
            });
        }
        self.characters = characters;
    }

    /// Takes a code; returns what it is to the words.
    #[inline]
    pub(super) fn take(&mut self, code: Code) -> Part {
        match code.class() {
            Class::Letter => {
                let last = std::mem::replace(&mut self.last, Last::Letter);
                match last {
                    Last::Letter => {}
                    Last::Apostrophe => self.end_symbols(),
                    Last::Nothing => self.begin_word(),
                }
                self.words[0] = step(self.words[0], code.character());
                if last == Last::Nothing { Part::First } else { Part::Next }
            }
            Class::Alone => {
                self.begin_word();
                self.words[0] = step(self.words[0], code.character());
                self.last = Last::Nothing;
                Part::First
            }
            Class::Space => {
                self.last = Last::Nothing;
                Part::Beside
            }
            Class::Symbol => {
                self.take_symbol(code.character());
                self.last = Last::Nothing;
                Part::Beside
            }
            Class::Apostrophe => {
                self.take_symbol(QUOTE);
                let after_letter = self.last == Last::Letter;
                self.last = if after_letter { Last::Apostrophe } else { Last::Nothing };
                Part::Beside
            }
        }
    }

    #[inline]
    fn begin_word(&mut self) {
        self.words.copy_within(..MAX_WORDS - 1, 1);
        self.began.copy_within(..MAX_WORDS - 1, 1);
        (self.words[0], self.began[0]) = (WORD, self.tokens);
        self.seen = (self.seen + 1).min(MAX_WORDS as u8);
        self.count = self.count.wrapping_add(1);
        self.end_symbols();
    }

    fn end_symbols(&mut self) {
        (self.symbols, self.symbol) = (0, 0);
    }

    fn take_symbol(&mut self, symbol: u32) {
        // '' is ", and -- is —.
        if symbol != self.symbol || !matches!(symbol, QUOTE | DASH) {
            self.symbols = step(self.symbols, symbol + 1);
            self.symbol = symbol;
        }
    }

    /// The hash of a word, counted from the last one, which may go on.
    pub(crate) fn word(&self, before: usize) -> u64 {
        self.words[before]
    }

    /// A hash of the last k words and of the symbols after them; `None` if there are fewer words, or k is not 1 to
    /// [`MAX_WORDS`].
    #[inline]
    pub fn context(&self, k: usize) -> Option<u64> {
        *self.contexts().get(k.checked_sub(1)?)?
    }

    /// The same, if the first of these words began within the last `reach` tokens.
    #[inline]
    pub fn within(&self, k: usize, reach: usize) -> Option<u64> {
        let began = *self.began.get(k.checked_sub(1)?)?;
        let near = (self.tokens.wrapping_sub(began) as usize) < reach;
        if near { self.context(k) } else { None }
    }

    /// The number of tokens since the k-th last word began, the one that it begins in included.
    pub fn span(&self, k: usize) -> Option<usize> {
        self.context(k)?;
        Some(self.tokens.wrapping_sub(self.began[k - 1]) as usize + 1)
    }

    /// The number of words that were seen from their beginning so far.
    pub fn words_seen(&self) -> u32 {
        self.count
    }

    /// The contexts of one word, of two, and so on.
    #[inline]
    pub fn contexts(&self) -> [Option<u64>; MAX_WORDS] {
        let mut contexts = [None; MAX_WORDS];
        let mut hash = self.symbols;
        for (at, context) in contexts.iter_mut().enumerate().take(usize::from(self.seen)) {
            hash = mix(hash.wrapping_add(CONTEXT) ^ self.words[at]);
            *context = Some(hash);
        }
        contexts
    }
}

// The functions below are part of the format of models: contexts are what memories are keyed by.

/// The hash of a word without characters.
const WORD: u64 = 0x243f_6a88_85a3_08d3;
/// Separates the links of a context's chain of words.
const CONTEXT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash with one character more.
#[inline]
pub(super) fn step(hash: u64, character: u32) -> u64 {
    let hash = (hash ^ u64::from(character)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// Spreads all bits over all others.
#[inline]
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
