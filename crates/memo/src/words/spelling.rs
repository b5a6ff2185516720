//! The words of some tokens, letter by letter: what a careless quote is compared with a text by.

use super::characters::each_character;
use super::normal::Class;
use super::state::Part;
use super::{WordState, Words};
use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// A word in a sequence of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpelledWord {
    /// Its letters in the normal form, without accents.
    pub(crate) letters: Vec<u32>,
    /// The token that it begins in.
    pub(crate) first: usize,
    /// How many tokens of the sequence there are up to its last letter.
    pub(crate) end: usize,
}

/// Words that are being spelled by tokens.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    pub(crate) state: WordState,
    pub(crate) words: Vec<SpelledWord>,
    /// The symbols after the last word.
    pub(crate) symbols: Vec<u32>,
    tokens: usize,
}

impl Spelling {
    /// Begins with a new word.
    pub(crate) fn new() -> Self {
        Spelling { state: WordState::start(), words: Vec::new(), symbols: Vec::new(), tokens: 0 }
    }

    /// The words of some tokens.
    pub(crate) fn of(words: &Words, tokens: &[u32]) -> Self {
        let mut spelling = Spelling::new();
        tokens.iter().for_each(|&token| spelling.push(words, token));
        spelling
    }

    /// Goes on by a token.
    pub(crate) fn push(&mut self, words: &Words, token: u32) {
        let Spelling { state, words: spelled, symbols, tokens } = self;
        let first = *tokens;
        *tokens += 1;
        state.push_seen(words, token, |part, code| match (part, spelled.last_mut()) {
            (Part::First, _) => {
                let mut letters = Vec::new();
                each_letter(code.character(), |letter| letters.push(letter));
                if letters.is_empty() {
                    letters.push(code.character());
                }
                spelled.push(SpelledWord { letters, first, end: first + 1 });
                symbols.clear();
            }
            (Part::Next, Some(word)) => {
                each_letter(code.character(), |letter| word.letters.push(letter));
                word.end = first + 1;
                symbols.clear();
            }
            _ if code.is_space() => {}
            _ => symbols.push(code.character()),
        });
    }
}

/// A place in typed words up to which tokens agree with them, whatever stands between the words.
#[derive(Clone, Debug)]
pub(crate) struct Follower<'t> {
    typed: &'t [SpelledWord],
    /// Words that were begun, and letters of the last of them.
    begun: usize,
    letters: usize,
    pub(crate) state: WordState,
}

impl<'t> Follower<'t> {
    /// The place after the first `done` words, at which `state` is the memory's own text.
    pub(crate) fn new(typed: &'t [SpelledWord], done: usize, state: WordState) -> Self {
        let letters = done.checked_sub(1).map_or(0, |last| typed[last].letters.len());
        Follower { typed, begun: done, letters, state }
    }

    /// How many words are complete.
    pub(crate) fn done(&self) -> usize {
        self.begun - usize::from(!self.is_whole())
    }

    /// Whether a word is begun and not complete.
    pub(crate) fn is_begun(&self) -> bool {
        !self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.begun == 0 || self.letters == self.typed[self.begun - 1].letters.len()
    }

    /// Goes on by a token; `false` if it does not agree.
    pub(crate) fn push(&mut self, words: &Words, token: u32) -> bool {
        let mut agrees = true;
        let mut state = self.state.clone();
        state.push_seen(words, token, |part, code| {
            let expected = match part {
                Part::Beside => return,
                Part::First if self.is_whole() => {
                    self.begun += 1;
                    self.letters = 0;
                    self.typed.get(self.begun - 1)
                }
                Part::First => None,
                Part::Next => self.begun.checked_sub(1).map(|last| &self.typed[last]),
            };
            each_letter(code.character(), |letter| {
                agrees &= expected.and_then(|word| word.letters.get(self.letters)) == Some(&letter);
                self.letters += 1;
            });
            if !agrees {
                // What comes is compared with nothing any more.
                self.begun = self.begun.min(self.typed.len());
            }
        });
        self.state = state;
        agrees
    }
}

/// The letters of a word in normal form, without accents.
///
/// ```
/// use memo::words::{letters, alike};
/// assert_eq!(letters("Père".as_bytes()), letters("pere".as_bytes()));
/// assert!(alike(&letters(b"keys"), &letters(b"key")) && alike(&letters(b"recieve"), &letters(b"received")));
/// assert!(!alike(&letters(b"under"), &letters(b"understand")) && !alike(&letters(b"storm"), &letters(b"stone")));
/// ```
pub fn letters(word: &[u8]) -> Vec<u32> {
    let mut letters = Vec::with_capacity(word.len());
    each_character(word, |code, _| {
        if matches!(code.class(), Class::Letter | Class::Alone) {
            each_letter(code.character(), |letter| letters.push(letter));
        }
    });
    letters
}

/// The most letters that forms of a word have after their common beginning, and the fewest letters of that.
const ENDING: usize = 3;
const STEM: usize = 4;

/// Whether two words, letter by letter, may be forms of one word, or one a slip of the fingers for the other.
pub fn alike(one: &[u32], other: &[u32]) -> bool {
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let forms = common >= STEM.min(shorter).max(3) && longer - common <= ENDING;
    forms || (shorter > STEM && longer - shorter <= 2 && distance(one, other) <= longer / 4)
}

impl SpelledWord {
    /// A token that is a word of its own.
    pub(crate) fn token(token: u32, place: usize) -> Self {
        SpelledWord { letters: vec![token], first: place, end: place + 1 }
    }

    /// Whether this is another word but for a slip of the fingers: at most one letter in four is another, missing, too many,
    /// or exchanged with its neighbour, and one at least if there are three.
    pub(crate) fn resembles(&self, other: &SpelledWord) -> bool {
        let longest = self.letters.len().max(other.letters.len());
        longest > 2 && distance(&self.letters, &other.letters) <= longest.div_ceil(4)
    }

    /// Whether another word begins with this one, but for a slip of the fingers.
    pub(crate) fn begins(&self, other: &SpelledWord) -> bool {
        let len = self.letters.len().min(other.letters.len());
        let begun = &other.letters[..len];
        // Few letters are rather those of another word.
        self.letters == begun || (len > 4 && distance(&self.letters, begun) <= len.div_ceil(4))
    }
}

/// Calls `take` with a letter as people type it who have no key for it: without accents, a ligature letter by letter; with none for an
/// accent that stands alone.
fn each_letter(letter: u32, mut take: impl FnMut(u32)) {
    let is_accent = |part: u32| (0x300..0x370).contains(&part);
    let Some(c) = char::from_u32(letter).filter(|c| !c.is_ascii()) else { return take(letter) };
    if let Some((_, plain)) = PLAIN.iter().find(|&&(special, _)| special == c) {
        return plain.bytes().for_each(|letter| take(letter.into()));
    }
    let (mut first, mut accents) = (None, true);
    decompose_canonical(c, |part| match first {
        None => first = Some(u32::from(part)),
        // What else a character is made of, as of a syllable of Hangul, makes it another one.
        Some(_) => accents &= is_accent(u32::from(part)),
    });
    match first.filter(|_| accents) {
        Some(first) if first != letter => take(first),
        _ if is_accent(letter) => {}
        Some(_) => decompose_compatible(c, |part| {
            if !is_accent(u32::from(part)) {
                take(part.into());
            }
        }),
        None => take(letter),
    }
}

/// Letters that Unicode does not take apart, as they are typed without a key for them.
const PLAIN: [(char, &str); 10] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ħ', "h"),
    ('ı', "i"),
];

/// How many letters must be changed, left out, put in, or exchanged with their neighbour, to make one word another.
fn distance(a: &[u32], b: &[u32]) -> usize {
    let width = b.len() + 1;
    let mut cost = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = |i: usize, j: usize| cost[i * width + j];
            let mut least = if i == 0 { j } else { usize::MAX };
            if i > 0 {
                least = least.min(at(i - 1, j) + 1);
            }
            if j > 0 {
                least = least.min(at(i, j - 1) + 1);
            }
            if i > 0 && j > 0 {
                least = least.min(at(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]));
            }
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(at(i - 2, j - 2) + 1);
            }
            cost[i * width + j] = least;
        }
    }
    cost[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_across_tokens() {
        let words = Words::new(["Call", " me", " Ish", "ma", "el", ".", " Don", "’t"]);
        let spelled = Spelling::of(&words, &[0, 1, 2, 3, 4, 5, 6, 7]).words;
        let text = |word: &SpelledWord| -> String {
            word.letters.iter().filter_map(|&c| char::from_u32(c)).collect()
        };
        let texts: Vec<String> = spelled.iter().map(text).collect();
        assert_eq!(texts, ["call", "me", "ishmael", "dont"]);
        let places: Vec<(usize, usize)> =
            spelled.iter().map(|word| (word.first, word.end)).collect();
        assert_eq!(places, [(0, 1), (1, 2), (2, 5), (6, 8)]);
    }

    #[test]
    fn tokens_are_followed_whatever_stands_between_words() {
        let words = Words::new(["Call", " me", " Ish", "ma", "el", ".", "CALL", "\n", "mE", " is"]);
        let typed = Spelling::of(&words, &[0, 1, 2, 3, 4]).words;
        let follow = |tokens: &[u32]| {
            let mut follower = Follower::new(&typed, 0, WordState::start());
            let agrees = tokens.iter().all(|&token| follower.push(&words, token));
            (agrees, follower.done())
        };
        assert_eq!(follow(&[6, 5, 7, 8]), (true, 2));
        assert_eq!(follow(&[6, 5, 7, 8, 9]), (true, 2));
        assert_eq!(follow(&[0, 1, 2, 3, 4, 5]), (true, 3));
        assert!(!follow(&[0, 8]).0, "two words are not one");
        assert!(!follow(&[0, 1, 2, 3, 1]).0);
        assert!(!follow(&[0, 1, 2, 3, 4, 1]).0, "nothing more was typed");
    }

    #[test]
    fn accents_make_no_other_word() {
        let words = Words::new(["Le", " père", " pere", " e\u{301}té", " ete", " été"]);
        let letters = |token: u32| Spelling::of(&words, &[token]).words[0].letters.clone();
        assert_eq!(letters(1), letters(2));
        assert_eq!(super::letters("각".as_bytes()), ['각' as u32]);
        assert_eq!([letters(3), letters(4)], [letters(5), letters(5)]);
        let typed = Spelling::of(&words, &[0, 2, 4]).words;
        let mut follower = Follower::new(&typed, 0, WordState::start());
        assert!([0, 1, 3].into_iter().all(|token| follower.push(&words, token)));
        assert_eq!(follower.done(), 3);
    }

    /// What is typed without a key for a letter is the word, in whichever text the letter stands.
    #[test]
    fn letters_without_a_key_make_no_other_word() {
        for (one, other) in [
            ("Straße", "strasse"),
            ("Œuvre", "oeuvre"),
            ("Ærø", "aero"),
            ("Łódź", "lodz"),
            ("ﬁnal", "final"),
            ("eﬃcient", "efficient"),
            ("ＡＢＣ", "abc"),
            ("m²", "m2"),
        ] {
            assert_eq!(super::letters(one.as_bytes()), super::letters(other.as_bytes()), "{one}");
        }
        let words = Words::new(["Die", " eﬃziente", " Straße", " effiziente", " strasse"]);
        let typed = Spelling::of(&words, &[0, 3, 4]).words;
        let mut follower = Follower::new(&typed, 0, WordState::start());
        assert!([0, 1, 2].into_iter().all(|token| follower.push(&words, token)));
        assert_eq!(follower.done(), 3);
    }

    #[test]
    fn a_slip_of_the_fingers_is_no_other_word() {
        let word = |text: &str| SpelledWord {
            letters: text.chars().map(u32::from).collect(),
            first: 0,
            end: 1,
        };
        for (one, other, same) in [
            ("ishmeal", "ishmael", true),
            ("recieve", "receive", true),
            ("teh", "the", true),
            ("harbour", "harbor", true),
            ("night", "knight", true),
            ("of", "on", false),
            ("cat", "dog", false),
            ("captain", "whale", false),
        ] {
            assert_eq!(word(one).resembles(&word(other)), same, "{one}, {other}");
        }
    }
}
