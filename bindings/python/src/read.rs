//! Documents of files, as the command line reads them.

use crate::error::Refusal;
use memo_text::{Encoding, Format, Item, ReadOptions, Reader};
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
    let how = ReadOptions {
        encoding: if raw { Encoding::Raw } else { Encoding::Utf8 },
        format: if jsonl_field.is_some() { Format::Jsonl } else { Format::Auto },
        text_field: jsonl_field.unwrap_or_else(|| "text".to_owned()),
        ..ReadOptions::default()
    };
    let read = || -> Result<Vec<(String, Vec<u8>)>, Refusal> {
        let mut documents = Vec::new();
        for path in paths {
            for item in Reader::open(path, how.clone())? {
                if let Item::Document(document) = item? {
                    documents.push((document.id, document.content.as_bytes().to_vec()));
                }
            }
        }
        Ok(documents)
    };
    Ok(py.detach(read)?)
}
