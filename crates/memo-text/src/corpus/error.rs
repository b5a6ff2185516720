//! Errors of reading a corpus, one variant per cause. Each message includes its reason, so no error has a `source()`
//! that would repeat it.

use super::Location;
use std::io;
use std::path::Path;

/// A file or line that cannot be read. The message names the place and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {kind}")]
pub struct CorpusError {
    /// The file or folder, and the line in JSONL.
    pub location: Location,
    /// What is wrong with it.
    pub kind: CorpusErrorKind,
}

/// Why something cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusErrorKind {
    /// The system refuses.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// The file holds a NUL near its start.
    #[error("this is a binary file, not text; convert it to text, or use the tokenizer bytes")]
    Binary,
    /// The file is a PDF.
    #[error("this is a PDF, which is not read; save its text first, for example with: pdftotext")]
    Pdf,
    /// The file is no Word document, or a damaged one.
    #[error("this is no Word document that can be read: {reason}; save it again, or as text")]
    Word {
        /// What is wrong with it.
        reason: String,
    },
    /// The folder is a model.
    #[error("this is a model, not text; `memo merge` adds its documents to another model")]
    Model,
    /// The file starts with the byte order mark of another encoding.
    #[error(
        "this file is {encoding}; convert it to UTF-8 first, \
         for example with: iconv -f {encoding} -t UTF-8"
    )]
    OtherEncoding {
        /// The encoding's name, `UTF-16` or `UTF-32`.
        encoding: &'static str,
    },
    /// The text is not UTF-8.
    #[error(
        "the byte at offset {offset} is not valid UTF-8; convert the file to UTF-8, \
         for example with: iconv -f LATIN1 -t UTF-8, or use the tokenizer bytes"
    )]
    InvalidUtf8 {
        /// The first bad byte, counted from the start of the file.
        offset: u64,
    },
    /// The document or line exceeds the limit.
    #[error("larger than the limit of {max} bytes; split it, or raise the limit")]
    TooLarge {
        /// The limit.
        max: u64,
    },
    /// A line of JSONL is not JSON.
    #[error("not a JSON object: {reason}; each line must be one, like {{\"text\": \"…\"}}")]
    NotJson {
        /// What the parser found.
        reason: String,
    },
    /// A line of JSONL lacks a field.
    #[error("there is no field {field:?}; {}", listed(present))]
    NoField {
        /// The field that was asked for.
        field: String,
        /// The fields that are there.
        present: Vec<String>,
    },
    /// A field of a line of JSONL holds the wrong kind of value.
    #[error("the field {field:?} must be {expected}")]
    FieldType {
        /// The field.
        field: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A line is not a question with its answer.
    #[error("not a question with its answer: {reason}")]
    Pair {
        /// What is wrong with it.
        reason: String,
    },
    /// A file name cannot be an id.
    #[error("the name is not valid UTF-8, so it cannot be a document's id; rename it")]
    Name,
    /// A glob cannot be understood.
    #[error("not a glob: {reason}")]
    Glob {
        /// What is wrong with it.
        reason: String,
    },
    /// A glob finds nothing.
    #[error(
        "no file matches; * stays within a name, **/ goes through folders, and a hidden name needs its dot"
    )]
    NoMatch,
    /// Two documents would have one id, and one would become a version of the other.
    #[error(
        "{first} is the document {id:?} already, with other content; give the folder that holds both, \
         or one of them a prefix or an id of its own"
    )]
    Duplicate {
        /// The id.
        id: String,
        /// The document that has it already.
        first: Location,
    },
}

fn listed(fields: &[String]) -> String {
    if fields.is_empty() {
        return "the object is empty".to_owned();
    }
    format!("the fields are: {}", fields.join(", "))
}

impl CorpusErrorKind {
    pub(super) fn at(self, location: impl Into<Location>) -> CorpusError {
        CorpusError { location: location.into(), kind: self }
    }

    pub(super) fn at_path(self, path: &Path) -> CorpusError {
        self.at(path.to_owned())
    }
}
