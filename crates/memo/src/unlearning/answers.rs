//! What a memory says when it is asked: every answer scored, token by token, and written out.

use super::{Decode, Document};
use crate::metrics::{
    exact_memorization, extraction_strength, harmonic_mean, mean, quantiles, rouge_l, words,
};
use crate::readout::{BACKOFF, Generator, Sampling, Scratch};
use crate::sparse::{Error, Memory};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Parts that a distribution of log-likelihoods is cut into.
pub const QUANTILES: usize = 100;

/// One answer: of each token whether it was the most probable one and its log-probability; and how much of it was
/// written when only the question was given.
struct Answer {
    right: Vec<bool>,
    logs: Vec<f64>,
    rouge: f64,
}

/// Log-likelihoods: of every token, and the mean of every answer.
pub(super) struct Logs {
    pub(super) tokens: Vec<f64>,
    pub(super) answers: Vec<f64>,
}

/// What was measured on some answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Answers that were asked for.
    pub answers: usize,
    /// Their tokens.
    pub tokens: usize,
    /// The share of tokens whose argmax is right.
    pub exact_memorization: f64,
    /// Extraction strength, mean over answers.
    pub extraction_strength: f64,
    /// ROUGE-L recall, mean over answers.
    pub rouge_l: f64,
    /// exp of the mean log-likelihood of an answer's tokens, mean over answers.
    pub probability: f64,
    /// The tokens' log-likelihoods at [`QUANTILES`] + 1 equally spaced ranks.
    pub quantiles: Vec<f64>,
}

impl Measures {
    /// How useful the memory is on these answers: the harmonic mean of probability and ROUGE-L.
    pub fn utility(&self) -> f64 {
        harmonic_mean(&[self.probability, self.rouge_l])
    }
}

/// Asks a memory for answers.
pub(super) fn ask(
    memory: &Memory,
    documents: &[&Document],
    decode: &Decode<'_>,
) -> Result<(Measures, Logs), Error> {
    // What no context changes is derived once, not by each thread.
    let answers: Vec<Answer> = documents
        .par_iter()
        .map_init(Scratch::default, |scratch, document| answer(memory, document, decode, scratch))
        .collect::<Result<_, Error>>()?;
    let each = |of: &dyn Fn(&Answer) -> f64| mean(&answers.iter().map(of).collect::<Vec<_>>());
    let right: Vec<bool> = answers.iter().flat_map(|a| a.right.iter().copied()).collect();
    let logs = Logs {
        tokens: answers.iter().flat_map(|a| a.logs.iter().copied()).collect(),
        answers: answers.iter().map(|a| mean(&a.logs)).collect(),
    };
    let measures = Measures {
        answers: answers.len(),
        tokens: right.len(),
        exact_memorization: exact_memorization(&right),
        extraction_strength: each(&|a| extraction_strength(&a.right)),
        rouge_l: each(&|a| a.rouge),
        probability: each(&|a| mean(&a.logs).exp()),
        quantiles: quantiles(&logs.tokens, QUANTILES),
    };
    Ok((measures, logs))
}

fn answer(
    memory: &Memory,
    document: &Document,
    decode: &Decode<'_>,
    scratch: &mut Scratch,
) -> Result<Answer, Error> {
    let Document { tokens, answer, text } = document;
    let (mut right, mut logs) = (Vec::new(), Vec::new());
    for p in *answer..tokens.len() {
        let from = p.saturating_sub(BACKOFF.window(memory));
        let distribution = BACKOFF.distribution(memory, &tokens[from..p], scratch)?;
        right.push(distribution.best()? == tokens[p]);
        logs.push(distribution.probability(tokens[p])?.ln());
    }
    let written = Generator::new(memory, &BACKOFF, &tokens[..*answer], Sampling::default());
    let written: Vec<u32> = written.take(tokens.len() - answer).collect::<Result<_, _>>()?;
    let rouge = rouge_l(&words(&decode(&written)), &words(text)).recall;
    Ok(Answer { right, logs, rouge })
}
