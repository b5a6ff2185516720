//! Unlearning, measured on files of questions and answers.

use crate::convert::json;
use crate::error::Refusal;
use crate::work::watched;
use memo::unlearning::{ASKED, ASKED_QUICK, Document, Outcome, Trial};
use memo_text::{Pair, Tokenizer, TokenizerError, TokenizerSpec};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// What was measured at one level.
#[derive(Serialize)]
struct Measured {
    forgotten_authors: usize,
    authors: usize,
    percent: f64,
    #[serde(flatten)]
    outcome: Outcome,
}

/// What `memo-lab forgetting` measures, as JSON: a list of levels.
#[pyfunction]
#[pyo3(signature = (forget, retain, tokenizer="gpt2", seed=1, quick=false))]
pub(crate) fn forgetting(
    py: Python<'_>,
    forget: PathBuf,
    retain: PathBuf,
    tokenizer: &str,
    seed: u64,
    quick: bool,
) -> PyResult<String> {
    let spec: TokenizerSpec = tokenizer.parse().map_err(Refusal::from)?;
    watched(py, None, move |_| {
        let (forget, retain) = (Pair::read(&forget)?, Pair::read(&retain)?);
        let texts = forget.iter().chain(&retain).flat_map(|pair| [&pair.question, &pair.answer]);
        let tokenizer = Tokenizer::for_texts(&spec, texts)?;
        let documents = |pairs: &[Pair]| -> Result<Vec<Document>, TokenizerError> {
            let encode = |text: &str| tokenizer.encode(text);
            pairs.iter().map(|pair| Document::new(&pair.question, &pair.answer, encode)).collect()
        };
        let trial = Trial {
            forget: &documents(&forget)?,
            retain: &documents(&retain)?,
            vocabulary: tokenizer.vocab_size() as u32,
            end: tokenizer.eos(),
            decode: Box::new(|tokens| tokenizer.decode_lossy(tokens)),
            asked: if quick { ASKED_QUICK } else { ASKED },
            seed,
        };
        let each = trial.levels().into_iter().map(|level| {
            let (forgotten_authors, authors) = level.authors();
            let (percent, outcome) = (level.percent(), trial.measure(level)?);
            Ok(Measured { forgotten_authors, authors, percent, outcome })
        });
        json(&each.collect::<Result<Vec<_>, Refusal>>()?)
    })
}
