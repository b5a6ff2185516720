//! Between numpy's arrays and slices.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::Refusal;

/// Tokens as they come from Python.
pub(crate) type Tokens<'py> = PyReadonlyArray1<'py, u32>;

/// Tokens as they go to Python.
pub(crate) type TokenArray<'py> = Bound<'py, PyArray1<u32>>;

/// A copy, which stays as it is whatever Python does with its array.
pub(crate) fn tokens(array: &Tokens<'_>) -> Vec<u32> {
    array.as_array().iter().copied().collect()
}

/// What has many fields, as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Refusal> {
    Ok(serde_json::to_string(value)?)
}
