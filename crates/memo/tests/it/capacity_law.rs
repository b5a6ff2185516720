//! The linear law of the paper's Fig. 3, predicted and measured: recall depends on pairs per cell and the vocabulary.

use memo::capacity;
use memo::codes::CodeKind;
use memo::dense::{SingleConfig, SingleMemory};
use memo::random::{Purpose, Stream};

/// Large enough that few windows share a token at the same place.
const VOCAB: usize = 60_000;

/// Fills a memory with random pairs and returns the share that it still returns, and the share that it expects to.
fn recall(config: SingleConfig, pairs: usize) -> (f64, f64) {
    let heads = config.heads;
    let mut memory = SingleMemory::new(config).unwrap();
    let mut reader = Stream::new(9, Purpose::Sampling, 0).draws();
    let windows = reader.tokens(pairs * heads, VOCAB);
    let next = reader.tokens(pairs, VOCAB);
    memory.memorize_pairs(&windows, &next).unwrap();
    let sample = pairs.min(2000);
    let predictions = memory.predict_pairs(&windows[..sample * heads]).unwrap();
    let right = predictions.iter().zip(&next).filter(|(p, n)| p.token == **n).count();
    (right as f64 / sample as f64, memory.expected_recall())
}

#[test]
fn recall_is_what_load_and_shape_predict() {
    // Wide and tall memories with few and many heads.
    for (heads, head_dim, dim) in [(4, 128, 512), (16, 64, 256)] {
        let cells = (heads * head_dim * dim) as u64;
        for wanted in [0.95, 0.6] {
            let pairs = capacity::pairs(cells, VOCAB, wanted) as usize;
            for codes in [CodeKind::Gaussian, CodeKind::Hadamard] {
                let config = SingleConfig { vocab: VOCAB, heads, head_dim, dim, codes, seed: 4 };
                let (measured, expected) = recall(config, pairs);
                let what = format!("{codes:?} {heads}×{head_dim}×{dim}, {pairs} pairs");
                let slack = 3.0 * (expected * (1.0 - expected) / 2000.0).sqrt() + 0.02;
                assert!(
                    (measured - expected).abs() < slack,
                    "{what}: {measured}, expected {expected}"
                );
                println!("{what}: measured {measured:.3}, expected {expected:.3}");
            }
        }
    }
}
