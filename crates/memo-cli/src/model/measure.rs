//! `memo recall` and `memo score`: how much of a text a model knows.

use super::reader;
use crate::args::model::FileOptions;
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use memo::readout::{Backoff, score_at};
use memo_store::Reader;
use memo_text::{Corpus, CorpusOptions};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// The tokens of the documents in a file, a folder, files that match a glob, or standard input. What cannot be read is
/// an error: a measurement of some of them would say nothing.
fn read(path: &Path, reader: &Reader) -> anyhow::Result<Vec<Vec<u32>>> {
    let (tokenizer, strict) = (reader.tokenizer(), true);
    let how = CorpusOptions { encoding: tokenizer.encoding(), strict, ..CorpusOptions::default() };
    let mut texts = Vec::new();
    for document in Corpus::open([path], how)?.documents()? {
        texts.push(tokenizer.encode_bytes(document.content.as_bytes())?);
    }
    if texts.is_empty() {
        bail!("{}: nothing to read; give a text that is not empty", path.display());
    }
    Ok(texts)
}

/// Goes through all positions of texts, ends included, some at a time; gives the number of tokens.
fn in_slices(
    what: &str,
    texts: &[Vec<u32>],
    progress: &Progress,
    mut read: impl FnMut(&[u32], Range<usize>) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    const SLICE: usize = 4096;
    let tokens: usize = texts.iter().map(Vec::len).sum();
    progress.begin(what, tokens as u64, false);
    let mut before = 0;
    for text in texts {
        for start in (0..=text.len()).step_by(SLICE) {
            progress.at((before + start) as u64);
            read(text, start..(start + SLICE).min(text.len() + 1))?;
        }
        before += text.len();
    }
    Ok(tokens)
}

#[derive(Serialize)]
struct Recalled {
    tokens: usize,
    evaluated: usize,
    correct: usize,
    recall: f64,
    tokens_per_second: f64,
}

impl Display for Recalled {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "recall {}  {}",
            styled(GOOD, format!("{:.2} %", 100.0 * self.recall)),
            styled(
                FAINT,
                format!(
                    "{} of {} tokens, each from those before it; {} tokens/s",
                    thousands(self.correct as u64),
                    thousands(self.evaluated as u64),
                    thousands(self.tokens_per_second as u64)
                )
            )
        )
    }
}

pub(crate) fn recall(
    options: &FileOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let texts = read(&options.file, &reader)?;
    let (mut correct, mut evaluated) = (0, 0);
    let start = Instant::now();
    let tokens = in_slices("recalling", &texts, progress, |text, slice| {
        // The first token has nothing before it to be recalled from.
        let slice = slice.start.max(1)..slice.end.min(text.len());
        if slice.is_empty() {
            return Ok(());
        }
        let best = reader.memory().best_at(text, slice.clone())?;
        evaluated += slice.len();
        correct += text[slice].iter().zip(&best).filter(|(a, b)| a == b).count();
        Ok(())
    })?;
    Ok(Box::new(Recalled {
        tokens,
        evaluated,
        correct,
        recall: if evaluated == 0 { 1.0 } else { correct as f64 / evaluated as f64 },
        tokens_per_second: evaluated as f64 / start.elapsed().as_secs_f64().max(1e-9),
    }))
}

#[derive(Serialize)]
struct Scored {
    tokens: usize,
    log_likelihood: f64,
    perplexity: f64,
}

impl Display for Scored {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "perplexity {}  {}",
            styled(GOOD, format!("{:.2}", self.perplexity)),
            styled(
                FAINT,
                format!(
                    "log-likelihood {:.2} of {} tokens, ends included",
                    self.log_likelihood,
                    thousands(self.tokens as u64)
                )
            )
        )
    }
}

pub(crate) fn score(options: &FileOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let memory = reader.memory().sparse();
    let memory = memory.context("a score needs the sparse engine; this model has the dense one")?;
    let (mut log_likelihood, mut tokens) = (0.0, 0);
    in_slices("scoring", &read(&options.file, &reader)?, progress, |text, slice| {
        let scores = score_at(memory, &Backoff::default(), text, slice)?;
        log_likelihood += scores.iter().sum::<f64>();
        tokens += scores.len();
        Ok(())
    })?;
    let perplexity = (-log_likelihood / tokens as f64).exp();
    Ok(Box::new(Scored { tokens, log_likelihood, perplexity }))
}
