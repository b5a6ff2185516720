//! Experiments that have a Python function.

use crate::convert::json;
use crate::work::watched;
use memo_text::TokenizerSpec;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What `memo lab forgetting` measures, as JSON: a list of levels.
#[pyfunction]
#[pyo3(signature = (forget, retain, tokenizer="gpt2", seed=1, quick=false))]
pub(crate) fn forgetting(
    py: Python<'_>,
    forget: PathBuf,
    retain: PathBuf,
    tokenizer: &str,
    seed: u64,
    quick: bool,
) -> PyResult<String> {
    let spec: TokenizerSpec = tokenizer.parse().map_err(crate::error::Refusal::from)?;
    watched(py, None, move |_| {
        json(&memo_lab::forgetting::outcomes(&forget, &retain, &spec, quick, seed)?)
    })
}
