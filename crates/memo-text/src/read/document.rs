//! What a reader gives: documents, and what it passed over and why.

use std::fmt;
use std::path::PathBuf;

/// One text to memorize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name in the model.
    pub id: String,
    /// What it says.
    pub content: Content,
    /// Where it was read.
    pub source: Source,
    /// Labels, in the order given, each once.
    pub labels: Vec<String>,
}

/// What a document says: text, or with [`Encoding::Raw`](super::Encoding::Raw) any bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// A place that is read: a file, and in JSONL a line of it. Shown as `file` or `file:line`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file; `stdin` for standard input.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u64>,
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self { path, line: None }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// What comes out of a [`Reader`](super::Reader).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A document.
    Document(Document),
    /// Something that was passed over by a rule.
    Skipped(Skipped),
}

/// Something that was passed over. Shown as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// What was passed over.
    pub source: Source,
    /// The rule.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: skipped, {}", self.source, self.reason)
    }
}

/// Why something was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// There is nothing to remember.
    Empty,
    /// Its name starts with a dot.
    Hidden,
    /// It is not text.
    Binary,
    /// It points elsewhere.
    Symlink,
    /// It is a device, a socket or a pipe.
    Special,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Hidden => "it is hidden",
            Self::Binary => "it is binary",
            Self::Symlink => "it is a symbolic link",
            Self::Special => "it is neither a file nor a folder",
        })
    }
}
