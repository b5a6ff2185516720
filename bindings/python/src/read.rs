//! Documents of files, and sizes: what the command line does before it opens a model.

use crate::error::Refusal;
use memo_text::{Corpus, CorpusOptions, Encoding};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The documents of files, folders and .jsonl, as the command line reads them: id and content.
#[pyfunction]
#[pyo3(signature = (paths, *, jsonl_field=None, raw=false))]
pub(crate) fn read_documents(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    jsonl_field: Option<String>,
    raw: bool,
) -> PyResult<Vec<(String, Vec<u8>)>> {
    let default = CorpusOptions::default();
    let options = CorpusOptions {
        encoding: if raw { Encoding::Raw } else { Encoding::Utf8 },
        jsonl: jsonl_field.is_some(),
        text_field: jsonl_field.unwrap_or(default.text_field),
        strict: true,
        ..CorpusOptions::default()
    };
    let read = || -> Result<Vec<(String, Vec<u8>)>, Refusal> {
        let documents = Corpus::open(paths, options)?.documents()?.into_iter();
        Ok(documents.map(|d| (d.id, d.content.as_bytes().to_vec())).collect())
    };
    Ok(py.detach(read)?)
}

/// The cells of a memory for this many tokens, with room for more.
#[pyfunction]
pub(crate) fn fitting(tokens: u64) -> u64 {
    memo_store::fitting(tokens).parameters()
}
