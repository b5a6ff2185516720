//! Section 3.1: one sentence in a single memory with windows of four words.

use super::Emitted;
use crate::args::DemoOptions;
use memo::Prediction;
use memo::dense::{SingleConfig, SingleMemory};
use serde::Serialize;

const SENTENCE: &str = "He enrolled in the mathematics and physics teaching diploma program";
const HEADS: usize = 4;

#[derive(Debug, Serialize)]
pub(super) struct Sentence {
    pub(super) text: &'static str,
    pub(super) heads: usize,
    /// The stored pairs.
    pub(super) pairs: Vec<Pair>,
    /// The expected error of a weight of 1, for this dimension and load: one standard deviation.
    pub(super) deviation: f64,
    pub(super) queries: Vec<Query>,
    /// The weight of *physics* after the first query, once the sentence is forgotten.
    pub(super) weight_after_forgetting: f32,
}

#[derive(Debug, Serialize)]
pub(super) struct Pair {
    pub(super) window: String,
    pub(super) next: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Query {
    pub(super) window: &'static str,
    /// The product of the query's key with each stored key: how much of each pair it reads.
    pub(super) keys: Vec<f32>,
    pub(super) emitted: Emitted,
    /// The weight that the paper states.
    pub(super) paper: f32,
}

pub(super) fn run(options: &DemoOptions) -> anyhow::Result<Sentence> {
    let words: Vec<&'static str> = SENTENCE.split(' ').chain(["or"]).collect();
    let id = |word: &str| words.iter().position(|w| *w == word).map_or(0, |k| k as u32);
    let text: Vec<u32> = SENTENCE.split(' ').map(id).collect();
    let mut memory = SingleMemory::new(SingleConfig {
        seed: options.seed,
        ..SingleConfig::new(words.len(), options.dim, HEADS)?
    })?;
    memory.memorize(&text)?;

    let windows: Vec<&[u32]> = text.windows(HEADS).take(text.len() - HEADS).collect();
    let stored = memory.keys(&windows.concat())?;
    let ask = |window: &'static str, paper: f32| -> anyhow::Result<Query> {
        let tokens: Vec<u32> = window.split(' ').map(id).collect();
        let key = memory.keys(&tokens)?;
        let product = |s: &[f32]| s.iter().zip(&key).map(|(a, b)| a * b).sum();
        let Prediction { token, weight } = memory.predict(&tokens)?;
        Ok(Query {
            window,
            keys: stored.chunks_exact(key.len()).map(product).collect(),
            emitted: Emitted { token: words[token as usize].to_owned(), weight },
            paper,
        })
    };
    let queries = vec![ask("in the mathematics and", 1.0)?, ask("in the mathematics or", 0.75)?];
    let deviation = memory.reading().deviation();

    memory.forget(&text)?;
    let window: Vec<u32> = queries[0].window.split(' ').map(id).collect();
    let weight_after_forgetting = memory.weights(&window)?[id("physics") as usize];
    let pair = |(window, next): (&&[u32], &u32)| Pair {
        window: window.iter().map(|t| words[*t as usize]).collect::<Vec<_>>().join(" "),
        next: words[*next as usize],
    };
    Ok(Sentence {
        text: SENTENCE,
        heads: HEADS,
        pairs: windows.iter().zip(&text[HEADS..]).map(pair).collect(),
        deviation,
        queries,
        weight_after_forgetting,
    })
}
