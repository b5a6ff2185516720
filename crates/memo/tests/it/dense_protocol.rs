//! The authors' protocol: random tokens from a vocabulary of 50,254, h = 4, 30 chunks of 1,024 tokens; the share of
//! positions, from h on, whose token is predicted right. Linear composition, computed recall, Φ off.
//!
//! The larger dimensions are ignored by default; `cargo xtask protocol` runs them.

use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo, Distiller, Recall};
use memo::random::{Purpose, Stream};

const VOCAB: usize = 50_254;

/// Accuracy on every position, or on a random sample of them, and what [`DenseMemo::expected_recall`] predicts.
fn accuracy(codes: CodeKind, dim: usize, layers: usize, samples: Option<usize>) -> (f64, f64) {
    let config = DenseConfig { codes, seed: 1, ..DenseConfig::authors(VOCAB, dim, 4, layers) };
    let mut memo = DenseMemo::new(config).unwrap();
    let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
    let chunks: Vec<Vec<u32>> = (0..30).map(|_| reader.tokens(1024, VOCAB)).collect();
    let texts: Vec<&[u32]> = chunks.iter().map(Vec::as_slice).collect();
    memo.memorize_all(&texts).unwrap();
    let (mut right, mut tried) = (0, 0);
    if let Some(samples) = samples {
        let position = |_| (reader.below(30) as usize, 4 + reader.below(1020) as usize);
        let positions: Vec<(usize, usize)> = (0..samples).map(position).collect();
        let contexts: Vec<&[u32]> = positions.iter().map(|&(c, p)| &chunks[c][..p]).collect();
        for (&(c, p), q) in positions.iter().zip(memo.predict_all(&contexts).unwrap()) {
            right += usize::from(chunks[c][p] == q.token);
            tried += 1;
        }
    } else {
        for chunk in &chunks {
            let predictions = memo.predict_along(&chunk[..1023]).unwrap();
            for (q, next) in predictions.iter().zip(&chunk[1..]).skip(3) {
                right += usize::from(q.token == *next);
                tried += 1;
            }
        }
    }
    let (accuracy, expected) = (f64::from(right as u32) / f64::from(tried), memo.expected_recall());
    println!("{codes:?} d={dim} l={layers}: {accuracy:.4} of {tried}, expected {expected:.4}");
    (accuracy, expected)
}

/// `slack` is the sampling error; none where every position is tried.
fn reproduces(dim: usize, layers: usize, theirs: f64, samples: Option<usize>, slack: f64) {
    let (gaussian, expected) = accuracy(CodeKind::Gaussian, dim, layers, samples);
    assert!((gaussian - theirs).abs() < 0.02 + slack, "{gaussian} against the authors' {theirs}");
    // With several layers the prediction is optimistic: by a few points at the beginning of a text, where long windows
    // are missing, and by one or two elsewhere.
    let bias = if layers == 1 { 0.03 } else { 0.07 };
    assert!((gaussian - expected).abs() < bias + slack, "{gaussian} against {expected} expected");
    let (hadamard, _) = accuracy(CodeKind::Hadamard, dim, layers, samples);
    assert!(hadamard > gaussian - 0.01 - slack, "Hadamard {hadamard}, Gaussian {gaussian}");
}

#[test]
fn one_layer_of_1024_dimensions_on_a_sample() {
    // Three standard errors of 0.8 on 3,000 positions.
    reproduces(1024, 1, 0.80, Some(3000), 0.022);
}

#[test]
#[ignore = "minutes of matrix products; `cargo xtask protocol` runs it"]
fn one_layer_of_1024_dimensions() {
    reproduces(1024, 1, 0.80, None, 0.0);
}

#[test]
#[ignore = "minutes of matrix products; `cargo xtask protocol` runs it"]
fn three_layers_of_1024_dimensions() {
    reproduces(1024, 3, 0.845, None, 0.0);
}

#[test]
#[ignore = "minutes of matrix products; `cargo xtask protocol` runs it"]
fn three_layers_of_2048_dimensions() {
    reproduces(2048, 3, 0.997, None, 0.0);
}

/// Stored recall is the paper's equation. It holds for a few thousand tokens at d = 1024 and collapses as the inner
/// memories fill, because what they return, noise included, is the key of the next layer.
#[test]
#[ignore = "a minute of matrix products; `cargo xtask protocol` runs it"]
fn stored_recall_collapses_early() {
    for (codes, recall, distiller) in [
        (CodeKind::Gaussian, Recall::Stored, Distiller::Memory),
        (CodeKind::Gaussian, Recall::Stored, Distiller::Unclamped),
        (CodeKind::Gaussian, Recall::Stored, Distiller::Exact),
        (CodeKind::Gaussian, Recall::Stored, Distiller::Off),
        (CodeKind::Hadamard, Recall::Stored, Distiller::Exact),
        (CodeKind::Gaussian, Recall::Computed, Distiller::Off),
    ] {
        let accuracies: Vec<f64> = [1, 2, 4, 8]
            .into_iter()
            .map(|rows| {
                let config = DenseConfig {
                    codes,
                    recall,
                    distiller,
                    seed: 1,
                    ..DenseConfig::new(VOCAB, 1024, 4, 3)
                };
                let mut memo = DenseMemo::new(config).unwrap();
                let mut reader = Stream::new(2, Purpose::Sampling, 0).draws();
                let texts: Vec<Vec<u32>> = (0..rows).map(|_| reader.tokens(1024, VOCAB)).collect();
                texts.iter().for_each(|text| memo.memorize(text).unwrap());
                let right: usize = texts
                    .iter()
                    .map(|text| {
                        let predictions = memo.predict_along(&text[..1023]).unwrap();
                        let pairs = predictions.iter().zip(&text[1..]).skip(3);
                        pairs.filter(|(p, next)| p.token == **next).count()
                    })
                    .sum();
                right as f64 / f64::from(rows * 1020)
            })
            .collect();
        println!(
            "{codes:?}, {recall:?} recall, distiller {distiller:?}: {accuracies:.3?} after 1, 2, 4, 8 rows of 1,024 tokens"
        );
        assert!(accuracies[0] > 0.99, "a thousand tokens are recalled whichever way");
        if recall == Recall::Stored {
            assert!(
                accuracies[3] < 0.5,
                "stored recall holds at 8 rows: then the documentation is out of date"
            );
        } else {
            assert!(accuracies[3] > 0.99);
        }
    }
}
