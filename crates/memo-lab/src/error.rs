//! Errors of experiments: those of the engines, and those of files.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// An experiment that could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The sparse or the superposed engine refused.
    #[error(transparent)]
    Sparse(#[from] memo::sparse::Error),
    /// The dense engine refused.
    #[error(transparent)]
    Dense(#[from] memo::Error),
    /// A model directory refused.
    #[error(transparent)]
    Store(#[from] memo_store::Error),
    /// A file of questions and answers could not be read.
    #[error(transparent)]
    Read(#[from] memo_text::CorpusError),
    /// A text could not be encoded.
    #[error(transparent)]
    Tokenizer(#[from] memo_text::TokenizerError),
    /// No lexicon could be induced.
    #[error(transparent)]
    Induce(#[from] memo::lexicon::InduceError),
    /// Words and classes make no lexicon.
    #[error(transparent)]
    Lexicon(#[from] memo::lexicon::Error),
    /// A lexicon could not be read.
    #[error(transparent)]
    ReadLexicon(#[from] memo_text::LexiconError),
    /// A memory is not what it must be, bit for bit.
    #[error(
        "{what}: the digest is {found}, and should be {expected}; this is a fault of the engine, please report it"
    )]
    NotExact {
        /// The operation after which the digest is wrong.
        what: String,
        /// The digest that it should have.
        expected: String,
        /// The digest that it has.
        found: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The folder holds results of a run with other options.
    #[error(
        "{} was begun with other options ({found}; now {wanted}): give another --out, or delete it to begin again", path.display()
    )]
    OtherJournal {
        /// The journal.
        path: PathBuf,
        /// The options that it was begun with.
        found: String,
        /// The options of this run.
        wanted: String,
    },
    /// A line of a file is not what it should be.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The threads that were asked for could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        reason: String,
    },
    /// A figure could not be drawn.
    #[error("could not draw {name}: {reason}")]
    Figure {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// For `map_err` on operations with a file.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        |source| Error::File { path: path.to_owned(), source }
    }
}

impl From<memo::ConfigError> for Error {
    fn from(error: memo::ConfigError) -> Self {
        Error::Dense(error.into())
    }
}
