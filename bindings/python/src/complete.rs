//! Completions as Python drives them. How a prompt is continued is decided by [`memo_store::CompletionStream`] alone; here
//! its tokens are collected until Python takes the whole.

use crate::convert::json;
use crate::error::Refusal;
use memo::readout::Sampling;
use memo::sparse::Memory;
use memo_store::{
    Completion, CompletionChoice, CompletionOptions, CompletionStream as Stream, CompletionToken,
    Error, ReadOptions, fresh_seed,
};
use memo_text::Tokenizer;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The options of a completion, as a dict of Python. They are checked where the completion begins.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Options {
    max_tokens: usize,
    stop: Vec<String>,
    temperature: f64,
    top_k: usize,
    top_p: f64,
    frequency_penalty: f64,
    presence_penalty: f64,
    seed: Option<u64>,
    probabilities: bool,
    contexts: bool,
    heal: bool,
    find: bool,
    guess: bool,
    generalize: f64,
}

impl From<Options> for CompletionOptions {
    fn from(given: Options) -> Self {
        let Options { temperature, top_k, top_p, .. } = given;
        let seed = given.seed.unwrap_or_else(fresh_seed);
        CompletionOptions {
            max_tokens: given.max_tokens,
            sampling: Sampling {
                temperature,
                top_k,
                top_p,
                frequency_penalty: given.frequency_penalty,
                presence_penalty: given.presence_penalty,
                seed,
                stop: Vec::new(),
            },
            stop: given.stop,
            top: given.probabilities.then_some(0),
            contexts: given.contexts,
            heal: given.heal,
            find: given.find,
            guess: given.guess,
            // Checked with the rest.
            read: ReadOptions { generalize: given.generalize, ..ReadOptions::completing() },
        }
    }
}

/// A completion that is being made, and its tokens so far.
pub(crate) struct Steps {
    stream: Stream,
    tokens: Vec<CompletionToken>,
    start: Instant,
}

impl Steps {
    pub(crate) fn new(
        tokenizer: &Tokenizer,
        prompt: &[u32],
        options: &CompletionOptions,
    ) -> Result<Self, Error> {
        let stream = Stream::new(tokenizer, prompt, options)?;
        Ok(Steps { stream, tokens: Vec::new(), start: Instant::now() })
    }

    /// Goes on by a token, and gives the text that is final with it; `None` at the end.
    pub(crate) fn next(&mut self, memory: &Memory) -> Result<Option<String>, Error> {
        let Some(token) = self.stream.next_token(memory)? else { return Ok(None) };
        let text = token.text.clone();
        self.keep(token);
        Ok(Some(text))
    }

    /// Chooses the next token; it may be chosen again before it is accepted.
    pub(crate) fn choose(&mut self, memory: &Memory) -> Result<Option<CompletionChoice>, Error> {
        self.stream.choose(memory)
    }

    /// Goes on with a token that was chosen.
    pub(crate) fn accept(&mut self, choice: CompletionChoice) {
        self.stream.accept(choice);
        while let Some(token) = self.stream.take_ready() {
            self.keep(token);
        }
    }

    fn keep(&mut self, token: CompletionToken) {
        // The end of a document is no token of its text.
        if !token.end {
            self.tokens.push(token);
        }
    }

    /// The tokens that the completion was chosen after.
    pub(crate) fn prompt(&self) -> &[u32] {
        self.stream.continued()
    }

    /// What came of it.
    pub(crate) fn completion(&self) -> Completion {
        self.stream.completion(self.tokens.clone(), self.start)
    }
}

/// A completion that is made step by step, by a model or by a reader of shards.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct CompletionStream(Mutex<Steps>);

impl CompletionStream {
    pub(crate) fn new(
        tokenizer: &Tokenizer,
        prompt: &[u32],
        options: Options,
    ) -> Result<Self, Refusal> {
        Ok(CompletionStream(Mutex::new(Steps::new(tokenizer, prompt, &options.into())?)))
    }

    pub(crate) fn steps(&self) -> MutexGuard<'_, Steps> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl CompletionStream {
    #[getter]
    fn ended(&self) -> bool {
        self.steps().stream.finish_reason().is_some()
    }

    /// What it is so far, as JSON.
    fn completion(&self) -> PyResult<String> {
        Ok(json(&self.steps().completion())?)
    }
}
