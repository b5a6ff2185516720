//! A tokenizer by itself, for models that are no directory.

use crate::convert::{TokenArray, Tokens, decode, tokens};
use crate::error::Refusal;
use crate::threads;
use crate::work::watched;
use memo_text::{StreamDecoder, Tokenizer as Inner, TokenizerSpec};
use numpy::PyArray1;
use pyo3::prelude::*;

/// The tokenizer of a name or path, of JSON, or of the words of some texts.
pub(crate) fn tokenizer(
    name: &str,
    json: Option<&[u8]>,
    words_from: Option<Vec<String>>,
) -> Result<Inner, Refusal> {
    match (words_from, json) {
        (Some(_), Some(_)) => Err(Refusal::invalid("give words_from or a tokenizer, not both")),
        (Some(texts), None) => Ok(Inner::words(texts)?),
        (None, Some(json)) => Ok(Inner::from_json(json)?),
        (None, None) => Ok(Inner::from_spec(&name.parse::<TokenizerSpec>()?)?),
    }
}

/// A tokenizer.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Tokenizer(Inner);

#[pymethods]
impl Tokenizer {
    #[new]
    #[pyo3(signature = (name, json=None, words_from=None))]
    fn new(
        py: Python<'_>,
        name: &str,
        json: Option<&[u8]>,
        words_from: Option<Vec<String>>,
    ) -> PyResult<Self> {
        Ok(Tokenizer(py.detach(|| tokenizer(name, json, words_from))?))
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// What must be kept to have it again; None if its name is enough.
    #[getter]
    fn json(&self) -> PyResult<Option<String>> {
        Ok(self.0.to_json().map_err(Refusal::from)?)
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size()
    }

    #[getter]
    fn eos(&self) -> u32 {
        self.0.eos()
    }

    /// The ids of each text.
    #[pyo3(signature = (texts, progress=None))]
    fn encode_all<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<TokenArray<'py>>> {
        let whole = texts.iter().map(String::len).sum();
        let ids = watched(py, progress, |watch| {
            threads::on(0, || {
                let (mut ids, mut before) = (Vec::new(), 0);
                for text in &texts {
                    let told = &mut |done| watch.tell("tokenizing", before + done, whole);
                    ids.push(self.0.encode_bytes_watched(text.as_bytes(), told)?);
                    before += text.len();
                }
                Ok(ids)
            })
        })?;
        Ok(ids.into_iter().map(|ids| PyArray1::from_vec(py, ids)).collect())
    }

    fn decode(&self, ids: Tokens<'_>) -> String {
        decode(&self.0, &ids)
    }

    /// The text of ids that come after those of a prompt.
    fn decode_after(&self, prompt: Tokens<'_>, ids: Tokens<'_>) -> String {
        let mut decoder = StreamDecoder::after(&self.0, &tokens(&prompt));
        let text: String = tokens(&ids).into_iter().map(|id| decoder.push(id)).collect();
        text + &decoder.finish()
    }
}
