//! Documents from files, folders, JSONL and standard input, one at a time.
//!
//! A memory keeps what it is given, so a reader must not guess. Its rules:
//!
//! | what it meets | what it does |
//! |---|---|
//! | text file, standard input | one document |
//! | `.jsonl`, `.ndjson` (or [`Format::Jsonl`]) | one document a line; blank lines are no records |
//! | folder | its files, recursively, in the order of their paths |
//! | hidden name, symbolic link, device, socket in a folder | skipped and reported; never opened |
//! | NUL in the first 8 KiB | binary: refused, or in a folder skipped and reported |
//! | UTF-8 byte order mark | not part of the text |
//! | UTF-16 or UTF-32 byte order mark | refused; the message says how to convert |
//! | invalid UTF-8 | refused at its byte, or U+FFFD with [`Encoding::Utf8Lossy`] |
//! | nothing left to remember | skipped and reported as empty |
//! | larger than [`ReadOptions::max_bytes`] | refused |
//!
//! With [`Encoding::Raw`], for the tokenizer `bytes`, content is taken byte for byte: there is no
//! binary, no byte order mark and no invalid text. JSONL stays UTF-8, because JSON is.
//!
//! A symbolic link in a folder is not followed, so a walk ends and stays inside its folder.
//! An error about one file or line does not end the reading: whoever wants all or nothing stops at
//! the first. At any time there is one document in memory, and the names in the folders on the way
//! to it.

mod document;
mod error;
mod folder;
mod jsonl;
mod pairs;
mod sniff;
mod text;

pub use document::{Content, Document, Item, SkipReason, Skipped, Source};
pub use error::ReadError;
pub use pairs::Pair;

use folder::{Entry, Folder};
use jsonl::Jsonl;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// What standard input is called in ids and messages.
const STDIN: &str = "stdin";

/// How a file is cut into documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// By its name: `.jsonl` and `.ndjson` are JSONL, all else is text, standard input too.
    #[default]
    Auto,
    /// The whole file is one document.
    Text,
    /// Each line is a JSON object and a document.
    Jsonl,
}

/// How bytes become content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8; anything else is an error.
    #[default]
    Utf8,
    /// UTF-8, with U+FFFD in place of what is not.
    Utf8Lossy,
    /// Bytes as they are, for the tokenizer `bytes`.
    Raw,
}

/// What a [`Reader`] is told. The defaults read UTF-8 and a JSONL field `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// How a file is cut into documents.
    pub format: Format,
    /// How bytes become content.
    pub encoding: Encoding,
    /// The JSONL field that holds the text, a string.
    pub text_field: String,
    /// The JSONL field that holds the document's id, a string or an integer. Without it, the id is
    /// the file's and the line's: `notes.jsonl#3`.
    pub id_field: Option<String>,
    /// The JSONL field that holds labels, a string or a list of them. A line may lack it.
    pub label_field: Option<String>,
    /// Labels of every document.
    pub labels: Vec<String>,
    /// The largest document, or JSONL line, in bytes.
    pub max_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: Format::default(),
            encoding: Encoding::default(),
            text_field: "text".to_owned(),
            id_field: None,
            label_field: None,
            labels: Vec::new(),
            max_bytes: 1 << 28,
        }
    }
}

impl ReadOptions {
    fn is_jsonl(&self, path: &Path) -> bool {
        let named = |extension: &OsStr| {
            extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson")
        };
        match self.format {
            Format::Auto => path.extension().is_some_and(named),
            Format::Text => false,
            Format::Jsonl => true,
        }
    }
}

/// Reads documents, one at a time.
///
/// ```
/// use memo_text::{Item, ReadOptions, Reader};
///
/// let lines = "{\"text\": \"The owl reads.\"}\n{\"text\": \"\"}\n";
/// let options = ReadOptions { format: memo_text::Format::Jsonl, ..ReadOptions::default() };
/// let mut reader = Reader::from_read(lines.as_bytes(), "notes.jsonl", options);
///
/// let Some(Ok(Item::Document(document))) = reader.next() else { panic!() };
/// assert_eq!(document.id, "notes.jsonl#1");
/// assert_eq!(document.content.as_text(), Some("The owl reads."));
/// let Some(Ok(Item::Skipped(skipped))) = reader.next() else { panic!() };
/// assert_eq!(skipped.to_string(), "notes.jsonl:2: skipped, it is empty");
/// assert!(reader.next().is_none());
/// ```
pub struct Reader {
    options: ReadOptions,
    /// The folder being walked, if it is one.
    folder: Option<Folder>,
    /// The file being read.
    current: Option<Current>,
}

/// A file of which documents are still to come.
enum Current {
    Opened(Opened),
    Jsonl(Box<Jsonl<BoxedRead>>),
}

type BoxedRead = BufReader<Box<dyn Read + Send>>;

/// A file that was not read yet, with the names it goes by.
struct Opened {
    read: BoxedRead,
    path: PathBuf,
    id: String,
}

impl Reader {
    /// Opens a file, a folder, or standard input if `path` is `-`.
    ///
    /// A file's document has its name as id; in a folder, its path inside the folder, with `/`.
    pub fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Ok(Self::from_read(std::io::stdin(), STDIN, options));
        }
        let is_folder = std::fs::metadata(path).map_err(|e| ReadError::io(path, e))?.is_dir();
        let mut reader = Self { options, folder: None, current: None };
        if is_folder {
            reader.folder = Some(Folder::open(path)?);
        } else {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let id = name.to_str().ok_or_else(|| ReadError::Name { path: path.to_owned() })?;
            reader.open_file(path.to_owned(), id.to_owned())?;
        }
        Ok(reader)
    }

    /// Reads from anything; `name` stands for the file in ids, messages and the choice of format.
    pub fn from_read(read: impl Read + Send + 'static, name: &str, options: ReadOptions) -> Self {
        let opened = Opened {
            read: BufReader::new(Box::new(read)),
            path: PathBuf::from(name),
            id: name.to_owned(),
        };
        Self { options, folder: None, current: Some(Current::Opened(opened)) }
    }

    fn open_file(&mut self, path: PathBuf, id: String) -> Result<(), ReadError> {
        let file = File::open(&path).map_err(|e| ReadError::io(&path, e))?;
        let read = BufReader::new(Box::new(file) as Box<dyn Read + Send>);
        self.current = Some(Current::Opened(Opened { read, path, id }));
        Ok(())
    }

    /// The next item of the current file, which is dropped when it has no more.
    fn next_of_file(&mut self) -> Option<Result<Item, ReadError>> {
        let mut jsonl = match self.current.take()? {
            Current::Jsonl(jsonl) => jsonl,
            Current::Opened(Opened { read, path, id }) if self.options.is_jsonl(&path) => {
                match Jsonl::new(read, path, id) {
                    Ok(jsonl) => Box::new(jsonl),
                    Err(error) => return Some(Err(error)),
                }
            }
            Current::Opened(Opened { read, path, id }) => {
                return Some(text::read(read, path, id, &self.options));
            }
        };
        let item = jsonl.next(&self.options)?;
        self.current = Some(Current::Jsonl(jsonl));
        Some(item)
    }
}

impl Iterator for Reader {
    type Item = Result<Item, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.next_of_file() {
                // What a user pointed at is refused; what lies in a folder beside text is skipped.
                return Some(match item {
                    Err(ReadError::Binary { path }) if self.folder.is_some() => {
                        Ok(Item::Skipped(Skipped {
                            source: path.into(),
                            reason: SkipReason::Binary,
                        }))
                    }
                    item => item,
                });
            }
            match self.folder.as_mut()?.next()? {
                Ok(Entry::File { path, id }) => {
                    if let Err(error) = self.open_file(path, id) {
                        return Some(Err(error));
                    }
                }
                Ok(Entry::Skipped(skipped)) => return Some(Ok(Item::Skipped(skipped))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("options", &self.options).finish_non_exhaustive()
    }
}
