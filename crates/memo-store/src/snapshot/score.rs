//! Scoring: how probable texts are, and how much of them is recalled.

use super::{ReadOptions, Snapshot};
use crate::error::Error;
use crate::progress::Observer;
use memo::readout::{
    BACKOFF, Confidence, Distribution, Mixture, Scratch, best_at, map_confidences,
    map_distributions,
};
use serde::Serialize;
use std::ops::Range;
use std::time::Instant;

/// What the memory expected where a token stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenScore {
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
    /// The most probable token.
    pub best: u32,
    /// The most probable tokens with their log-probabilities, the likeliest first; as many as were asked for.
    pub top: Vec<(u32, f64)>,
}

impl TokenScore {
    /// The score of a token in a distribution, with the `top` most probable ones.
    pub fn new(
        distribution: &Distribution<'_>,
        token: u32,
        top: usize,
    ) -> Result<Self, memo::sparse::Error> {
        // One function for both, so that the best token's two values are the same bits.
        let logprob = |token| Ok(libm::log(distribution.probability(token)?));
        let best = distribution.best()?;
        let top: Vec<(u32, f64)> = match top {
            0 => Vec::new(),
            1 => vec![(best, logprob(best)?)],
            _ => {
                let top = distribution.top(top)?.into_iter();
                top.map(|(t, _)| Ok((t, logprob(t)?)))
                    .collect::<Result<_, memo::sparse::Error>>()?
            }
        };
        Ok(TokenScore { logprob: logprob(token)?, best, top })
    }

    /// The same in the mixture of a memory and a neural model.
    pub fn of_mixture(mixture: &Mixture, token: u32, top: usize) -> Self {
        let logprob = |token| libm::log(mixture.probability(token));
        let best = mixture.top(top.max(1));
        let first = best.first().map_or(token, |&(token, _)| token);
        let top = best.into_iter().take(top).map(|(token, _)| (token, logprob(token))).collect();
        TokenScore { logprob: logprob(token), best: first, top }
    }

    /// The token's probability.
    pub fn probability(&self) -> f64 {
        libm::exp(self.logprob)
    }
}

/// How much of texts a model recalls, each token from those before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RecallReport {
    /// Tokens of the texts.
    pub tokens: usize,
    /// Tokens that have others before them.
    pub evaluated: usize,
    /// Those of them that were the most probable ones.
    pub correct: usize,
    /// The share of those evaluated that were correct.
    pub recall: f64,
    /// How fast that went.
    pub tokens_per_second: f64,
}

/// How probable texts are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreReport {
    /// Tokens of the texts, their ends included.
    pub tokens: usize,
    /// The natural logarithm of their probability.
    pub log_likelihood: f64,
    /// Their perplexity a token.
    pub perplexity: f64,
    /// What it is by the memory alone, if the context memory was read too.
    pub perplexity_alone: Option<f64>,
}

/// Positions that are read at once: between them the observer is asked whether to go on.
const SLICE: usize = 4096;

impl Snapshot {
    /// The distribution of the token after a context.
    pub fn distribution(
        &self,
        context: &[u32],
        read: &ReadOptions,
    ) -> Result<Distribution<'_>, Error> {
        Ok(read.readout().distribution(self.memory()?, context, &mut Scratch::default())?)
    }

    /// How many of the last tokens of a context can matter, unless the context memory is read.
    pub fn window(&self) -> Result<usize, Error> {
        Ok(BACKOFF.window(self.memory()?))
    }

    /// Whatever `look` sees in the distribution at each of some positions of a text, within `0..text.len() + 1`.
    pub fn map_distributions<T: Send>(
        &self,
        text: &[u32],
        positions: Range<usize>,
        read: &ReadOptions,
        look: impl Fn(usize, &Distribution<'_>) -> Result<T, memo::sparse::Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        Ok(map_distributions(self.memory()?, &read.readout(), text, positions, look)?)
    }

    /// The same, with how well the memory knows each position.
    pub fn map_confidences<T: Send>(
        &self,
        text: &[u32],
        positions: Range<usize>,
        read: &ReadOptions,
        look: impl Fn(usize, Confidence, &Distribution<'_>) -> Result<T, memo::sparse::Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        Ok(map_confidences(self.memory()?, &read.readout(), text, positions, look)?)
    }

    /// The score of the tokens at some positions of a text, within `0..text.len() + 1`, each with the `top` most probable
    /// ones. The token after the last is the end.
    pub fn token_scores(
        &self,
        text: &[u32],
        positions: Range<usize>,
        top: usize,
        read: &ReadOptions,
    ) -> Result<Vec<TokenScore>, Error> {
        let end = self.config.memory.end;
        self.map_distributions(text, positions, read, |p, distribution| {
            TokenScore::new(distribution, text.get(p).copied().unwrap_or(end), top)
        })
    }

    /// The most probable token at some positions of a text, within `0..text.len() + 1`.
    pub fn best_at(
        &self,
        text: &[u32],
        positions: Range<usize>,
        read: &ReadOptions,
    ) -> Result<Vec<u32>, Error> {
        Ok(best_at(self.memory()?, &read.readout(), text, positions)?)
    }

    /// The probability of texts, their ends included; with a context memory, that without it too.
    pub fn score(
        &self,
        texts: &[Vec<u32>],
        read: &ReadOptions,
        observer: &Observer,
    ) -> Result<ScoreReport, Error> {
        read.check()?;
        let perplexity_alone = if read.recent > 0.0 {
            let alone = ReadOptions { recent: 0.0, ..*read };
            Some(self.score(texts, &alone, observer)?.perplexity)
        } else {
            None
        };
        let (mut log_likelihood, mut tokens) = (0.0, 0);
        each_slice("scoring", texts, observer, |text, slice| {
            let scores = self.token_scores(text, slice, 0, read)?;
            tokens += scores.len();
            log_likelihood += scores.iter().map(|score| score.logprob).sum::<f64>();
            Ok(())
        })?;
        let perplexity = (-log_likelihood / tokens.max(1) as f64).exp();
        Ok(ScoreReport { tokens, log_likelihood, perplexity, perplexity_alone })
    }

    /// The share of the tokens of texts that the model recalls.
    pub fn recall(
        &self,
        texts: &[Vec<u32>],
        read: &ReadOptions,
        observer: &Observer,
    ) -> Result<RecallReport, Error> {
        read.check()?;
        let (mut evaluated, mut correct) = (0, 0);
        let start = Instant::now();
        each_slice("recalling", texts, observer, |text, slice| {
            // The first token has nothing before it to be recalled from.
            let slice = slice.start.max(1)..slice.end.min(text.len());
            if slice.is_empty() {
                return Ok(());
            }
            let best = self.best_at(text, slice.clone(), read)?;
            evaluated += best.len();
            correct += text[slice].iter().zip(&best).filter(|(a, b)| a == b).count();
            Ok(())
        })?;
        Ok(RecallReport {
            tokens: texts.iter().map(Vec::len).sum(),
            evaluated,
            correct,
            recall: if evaluated == 0 { 1.0 } else { correct as f64 / evaluated as f64 },
            tokens_per_second: evaluated as f64 / start.elapsed().as_secs_f64().max(1e-9),
        })
    }
}

/// Gives all positions of texts, ends included, some at a time.
fn each_slice(
    stage: &'static str,
    texts: &[Vec<u32>],
    observer: &Observer,
    mut read: impl FnMut(&[u32], Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let total = texts.iter().map(|text| text.len() as u64).sum();
    let mut before = 0;
    for text in texts {
        for start in (0..=text.len()).step_by(SLICE) {
            observer.tokens(stage, before + start as u64, total)?;
            read(text, start..(start + SLICE).min(text.len() + 1))?;
        }
        before += text.len() as u64;
    }
    Ok(())
}
