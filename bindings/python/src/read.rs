//! A corpus, as the command line reads it: what comes before a model is opened.

use crate::error::Refusal;
use memo_store::FILE_LABEL;
use memo_text::{Content, CorpusEntry, CorpusFile, CorpusLines, CorpusOptions, Encoding, Skip};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a corpus is read, as keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    raw: bool,
    jsonl_field: Option<String>,
    id_field: Option<String>,
    label_fields: Vec<String>,
    prefix: String,
    include: Vec<String>,
    exclude: Vec<String>,
    ignore: bool,
    strict: bool,
    max_bytes: Option<u64>,
}

impl Options {
    fn corpus(self) -> CorpusOptions {
        let default = CorpusOptions::default();
        CorpusOptions {
            encoding: if self.raw { Encoding::Raw } else { Encoding::Utf8 },
            jsonl: self.jsonl_field.is_some(),
            text_field: self.jsonl_field.unwrap_or(default.text_field),
            id_field: self.id_field,
            label_fields: self.label_fields,
            prefix: self.prefix,
            include: self.include,
            exclude: self.exclude,
            ignore: self.ignore,
            strict: self.strict,
            max_bytes: self.max_bytes.unwrap_or(default.max_bytes),
        }
    }
}

/// Documents of files, one at a time.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Corpus(Mutex<State>);

struct State {
    corpus: memo_text::Corpus,
    skipped: Vec<Skip>,
}

/// A document: id, content, labels with its file among them, and where it was read.
type Document<'py> = (String, Bound<'py, PyAny>, BTreeMap<String, String>, String);

impl Corpus {
    fn of(corpus: memo_text::Corpus) -> Self {
        Self(Mutex::new(State { corpus, skipped: Vec::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Corpus {
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<Self> {
        let options = options.corpus();
        let corpus =
            py.detach(|| memo_text::Corpus::open(paths, options).map_err(Refusal::from))?;
        Ok(Self::of(corpus))
    }

    /// The files that would be read: canonical path, id, whether it was found rather than given, and whether its lines
    /// are documents.
    #[staticmethod]
    fn files(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        options: Options,
    ) -> PyResult<Vec<(PathBuf, String, bool, bool)>> {
        let options = options.corpus();
        let found = py.detach(|| memo_text::Corpus::files(paths, &options).map_err(Refusal::from));
        let mut files = Vec::new();
        for CorpusFile { path, source, id, found, .. } in found?.0 {
            let lines = options.is_jsonl(&path);
            let source = source.ok_or_else(|| {
                Refusal::invalid(format!("{}: not a file, which others could read", path.display()))
            })?;
            files.push((source, id, found, lines));
        }
        Ok(files)
    }

    /// A file that was found, or of its lines those from byte `start` to `end`, the first of which has number `line`.
    #[staticmethod]
    #[pyo3(signature = (path, id, found, options, start=0, end=None, line=1))]
    fn of_file(
        path: PathBuf,
        id: String,
        found: bool,
        options: Options,
        start: u64,
        end: Option<u64>,
        line: u64,
    ) -> Self {
        let lines = end.map(|end| CorpusLines { start, end, first: line });
        let file = CorpusFile { source: Some(path.clone()), path, id, found, lines };
        Self::of(memo_text::Corpus::from_files(vec![file], options.corpus()))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Document<'py>>> {
        let next = py.detach(|| -> Result<_, Refusal> {
            let State { corpus, skipped } = &mut *self.state();
            for entry in corpus {
                match entry? {
                    CorpusEntry::Document(document) => return Ok(Some(document)),
                    CorpusEntry::Skipped(skip) => skipped.push(skip),
                }
            }
            Ok(None)
        })?;
        Ok(next.map(|document| {
            let content = match document.content {
                Content::Text(text) => PyString::new(py, &text).into_any(),
                Content::Raw(bytes) => PyBytes::new(py, &bytes).into_any(),
            };
            let mut labels = document.labels;
            labels.extend(document.source.map(|source| (FILE_LABEL.to_owned(), source)));
            (document.id, content, labels, document.location.to_string())
        }))
    }

    /// What was skipped so far: where, why, and whether it should have been read.
    #[getter]
    fn skipped(&self, py: Python<'_>) -> Vec<(String, String, bool)> {
        py.detach(|| {
            let state = self.state();
            let each = state.skipped.iter().map(|Skip { location, reason }| {
                (location.to_string(), reason.to_string(), reason.is_failure())
            });
            each.collect()
        })
    }
}
