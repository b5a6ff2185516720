//! Lexicons: which words are alike.
//!
//! A lexicon gives [units](crate::words::each_unit) of text (words, and runs of symbols) a class, on one *level* or on several: on level 0
//! *volvo* and *fiat* may be cars and *train* a train, on level 1 all three vehicles. It is how linguistic knowledge gets into a memory, from
//! a table that a person wrote, from an ontology, or induced from text.
//!
//! A lexicon is a function of its entries, whatever the order that they are given in: so are its classes' numbers, its bytes and
//! its digest. Words are taken in normal form.
//!
//! ```
//! use memo::lexicon::Lexicon;
//! use memo::words::unit_hash;
//! let class = |name: &str| Some(name.to_owned());
//! let lexicon = Lexicon::new([
//!     ("Volvo".to_owned(), vec![class("car"), class("vehicle")]),
//!     ("Fiat".to_owned(), vec![class("car"), class("vehicle")]),
//!     ("train".to_owned(), vec![None, class("vehicle")]),
//! ])?;
//! let car = lexicon.find(0, "car");
//! assert_eq!(lexicon.class(0, unit_hash("FIAT").unwrap()), car);
//! assert_eq!(lexicon.class(0, unit_hash("train").unwrap()), None);
//! assert_eq!(lexicon.members(0, car.unwrap()).collect::<Vec<_>>(), ["fiat", "volvo"]);
//! assert_eq!(Lexicon::from_bytes(&lexicon.to_bytes())?, lexicon);
//! # Ok::<(), memo::lexicon::Error>(())
//! ```

mod canonical;
mod error;
mod exchange;
mod index;
mod induce;

pub use canonical::is_canonical;
pub use error::{Error, NameProblem};
pub use induce::{InduceError, InduceOptions, Induced, MAX_INDUCED, RARE, UnitCounts};

use crate::words::{normal_form, unit_hash};
use index::Index;

/// The most levels.
pub const MAX_LEVELS: usize = 4;
/// The most words.
pub const MAX_WORDS: usize = 4_000_000;
/// The most classes of a level.
pub const MAX_CLASSES: usize = 100_000;
/// The longest word and the longest name of a class, in bytes.
pub const MAX_BYTES: usize = 200;

/// The class of a word without one.
const NONE: u32 = u32::MAX;

/// The digest of a text that a lexicon was induced from: BLAKE3 in the mode of a derived key, with a context string of its own, so that it is the
/// same in every lexicon and equal to no other digest of the text.
///
/// It tells whoever has a text whether a lexicon was made from it, and nothing to who has not.
pub fn source_digest(text: &[u8]) -> [u8; 32] {
    blake3::derive_key("MeMo 2026 lexicon: a text that it was induced from", text)
}

/// Which words are alike, on one or more levels.
#[derive(Clone, Debug)]
pub struct Lexicon {
    /// Words in normal form, in the order of their bytes.
    words: Box<[Box<str>]>,
    by_hash: Index,
    levels: Box<[Level]>,
    sources: Box<[[u8; 32]]>,
    digest: [u8; 32],
}

/// The classes of one level.
#[derive(Clone, Debug)]
struct Level {
    /// The names of classes, in the order of their bytes.
    names: Box<[Box<str>]>,
    /// The class of each word; [`NONE`] if it has none.
    classes: Box<[u32]>,
    /// The words of all classes, class by class, and where each class begins, with one past the last.
    members: Box<[u32]>,
    starts: Box<[u32]>,
}

impl PartialEq for Lexicon {
    /// Whether two lexicons have the same contents, by their digests.
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Lexicon {}

impl Lexicon {
    /// A lexicon of words and their classes on each level, the finest first. Levels that an entry lacks have no class; words without
    /// any class are left out. The same word may be given again with the same classes.
    pub fn new(
        entries: impl IntoIterator<Item = (String, Vec<Option<String>>)>,
    ) -> Result<Lexicon, Error> {
        let mut taken: Vec<(Box<str>, Vec<Option<String>>)> = Vec::new();
        for (word, mut classes) in entries {
            let form = check_word(&word)?;
            classes.truncate(classes.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
            if classes.is_empty() {
                continue;
            }
            if classes.len() > MAX_LEVELS {
                return Err(Error::Levels { word, levels: classes.len() });
            }
            for class in classes.iter().flatten() {
                check_name(&word, class)?;
            }
            taken.push((form.into(), classes));
        }
        taken.sort_unstable();
        taken.dedup();
        if let Some(pair) = taken.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(conflict(&pair[0], &pair[1].1));
        }
        Self::of_sorted(taken, Box::default())
    }

    /// The same lexicon, as induced from texts with these [digests](source_digest).
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = [u8; 32]>) -> Self {
        let mut sources: Vec<[u8; 32]> = sources.into_iter().collect();
        sources.sort_unstable();
        sources.dedup();
        self.sources = sources.into();
        self.seal()
    }

    /// A lexicon of checked entries with different words in their order.
    fn of_sorted(
        entries: Vec<(Box<str>, Vec<Option<String>>)>,
        sources: Box<[[u8; 32]]>,
    ) -> Result<Self, Error> {
        if entries.is_empty() {
            return Err(Error::Empty);
        }
        if entries.len() > MAX_WORDS {
            return Err(Error::Words);
        }
        let count = entries.iter().map(|(_, classes)| classes.len()).max().unwrap_or(0);
        let levels =
            (0..count).map(|level| Level::new(level, &entries)).collect::<Result<_, _>>()?;
        let words: Box<[Box<str>]> = entries.into_iter().map(|(word, _)| word).collect();
        let hashes = words.iter().map(|word| unit_hash(word).unwrap_or_default());
        let by_hash = Index::new(hashes).map_err(|(first, second)| Error::Collision {
            first: words[first as usize].to_string(),
            second: words[second as usize].to_string(),
        })?;
        Ok(Lexicon { words, by_hash, levels, sources, digest: [0; 32] }.seal())
    }

    /// Computes the digest anew.
    fn seal(mut self) -> Self {
        self.digest = blake3::hash(&self.to_bytes()).into();
        self
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The number of words.
    #[expect(clippy::len_without_is_empty, reason = "a lexicon is never empty")]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// The number of classes of a level; 0 if there is no such level.
    pub fn classes(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, |level| level.names.len())
    }

    /// The class of a unit on a level, by the hash of [`each_unit`](crate::words::each_unit) and [`unit_hash`].
    #[inline]
    pub fn class(&self, level: usize, unit: u64) -> Option<u32> {
        let classes = &self.levels.get(level)?.classes;
        Some(classes[self.by_hash.find(unit)? as usize]).filter(|&class| class != NONE)
    }

    /// Whether a unit has a class on any level.
    pub fn has(&self, unit: u64) -> bool {
        self.by_hash.find(unit).is_some()
    }

    /// The name of a class.
    ///
    /// # Panics
    ///
    /// If there is no such level or class.
    pub fn name(&self, level: usize, class: u32) -> &str {
        &self.levels[level].names[class as usize]
    }

    /// The class with a name.
    pub fn find(&self, level: usize, name: &str) -> Option<u32> {
        let names = &self.levels.get(level)?.names;
        names.binary_search_by(|other| (**other).cmp(name)).ok().map(|class| class as u32)
    }

    /// The words of a class, in the order of their bytes; none if there is no such class.
    pub fn members(&self, level: usize, class: u32) -> impl ExactSizeIterator<Item = &str> + '_ {
        let members = self.levels.get(level).and_then(|level| {
            let &[start, end] = level.starts.get(class as usize..)?.get(..2)? else { return None };
            Some(&level.members[start as usize..end as usize])
        });
        members.unwrap_or(&[]).iter().map(|&word| &*self.words[word as usize])
    }

    /// All words, with their classes on each level.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, Vec<Option<u32>>)> + '_ {
        self.words.iter().enumerate().map(|(at, word)| {
            let class = |level: &Level| Some(level.classes[at]).filter(|&class| class != NONE);
            (&**word, self.levels.iter().map(class).collect())
        })
    }

    /// BLAKE3 of the canonical bytes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The [digests](source_digest) of the texts that it was induced from; none if it was not.
    pub fn sources(&self) -> &[[u8; 32]] {
        &self.sources
    }

    /// Whether it was induced from a text, among others.
    pub fn is_from(&self, text: &[u8]) -> bool {
        self.sources.binary_search(&source_digest(text)).is_ok()
    }
}

impl Level {
    fn new(level: usize, entries: &[(Box<str>, Vec<Option<String>>)]) -> Result<Self, Error> {
        let named = |classes: &'_ Vec<Option<String>>| classes.get(level).cloned().flatten();
        let mut names: Vec<&str> =
            entries.iter().filter_map(|(_, classes)| classes.get(level)?.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() > MAX_CLASSES {
            return Err(Error::Classes { level, classes: names.len() });
        }
        let number = |classes: &Vec<Option<String>>| {
            named(classes)
                .and_then(|name| names.binary_search(&&*name).ok())
                .map_or(NONE, |class| class as u32)
        };
        let classes: Box<[u32]> = entries.iter().map(|(_, classes)| number(classes)).collect();
        let mut starts = vec![0; names.len() + 1];
        classes
            .iter()
            .filter(|&&class| class != NONE)
            .for_each(|&class| starts[class as usize + 1] += 1);
        (1..starts.len()).for_each(|class| starts[class] += starts[class - 1]);
        let mut members = vec![0; starts[names.len()] as usize];
        let mut next = starts.clone();
        for (word, &class) in classes.iter().enumerate().filter(|&(_, &class)| class != NONE) {
            members[next[class as usize] as usize] = word as u32;
            next[class as usize] += 1;
        }
        let names = names.into_iter().map(Box::from).collect();
        Ok(Level { names, classes, members: members.into(), starts: starts.into() })
    }
}

/// The normal form of a word; an error if it is not exactly one unit, or too long.
fn check_word(word: &str) -> Result<String, Error> {
    let form = normal_form(word);
    if form.len() > MAX_BYTES {
        return Err(Error::LongWord { word: beginning(word), bytes: form.len() });
    }
    // Units are separated by one space each.
    let units = form.split_terminator(' ').count();
    if units == 1 { Ok(form) } else { Err(Error::NotOneUnit { word: word.to_owned(), units }) }
}

fn check_name(word: &str, class: &str) -> Result<(), Error> {
    let problem = if class.is_empty() {
        NameProblem::Empty
    } else if class.len() > MAX_BYTES {
        NameProblem::Long
    } else if class.contains(char::is_control) {
        NameProblem::Control
    } else if class.trim() != class {
        NameProblem::Blank
    } else {
        return Ok(());
    };
    Err(Error::Name { word: word.to_owned(), class: beginning(class), problem })
}

/// As much of a text as an error shows.
fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

fn conflict(first: &(Box<str>, Vec<Option<String>>), second: &[Option<String>]) -> Error {
    let class = |classes: &[Option<String>], level: usize| classes.get(level).cloned().flatten();
    let differs = |&level: &usize| class(&first.1, level) != class(second, level);
    let level = (0..MAX_LEVELS).find(differs).unwrap_or(0);
    let name = |classes: &[Option<String>]| class(classes, level).unwrap_or("(none)".to_owned());
    Error::Conflict {
        word: first.0.to_string(),
        level,
        first: name(&first.1),
        second: name(second),
    }
}
