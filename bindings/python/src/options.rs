//! What a new model should be and how one is read, as Python says it.

use crate::error::Refusal;
use crate::lexicon::Lexicon;
use crate::tokenizer::tokenizer;
use memo_store::{NewModel, ReadOptions};
use pyo3::prelude::*;

/// The options of a new model, as a dict of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options<'py> {
    tokenizer: String,
    tokenizer_json: Option<Vec<u8>>,
    words_from: Option<Vec<String>>,
    words: bool,
    seed: u64,
    lexicon: Option<Bound<'py, Lexicon>>,
}

impl Options<'_> {
    /// The model that they describe.
    pub(crate) fn model(self) -> Result<NewModel, Refusal> {
        let Options { words, seed, .. } = self;
        let json = self.tokenizer_json.as_deref();
        let tokenizer = tokenizer(&self.tokenizer, json, self.words_from)?;
        let lexicon = self.lexicon.map(|lexicon| lexicon.get().shared());
        Ok(NewModel { tokenizer, words, seed, lexicon })
    }
}

/// How a memory is read.
pub(crate) fn reading(generalize: f64) -> Result<ReadOptions, Refusal> {
    let options = ReadOptions { generalize, ..ReadOptions::default() };
    options.check()?;
    Ok(options)
}
