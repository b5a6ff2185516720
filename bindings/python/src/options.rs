//! What a new model should be, as Python says it.

use crate::error::Refusal;
use crate::tokenizer::tokenizer;
use memo_store::NewModel;
use pyo3::prelude::*;

/// The options of a new model, as a dict of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    tokenizer: String,
    tokenizer_json: Option<Vec<u8>>,
    words_from: Option<Vec<String>>,
    words: bool,
    seed: u64,
}

impl Options {
    /// The model that they describe.
    pub(crate) fn model(self) -> Result<NewModel, Refusal> {
        let Options { words, seed, .. } = self;
        let json = self.tokenizer_json.as_deref();
        let tokenizer = tokenizer(&self.tokenizer, json, self.words_from)?;
        Ok(NewModel { tokenizer, words, seed, lexicon: None })
    }
}
