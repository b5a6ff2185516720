//! The ways in which a lexicon can be wrong.

use super::{MAX_BYTES, MAX_CLASSES, MAX_LEVELS, MAX_WORDS};
use thiserror::Error;

/// Entries that make no lexicon, or bytes that are none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No word has a class.
    #[error("no word has a class: a lexicon needs at least one")]
    Empty,
    /// A word that is none, or several.
    #[error(
        "{word:?} is {}: a lexicon has classes for single words and for single runs of symbols",
        number_of_units(*.units)
    )]
    NotOneUnit {
        /// The word.
        word: String,
        /// How many units it has.
        units: usize,
    },
    /// A word of too many bytes.
    #[error("the word {word:?}… has {bytes} bytes: {MAX_BYTES} at most")]
    LongWord {
        /// Its beginning.
        word: String,
        /// Its length.
        bytes: usize,
    },
    /// A class that cannot have its name.
    #[error("the class {class:?} of {word:?} {problem}")]
    Name {
        /// The word.
        word: String,
        /// The name, or its beginning.
        class: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A word with two classes on one level.
    #[error(
        "{word:?} has two classes on level {level}, {first:?} and {second:?}: choose one of them"
    )]
    Conflict {
        /// The word in normal form.
        word: String,
        /// The level, from 0.
        level: usize,
        /// One class; `(none)` if there is none.
        first: String,
        /// The other.
        second: String,
    },
    /// Two words that a lexicon cannot tell apart.
    #[error("{first:?} and {second:?} have the same hash: leave one of them out")]
    Collision {
        /// One word.
        first: String,
        /// The other.
        second: String,
    },
    /// More levels than [`MAX_LEVELS`].
    #[error("{word:?} has classes on {levels} levels: {MAX_LEVELS} at most")]
    Levels {
        /// A word with so many.
        word: String,
        /// How many.
        levels: usize,
    },
    /// More words than [`MAX_WORDS`].
    #[error("more than {MAX_WORDS} words, which is the most that a lexicon can have")]
    Words,
    /// More classes than [`MAX_CLASSES`].
    #[error(
        "{classes} classes on level {level}: {MAX_CLASSES} at most; cut a hierarchy at a smaller depth"
    )]
    Classes {
        /// The level, from 0.
        level: usize,
        /// How many.
        classes: usize,
    },
    /// Bytes that are no lexicon in canonical form.
    #[error("not a lexicon in canonical form: its first line is not `{}`", super::canonical::MAGIC)]
    NotCanonical,
    /// A lexicon of a later version.
    #[error("a lexicon of version {0}, which a later MeMo has written: this one reads version 1")]
    Version(u32),
    /// A line that the canonical form does not have.
    #[error("line {line}: {problem}; `memo lexicon convert` makes a lexicon of a table")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// What is wrong with the name of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameProblem {
    /// It has no characters.
    #[error("has no name")]
    Empty,
    /// It is longer than [`MAX_BYTES`].
    #[error("has a name of more than {MAX_BYTES} bytes")]
    Long,
    /// It has characters that would break its line.
    #[error("has a control character, such as a tab or a line end, in its name")]
    Control,
    /// It has white space at an end.
    #[error("has white space at an end of its name")]
    Blank,
}

fn number_of_units(units: usize) -> String {
    if units == 0 { "no word".to_owned() } else { format!("{units} units of text") }
}
