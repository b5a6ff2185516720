//! `memo memorize --sync`: documents whose text is gone from the folders and files that are given.
//!
//! A document belongs to them if the label that says where it was read lies below one of them. Its text is gone if its
//! file is, or if its file was read to the end and had no such document any more: a line of a JSONL that was removed, a
//! file that was emptied. What could not be read, or was left out by a rule, is not gone.

use anyhow::{Context, bail};
use memo_store::{Document, DocumentState, FILE_LABEL};
use memo_text::{CorpusEntry, SkipReason};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The sources that a run has read, to compare with those of the model's documents.
pub(super) struct FolderSync {
    /// The folders and files that are given.
    roots: Vec<PathBuf>,
    sources: HashSet<String>,
    files: HashSet<PathBuf>,
    failed: HashSet<PathBuf>,
}

impl FolderSync {
    pub(super) fn new(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut roots = Vec::new();
        for path in paths {
            if path == Path::new("-") {
                bail!(
                    "--sync compares folders and files with the model; it cannot know what standard input had before"
                );
            }
            let root = path.canonicalize().with_context(|| {
                format!(
                    "{}: --sync needs folders or files that are there, no globs",
                    path.display()
                )
            })?;
            roots.push(root);
        }
        let (sources, files, failed) = (HashSet::new(), HashSet::new(), HashSet::new());
        Ok(Self { roots, sources, files, failed })
    }

    /// Records a source that was read.
    pub(super) fn read(&mut self, entry: &CorpusEntry) {
        let (path, files) = match entry {
            CorpusEntry::Document(document) => {
                self.sources.extend(document.source.clone());
                (&document.location.path, &mut self.files)
            }
            CorpusEntry::Skipped(skip) if skip.reason.is_failure() => {
                (&skip.location.path, &mut self.failed)
            }
            CorpusEntry::Skipped(skip) if matches!(skip.reason, SkipReason::Empty) => {
                (&skip.location.path, &mut self.files)
            }
            CorpusEntry::Skipped(_) => return,
        };
        files.extend(path.canonicalize());
    }

    /// The live documents that belong to what was given and whose text is gone.
    pub(super) fn gone(&self, documents: Vec<Document>) -> Vec<String> {
        let live = documents.into_iter().filter(|d| d.state == DocumentState::Live);
        let gone = live.filter(|document| {
            document.labels.get(FILE_LABEL).is_some_and(|source| self.is_gone(source))
        });
        gone.map(|document| document.id).collect()
    }

    fn is_gone(&self, source: &str) -> bool {
        let file = file(source);
        let path = file.unwrap_or(Path::new(source));
        self.roots.iter().any(|root| path.starts_with(root))
            && !self.sources.contains(source)
            && (file.is_none() || (self.files.contains(path) && !self.failed.contains(path)))
    }
}

/// The file of a source, which may be `file` or `file#line`; `None` if there is none any more.
fn file(source: &str) -> Option<&Path> {
    let lines = source.rmatch_indices('#').map(|(at, _)| &source[..at]);
    std::iter::once(source).chain(lines).map(Path::new).find(|path| {
        let gone = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
        path.symlink_metadata().map_or_else(|error| !gone(error.kind()), |_| true)
    })
}
