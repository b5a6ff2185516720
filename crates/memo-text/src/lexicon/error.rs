//! What can be wrong with a file that should be a lexicon.

use super::Location;
use memo::lexicon::MAX_LEVELS;
use std::io;
use std::path::Path;

/// A lexicon that cannot be read. The message names the place and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {kind}")]
pub struct LexiconError {
    /// The file, and the line where that is known.
    pub location: Location,
    /// What is wrong with it.
    pub kind: Box<LexiconErrorKind>,
}

/// Why a lexicon cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LexiconErrorKind {
    /// The system refuses.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// It is not text.
    #[error("this is a binary file; a lexicon is text: unpack it if it is compressed")]
    Binary,
    /// It starts with the byte order mark of another encoding.
    #[error(
        "this file is {encoding}; convert it to UTF-8 first, for example with: iconv -f {encoding} -t UTF-8"
    )]
    OtherEncoding {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// It is not UTF-8.
    #[error(
        "this line is not UTF-8; convert the file to UTF-8, for example with: iconv -f LATIN1 -t UTF-8"
    )]
    InvalidUtf8,
    /// It is RDF in XML.
    #[error(
        "RDF in XML is not read; convert it to Turtle, for example with: rapper -o turtle, or riot --output=turtle"
    )]
    Xml,
    /// It exceeds the limit.
    #[error("larger than the limit of {max} bytes")]
    TooLarge {
        /// The limit.
        max: u64,
    },
    /// A line that no table has.
    #[error("a line of more than {max} bytes: this is no table of words")]
    LongLine {
        /// The limit.
        max: usize,
    },
    /// A line without a class.
    #[error("there is no {between} after {word:?}: a line is a word, a {between} and its class")]
    NoField {
        /// What stands between fields.
        between: &'static str,
        /// What the line begins with.
        word: String,
    },
    /// Something else than the format allows.
    #[error("not {format}: {problem}")]
    Syntax {
        /// The format.
        format: &'static str,
        /// What the parser found.
        problem: String,
    },
    /// More levels than a lexicon has.
    #[error("{levels} levels: a lexicon has from 1 to {MAX_LEVELS}")]
    Levels {
        /// How many there are.
        levels: usize,
    },
    /// A word with several classes on a level.
    #[error(
        "{word:?} has several classes on level {level}, {first:?} and {second:?}: leave one out, or choose a rule with --on-conflict first or drop"
    )]
    Conflict {
        /// The word in normal form.
        word: String,
        /// The level, from 0.
        level: usize,
        /// The class that came first.
        first: String,
        /// The other.
        second: String,
    },
    /// A concept below several others.
    #[error(
        "{concept:?} is below several concepts, {first:?} and {second:?}: leave one out, or choose a rule with --on-conflict first or drop"
    )]
    Parents {
        /// The concept.
        concept: String,
        /// The one that came first.
        first: String,
        /// Another.
        second: String,
    },
    /// No label in the chosen language.
    #[error("no label is in the language {language:?}; there are: {present}")]
    Language {
        /// The chosen one.
        language: String,
        /// The languages of labels, with their number.
        present: String,
    },
    /// A folder without WordNet's files.
    #[error(
        "there is no {file}: WordNet's folder has data.noun, index.noun and so on; Debian has it as wordnet-base"
    )]
    NoWordNet {
        /// The file that is not there.
        file: String,
    },
    /// No entry that could be used.
    #[error("no word of it can have a class; left out are {nothing}")]
    Nothing {
        /// What was left out, and why.
        nothing: String,
    },
    /// What was read is no lexicon.
    #[error("{0}")]
    Lexicon(memo::lexicon::Error),
}

/// Names the place of a problem.
pub(super) trait At {
    fn at(self, location: Location) -> LexiconError;
    fn at_path(self, path: &Path) -> LexiconError;
}

impl At for LexiconErrorKind {
    fn at(self, location: Location) -> LexiconError {
        LexiconError { location, kind: Box::new(self) }
    }

    fn at_path(self, path: &Path) -> LexiconError {
        self.at(path.to_owned().into())
    }
}
