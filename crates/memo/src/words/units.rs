//! The units of text: its words, and the runs of symbols between them.
//!
//! A [lexicon](crate::lexicon) says which units are alike, so a unit is the smallest part of a text that can have a class. It is
//! a word in normal form, or a run of symbols in normal form that neither white space nor a word interrupts: *Don’t, she
//! said…* has the units `dont` `,` `she` `said` `...`. Quotes are one symbol, and so are dashes, however many stand in a row.
//!
//! An apostrophe between two letters is left out, so one that stands after a letter is a unit only until a letter follows.

use super::Words;
use super::characters::{Characters, each_character};
use super::normal::{Class, Code, DASH, QUOTE};
use super::state::step;
use std::ops::Range;

/// How many units a [`UnitState`] remembers: the last one, and eight before it.
pub const MAX_UNITS: usize = 9;

// Part of the format of models, like all of `step`. The lowest bit of a unit's hash says whether it is a word.
/// The hash of a word without characters.
const WORD: u64 = 0x1319_8a2e_0370_7344;
/// The hash of a run without symbols.
const SYMBOLS: u64 = 0xa409_3822_299f_31d1;
const IS_SYMBOLS: u64 = 1;

/// The hash of a unit with one character more.
#[inline]
fn grown(hash: u64, character: u32) -> u64 {
    step(hash, character) & !IS_SYMBOLS | hash & IS_SYMBOLS
}

/// A place in a stream of units, which tokens are pushed to.
///
/// It is a function of the text so far, wherever the tokenizer cuts it. What a cut character will be counts once it is whole.
///
/// ```
/// use memo::words::{UnitState, Words, unit_hash};
/// let words = Words::new(["Owls", " can", "'", "t", ",", " re"]);
/// let mut state = UnitState::start();
/// (0..3).for_each(|token| state.push(&words, token));
/// assert_eq!((state.units(), state.unit(0)), (3, unit_hash("'")));
/// state.push(&words, 3);
/// assert_eq!((state.units(), state.unit(0)), (2, unit_hash("can't")));
/// (4..6).for_each(|token| state.push(&words, token));
/// assert_eq!([0, 1, 2, 3].map(|before| state.unit(before)), ["re", ",", "cant", "owls"].map(unit_hash));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitState {
    /// Hashes of the last units, newest first, without an apostrophe that a letter may take back.
    units: [u64; MAX_UNITS],
    /// The number of tokens when each of them began.
    began: [u32; MAX_UNITS],
    /// How many of them were seen from their beginning.
    seen: u8,
    open: Open,
    /// The last symbol of an open run.
    symbol: u32,
    /// The number of tokens when the apostrophe of [`Open::Apostrophe`] came.
    apostrophe: u32,
    /// Tokens pushed, and units begun.
    tokens: u32,
    count: u32,
    characters: Characters,
}

/// What may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    Word,
    Symbols,
    /// A word if a letter follows, else a run that begins with this apostrophe.
    Apostrophe,
    /// Whatever stood before a cut.
    Unknown,
    /// The same, then an apostrophe.
    UnknownApostrophe,
}

/// What a character does to the units of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Begins one.
    Begin,
    /// Adds to the last one.
    Grow,
    /// Belongs to the last one and is left out: a quote after a quote, a dash after a dash.
    Repeat,
    /// Takes back the apostrophe that was the last unit, and adds to the one before it.
    Join,
    /// Nothing.
    Space,
}

impl UnitState {
    /// The start of a document.
    pub fn start() -> Self {
        UnitState {
            units: [0; MAX_UNITS],
            began: [0; MAX_UNITS],
            seen: 0,
            open: Open::Nothing,
            symbol: 0,
            apostrophe: 0,
            tokens: 0,
            count: 0,
            characters: Characters::default(),
        }
    }

    /// A place in the middle of a text. The first unit may have begun before it, so it does not count.
    pub fn cut() -> Self {
        UnitState { open: Open::Unknown, ..UnitState::start() }
    }

    /// The place before a token of a document, as far as the last `reach` tokens tell: [`UnitState::within`] is then the same as
    /// if all of the document had been pushed.
    pub fn before(words: &Words, document: &[u32], place: usize, reach: usize) -> Self {
        let window = place.saturating_sub(reach);
        let mut margin = 1;
        loop {
            // What was open at the window's beginning nearly always follows from the token before it.
            let first = window.saturating_sub(margin);
            let mut state = if first == 0 { UnitState::start() } else { UnitState::cut() };
            document[first..window].iter().for_each(|&token| state.push(words, token));
            if !matches!(state.open, Open::Unknown | Open::UnknownApostrophe) {
                document[window..place].iter().for_each(|&token| state.push(words, token));
                return state;
            }
            margin *= 4;
        }
    }

    /// Goes on by a token. One that the vocabulary lacks, or without bytes, changes nothing.
    #[inline]
    pub fn push(&mut self, words: &Words, token: u32) {
        self.tokens = self.tokens.wrapping_add(1);
        let mut characters = self.characters;
        characters.push(words, token, |code| {
            self.take(code);
        });
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

    /// The hash of the last unit as far as it has come (`before` = 0), of the one before it (1), and so on. `None` if there are fewer, or
    /// if it is not one of the last [`MAX_UNITS`].
    #[inline]
    pub fn unit(&self, before: usize) -> Option<u64> {
        self.place(before).map(|(hash, _)| hash)
    }

    /// The same, if the unit began within the last `reach` tokens.
    #[inline]
    pub fn within(&self, before: usize, reach: usize) -> Option<u64> {
        let (hash, began) = self.place(before)?;
        ((self.tokens.wrapping_sub(began) as usize) < reach).then_some(hash)
    }

    /// The number of tokens since a unit began, the one that it begins in included.
    pub fn span(&self, before: usize) -> Option<usize> {
        self.place(before).map(|(_, began)| self.tokens.wrapping_sub(began) as usize + 1)
    }

    /// The number of units so far, of those that were seen from their beginning. A token began a new one if this grew; it falls by one
    /// when a letter takes back an apostrophe.
    #[inline]
    pub fn units(&self) -> u32 {
        self.count.wrapping_add(u32::from(self.open == Open::Apostrophe))
    }

    /// Whether the next letter begins a new unit. It goes on with the last one inside a word, also after an apostrophe there.
    #[inline]
    pub fn is_between(&self) -> bool {
        matches!(self.open, Open::Nothing | Open::Symbols)
    }

    /// A unit's hash, and the number of tokens when it began.
    #[inline]
    fn place(&self, before: usize) -> Option<(u64, u32)> {
        let at = match (self.open, before) {
            (Open::Apostrophe, 0) => return Some((grown(SYMBOLS, QUOTE), self.apostrophe)),
            (Open::Apostrophe, before) => before - 1,
            (_, before) => before,
        };
        (before < MAX_UNITS && at < usize::from(self.seen))
            .then(|| (self.units[at], self.began[at]))
    }

    #[inline]
    fn take(&mut self, code: Code) -> Change {
        match code.class() {
            Class::Letter => {
                let change = match self.open {
                    Open::Apostrophe => Change::Join,
                    Open::Nothing | Open::Symbols => {
                        self.begin(WORD, self.tokens);
                        Change::Begin
                    }
                    // The end of a character that was cut may be anything.
                    Open::Unknown if code.is_continuation() => return Change::Space,
                    Open::Word | Open::Unknown | Open::UnknownApostrophe => Change::Grow,
                };
                self.open = Open::Word;
                self.units[0] = grown(self.units[0], code.character());
                change
            }
            Class::Alone => {
                self.settle();
                self.begin(WORD, self.tokens);
                self.units[0] = grown(self.units[0], code.character());
                self.open = Open::Nothing;
                Change::Begin
            }
            Class::Space => {
                self.settle();
                self.open = Open::Nothing;
                Change::Space
            }
            Class::Symbol => self.take_symbol(code.character()),
            Class::Apostrophe => match self.open {
                Open::Word => {
                    (self.open, self.apostrophe) = (Open::Apostrophe, self.tokens);
                    Change::Begin
                }
                Open::Unknown => {
                    self.open = Open::UnknownApostrophe;
                    Change::Grow
                }
                _ => self.take_symbol(QUOTE),
            },
        }
    }

    fn take_symbol(&mut self, symbol: u32) -> Change {
        self.settle();
        let change = match self.open {
            Open::Nothing | Open::Word => {
                self.begin(SYMBOLS, self.tokens);
                Change::Begin
            }
            // '' is ", and -- is —.
            Open::Symbols if symbol == self.symbol && matches!(symbol, QUOTE | DASH) => {
                return Change::Repeat;
            }
            _ => Change::Grow,
        };
        self.open = Open::Symbols;
        self.symbol = symbol;
        self.units[0] = grown(self.units[0], symbol);
        change
    }

    /// Makes a run of an apostrophe that no letter followed.
    #[inline]
    fn settle(&mut self) {
        if self.open == Open::Apostrophe {
            self.begin(SYMBOLS, self.apostrophe);
            self.units[0] = grown(SYMBOLS, QUOTE);
            (self.open, self.symbol) = (Open::Symbols, QUOTE);
        }
    }

    #[inline]
    fn begin(&mut self, hash: u64, token: u32) {
        self.units.copy_within(..MAX_UNITS - 1, 1);
        self.began.copy_within(..MAX_UNITS - 1, 1);
        (self.units[0], self.began[0]) = (hash, token);
        self.seen = (self.seen + 1).min(MAX_UNITS as u8);
        self.count = self.count.wrapping_add(1);
    }
}

/// Calls `take` with the hash of each unit of a text, in order, and with its place in bytes. Units with the same normal form have
/// the same hash; a word and a run of symbols never do.
///
/// ```
/// use memo::words::each_unit;
/// let text = "Don’t – said the owl.)";
/// let mut units = Vec::new();
/// each_unit(text.as_bytes(), |_, place| units.push(&text[place]));
/// assert_eq!(units, ["Don’t", "–", "said", "the", "owl", ".)"]);
/// ```
pub fn each_unit(text: &[u8], mut take: impl FnMut(u64, Range<usize>)) {
    let mut state = UnitState::start();
    // The last two: an apostrophe may be taken back, and the word before it go on.
    let (mut before, mut last): (Option<Range<usize>>, Option<Range<usize>>) = (None, None);
    each_character(text, |code, place| match state.take(code) {
        Change::Begin => {
            if let (Some(done), Some(hash)) = (before.take(), state.unit(2)) {
                take(hash, done);
            }
            (before, last) = (last.take(), Some(place));
        }
        Change::Grow | Change::Repeat => {
            if let Some(last) = &mut last {
                last.end = place.end;
            }
        }
        Change::Join => {
            last = before.take().map(|word| word.start..place.end);
        }
        Change::Space => {}
    });
    for (place, at) in [(before, 1), (last, 0)] {
        if let (Some(place), Some(hash)) = (place, state.unit(at)) {
            take(hash, place);
        }
    }
}

/// The units of a text in normal form, with a space between two.
///
/// ```
/// assert_eq!(memo::words::normal_form("DON’T –"), "dont -");
/// ```
pub fn normal_form(text: &str) -> String {
    let mut state = UnitState::start();
    let mut form = String::with_capacity(text.len());
    each_character(text.as_bytes(), |code, _| {
        match state.take(code) {
            Change::Begin if !form.is_empty() => form.push(' '),
            // The apostrophe, and the space before it.
            Change::Join => form.truncate(form.len() - 2),
            Change::Begin | Change::Grow => {}
            Change::Repeat | Change::Space => return,
        }
        let character = if code.class() == Class::Apostrophe { QUOTE } else { code.character() };
        form.extend(char::from_u32(character));
    });
    form
}

/// The hash of a unit. `None` if the text is not exactly one.
///
/// ```
/// use memo::words::unit_hash;
/// assert_eq!(unit_hash("Owl"), unit_hash(" owl"));
/// assert_eq!((unit_hash("New York"), unit_hash("")), (None, None));
/// ```
pub fn unit_hash(text: &str) -> Option<u64> {
    let mut state = UnitState::start();
    each_character(text.as_bytes(), |code, _| {
        state.take(code);
    });
    if state.units() == 1 { state.unit(0) } else { None }
}
