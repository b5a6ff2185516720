//! The canonical form of a lexicon: text that people can read, and the same bytes for the same contents.
//!
//! ```text
//! memo lexicon 1
//! 2 levels, 1 sources, 3 words
//! 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//! fiat<TAB>car<TAB>vehicle
//! train<TAB><TAB>vehicle
//! volvo<TAB>car<TAB>vehicle
//! ```
//!
//! Words are in normal form and in the order of their bytes, each with a field a level, empty if it has no class there. Every line ends
//! with a line feed. Bytes that break any rule are refused: what is read is written again bit for bit.

use super::{Error, Lexicon, MAX_LEVELS, MAX_WORDS, check_name, check_word};
use std::fmt::Write as _;

/// The first line, without the version.
pub(super) const MAGIC: &str = "memo lexicon";
const VERSION: u32 = 1;

/// Whether bytes begin as a lexicon in canonical form does, of whatever version.
pub fn is_canonical(bytes: &[u8]) -> bool {
    bytes.strip_prefix(MAGIC.as_bytes()).is_some_and(|rest| rest.first() == Some(&b' '))
}

impl Lexicon {
    /// The canonical form, in bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_text().into_bytes()
    }

    /// The canonical form: text, a line a word.
    pub fn to_text(&self) -> String {
        let (levels, sources, words) = (self.levels(), self.sources.len(), self.len());
        let mut text =
            format!("{MAGIC} {VERSION}\n{levels} levels, {sources} sources, {words} words\n");
        for source in &self.sources {
            source.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02x}");
            });
            text.push('\n');
        }
        for (word, classes) in self.entries() {
            text.push_str(word);
            for (level, class) in classes.into_iter().enumerate() {
                text.push('\t');
                text.push_str(class.map_or("", |class| self.name(level, class)));
            }
            text.push('\n');
        }
        text
    }

    /// A lexicon from its canonical form. Anything else is an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Lexicon, Error> {
        if !is_canonical(bytes) {
            return Err(Error::NotCanonical);
        }
        let wrong = |line: usize, problem: &str| Error::Line { line, problem: problem.to_owned() };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            wrong(valid.split(|&byte| byte == b'\n').count(), "it is not UTF-8")
        })?;
        let mut lines = text.split_inclusive('\n').zip(1..).map(|(line, number)| {
            let whole = line.strip_suffix('\n');
            whole.map(|line| (line, number)).ok_or_else(|| wrong(number, "the file ends in it"))
        });
        let mut next = |missing: usize| {
            lines.next().unwrap_or_else(|| Err(wrong(missing, "the file ends before it")))
        };
        let version = next(1)?.0[MAGIC.len() + 1..].to_owned();
        match version.parse() {
            Ok(VERSION) if version == VERSION.to_string() => {}
            Ok(version) if version > VERSION => return Err(Error::Version(version)),
            _ => return Err(wrong(1, "it names no version")),
        }
        let Some([levels, sources, words]) = counts(next(2)?.0) else {
            return Err(wrong(2, "it is not `N levels, N sources, N words`"));
        };
        if levels > MAX_LEVELS || words > MAX_WORDS {
            return Err(wrong(2, "it names more levels or words than a lexicon can have"));
        }
        let mut digests: Vec<[u8; 32]> = Vec::new();
        for at in 0..sources {
            let (line, number) = next(3 + at)?;
            let digest =
                digest(line).ok_or_else(|| wrong(number, "it is no digest in hexadecimal"))?;
            if digests.last().is_some_and(|last| *last >= digest) {
                return Err(wrong(number, "digests are not in order"));
            }
            digests.push(digest);
        }
        let mut entries: Vec<(Box<str>, Vec<Option<String>>)> = Vec::new();
        for at in 0..words {
            let (line, number) = next(3 + sources + at)?;
            let mut fields = line.split('\t');
            let word = fields.next().unwrap_or_default();
            let named = |field: &str| Some(field.to_owned()).filter(|name| !name.is_empty());
            let classes: Vec<Option<String>> = fields.map(named).collect();
            let checked = check_word(word).and_then(|form| {
                classes.iter().flatten().try_for_each(|class| check_name(word, class))?;
                Ok(form)
            });
            if checked.map_err(|error| wrong(number, &error.to_string()))? != word {
                return Err(wrong(number, "the word is not in normal form"));
            }
            if classes.len() != levels {
                let problem = format!("it has {} classes, not {levels}", classes.len());
                return Err(wrong(number, &problem));
            }
            if classes.iter().all(Option::is_none) {
                return Err(wrong(number, "the word has no class"));
            }
            if entries.last().is_some_and(|(last, _)| **last >= *word) {
                return Err(wrong(number, "words are not in order"));
            }
            entries.push((word.into(), classes));
        }
        let end = 3 + sources + words;
        if lines.next().is_some() {
            return Err(wrong(end, "there are more lines than line 2 says"));
        }
        if (0..levels)
            .next_back()
            .is_some_and(|last| entries.iter().all(|(_, classes)| classes[last].is_none()))
        {
            return Err(wrong(2, "no word has a class on the last level"));
        }
        Self::of_sorted(entries, digests.into())
    }
}

/// The numbers of the second line.
fn counts(line: &str) -> Option<[usize; 3]> {
    let mut numbers = [0; 3];
    let mut parts = line.split(", ");
    for (number, name) in numbers.iter_mut().zip([" levels", " sources", " words"]) {
        let digits = parts.next()?.strip_suffix(name)?;
        *number = digits.parse().ok().filter(|number: &usize| number.to_string() == digits)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn digest(line: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    let lower = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    if line.len() != 64 || !line.bytes().all(lower) {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&line[at..at + 2], 16).ok()?;
    }
    Some(digest)
}
