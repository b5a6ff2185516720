//! The worked examples of section 3: the sentence of Fig. 1 in a single memory, the numbers of Fig. 2 in three layers.

mod page;

use crate::{Error, Lab, Page};
use memo::dense::{DenseConfig, DenseMemo, SingleConfig, SingleMemory, Stride};
use std::time::Instant;

/// The sentence of Fig. 1, and the word that was not in it.
const WORDS: [&str; 11] = [
    "He",
    "enrolled",
    "in",
    "the",
    "mathematics",
    "and",
    "physics",
    "teaching",
    "diploma",
    "program",
    "or",
];

/// Words of the sentence itself.
const SENTENCE: u32 = 10;

/// The dimension at which weights are read, and the one at which matrices can be drawn.
const DIM: usize = 4096;
const DRAWN: usize = 32;

/// Seeds that are compared.
const SEEDS: u64 = 8;

/// A matrix, row by row.
type Matrix = Vec<Vec<f32>>;

/// Fig. 1: a window of four words.
struct Sentence {
    /// C, small enough to be drawn.
    memory: Matrix,
    /// Products of the queries' keys with those of the stored windows.
    matches: Matrix,
    /// The weight of every word after each query.
    weights: Matrix,
}

/// The windows that are asked for: one that is stored, and one whose last word is another.
const QUERIES: [[u32; 4]; 2] = [[2, 3, 4, 5], [2, 3, 4, 10]];

/// The text of Fig. 2.
const NUMBERS: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Fig. 2: the numbers 1 to 9 with h = 2 and l = 3.
struct Numbers {
    /// C of every layer, small enough to be drawn.
    memories: Vec<Matrix>,
    /// The weight of every number after 1 … 8, layer by layer, and their sum.
    weights: Matrix,
}

/// Runs the examples.
pub fn run(lab: &Lab<'_>) -> Result<Page, Error> {
    let start = Instant::now();
    let seed = lab.options().seed;
    let (sentence, numbers) = (sentence(seed)?, numbers(seed)?);
    // The sum for 9, seed by seed.
    let sum = |k| Ok(f64::from(counted(DIM, seed + k)?.weights(&NUMBERS[..8])?[9]));
    let spread: Vec<f64> = (0..SEEDS).map(sum).collect::<Result<_, Error>>()?;
    Ok(page::page(&sentence, &numbers, &spread, lab.provenance(start.elapsed().as_secs_f64())))
}

fn sentence(seed: u64) -> Result<Sentence, Error> {
    let text: Vec<u32> = (0..SENTENCE).collect();
    let single = |dim| -> Result<SingleMemory, Error> {
        let config = SingleConfig { seed, ..SingleConfig::new(WORDS.len(), dim, 4)? };
        let mut memory = SingleMemory::new(config)?;
        memory.memorize(&text)?;
        Ok(memory)
    };
    let memory = single(DIM)?;
    let stored: Vec<u32> = text[..text.len() - 1].windows(4).flatten().copied().collect();
    let keys = memory.keys(&stored)?;
    let mut matches = Matrix::new();
    let mut weights = Matrix::new();
    for query in &QUERIES {
        let key = memory.keys(query)?;
        let product = |other: &[f32]| key.iter().zip(other).map(|(a, b)| a * b).sum();
        matches.push(keys.chunks_exact(key.len()).map(product).collect());
        weights.push(memory.weights(query)?);
    }
    let drawn = single(DRAWN)?;
    let cells = |key| (0..DRAWN).map(|value| drawn.memory().cell(key, value)).collect();
    Ok(Sentence { memory: (0..DRAWN).map(cells).collect(), matches, weights })
}

/// A model that has memorized the numbers; windows tile the text as in the figure.
fn counted(dim: usize, seed: u64) -> Result<DenseMemo, Error> {
    let config = DenseConfig { seed, stride: Stride::Block, ..DenseConfig::new(10, dim, 2, 3) };
    let mut memo = DenseMemo::new(config)?;
    memo.memorize(&NUMBERS)?;
    Ok(memo)
}

fn numbers(seed: u64) -> Result<Numbers, Error> {
    let memo = counted(DIM, seed)?;
    let trace = memo.trace(&NUMBERS[..8], 10)?;
    let by_number = |candidates: &[memo::dense::Candidate]| -> Vec<f32> {
        let weight = |n| candidates.iter().find(|c| c.token == n).map_or(0.0, |c| c.weight);
        (1..=9).map(weight).collect()
    };
    let mut weights: Matrix =
        trace.layers.iter().map(|layer| by_number(&layer.candidates)).collect();
    weights.push(by_number(&trace.candidates));
    let drawn = counted(DRAWN, seed)?;
    let matrix = |layer: usize| -> Matrix {
        let Some(memory) = drawn.memory(layer) else { return Matrix::new() };
        let row = |key| (0..DRAWN).map(|value| memory.cell(key, value)).collect();
        (0..DRAWN).map(row).collect()
    };
    Ok(Numbers { memories: (1..=3).map(matrix).collect(), weights })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_give_the_paper_s_weights() {
        let Sentence { memory, matches, weights } = sentence(1).unwrap();
        assert_eq!((memory.len(), memory[0].len()), (DRAWN, DRAWN));
        for (query, share) in [(0, 1.0), (1, 0.75)] {
            // "in the mathematics and" is the third stored window, and physics follows it.
            assert!((matches[query][2] - share).abs() < 0.1, "{matches:?}");
            assert!(matches[query].iter().enumerate().all(|(k, m)| k == 2 || m.abs() < 0.15));
            assert!((weights[query][6] - share).abs() < 0.15, "{weights:?}");
        }
        let Numbers { memories, weights, .. } = numbers(1).unwrap();
        assert_eq!(memories.len(), 3);
        assert!((weights[3][8] - 3.0).abs() < 0.3, "{weights:?}");
        assert!(weights[..3].iter().all(|layer| (layer[8] - 1.0).abs() < 0.2), "{weights:?}");
    }
}
