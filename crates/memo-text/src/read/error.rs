//! What can go wrong when reading, one variant per way. Each message is complete, with its reason
//! inside, so no error has a `source()` that would say it twice.

use super::Source;
use std::io;
use std::path::{Path, PathBuf};

/// Why something cannot be read. Each message names the place and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refuses.
    #[error("{}: cannot read: {reason}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// The file holds a NUL near its start.
    #[error(
        "{}: this is a binary file, not text; convert it to text, or use the tokenizer bytes",
        path.display()
    )]
    Binary {
        /// The file.
        path: PathBuf,
    },
    /// The file starts with the byte order mark of another encoding.
    #[error(
        "{}: this file is {encoding}; convert it to UTF-8 first, \
         for example with: iconv -f {encoding} -t UTF-8",
        path.display()
    )]
    OtherEncoding {
        /// The file.
        path: PathBuf,
        /// The encoding's name, `UTF-16` or `UTF-32`.
        encoding: &'static str,
    },
    /// The text is not UTF-8.
    #[error(
        "{place}: the byte at offset {offset} is not valid UTF-8; convert the file to UTF-8, \
         for example with: iconv -f LATIN1 -t UTF-8, or use the tokenizer bytes"
    )]
    InvalidUtf8 {
        /// The file, and the line in JSONL.
        place: Source,
        /// The first bad byte, counted from the start of the file.
        offset: u64,
    },
    /// The document or line exceeds the limit.
    #[error("{place}: larger than the limit of {max} bytes; split it, or raise the limit")]
    TooLarge {
        /// The file, and the line in JSONL.
        place: Source,
        /// The limit.
        max: u64,
    },
    /// A line of JSONL is not JSON.
    #[error(
        "{place}: not a JSON object: {reason}; each line must be one, like {{\"text\": \"…\"}}"
    )]
    NotJson {
        /// The file and line.
        place: Source,
        /// What the parser found.
        reason: String,
    },
    /// A line of JSONL lacks a field.
    #[error("{place}: there is no field {field:?}; {}", listed(present))]
    NoField {
        /// The file and line.
        place: Source,
        /// The field that was asked for.
        field: String,
        /// The fields that are there.
        present: Vec<String>,
    },
    /// A field of a line of JSONL holds the wrong kind of value.
    #[error("{place}: the field {field:?} must be {expected}")]
    FieldType {
        /// The file and line.
        place: Source,
        /// The field.
        field: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A line is not a question with its answer.
    #[error("{}, line {line}: {reason}", path.display())]
    Pair {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file name cannot be an id.
    #[error("{}: the name is not valid UTF-8, so it cannot be a document's id; rename it", path.display())]
    Name {
        /// The file or folder.
        path: PathBuf,
    },
}

fn listed(fields: &[String]) -> String {
    if fields.is_empty() {
        return "the object is empty".to_owned();
    }
    format!("the fields are: {}", fields.join(", "))
}

impl ReadError {
    pub(super) fn io(path: &Path, reason: io::Error) -> Self {
        Self::Io { path: path.to_owned(), reason }
    }
}
