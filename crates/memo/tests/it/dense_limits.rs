//! Bad configurations and bad input are refused with a typed error that names the value, and change nothing; results
//! do not depend on threads.

use memo::codes::{CodeKind, TokenCodes};
use memo::dense::{
    Change, Composition, DenseConfig, DenseMemo, Distiller, Recall, SingleConfig, SingleMemory,
};
use memo::oracle::Oracle;
use memo::random::{Purpose, Stream};
use memo::{ConfigError, Error};
use std::ops::ControlFlow;

fn refused(config: DenseConfig) -> ConfigError {
    let error = config.check().unwrap_err();
    // By their words, as NaN does not equal itself.
    assert_eq!(DenseMemo::new(config).unwrap_err().to_string(), error.to_string());
    error
}

#[test]
fn impossible_configurations() {
    let good = DenseConfig::new(100, 64, 2, 2);
    assert_eq!(good.check(), Ok(()));
    let with = |change: &dyn Fn(&mut DenseConfig)| {
        let mut config = good.clone();
        change(&mut config);
        refused(config)
    };
    assert_eq!(with(&|c| c.vocab = 0), ConfigError::EmptyVocabulary);
    assert_eq!(with(&|c| c.vocab = 1 << 40), ConfigError::VocabularyTooLarge(1 << 40));
    assert_eq!(with(&|c| c.dim = 0), ConfigError::ZeroDimension { name: "d" });
    assert_eq!(with(&|c| c.heads = 1), ConfigError::TooFewHeads(1));
    assert_eq!(with(&|c| c.layers = 0), ConfigError::NoLayers);
    assert_eq!(with(&|c| c.heads = 3), ConfigError::HeadsDoNotDivide { dim: 64, heads: 3 });
    assert_eq!(
        with(&|c| (c.codes, c.dim) = (CodeKind::Hadamard, 96)),
        ConfigError::NotPowerOfTwo { name: "d", value: 96 }
    );
    assert_eq!(with(&|c| c.layers = 64), ConfigError::WindowOverflow { heads: 2, layers: 64 });
    assert_eq!(
        with(&|c| c.layers = usize::MAX),
        ConfigError::WindowOverflow { heads: 2, layers: usize::MAX }
    );
    assert_eq!(with(&|c| c.recall = Recall::Blend(1.5)), ConfigError::Blend(1.5));
    let product = |c: &mut DenseConfig| {
        (c.codes, c.composition) = (CodeKind::Hadamard, Composition::Product);
    };
    assert_eq!(with(&product), ConfigError::ProductOfHadamard);
    assert!(matches!(with(&|c| c.recall = Recall::Blend(f32::NAN)), ConfigError::Blend(_)));
    assert_eq!(with(&|c| c.update_rows = 0), ConfigError::EmptyUpdate);
}

#[test]
fn models_that_would_not_fit() {
    let small = DenseConfig { memory_limit: 1000, ..DenseConfig::new(100, 64, 2, 2) };
    let needed = small.bytes().unwrap();
    assert_eq!(refused(small), ConfigError::OverLimit { needed, limit: 1000 });
    let memo =
        DenseMemo::new(DenseConfig { memory_limit: needed, ..DenseConfig::new(100, 64, 2, 2) });
    assert_eq!(memo.unwrap().bytes() as u64, needed);
    assert_eq!(DenseConfig { heads: 0, ..DenseConfig::new(10, 64, 2, 2) }.bytes(), None);
    assert_eq!(DenseConfig { layers: 0, ..DenseConfig::new(10, 64, 2, 2) }.bytes(), None);
    // Petabytes, and more bytes than 64 bits can count.
    for dim in [1 << 25, 1 << 40] {
        let error = refused(DenseConfig::new(100, dim, 2, 2));
        assert!(matches!(error, ConfigError::OutOfMemory { .. }), "{error}");
    }
    assert!(TokenCodes::new(CodeKind::Gaussian, 1 << 31, 1 << 30, 0).is_err());
    let single = SingleConfig { head_dim: 1 << 40, ..SingleConfig::new(10, 64, 2).unwrap() };
    assert!(matches!(SingleMemory::new(single).unwrap_err(), ConfigError::OutOfMemory { .. }));
}

#[test]
fn predicted_bytes_are_the_bytes_held() {
    for codes in [CodeKind::Gaussian, CodeKind::Hadamard] {
        for recall in [Recall::Stored, Recall::Computed] {
            let config = DenseConfig { codes, recall, ..DenseConfig::new(1000, 128, 4, 3) };
            let predicted = config.bytes().unwrap();
            assert_eq!(
                DenseMemo::new(config).unwrap().bytes() as u64,
                predicted,
                "{codes:?} {recall:?}"
            );
        }
    }
}

#[test]
fn unknown_tokens_change_nothing() {
    let mut memo = DenseMemo::new(DenseConfig::new(10, 64, 2, 2)).unwrap();
    let error = Error::UnknownToken { token: 10, position: 2, vocab: 10 };
    assert_eq!(memo.memorize_all(&[&[1, 2, 3], &[1, 2, 10]]), Err(error.clone()));
    assert_eq!(memo.memory(2).unwrap().norm(), 0.0);
    assert_eq!(memo.forget(&[1, 2, 10]), Err(error.clone()));
    assert_eq!(memo.predict(&[1, 2, 10]).unwrap_err(), error);
    assert_eq!(memo.predict_along(&[1, 2, 10]).unwrap_err(), error);
    assert_eq!(memo.trace(&[1, 2, 10], 1).unwrap_err(), error);
    let mut single = SingleMemory::new(SingleConfig::new(10, 64, 2).unwrap()).unwrap();
    assert_eq!(single.memorize(&[1, 2, 10]).unwrap_err(), error);
    assert_eq!(single.predict(&[1]).unwrap_err(), Error::WindowLength { got: 1, expected: 2 });
    assert_eq!(
        SingleMemory::with_symbols(SingleConfig::new(10, 64, 2).unwrap(), vec![0.0; 64])
            .unwrap_err(),
        ConfigError::Symbols { got: 64, expected: 320 }
    );
    assert_eq!(SingleConfig::new(10, 64, 0), Err(ConfigError::NoHeads));
    assert_eq!(
        SingleConfig::new(10, 64, 3),
        Err(ConfigError::HeadsDoNotDivide { dim: 64, heads: 3 })
    );
    assert_eq!(
        single.memorize_pairs(&[1, 2, 3], &[4]).unwrap_err(),
        Error::WindowLength { got: 3, expected: 2 }
    );
}

#[test]
fn complete_forgetting_refuses_what_was_not_memorized() {
    let config = DenseConfig::new(10, 64, 2, 2);
    let mut rounding = DenseMemo::new(config.clone()).unwrap();
    assert_eq!(rounding.forget_completely(&[1, 2, 3]), Err(Error::RoundedDistiller));
    let unclamped = DenseConfig { distiller: Distiller::Unclamped, ..config.clone() };
    let mut rounding = DenseMemo::new(unclamped).unwrap();
    assert_eq!(rounding.forget_completely(&[1, 2, 3]), Err(Error::RoundedDistiller));
    let text = [1, 2, 3, 4, 5];
    for (recall, layers) in [(Recall::Stored, 2), (Recall::Stored, 1), (Recall::Computed, 2)] {
        let config = DenseConfig { distiller: Distiller::Exact, recall, layers, ..config.clone() };
        let mut memo = DenseMemo::new(config).unwrap();
        memo.memorize(&text).unwrap();
        let before = memo.memory(layers).unwrap().cells().to_vec();
        // Neither a part of the text, whose sequences are all stored, nor a longer one.
        for other in [&[1, 2, 3][..], &[1, 2, 3, 4, 5, 1], &[]] {
            let error = Error::NotMemorized { tokens: other.len() };
            assert_eq!(memo.forget_completely(other), Err(error));
        }
        assert_eq!(memo.memory(layers).unwrap().cells(), before);
        assert_eq!(memo.forget_completely(&text), Ok(()));
        assert!(memo.stored_sequences().iter().all(|count| *count == 0));
        assert_eq!(memo.forget_completely(&text), Err(Error::NotMemorized { tokens: 5 }));
        // What was forgotten from the last layer only is forgotten, too.
        memo.memorize(&text).unwrap();
        memo.forget(&text).unwrap();
        assert_eq!(memo.forget_completely(&text), Err(Error::NotMemorized { tokens: 5 }));
        assert_eq!(memo.memory(layers).unwrap().load(), 0.0);
    }
}

#[test]
fn several_texts_are_forgotten_completely_or_none() {
    let config = DenseConfig { distiller: Distiller::Exact, ..DenseConfig::new(10, 64, 2, 2) };
    let mut memo = DenseMemo::new(config).unwrap();
    let (one, other): (&[u32], &[u32]) = (&[1, 2, 3, 4, 5], &[6, 7, 8]);
    memo.memorize_all(&[one, other, one]).unwrap();
    let before = memo.to_safetensors().unwrap();
    for texts in [&[one, other, &[9, 9]][..], &[one, one, one], &[other, other]] {
        assert!(matches!(memo.forget_completely_all(texts), Err(Error::NotMemorized { .. })));
        assert_eq!(memo.to_safetensors().unwrap(), before);
    }
    memo.forget_completely_all(&[one, other, one]).unwrap();
    assert_eq!(memo.stored_sequences(), [0]);
}

#[test]
fn a_change_that_is_stopped_changes_nothing() {
    let text = Stream::new(5, Purpose::Sampling, 0).draws().tokens(6000, 100);
    for codes in [CodeKind::Gaussian, CodeKind::Hadamard] {
        for distiller in [Distiller::Exact, Distiller::Memory] {
            let config = DenseConfig { codes, distiller, ..DenseConfig::new(100, 64, 2, 2) };
            let mut memo = DenseMemo::new(config.clone()).unwrap();
            memo.memorize(&text[..500]).unwrap();
            let before = memo.to_safetensors().unwrap();
            for change in [Change::Memorize, Change::Forget] {
                let mut told = Vec::new();
                let mut tell = |done| {
                    told.push(done);
                    if done < 4000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                let texts = [&text[..3000], &text[3000..]];
                let stopped = memo.change_all(&texts, change, Some(&mut tell));
                assert_eq!(stopped, Err(Error::Stopped));
                assert_eq!(memo.to_safetensors().unwrap(), before, "{codes:?} {distiller:?}");
                assert!(told.is_sorted() && told.len() > 2 && *told.last().unwrap() < 6000);
            }
            // One that is not stopped is one that nobody watched.
            let mut other = DenseMemo::new(config).unwrap();
            other.memorize(&text[..500]).unwrap();
            other.memorize(&text).unwrap();
            let mut tell = |_| ControlFlow::Continue(());
            memo.change_all(&[&text], Change::Memorize, Some(&mut tell)).unwrap();
            assert_eq!(memo.to_safetensors().unwrap(), other.to_safetensors().unwrap());
        }
    }
}

#[test]
fn without_room_for_a_copy_a_change_goes_on_to_its_end() {
    let text = Stream::new(5, Purpose::Sampling, 0).draws().tokens(3000, 100);
    let config = DenseConfig::authors(100, 64, 2, 2);
    let memory_limit = config.bytes().unwrap();
    let mut memo = DenseMemo::new(DenseConfig { memory_limit, ..config.clone() }).unwrap();
    let mut calls = 0;
    let mut tell = |_| {
        calls += 1;
        ControlFlow::Break(())
    };
    assert_eq!(memo.change_all(&[&text], Change::Memorize, Some(&mut tell)), Ok(()));
    assert!(calls > 0);
    let mut other = DenseMemo::new(config).unwrap();
    other.memorize(&text).unwrap();
    assert_eq!(memo.to_safetensors().unwrap(), other.to_safetensors().unwrap());
}

#[test]
fn long_windows_cost_nothing_on_short_texts() {
    // 2³⁰ tokens of window; neither memorizing nor retrieving may touch that many rows.
    for recall in [Recall::Computed, Recall::Stored] {
        let config = DenseConfig { recall, ..DenseConfig::new(10, 64, 2, 30) };
        let mut memo = DenseMemo::new(config).unwrap();
        memo.memorize(&[1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(memo.predict(&[1, 2, 3, 4, 5]).unwrap().token, 6);
        assert_eq!(memo.trace(&[1, 2, 3, 4, 5], 1).unwrap().layers.len(), 30);
    }
    assert!(Oracle::new(&DenseConfig::new(10, 64, 2, 30)).is_err());
}

#[test]
fn empty_and_short_texts() {
    let mut memo = DenseMemo::new(DenseConfig::new(10, 64, 4, 2)).unwrap();
    for text in [&[][..], &[1], &[1, 2, 3], &[1, 2, 3, 4]] {
        memo.memorize(text).unwrap();
    }
    // No window of four tokens has a successor.
    assert_eq!(memo.memory(2).unwrap().load(), 0.0);
    assert_eq!(memo.predict(&[]).unwrap().weight, 0.0);
    assert_eq!(memo.predict_along(&[]).unwrap(), []);
}

#[test]
fn an_update_may_be_a_whole_text() {
    let config = DenseConfig { update_rows: usize::MAX, ..DenseConfig::new(10, 64, 2, 2) };
    let mut memo = DenseMemo::new(config).unwrap();
    memo.memorize(&[1, 2, 3, 4, 5]).unwrap();
    assert_eq!(memo.predict(&[1, 2, 3, 4]).unwrap().token, 5);
}

#[test]
fn long_texts_are_read_as_their_prefixes_are() {
    // Long enough to cross the pieces and batches that texts are cut into.
    let text = Stream::new(5, Purpose::Sampling, 0).draws().tokens(2300, 300);
    for codes in [CodeKind::Gaussian, CodeKind::Hadamard] {
        for recall in [Recall::Computed, Recall::Stored, Recall::Blend(0.0), Recall::Blend(0.5)] {
            let with = |update_rows| {
                let config = DenseConfig {
                    codes,
                    recall,
                    update_rows,
                    distiller: Distiller::Exact,
                    ..DenseConfig::new(300, 64, 4, 3)
                };
                let mut memo = DenseMemo::new(config).unwrap();
                memo.memorize(&text).unwrap();
                memo
            };
            let memo = with(1024);
            let other = with(77);
            for layer in 1..=3 {
                if let (Some(a), Some(b)) = (memo.memory(layer), other.memory(layer)) {
                    let close = a.cells().iter().zip(b.cells()).all(|(x, y)| (x - y).abs() < 1e-3);
                    assert!(close, "{codes:?} {recall:?} layer {layer}");
                }
            }
            let along = memo.predict_along(&text).unwrap();
            let ends: Vec<usize> = (0..2300).step_by(61).chain([2299]).collect();
            let prefixes: Vec<&[u32]> = ends.iter().map(|&p| &text[..=p]).collect();
            for (p, each) in ends.iter().zip(memo.predict_all(&prefixes).unwrap()) {
                let error = (along[*p].weight - each.weight).abs();
                assert!(error < 1e-3 * (1.0 + each.weight.abs()), "{codes:?} {recall:?} at {p}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_results() {
    let text = Stream::new(1, Purpose::Sampling, 0).draws().tokens(3000, 500);
    for codes in [CodeKind::Gaussian, CodeKind::Hadamard] {
        let weights = |threads| {
            let config = DenseConfig { codes, threads, ..DenseConfig::new(500, 256, 2, 3) };
            let mut memo = DenseMemo::new(config).unwrap();
            memo.memorize(&text).unwrap();
            memo.weights_all(&[&text[..50], &text[..9]]).unwrap()
        };
        let one = weights(1);
        for threads in [0, 2, 3] {
            let many = weights(threads);
            // The distiller rounds what memories return, so only float rounding may differ.
            let close = one.iter().zip(&many).all(|(a, b)| (a - b).abs() < 1e-2 * (1.0 + a.abs()));
            assert!(close, "{codes:?} with {threads} threads");
        }
    }
}
