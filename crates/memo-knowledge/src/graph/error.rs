//! Errors of files of triples.

use super::GraphFormat;
use std::fmt;

/// A file of triples that could not be read: where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// The format that the file was read as; `None` for the text form that a model stores.
    pub format: Option<GraphFormat>,
    /// The line, from 1; `None` if the parser does not know it.
    pub line: Option<u64>,
    /// What is wrong.
    pub kind: GraphErrorKind,
}

/// What is wrong with a file of triples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// The file is longer than [`MAX_BYTES`](crate::MAX_BYTES).
    #[error(
        "{bytes} bytes are too many for one graph; divide the file into parts of at most {limit} bytes"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// A text format that is not UTF-8.
    #[error("this is not UTF-8; save the file in that encoding")]
    Encoding,
    /// The format's syntax is not kept.
    #[error("{problem}; correct the file, or name its format if this is another")]
    Syntax {
        /// The parser's message.
        problem: String,
    },
    /// A JSON-LD file whose context is elsewhere.
    #[error(
        "its context is at another address, which is not asked; put the context into the file, or convert it to Turtle or N-Triples"
    )]
    RemoteContext,
    /// A file with more parts that depend on each other than can be read safely.
    #[error(
        "it has more than {limit} {what}, which cannot be read safely; convert the file to N-Triples"
    )]
    Nesting {
        /// The parts.
        what: &'static str,
        /// The most that is read.
        limit: usize,
    },
    /// An XML file whose entities are not safe to replace by their texts.
    #[error(
        "it has {what}, which cannot be read safely; replace them by their texts, or convert the file to Turtle or N-Triples"
    )]
    Entities {
        /// What is wrong with them.
        what: &'static str,
    },
    /// A row that has not three columns.
    #[error(
        "this row has {columns} columns; write subject, predicate and object in three, with tabs between them, or commas in CSV"
    )]
    Columns {
        /// How many it has.
        columns: usize,
    },
    /// A term that is empty or that could be read in two ways.
    #[error("the {position} {term:?} {problem}")]
    Term {
        /// Which of the three.
        position: &'static str,
        /// The term, shortened.
        term: String,
        /// What is wrong with it, and what to write instead.
        problem: String,
    },
    /// A language that is no language tag.
    #[error("{language:?} is no language; write a tag such as `en` or `pt-BR`")]
    Language {
        /// What was given.
        language: String,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.format.map_or("graph", GraphFormat::name))?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for GraphError {}
