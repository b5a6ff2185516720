//! The entries of a corpus: documents, and skipped files with the reason.

use super::{CorpusError, CorpusErrorKind};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// One text to memorize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusDocument {
    /// Its name in the model.
    pub id: String,
    /// Its content.
    pub content: Content,
    /// Labels from the fields of a JSONL line.
    pub labels: BTreeMap<String, String>,
    /// The place where it was read, as messages name it.
    pub location: Location,
    /// Where it was read, the same from every working directory: the file's canonical path, and for a JSONL line `#`
    /// and its own id, or else its number. `None` for standard input and pipes.
    pub source: Option<String>,
}

/// The content of a document: text, or with [`Encoding::Raw`](super::Encoding::Raw) any bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes, for the tokenizer `bytes`.
    Raw(Vec<u8>),
}

impl Content {
    /// The bytes, which every tokenizer takes if they are UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }

    /// The text, if it was read as text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Raw(_) => None,
        }
    }
}

/// A file, and in JSONL a line of it. Shown as `file` or `file:line`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as it was given or found; `stdin` for standard input.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u64>,
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self { path, line: None }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// One step of reading a [`Corpus`](super::Corpus).
#[derive(Debug)]
pub enum CorpusEntry {
    /// A document.
    Document(CorpusDocument),
    /// Something that was skipped.
    Skipped(Skip),
}

/// Something that is not read, and why. Shown as `file: reason`.
#[derive(Debug)]
pub struct Skip {
    /// The file, folder or line.
    pub location: Location,
    /// The rule, or the error.
    pub reason: SkipReason,
}

impl Skip {
    /// Turns a failure into an error if `strict` is set.
    pub(super) fn checked(self, strict: bool) -> Result<Self, CorpusError> {
        match self.reason {
            SkipReason::Failure(kind) if strict => {
                Err(CorpusError { location: self.location, kind })
            }
            _ => Ok(self),
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.reason)
    }
}

/// Why something is not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkipReason {
    /// It is empty.
    Empty,
    /// Its name starts with a dot.
    Hidden,
    /// A `.gitignore` or `.ignore` names it.
    Ignored,
    /// It is not text.
    Binary,
    /// It is a model directory.
    Model,
    /// It is a symbolic link.
    Symlink,
    /// It is a device, a socket or a pipe.
    Special,
    /// Reading it failed.
    Failure(CorpusErrorKind),
}

impl SkipReason {
    /// Whether the corpus lacks something because reading it failed, not because of a rule.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failure(_))
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Hidden => "it is hidden",
            Self::Ignored => "it is ignored",
            Self::Binary => "it is binary",
            Self::Model => "it is a model",
            Self::Symlink => "it is a symbolic link",
            Self::Special => "it is neither a file nor a folder",
            Self::Failure(kind) => return kind.fmt(f),
        })
    }
}
