//! Generation: token after token, with the text that each of them makes whole.

use crate::error::Refusal;
use crate::model::Shared;
use memo::readout::{Backoff, Generation as Steps, Sampling};
use memo_store::{Engine, Error};
use memo_text::{StreamDecoder, Tokenizer};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A token that was said.
pub(crate) struct Said {
    pub(crate) token: u32,
    pub(crate) text: String,
    pub(crate) probability: f64,
}

/// Who speaks: the state of a generation.
pub(crate) struct Speaker {
    steps: Steps,
    /// All that was said, which the dense engine must know.
    context: Vec<u32>,
    choice: Sampling,
    decoder: StreamDecoder,
    end: u32,
}

impl Speaker {
    pub(crate) fn new(tokenizer: &Tokenizer, prompt: &[u32], choice: Sampling) -> Self {
        Speaker {
            steps: Steps::new(prompt, choice.clone()),
            context: prompt.to_vec(),
            choice,
            decoder: StreamDecoder::after(tokenizer, prompt),
            end: tokenizer.eos(),
        }
    }

    /// The next token; `None` at the end of a document. Knowing its probability costs a little more.
    pub(crate) fn next(&mut self, memory: &Engine, weigh: bool) -> Result<Option<Said>, Refusal> {
        let (token, probability) = match (memory.sparse(), memory.dense()) {
            (Some(memory), _) if weigh => {
                let look = |seen: &memo::readout::Distribution<'_>, token| seen.probability(token);
                self.steps.step_seen(memory, &Backoff::default(), look)?
            }
            (Some(memory), _) => (self.steps.step(memory, &Backoff::default())?, f64::NAN),
            (_, Some(memory)) => {
                if self.choice.temperature > 0.0 {
                    return Err(Error::Engine("a temperature").into());
                }
                (memory.predict(&self.context)?.token, f64::NAN)
            }
            _ => return Err(Error::Engine("generation").into()),
        };
        if token == self.end {
            return Ok(None);
        }
        if memory.dense().is_some() {
            self.context.push(token);
        }
        Ok(Some(Said { token, text: self.decoder.push(token), probability }))
    }

    /// Bytes of a character that never became whole.
    pub(crate) fn finish(self) -> String {
        self.decoder.finish()
    }
}

/// Says at most `most` tokens, and stops before a text that is to stop it.
pub(crate) fn say(
    mut speaker: Speaker,
    memory: &Engine,
    most: usize,
    stop: &[String],
    on: &dyn Fn() -> Result<(), Refusal>,
) -> Result<(Vec<u32>, String), Refusal> {
    let (mut tokens, mut text) = (Vec::new(), String::new());
    while tokens.len() < most {
        on()?;
        let Some(said) = speaker.next(memory, false)? else { break };
        tokens.push(said.token);
        text.push_str(&said.text);
        let found = stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(stop));
        if let Some(at) = found.min() {
            text.truncate(at);
            return Ok((tokens, text));
        }
    }
    text.push_str(&speaker.finish());
    Ok((tokens, text))
}

/// Tokens one by one, up to the end of a document: token, text that became whole with it, probability.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Generation {
    model: Shared,
    speaker: Mutex<Option<Speaker>>,
}

impl Generation {
    pub(crate) fn new(model: Shared, speaker: Speaker) -> Self {
        Generation { model, speaker: Mutex::new(Some(speaker)) }
    }
}

#[pymethods]
impl Generation {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(u32, String, f64)>> {
        let said = py.detach(|| {
            let mut speaker = self.speaker.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(speaker) = speaker.as_mut() else { return Ok(None) };
            self.model.read(|model| speaker.next(model.memory(), true))
        })?;
        Ok(said.map(|Said { token, text, probability }| (token, text, probability)))
    }

    /// Bytes of a character that never became whole, as U+FFFD.
    fn finish(&self) -> String {
        let mut speaker = self.speaker.lock().unwrap_or_else(PoisonError::into_inner);
        speaker.take().map_or_else(String::new, Speaker::finish)
    }
}

/// How tokens are chosen, if that can be.
pub(crate) fn choice(
    temperature: f64,
    top_k: usize,
    top_p: f64,
    seed: u64,
) -> Result<Sampling, Refusal> {
    if !(0.0..=100.0).contains(&temperature) {
        return Err(Refusal::invalid(format!("temperature {temperature}: choose 0 to 100")));
    }
    if !(top_p > 0.0 && top_p <= 1.0) {
        return Err(Refusal::invalid(format!("top_p {top_p}: choose above 0, up to 1")));
    }
    Ok(Sampling { temperature, top_k, top_p, seed, stop: Vec::new() })
}
