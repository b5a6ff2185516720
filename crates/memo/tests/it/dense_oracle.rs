//! The dense engine agrees with the exact oracle within the noise that its dimension and load predict.

use memo::Prediction;
use memo::codes::CodeKind;
use memo::dense::{
    Composition, DenseConfig, DenseMemo, Distiller, Edges, Recall, SingleConfig, SingleMemory,
};
use memo::oracle::Oracle;
use memo::random::{Purpose, Stream};
use proptest::prelude::*;

const KINDS: [CodeKind; 2] = [CodeKind::Gaussian, CodeKind::Hadamard];

/// Whether a weight is the oracle's up to what a memory of dimension d may add: `noise` from unrelated pairs, the share
/// of other tokens' exact weights that their codes' products (1/√d each) let through, and the error in the lengths of
/// random vectors, which scales with the weight itself. Six standard deviations are allowed, and f32 rounding.
fn close(weight: f32, token: usize, exact: &[f32], noise: f64, dim: usize) -> bool {
    let others: f64 = exact.iter().map(|w| f64::from(w * w)).sum();
    let own = f64::from(exact[token]).powi(2) * 8.0;
    let deviation = (noise * noise + (others + own) / dim as f64).sqrt();
    f64::from(weight - exact[token]).abs() <= 6.0 * deviation + 1e-4
}

#[test]
fn the_sentence_of_section_3_1() {
    // He enrolled in the mathematics and physics teaching diploma program or
    let sentence: Vec<u32> = (0..10).collect();
    let (physics, or) = (6, 10);
    for codes in KINDS {
        let mut memo =
            SingleMemory::new(SingleConfig { codes, ..SingleConfig::new(11, 4096, 4).unwrap() })
                .unwrap();
        memo.memorize(&sentence).unwrap();
        assert_eq!(memo.memory().load(), 6.0);
        let noise = memo.memory().noise(1.25);
        assert!(noise < 0.01);
        let is = |prediction: Prediction, token: u32, weight: f32| {
            let mut exact = [0.0; 11];
            exact[token as usize] = weight;
            assert_eq!(prediction.token, token);
            assert!(
                close(prediction.weight, token as usize, &exact, noise, 4096),
                "{prediction:?}"
            );
        };
        is(memo.predict(&[2, 3, 4, 5]).unwrap(), physics, 1.0);
        is(memo.predict(&[2, 3, 4, or]).unwrap(), physics, 0.75);

        // A second text stays as it was when the sentence is forgotten.
        let other = [7, 3, 9, 1, 8, 0];
        memo.memorize(&other).unwrap();
        memo.forget(&sentence).unwrap();
        let left = memo.weights(&[2, 3, 4, 5]).unwrap()[physics as usize];
        assert!(close(left, physics as usize, &[0.0; 11], noise, 4096), "{left}");
        is(memo.predict(&[7, 3, 9, 1]).unwrap(), 8, 1.0);
    }
}

#[test]
fn the_numbers_of_section_3_2() {
    let numbers: Vec<u32> = (1..=9).collect();
    let other = [9, 4, 6, 2, 8, 1, 5, 3, 7];
    for codes in KINDS {
        for composition in [Composition::Jlt, Composition::Bind] {
            for recall in [Recall::Stored, Recall::Computed, Recall::Blend(0.5)] {
                let config = DenseConfig {
                    codes,
                    composition,
                    recall,
                    distiller: Distiller::Exact,
                    ..DenseConfig::new(10, 2048, 2, 3)
                };
                let mut memo = DenseMemo::new(config.clone()).unwrap();
                let mut oracle = Oracle::new(&config).unwrap();
                memo.memorize(&numbers).unwrap();
                oracle.memorize(&numbers).unwrap();
                let trace = memo.trace(&numbers[..8], 2).unwrap();
                let nine = trace.candidates[0];
                // Stored recall adds the noise of each inner memory to the next.
                let noise = trace.noise * if recall == Recall::Computed { 1.0 } else { 3.0 };
                assert_eq!(nine.token, 9, "{config:?}");
                let exact = oracle.weights(&numbers[..8]).unwrap();
                assert_eq!(exact[9], 3.0);
                assert!(
                    close(nine.weight, 9, &exact, noise, 2048),
                    "{nine:?}, noise {noise}, {config:?}"
                );
                for layer in &trace.layers {
                    assert_eq!(layer.candidates[0].token, 9);
                    assert!(layer.blocks.iter().all(|b| b.cosine > 0.9), "{layer:?}");
                }

                memo.memorize(&other).unwrap();
                memo.forget(&numbers).unwrap();
                oracle.memorize(&other).unwrap();
                oracle.forget(&numbers).unwrap();
                let exact = oracle.weights(&numbers[..8]).unwrap();
                let forgotten = memo.weights(&numbers[..8]).unwrap()[9];
                assert_eq!(exact[9], 0.0);
                assert!(close(forgotten, 9, &exact, noise, 2048), "{forgotten}, {config:?}");
                let exact = oracle.weights(&other[..8]).unwrap();
                let kept = memo.predict(&other[..8]).unwrap();
                // Stored recall returns similar sequences too, so a linear composition may count more than 3.
                assert!(kept.token == 7 && exact[7] >= 3.0);
                assert!(close(kept.weight, 7, &exact, noise, 2048), "{kept:?}, {config:?}");
            }
        }
    }
}

#[test]
fn a_trace_names_blocks_and_layers_add_up() {
    let config = DenseConfig::new(30, 1024, 2, 3);
    let mut memo = DenseMemo::new(config).unwrap();
    let text: Vec<u32> = (0..30).collect();
    memo.memorize(&text).unwrap();
    let context = &text[..5];
    let trace = memo.trace(context, 30).unwrap();
    let blocks =
        |i: usize| trace.layers[i].blocks.iter().map(|b| b.tokens.clone()).collect::<Vec<_>>();
    assert_eq!(blocks(0), [vec![3], vec![4]]);
    assert_eq!(blocks(1), [vec![1, 2], vec![3, 4]]);
    assert_eq!(blocks(2), [vec![0], vec![1, 2, 3, 4]]);
    // Inner memories hold every pair: what they return resembles the computed code, but for the noise.
    assert!(trace.layers[1].blocks.iter().all(|b| b.cosine > 0.8 && b.cosine < 0.9999));
    let weights = memo.weights(context).unwrap();
    for candidate in &trace.candidates {
        let parts: f32 = trace
            .layers
            .iter()
            .map(|l| l.candidates.iter().find(|c| c.token == candidate.token).unwrap().weight)
            .sum();
        assert!((parts - candidate.weight).abs() < 1e-4);
        assert!((weights[candidate.token as usize] - candidate.weight).abs() < 1e-4);
    }
}

#[test]
fn the_predicted_noise_is_the_measured_one() {
    // Unrelated contexts read nothing but noise; its deviation must be what the load and the dimension predict.
    for codes in KINDS {
        for composition in [Composition::Jlt, Composition::Bind] {
            let config = DenseConfig {
                codes,
                composition,
                seed: 11,
                ..DenseConfig::authors(5000, 1024, 4, 2)
            };
            let mut memo = DenseMemo::new(config).unwrap();
            let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
            memo.memorize(&reader.tokens(4000, 5000)).unwrap();
            let (mut squares, mut predicted) = (0.0, 0.0);
            for _ in 0..20 {
                let context = reader.tokens(16, 5000);
                let weights = memo.weights(&context).unwrap();
                squares += weights.iter().map(|w| f64::from(w * w)).sum::<f64>() / 5000.0;
                predicted += memo.trace(&context, 1).unwrap().noise.powi(2);
            }
            let ratio = (squares / predicted).sqrt();
            assert!(
                (ratio - 1.0).abs() < 0.05,
                "{codes:?} {composition:?}: measured/predicted {ratio}"
            );
        }
    }
}

fn options() -> impl Strategy<Value = DenseConfig> {
    let recall =
        prop_oneof![Just(Recall::Stored), Just(Recall::Computed), Just(Recall::Blend(0.4))];
    let distiller = prop_oneof![Just(Distiller::Exact), Just(Distiller::Off)];
    (any::<[bool; 3]>(), recall, distiller, 1..=2usize, 0..100u64).prop_map(
        |([hadamard, bind, padded], recall, distiller, layers, seed)| DenseConfig {
            seed,
            codes: if hadamard { CodeKind::Hadamard } else { CodeKind::Gaussian },
            composition: if bind { Composition::Bind } else { Composition::Jlt },
            recall,
            distiller,
            edges: if padded { Edges::Padded } else { Edges::Inside },
            ..DenseConfig::new(40, 2048, 2, layers)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_option_agrees_with_the_oracle(
        config in options(),
        first in prop::collection::vec(0..40u32, 0..30),
        second in prop::collection::vec(0..40u32, 0..30),
    ) {
        let mut memo = DenseMemo::new(config.clone()).unwrap();
        let mut oracle = Oracle::new(&config).unwrap();
        for text in [&first, &second] {
            memo.memorize(text).unwrap();
            oracle.memorize(text).unwrap();
        }
        if config.distiller == Distiller::Exact {
            memo.forget_completely(&first).unwrap();
            oracle.forget_completely(&first).unwrap();
        }
        for end in [0, 1, 2, second.len() / 2, second.len()] {
            let context = &second[..end.min(second.len())];
            let exact = oracle.weights(context).unwrap();
            // Stored recall multiplies noise in proportion to the weights.
            let largest = exact.iter().fold(1.0f32, |m, w| m.max(*w));
            let noise = 2.0 * memo.trace(context, 1).unwrap().noise * f64::from(largest);
            for (token, weight) in memo.weights(context).unwrap().into_iter().enumerate() {
                // A token that follows N windows gets all the crosstalk of their keys, which repetitions make coherent.
                let follows = first.iter().chain(&second).filter(|t| **t as usize == token).count();
                let crosstalk = follows as f64 * (config.layers as f64 / 2048.0).sqrt();
                let fine = close(weight, token, &exact, noise + crosstalk, 2048);
                prop_assert!(fine, "{weight} for token {token} of {exact:?}, noise {noise}");
            }
        }
    }
}

/// Partial matches, three layers and few tokens, where every option counts differently: over many seeds the engine's
/// weights must average to the oracle's. The error of the mean is measured, so a wrong count of a quarter shows.
#[test]
fn on_average_every_option_counts_as_the_oracle_does() {
    let text = [0, 1, 2, 3, 4, 0, 2, 4, 1, 3, 3, 0, 1, 2];
    let contexts: [&[u32]; 3] =
        [&[0, 1, 2, 3, 4, 0, 2, 4], &[0, 1, 4, 3, 4, 0, 2, 4], &[3, 0, 0, 2]];
    let (dim, seeds) = (256, 24);
    let mut options = Vec::new();
    for codes in KINDS {
        for composition in [Composition::Jlt, Composition::Bind] {
            for recall in [Recall::Computed, Recall::Stored, Recall::Blend(0.4)] {
                for distiller in [Distiller::Exact, Distiller::Off] {
                    let config = DenseConfig::new(5, dim, 2, 3);
                    options.push(DenseConfig { codes, composition, recall, distiller, ..config });
                }
            }
        }
    }
    for config in options {
        let mut oracle = Oracle::new(&config).unwrap();
        oracle.memorize(&text).unwrap();
        oracle.memorize(&text[..6]).unwrap();
        let mut runs: Vec<Vec<f32>> = Vec::new();
        for seed in 0..seeds {
            let mut memo = DenseMemo::new(DenseConfig { seed, ..config.clone() }).unwrap();
            memo.memorize(&text).unwrap();
            memo.memorize(&text[..6]).unwrap();
            runs.push(memo.weights_all(&contexts).unwrap());
        }
        let exact: Vec<f32> = contexts.iter().flat_map(|c| oracle.weights(c).unwrap()).collect();
        for (k, exact) in exact.iter().enumerate() {
            let values: Vec<f64> = runs.iter().map(|run| f64::from(run[k])).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance =
                values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
            let error = (variance / values.len() as f64).sqrt();
            let off = (mean - f64::from(*exact)).abs();
            assert!(
                off < 5.0 * error + 1e-3,
                "{config:?}: weight {k} is {mean} ± {error}, oracle {exact}"
            );
        }
    }
}
