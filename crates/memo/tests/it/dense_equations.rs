//! The dense engine equals a literal transcription of the paper's equations, for every option.

use crate::paper::Paper;
use memo::codes::CodeKind;
use memo::dense::{Composition, DenseConfig, DenseMemo, Distiller, Edges, Recall, Stride};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = DenseConfig> {
    // Heads and a dimension they divide; with Hadamard codes both are powers of two.
    let shape = prop_oneof![
        Just((2, 16, CodeKind::Hadamard)),
        Just((4, 32, CodeKind::Hadamard)),
        Just((2, 16, CodeKind::Gaussian)),
        Just((3, 12, CodeKind::Gaussian)),
        Just((4, 20, CodeKind::Gaussian)),
    ];
    let recall = prop_oneof![
        Just(Recall::Stored),
        Just(Recall::Computed),
        Just(Recall::Blend(0.3)),
        Just(Recall::Blend(1.0)),
    ];
    let distiller = prop_oneof![
        Just(Distiller::Memory),
        Just(Distiller::Unclamped),
        Just(Distiller::Exact),
        Just(Distiller::Off)
    ];
    (
        (shape, 1..=3usize, 2..24usize, any::<u64>()),
        (0..3usize, recall, distiller, any::<bool>(), any::<bool>(), 1..30usize),
    )
        .prop_map(
            |(
                (shape, layers, vocab, seed),
                (composition, recall, distiller, block, padded, rows),
            )| {
                let (heads, dim, codes) = shape;
                // 4³ tokens of window are slow to transcribe and add nothing that 3³ lacks.
                let layers = if heads == 4 { layers.min(2) } else { layers };
                let composition = match (composition, codes) {
                    (0, _) => Composition::Jlt,
                    (1, CodeKind::Gaussian) => Composition::Product,
                    _ => Composition::Bind,
                };
                DenseConfig {
                    seed,
                    codes,
                    composition,
                    recall,
                    distiller,
                    stride: if block { Stride::Block } else { Stride::Token },
                    edges: if padded { Edges::Padded } else { Edges::Inside },
                    update_rows: rows,
                    ..DenseConfig::new(vocab, dim, heads, layers)
                }
            },
        )
}

/// Texts over a small vocabulary, so that sequences repeat within and across them; some empty, some shorter than h.
fn texts() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..24u32, 0..40), 1..4)
}

fn agree(memo: &DenseMemo, paper: &Paper, contexts: &[&[u32]]) -> Result<(), TestCaseError> {
    let n = memo.config().vocab;
    let weights = memo.weights_all(contexts).unwrap();
    for (context, weights) in contexts.iter().zip(weights.chunks_exact(n)) {
        let expected = paper.weights(context);
        let size = expected.iter().fold(1.0f64, |m, w| m.max(w.abs()));
        for (got, expected) in weights.iter().zip(&expected) {
            let error = (f64::from(*got) - expected).abs();
            prop_assert!(error < 2e-4 * size, "{got} against {expected} after {context:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_global_rejects: 4096, ..Default::default() })]

    #[test]
    fn memorizing_retrieving_and_forgetting_follow_the_equations(config in config(), texts in texts()) {
        let texts: Vec<Vec<u32>> =
            texts.iter().map(|t| t.iter().map(|x| x % config.vocab as u32).collect()).collect();
        let mut memo = DenseMemo::new(config.clone()).unwrap();
        let mut paper = Paper::new(&memo);
        let slices: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        memo.memorize_all(&slices).unwrap();
        for text in &slices {
            paper.memorize(text);
        }
        prop_assume!(paper.margin > 1e-3);

        let long: Vec<u32> = texts.concat();
        let contexts: Vec<&[u32]> = [0, 1, 2, 3, 5, 8, 13, 27, 40]
            .iter()
            .map(|&end| &long[..long.len().min(end)])
            .collect();
        agree(&memo, &paper, &contexts)?;

        // Along a text, every prefix is a context.
        let along = memo.predict_along(&texts[0]).unwrap();
        let prefixes: Vec<&[u32]> = (0..texts[0].len()).map(|p| &texts[0][..=p]).collect();
        let each = memo.predict_all(&prefixes).unwrap();
        for (a, b) in along.iter().zip(&each) {
            prop_assert!((a.weight - b.weight).abs() < 1e-3 * (1.0 + b.weight.abs()));
        }

        let rounded = matches!(config.distiller, Distiller::Memory | Distiller::Unclamped);
        if !rounded || config.recall == Recall::Computed {
            memo.forget_completely(&texts[0]).unwrap();
            paper.forget_completely(&texts[0]);
        } else {
            memo.forget(&texts[0]).unwrap();
            paper.forget(&texts[0]);
        }
        agree(&memo, &paper, &contexts)?;
    }

    #[test]
    fn complete_forgetting_leaves_what_the_other_text_alone_would(config in config(), texts in texts()) {
        // Without inner memories the distiller does not matter; with them, rounding cannot be undone.
        let inner = config.recall != Recall::Computed && config.layers > 1;
        let rounded = matches!(config.distiller, Distiller::Memory | Distiller::Unclamped) && inner;
        let distiller = if rounded { Distiller::Exact } else { config.distiller };
        let config = DenseConfig { distiller, ..config };
        let texts: Vec<Vec<u32>> =
            texts.iter().map(|t| t.iter().map(|x| x % config.vocab as u32).collect()).collect();
        let (forgotten, kept) = (&texts[0], &texts[texts.len() - 1]);
        let mut memo = DenseMemo::new(config.clone()).unwrap();
        memo.memorize(forgotten).unwrap();
        memo.memorize(kept).unwrap();
        memo.forget_completely(forgotten).unwrap();
        let mut never = DenseMemo::new(config.clone()).unwrap();
        never.memorize(kept).unwrap();
        prop_assert_eq!(memo.stored_sequences(), never.stored_sequences());
        for layer in 1..=config.layers {
            if let (Some(a), Some(b)) = (memo.memory(layer), never.memory(layer)) {
                prop_assert_eq!(a.load(), b.load());
                let close = a.cells().iter().zip(b.cells()).all(|(x, y)| (x - y).abs() < 1e-4);
                prop_assert!(close, "layer {layer}");
            }
        }
    }
}
