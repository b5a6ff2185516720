//! `memo demo`: a tour of what a memory can do, and the worked examples of the paper's section 3, all of them computed.

mod numbers;
mod sentence;
mod text;
mod tour;

use crate::args::DemoOptions;
use crate::output::Report;
use crate::progress::Progress;
use serde::Serialize;

/// The tour and both examples.
#[derive(Debug, Serialize)]
struct Demo {
    dim: usize,
    seed: u64,
    tour: tour::Tour,
    sentence: sentence::Sentence,
    numbers: numbers::Numbers,
}

/// A token that the memory emits, and its weight.
#[derive(Debug, Serialize)]
struct Emitted {
    token: String,
    weight: f32,
}

pub(crate) fn run(options: &DemoOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let (sentence, numbers) = (sentence::run(options)?, numbers::run(options)?);
    let tour = tour::run(progress)?;
    Ok(Box::new(Demo { dim: options.dim, seed: options.seed, tour, sentence, numbers }))
}
