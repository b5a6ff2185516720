//! The authors' protocol: random tokens from a vocabulary of 50,254, h = 4, 30 chunks of 1,024 tokens; the share of
//! positions, from h on, whose token is predicted right. Linear composition, computed recall, Φ off.
//!
//! The larger dimensions are ignored by default; `cargo xtask protocol` runs them.

use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo};
use memo::random::{Purpose, Stream};

const VOCAB: usize = 50_254;

/// Accuracy on a random sample of positions, and what [`DenseMemo::expected_recall`] predicts.
fn accuracy(codes: CodeKind, dim: usize, layers: usize, samples: usize) -> (f64, f64) {
    let config = DenseConfig { codes, seed: 1, ..DenseConfig::authors(VOCAB, dim, 4, layers) };
    let mut memo = DenseMemo::new(config).unwrap();
    let mut reader = Stream::new(2, Purpose::Sampling, 0).reader();
    let chunks: Vec<Vec<u32>> = (0..30).map(|_| reader.tokens(1024, VOCAB)).collect();
    let texts: Vec<&[u32]> = chunks.iter().map(Vec::as_slice).collect();
    memo.memorize_all(&texts).unwrap();
    let positions: Vec<(usize, usize)> = (0..samples)
        .map(|_| (reader.below(30) as usize, 4 + reader.below(1020) as usize))
        .collect();
    let contexts: Vec<&[u32]> = positions.iter().map(|&(c, p)| &chunks[c][..p]).collect();
    let predictions = memo.predict_batch(&contexts).unwrap();
    let right =
        positions.iter().zip(predictions).filter(|((c, p), q)| chunks[*c][*p] == q.token).count();
    let accuracy = right as f64 / samples as f64;
    println!(
        "{codes:?} d={dim} l={layers}: accuracy {accuracy:.4} of {samples}, expected {:.4}",
        memo.expected_recall()
    );
    (accuracy, memo.expected_recall())
}

/// Three standard errors of a share measured on a sample.
fn error(share: f64, samples: usize) -> f64 {
    3.0 * (share * (1.0 - share) / samples as f64).sqrt()
}

fn reproduces(dim: usize, layers: usize, theirs: f64, samples: usize) {
    let (gaussian, expected) = accuracy(CodeKind::Gaussian, dim, layers, samples);
    let slack = error(theirs, samples);
    assert!((gaussian - theirs).abs() < 0.02 + slack, "{gaussian} against the authors' {theirs}");
    assert!((gaussian - expected).abs() < 0.03 + slack, "{gaussian} against {expected} expected");
    let (hadamard, _) = accuracy(CodeKind::Hadamard, dim, layers, samples);
    assert!(hadamard > gaussian - 0.01 - slack, "Hadamard {hadamard}, Gaussian {gaussian}");
}

#[test]
fn one_layer_of_1024_dimensions() {
    reproduces(1024, 1, 0.80, 3000);
}

#[test]
#[ignore = "a minute of matrix products; `cargo xtask protocol` runs it on every position of a large sample"]
fn three_layers_of_1024_dimensions() {
    reproduces(1024, 3, 0.845, 20_000);
}

#[test]
#[ignore = "minutes of matrix products; `cargo xtask protocol` runs it"]
fn three_layers_of_2048_dimensions() {
    reproduces(2048, 3, 0.997, 10_000);
}
