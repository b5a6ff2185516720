//! Section 3.2: the numbers 1 to 9 in a memory of three layers with two heads.

use super::Emitted;
use crate::args::DemoOptions;
use memo::dense::{DenseConfig, DenseMemo, Distiller};
use serde::Serialize;

const HEADS: usize = 2;
const LAYERS: usize = 3;
const NUMBERS: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// Distinct tokens for each sequence, because sequences that share tokens would help each other's recall.
const LETTERS: [u32; 9] = [10, 11, 12, 13, 14, 15, 16, 17, 18];
const VOCAB: usize = 19;

#[derive(Debug, Serialize)]
pub(super) struct Numbers {
    pub(super) text: [u32; 9],
    pub(super) heads: usize,
    pub(super) layers: usize,
    /// What each layer contributes after 1 … 8.
    pub(super) trace: Vec<Layer>,
    pub(super) emitted: Emitted,
    /// The weight that the paper states.
    pub(super) paper: f32,
    /// The expected error of a layer's weight, for this dimension and load, if inner recall were perfect: one standard
    /// deviation.
    pub(super) deviation: f64,
    /// A second text, memorized before the first is forgotten.
    pub(super) other_text: Vec<String>,
    pub(super) other_before: Emitted,
    pub(super) other_after: Emitted,
    /// The weight of 9 after 1 … 8, once they are forgotten.
    pub(super) weight_after_forgetting: f32,
    /// Inner sequences held with both texts, and after forgetting the first completely.
    pub(super) sequences: usize,
    pub(super) sequences_after_forgetting: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Layer {
    #[serde(rename = "layer")]
    pub(super) number: usize,
    pub(super) blocks: Vec<Vec<u32>>,
    /// How well the inner memory returns each block's code: 1 is perfect.
    pub(super) cosines: Vec<f32>,
    pub(super) emitted: Emitted,
}

pub(super) fn run(options: &DemoOptions) -> anyhow::Result<Numbers> {
    let mut memo = DenseMemo::new(DenseConfig {
        seed: options.seed,
        // The paper's equations, with a distiller that allows forgetting inner sequences too.
        distiller: Distiller::Exact,
        ..DenseConfig::new(VOCAB, options.dim, HEADS, LAYERS)
    })?;
    memo.memorize(&NUMBERS)?;
    let trace = memo.trace(&NUMBERS[..8], 1)?;
    let deviation = memo.reading().deviation();
    let emitted = |token: u32, weight: f32| Emitted { token: name(token), weight };
    let layers = trace.layers.iter().map(|layer| Layer {
        number: layer.layer,
        blocks: layer.blocks.iter().map(|b| b.tokens.clone()).collect(),
        cosines: layer.blocks.iter().map(|b| b.cosine).collect(),
        emitted: emitted(layer.candidates[0].token, layer.candidates[0].weight),
    });
    let layers = layers.collect();

    memo.memorize(&LETTERS)?;
    let before = memo.predict(&LETTERS[..8])?;
    let sequences = memo.stored_sequences().iter().sum();
    memo.forget_completely(&NUMBERS)?;
    let after = memo.predict(&LETTERS[..8])?;
    Ok(Numbers {
        text: NUMBERS,
        heads: HEADS,
        layers: LAYERS,
        trace: layers,
        emitted: emitted(trace.candidates[0].token, trace.candidates[0].weight),
        paper: 3.0,
        deviation,
        other_text: LETTERS.map(name).to_vec(),
        other_before: emitted(before.token, before.weight),
        other_after: emitted(after.token, after.weight),
        weight_after_forgetting: memo.weights(&NUMBERS[..8])?[9],
        sequences,
        sequences_after_forgetting: memo.stored_sequences().iter().sum(),
    })
}

/// 1 to 9, then a to i.
fn name(token: u32) -> String {
    match token {
        10.. => char::from_u32(token - 10 + u32::from('a')).map_or_else(String::new, String::from),
        _ => token.to_string(),
    }
}
