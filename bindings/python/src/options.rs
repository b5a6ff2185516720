//! What a new model should be, as Python says it.

use crate::error::Refusal;
use crate::tokenizer::tokenizer;
use memo::sparse::{Shape, Size};
use memo_store::NewModel;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of a new model; what is not given is as the command line has it.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) tokenizer: Option<String>,
    pub(crate) tokenizer_json: Option<Vec<u8>>,
    pub(crate) words_from: Option<Vec<String>>,
    pub(crate) memory: Option<u64>,
    pub(crate) parameters: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) heads: Option<u32>,
    pub(crate) layers: Option<u32>,
    pub(crate) older: Option<u32>,
    pub(crate) slots: Option<Vec<(u32, u32)>>,
    pub(crate) seed: Option<u64>,
}

impl Options {
    /// From keyword arguments.
    pub(crate) fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = Options::default();
        for (key, value) in given.into_iter().flat_map(PyDictMethods::iter) {
            let key: String = key.extract()?;
            match key.as_str() {
                "tokenizer" => options.tokenizer = value.extract()?,
                "tokenizer_json" => options.tokenizer_json = value.extract()?,
                "words_from" => options.words_from = value.extract()?,
                "memory" => options.memory = value.extract()?,
                "parameters" => options.parameters = value.extract()?,
                "tokens" => options.tokens = value.extract()?,
                "heads" => options.heads = value.extract()?,
                "layers" => options.layers = value.extract()?,
                "older" => options.older = value.extract()?,
                "slots" => options.slots = value.extract()?,
                "seed" => options.seed = value.extract()?,
                _ => return Err(Refusal::invalid(format!("there is no option {key:?}")).into()),
            }
        }
        Ok(options)
    }

    /// The model that they describe.
    pub(crate) fn model(self) -> Result<NewModel, Refusal> {
        let Options { heads, layers, older, slots, .. } = self;
        let size = size(self.memory, self.parameters, self.tokens)?;
        let name = self.tokenizer.as_deref().unwrap_or("gpt2");
        let tokenizer = tokenizer(name, self.tokenizer_json.as_deref(), self.words_from)?;
        let default = NewModel::default();
        let seed = self.seed.unwrap_or(default.seed);
        let (heads, layers) = (heads.unwrap_or(2), layers.unwrap_or(5));
        let shape = match slots {
            Some(slots) => Shape::of_blocks(heads, slots),
            None => Shape::new(heads, layers, older.unwrap_or(2).min(layers)),
        };
        Ok(NewModel { tokenizer, shape, size: size.unwrap_or(default.size), seed })
    }
}

/// A size, given in one way at most.
pub(crate) fn size(
    memory: Option<u64>,
    parameters: Option<u64>,
    tokens: Option<u64>,
) -> Result<Option<Size>, Refusal> {
    // One byte a cell.
    let memory = memory.map(Size::Parameters);
    let parameters = parameters.map(Size::Parameters);
    let tokens = tokens.map(memo_store::fitting_size);
    let mut given = [memory, parameters, tokens].into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        return Err(Refusal::invalid("give one of memory, parameters and tokens"));
    }
    Ok(first)
}
