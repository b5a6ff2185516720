//! `memo demo`: the worked examples of the paper's section 3, run for real.

mod numbers;
mod sentence;
mod text;

use crate::args::DemoOptions;
use crate::output::Report;
use serde::Serialize;

/// Both examples.
#[derive(Debug, Serialize)]
struct Demo {
    dim: usize,
    seed: u64,
    sentence: sentence::Sentence,
    numbers: numbers::Numbers,
}

/// A token that the memory emits, and its weight.
#[derive(Debug, Serialize)]
struct Emitted {
    token: String,
    weight: f32,
}

pub(crate) fn run(options: &DemoOptions) -> anyhow::Result<Box<dyn Report>> {
    Ok(Box::new(Demo {
        dim: options.dim,
        seed: options.seed,
        sentence: sentence::run(options)?,
        numbers: numbers::run(options)?,
    }))
}
