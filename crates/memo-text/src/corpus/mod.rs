//! Documents from files, folders, globs, JSONL and standard input, one at a time.
//!
//! A memory keeps exactly what it is given, so reading follows fixed rules and guesses nothing:
//!
//! | what is met | what is done |
//! |---|---|
//! | text file, standard input | one document |
//! | `.jsonl`, `.ndjson` (or any file with [`CorpusOptions::jsonl`]) | one document a line; blank lines are no records |
//! | `.html`, `.htm` | one document: the text as a reader sees it, without markup, scripts and styles |
//! | `.docx` | one document: the paragraphs of a Word document, a line each |
//! | folder | its files, recursively, in the order of their paths |
//! | glob (`notes/**/*.md`), unless a file has that very name | the files of the folder before the first wildcard that match |
//! | file that is reached twice | read once |
//! | in a folder: hidden name, symbolic link, device, socket, model directory, what a `.gitignore` or `.ignore` names | skipped and reported; never opened |
//! | NUL in the first 8 KiB | binary: refused, or in a folder skipped and reported |
//! | PDF | refused, or in a folder skipped and reported; the message says how to convert |
//! | UTF-8 byte order mark | not part of the text |
//! | UTF-16 or UTF-32 byte order mark | a failure; the message says how to convert |
//! | invalid UTF-8 | a failure, at its byte |
//! | larger than [`CorpusOptions::max_bytes`] | a failure |
//! | nothing left to remember | skipped and reported as empty |
//! | two documents of one id | one if their contents are equal, else an error |
//!
//! A failure in what was given by its own name is an error. In what was found in a folder or by a glob it is skipped
//! and reported, and [`SkipReason::is_failure`] tells it from what a rule left out; with [`CorpusOptions::strict`] it is
//! an error too. An error does not end the reading: whoever wants all or nothing stops at the first.
//!
//! Ignore files count from the folder that was given on, and in a git repository from its top. The nearest that mentions
//! a file decides, and an `.ignore` before the `.gitignore` beside it.
//!
//! With [`Encoding::Raw`], for the tokenizer `bytes`, content is taken byte for byte: there is no binary, no markup, no byte
//! order mark and no invalid text. JSONL stays UTF-8, because JSON is.
//!
//! At any time there is one document in memory, the ids of those before it, and the names in the folders on the way to it.

mod document;
mod docx;
mod error;
mod files;
mod glob;
mod html;
mod jsonl;
mod pairs;
mod reading;
mod rules;
mod sniff;
mod text;
mod walk;

pub use document::{Content, CorpusDocument, CorpusEntry, Location, Skip, SkipReason};
pub use error::{CorpusError, CorpusErrorKind};
pub use files::{CorpusFile, CorpusLines};
pub use pairs::Pair;

use files::{FileEntry, Files};
use reading::OpenFile;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::hash::BuildHasher;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How bytes become content. [`Tokenizer::encoding`](crate::Tokenizer::encoding) says what a tokenizer can encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8; anything else is an error.
    #[default]
    Utf8,
    /// Bytes as they are.
    Raw,
}

/// How a [`Corpus`] is read. The defaults read UTF-8 and the JSONL fields `text` and `id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusOptions {
    /// How bytes become content.
    pub encoding: Encoding,
    /// Whether every file is JSONL; otherwise those named `.jsonl` and `.ndjson` are.
    pub jsonl: bool,
    /// The JSONL field that holds the text, a string.
    pub text_field: String,
    /// The JSONL field that holds a document's id, a string or an integer, which every line must have. Without this
    /// option, lines that have such a field `id` use it, and the id of others is the file's and the line's:
    /// `notes.jsonl#3`.
    pub id_field: Option<String>,
    /// The JSONL fields, strings, numbers or booleans, that become labels of the same name. A line may lack them.
    pub label_fields: Vec<String>,
    /// A prefix of all ids.
    pub prefix: String,
    /// Of what is found in folders and by globs, only files that match one of these, in the notation of a
    /// `.gitignore`; all if there are none.
    pub include: Vec<String>,
    /// Of what is found in folders and by globs, nothing that matches one of these.
    pub exclude: Vec<String>,
    /// Whether `.gitignore` and `.ignore` files count.
    pub ignore: bool,
    /// Whether a failure in something that was found is an error.
    pub strict: bool,
    /// The largest document, or JSONL line, in bytes.
    pub max_bytes: u64,
}

impl Default for CorpusOptions {
    fn default() -> Self {
        Self {
            encoding: Encoding::default(),
            jsonl: false,
            text_field: "text".to_owned(),
            id_field: None,
            label_fields: Vec::new(),
            prefix: String::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            ignore: true,
            strict: false,
            max_bytes: 1 << 28,
        }
    }
}

impl CorpusOptions {
    /// Whether a file of this name is read as one document a line.
    pub fn is_jsonl(&self, path: &Path) -> bool {
        let named = |extension: &OsStr| {
            extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson")
        };
        self.jsonl || path.extension().is_some_and(named)
    }
}

/// A corpus: documents to memorize, read one at a time.
///
/// ```
/// use memo_text::{Corpus, CorpusEntry, CorpusOptions};
///
/// let lines = "{\"text\": \"The owl reads.\"}\n{\"text\": \"\"}\n";
/// let mut corpus = Corpus::from_read(lines.as_bytes(), "notes.jsonl", CorpusOptions::default());
///
/// let Some(Ok(CorpusEntry::Document(document))) = corpus.next() else { panic!() };
/// assert_eq!(document.id, "notes.jsonl#1");
/// assert_eq!(document.content.as_text(), Some("The owl reads."));
/// let Some(Ok(CorpusEntry::Skipped(skip))) = corpus.next() else { panic!() };
/// assert_eq!(skip.to_string(), "notes.jsonl:2: it is empty");
/// assert!(corpus.next().is_none());
/// ```
pub struct Corpus {
    options: CorpusOptions,
    files: FileEntries,
    /// The file being read.
    current: Option<OpenFile>,
    /// The ids in use, with the place and a hash of the content of each.
    ids: HashMap<String, (Location, u64)>,
}

type FileEntries = Box<dyn Iterator<Item = Result<FileEntry, CorpusError>> + Send>;

impl Corpus {
    /// Opens files, folders, globs, and standard input where a path is `-`.
    pub fn open<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        options: CorpusOptions,
    ) -> Result<Self, CorpusError> {
        let files = Files::new(paths, &options)?;
        Ok(Self::new(Box::new(files), None, options))
    }

    /// Reads from anything; `name` stands for the file in ids, messages and the choice of format.
    pub fn from_read(read: impl Read + Send + 'static, name: &str, options: CorpusOptions) -> Self {
        let (path, id) = (PathBuf::from(name), name.to_owned());
        let file = CorpusFile { path, source: None, id, found: false, lines: None };
        let current = OpenFile::new(file, Box::new(read));
        Self::new(Box::new(std::iter::empty()), Some(current), options)
    }

    /// Reads files that [`files`](Self::files) found, or some lines of them.
    pub fn from_files(files: Vec<CorpusFile>, options: CorpusOptions) -> Self {
        let files = files.into_iter().map(|file| Ok(FileEntry::File(file)));
        Self::new(Box::new(files), None, options)
    }

    /// The files that would be read, and what would be skipped without being opened.
    pub fn files<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        options: &CorpusOptions,
    ) -> Result<(Vec<CorpusFile>, Vec<Skip>), CorpusError> {
        let (mut files, mut skipped) = (Vec::new(), Vec::new());
        for file in Files::new(paths, options)? {
            match file? {
                FileEntry::File(file) => files.push(file),
                FileEntry::Skipped(skip) => skipped.push(skip),
            }
        }
        Ok((files, skipped))
    }

    fn new(files: FileEntries, current: Option<OpenFile>, options: CorpusOptions) -> Self {
        Self { options, files, current, ids: HashMap::new() }
    }

    /// All documents; the first error ends the reading, and what is skipped is left out.
    pub fn documents(self) -> Result<Vec<CorpusDocument>, CorpusError> {
        let mut documents = Vec::new();
        for entry in self {
            if let CorpusEntry::Document(document) = entry? {
                documents.push(document);
            }
        }
        Ok(documents)
    }

    /// Decides what happens to something that cannot be read: a path that was given by name is an error, a file that was
    /// found in a folder is skipped.
    fn failure(&self, found: bool, error: CorpusError) -> Result<CorpusEntry, CorpusError> {
        if !found {
            return Err(error);
        }
        let reason = match error.kind {
            CorpusErrorKind::Binary | CorpusErrorKind::Pdf => SkipReason::Binary,
            kind => SkipReason::Failure(kind),
        };
        let skip = Skip { location: error.location, reason };
        skip.checked(self.options.strict).map(CorpusEntry::Skipped)
    }

    /// Whether a document's id is new. An id with other content is refused, because one document would become a version
    /// of the other.
    fn admit(&mut self, document: &CorpusDocument) -> Result<bool, CorpusError> {
        let hash = self.ids.hasher().hash_one(&document.content);
        let CorpusDocument { id, location, .. } = document;
        match self.ids.get(id) {
            None => {
                self.ids.insert(id.clone(), (location.clone(), hash));
                Ok(true)
            }
            Some((_, before)) if *before == hash => Ok(false),
            Some((first, _)) => {
                let (id, first) = (id.clone(), first.clone());
                Err(CorpusErrorKind::Duplicate { id, first }.at(location.clone()))
            }
        }
    }
}

impl Iterator for Corpus {
    type Item = Result<CorpusEntry, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(mut file) = self.current.take() else {
                match self.files.next()? {
                    Ok(FileEntry::File(file)) => {
                        let found = file.found;
                        match OpenFile::open(file) {
                            Ok(file) => self.current = Some(file),
                            Err(error) => return Some(self.failure(found, error)),
                        }
                    }
                    Ok(FileEntry::Skipped(skip)) => return Some(Ok(CorpusEntry::Skipped(skip))),
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            let found = file.was_found();
            let Some(entry) = file.next(&self.options) else { continue };
            self.current = Some(file);
            return Some(match entry {
                Err(error) => self.failure(found, error),
                Ok(CorpusEntry::Document(document)) => match self.admit(&document) {
                    Ok(true) => Ok(CorpusEntry::Document(document)),
                    Ok(false) => continue,
                    Err(error) => Err(error),
                },
                Ok(skipped) => Ok(skipped),
            });
        }
    }
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus").field("options", &self.options).finish_non_exhaustive()
    }
}
