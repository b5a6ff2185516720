//! From given paths to the files that are read, and to the ids of their documents.
//!
//! An id says where a file stood below what was given: a file has its name, a file of a folder its path inside that
//! folder, and a file that a glob found its path inside the folder before the first wildcard. So `notes` and
//! `notes/**/*` name the same documents, wherever they are given from, and giving them again changes nothing.

use super::glob::Glob;
use super::rules::{Selection, is_model};
use super::walk::{Filter, FoundFile, Walk};
use super::{CorpusError, CorpusErrorKind, CorpusOptions, Skip};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of standard input in ids and messages.
pub(super) const STDIN: &str = "stdin";

/// A file of a corpus, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusFile {
    /// The file as messages name it; `-` is standard input.
    pub path: PathBuf,
    /// Its canonical path; `None` for standard input and pipes.
    pub source: Option<PathBuf>,
    /// The id of its document, or what the ids of its lines begin with.
    pub id: String,
    /// Whether it was found in a folder or by a glob: then it is skipped if it cannot be read. What was given by
    /// its own name is an error.
    pub found: bool,
    /// Only some lines of a JSONL file; `None` is all of it.
    pub lines: Option<CorpusLines>,
}

/// A range of whole lines of a JSONL file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusLines {
    /// The byte at which the first of them begins.
    pub start: u64,
    /// The byte after the last of them.
    pub end: u64,
    /// The number of the first of them, from 1.
    pub first: u64,
}

/// One step of finding files.
pub(super) enum FileEntry {
    File(CorpusFile),
    Skipped(Skip),
}

/// The files of a corpus, each once however often it is reached.
pub(super) struct Files {
    given: std::vec::IntoIter<Given>,
    walk: Option<(Walk, Pending)>,
    seen: HashSet<PathBuf>,
    strict: bool,
}

/// A path that was given.
enum Given {
    File(CorpusFile),
    Walk(Walk, Pending),
}

/// A glob that has not matched any file yet, which is an error at the end.
type Pending = Option<PathBuf>;

impl Files {
    pub(super) fn new<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        options: &CorpusOptions,
    ) -> Result<Self, CorpusError> {
        let selection = Selection::new(options)?;
        let given = paths.into_iter().map(|path| {
            let path = path.as_ref();
            let filter =
                Filter { glob: None, selection: selection.clone(), ignore: options.ignore };
            Given::new(path, filter).map_err(|kind| kind.at_path(path))
        });
        let given: Vec<Given> = given.collect::<Result<_, _>>()?;
        let (walk, seen) = (None, HashSet::new());
        Ok(Self { given: given.into_iter(), walk, seen, strict: options.strict })
    }
}

impl Given {
    fn new(path: &Path, filter: Filter) -> Result<Self, CorpusErrorKind> {
        let file = |source: Option<PathBuf>, id: &str| {
            let (path, id) = (path.to_owned(), id.to_owned());
            Self::File(CorpusFile { path, source, id, found: false, lines: None })
        };
        if path == Path::new("-") {
            return Ok(file(None, STDIN));
        }
        // A file of exactly this name wins over the glob.
        if path.symlink_metadata().is_err()
            && let Some(glob) = Glob::parse(path)
        {
            let (folder, glob) = glob?;
            return Self::glob(path, folder, Filter { glob: Some(glob), ..filter });
        }
        let kind = fs::metadata(path).map_err(CorpusErrorKind::Io)?.file_type();
        if kind.is_dir() {
            let source = path.canonicalize().map_err(CorpusErrorKind::Io)?;
            if is_model(&source) {
                return Err(CorpusErrorKind::Model);
            }
            let walk = Walk::new(path.to_owned(), source, filter).map_err(CorpusErrorKind::Io)?;
            return Ok(Self::Walk(walk, None));
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        let id = name.to_str().ok_or(CorpusErrorKind::Name)?;
        // A pipe can only be read once.
        let source = if kind.is_file() { path.canonicalize().ok() } else { None };
        Ok(file(source, id))
    }

    fn glob(path: &Path, folder: PathBuf, filter: Filter) -> Result<Self, CorpusErrorKind> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let source = fs::canonicalize(here);
        if source.as_ref().is_ok_and(|source| is_model(source)) {
            return Err(CorpusErrorKind::Model);
        }
        match source.and_then(|source| Walk::new(folder, source, filter)) {
            Ok(walk) => Ok(Self::Walk(walk, Some(path.to_owned()))),
            Err(error) if is_missing(&error) => Err(CorpusErrorKind::NoMatch),
            Err(error) => Err(CorpusErrorKind::Io(error)),
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Iterator for Files {
    type Item = Result<FileEntry, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let file = match &mut self.walk {
                None => match self.given.next()? {
                    Given::File(file) => file,
                    Given::Walk(walk, pending) => {
                        self.walk = Some((walk, pending));
                        continue;
                    }
                },
                Some((walk, pending)) => match walk.next() {
                    Some(Ok(FoundFile { path, canonical, inside })) => {
                        *pending = None;
                        let (source, lines) = (Some(canonical), None);
                        CorpusFile { path, source, id: inside, found: true, lines }
                    }
                    Some(Err(skip)) => {
                        return Some(skip.checked(self.strict).map(FileEntry::Skipped));
                    }
                    None => match self.walk.take() {
                        Some((_, Some(glob))) => {
                            return Some(Err(CorpusErrorKind::NoMatch.at(glob)));
                        }
                        _ => continue,
                    },
                },
            };
            if file.source.clone().is_none_or(|source| self.seen.insert(source)) {
                return Some(Ok(FileEntry::File(file)));
            }
        }
    }
}
