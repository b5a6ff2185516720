//! Between numpy's arrays and slices.

use crate::error::Refusal;
use crate::threads;
use crate::work::detached;
use memo_text::Tokenizer;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Serialize;
use std::ops::ControlFlow;

/// Tokens as they come from Python.
pub(crate) type Tokens<'py> = PyReadonlyArray1<'py, u32>;

/// Tokens as they go to Python.
pub(crate) type TokenArray<'py> = Bound<'py, PyArray1<u32>>;

/// A copy, which stays as it is whatever Python does with its array.
pub(crate) fn tokens(array: &Tokens<'_>) -> Vec<u32> {
    array.as_array().iter().copied().collect()
}

/// Copies of several.
pub(crate) fn owned(arrays: &[Tokens<'_>]) -> Vec<Vec<u32>> {
    arrays.iter().map(tokens).collect()
}

/// The same as the crates below take them.
pub(crate) fn slices(texts: &[Vec<u32>]) -> Vec<&[u32]> {
    texts.iter().map(Vec::as_slice).collect()
}

/// What has many fields, as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Refusal> {
    Ok(serde_json::to_string(value)?)
}

pub(crate) fn encode<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    text: &str,
) -> PyResult<TokenArray<'py>> {
    let ids = detached(py, || threads::on(0, || Ok(tokenizer.encode_bytes(text.as_bytes())?)))?;
    Ok(PyArray1::from_vec(py, ids))
}

pub(crate) fn decode(tokenizer: &Tokenizer, ids: &Tokens<'_>) -> String {
    tokenizer.decode_lossy(&tokens(ids))
}

/// A document's text as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum Text<'py> {
    Text(String),
    Tokens(Tokens<'py>),
}

/// The same, of our own.
pub(crate) enum Owned {
    Text(String),
    Tokens(Vec<u32>),
}

impl Owned {
    /// Bytes that must be tokenized.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Owned::Text(text) => text.len(),
            Owned::Tokens(_) => 0,
        }
    }

    /// Its tokens; tells how many bytes are done, and stops if it is told to.
    pub(crate) fn tokens(
        self,
        tokenizer: &Tokenizer,
        told: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Vec<u32>, Refusal> {
        match self {
            Owned::Text(text) => Ok(tokenizer.encode_bytes_watched(text.as_bytes(), told)?),
            Owned::Tokens(tokens) => Ok(tokens),
        }
    }
}

impl Text<'_> {
    pub(crate) fn owned(self) -> Owned {
        match self {
            Text::Text(text) => Owned::Text(text),
            Text::Tokens(array) => Owned::Tokens(tokens(&array)),
        }
    }
}
