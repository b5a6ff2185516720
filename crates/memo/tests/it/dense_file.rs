//! A dense model in a file is the model that was written, bit for bit; and a file that says what is not so is refused, with
//! an error that says what is wrong.

use memo::codes::CodeKind;
use memo::dense::{
    Composition, DenseConfig, DenseFile, DenseMemo, Distiller, FileError, Notes, Recall,
};
use memo::random::{Purpose, Stream};
use proptest::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use std::sync::LazyLock;

const TEXTS: [&[u32]; 3] = [&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[9, 4, 6, 2, 8, 1], &[1, 2, 3, 4]];

fn config() -> DenseConfig {
    DenseConfig { distiller: Distiller::Exact, seed: 7, ..DenseConfig::new(10, 8, 2, 2) }
}

/// A small model with everything that a file can hold.
static SAVED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut memo = DenseMemo::new(config()).unwrap();
    memo.memorize_all(&TEXTS).unwrap();
    let mut bytes = Vec::new();
    memo.write_safetensors(&Notes::from([("tokenizer".into(), "gpt2".into())]), &mut bytes)
        .unwrap();
    bytes
});

/// Everything that can be seen of a model, as bits.
fn seen(memo: &DenseMemo) -> Vec<u32> {
    let contexts: [&[u32]; 3] = [&[1, 2, 3, 4, 5, 6, 7], &[4], &[]];
    let mut seen: Vec<u32> =
        memo.weights_all(&contexts).unwrap().iter().map(|w| w.to_bits()).collect();
    let text = TEXTS[0];
    seen.extend(
        memo.predict_along(text).unwrap().iter().flat_map(|p| [p.token, p.weight.to_bits()]),
    );
    let trace = memo.trace(text, 3).unwrap();
    seen.extend(trace.candidates.iter().flat_map(|c| [c.token, c.weight.to_bits()]));
    seen.extend([trace.noise, memo.expected_recall()].map(|x| (x.to_bits() >> 32) as u32));
    seen.extend(memo.stored_sequences().iter().map(|count| *count as u32));
    seen
}

#[test]
fn a_model_comes_back_bit_for_bit_whatever_its_options() {
    for (codes, composition) in [
        (CodeKind::Gaussian, Composition::Jlt),
        (CodeKind::Gaussian, Composition::Bind),
        (CodeKind::Gaussian, Composition::Product),
        (CodeKind::Hadamard, Composition::Jlt),
        (CodeKind::Hadamard, Composition::Bind),
    ] {
        for recall in [Recall::Stored, Recall::Computed, Recall::Blend(0.3)] {
            for distiller in
                [Distiller::Memory, Distiller::Unclamped, Distiller::Exact, Distiller::Off]
            {
                let config = DenseConfig {
                    codes,
                    composition,
                    recall,
                    distiller,
                    seed: u64::MAX,
                    ..DenseConfig::new(10, 64, 2, 3)
                };
                let mut memo = DenseMemo::new(config.clone()).unwrap();
                memo.memorize_all(&TEXTS).unwrap();
                let bytes = memo.to_safetensors().unwrap();
                let mut read = DenseMemo::from_safetensors(&bytes).unwrap();
                assert_eq!(*read.config(), config);
                assert_eq!(seen(&read), seen(&memo), "{config:?}");
                assert_eq!(read.to_safetensors().unwrap(), bytes);
                // It goes on as the other does.
                for memo in [&mut memo, &mut read] {
                    memo.memorize(&[5, 5, 1, 2, 3]).unwrap();
                    memo.forget(TEXTS[1]).unwrap();
                    if distiller == Distiller::Exact {
                        memo.forget_completely(TEXTS[0]).unwrap();
                        assert!(memo.forget_completely(TEXTS[0]).is_err());
                    }
                }
                assert_eq!(read.to_safetensors().unwrap(), memo.to_safetensors().unwrap());
            }
        }
    }
}

#[test]
fn a_file_says_what_is_in_it() {
    let file = DenseFile::parse(&SAVED).unwrap();
    assert_eq!(*file.config(), config());
    assert_eq!(*file.notes(), Notes::from([("tokenizer".to_owned(), "gpt2".to_owned())]));
    let memo = file.load(2, u64::MAX).unwrap();
    assert_eq!(memo.config().threads, 2);
    assert!(matches!(file.load(0, 100).unwrap_err(), FileError::Config(_)));
    // As others see it.
    let tensors = SafeTensors::deserialize(&SAVED).unwrap();
    let mut names = tensors.names();
    names.sort_unstable();
    assert_eq!(names, ["C1.T", "C2.T", "sequences.1", "texts"]);
    let cells = tensors.tensor("C2.T").unwrap();
    assert_eq!((cells.dtype(), cells.shape()), (Dtype::F32, &[8, 8][..]));
    let first = f32::from_le_bytes(cells.data()[4..8].try_into().unwrap());
    assert_eq!(first, memo.memory(2).unwrap().cell(1, 0));
}

/// The saved file with something changed, put together by the safetensors library itself.
fn changed(change: impl FnOnce(&mut Metadata, &mut Tensors)) -> FileError {
    let (_, header) = SafeTensors::read_metadata(&SAVED).unwrap();
    let mut metadata = header.metadata().clone().unwrap();
    let mut tensors: Tensors = SafeTensors::deserialize(&SAVED)
        .unwrap()
        .iter()
        .map(|(name, view)| {
            (name.to_owned(), (view.dtype(), view.shape().to_vec(), view.data().to_vec()))
        })
        .collect();
    change(&mut metadata, &mut tensors);
    let views = tensors.iter().map(|(name, (dtype, shape, data))| {
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    let bytes = safetensors::serialize(views, Some(metadata)).unwrap();
    DenseFile::parse(&bytes).unwrap_err()
}

type Metadata = HashMap<String, String>;
type Tensors = HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

fn other_config(change: impl Fn(&mut DenseConfig)) -> FileError {
    changed(|metadata, _| {
        let mut config = config();
        change(&mut config);
        metadata.insert("config".into(), serde_json::to_string(&config).unwrap());
    })
}

#[test]
fn what_the_metadata_get_wrong_is_named() {
    for name in ["model", "format", "config", "loads", "digest"] {
        let error = changed(|metadata, _| drop(metadata.remove(name)));
        assert!(matches!(error, FileError::NotAModel(missing) if missing == name), "{error}");
    }
    let set = |name: &str, value: &str| {
        changed(|metadata, _| drop(metadata.insert(name.into(), value.into())))
    };
    assert!(matches!(set("model", "a table"), FileError::NotAModel("model")));
    let error = set("format", "2");
    assert!(matches!(&error, FileError::Format { found } if found == "2"));
    assert_eq!(error.to_string(), "the file has format 2, and this version reads format 1");
    for json in ["", "{}", "{\"vocab\": -1}", "[]"] {
        assert!(matches!(set("config", json), FileError::Syntax { name: "config", .. }));
    }
    for loads in ["", "[1]", "[1, null]", "[1, 1e999]", "[1, 2, 3]"] {
        assert!(matches!(set("loads", loads), FileError::Syntax { name: "loads", .. }), "{loads}");
    }
    // What is right as far as it goes, but was not written so.
    for (name, value) in [("loads", "[1.0,2.0]"), ("note.tokenizer", "o200k"), ("other", "")] {
        assert!(matches!(set(name, value), FileError::Digest), "{name}");
    }
}

#[test]
fn another_configuration_is_refused() {
    assert!(matches!(other_config(|c| c.heads = 3), FileError::Config(_)));
    assert!(matches!(other_config(|c| c.recall = Recall::Blend(2.0)), FileError::Config(_)));
    let error = other_config(|c| c.dim = 16);
    assert_eq!(
        error.to_string(),
        "tensor \"C1.T\" is F32 [8, 8], and the configuration calls for F32 [16, 16]"
    );
    // More than any machine has: refused before anything is allocated.
    assert!(matches!(other_config(|c| c.dim = 1 << 40), FileError::Shape { .. }));
    assert!(matches!(other_config(|c| c.layers = 3), FileError::Syntax { name: "loads", .. }));
    let error = changed(|metadata, _| {
        let config = DenseConfig { layers: 3, ..config() };
        metadata.insert("config".into(), serde_json::to_string(&config).unwrap());
        metadata.insert("loads".into(), "[1.0, 1.0, 1.0]".into());
    });
    assert!(matches!(error, FileError::Missing(name) if name == "sequences.2"));
    assert!(matches!(other_config(|c| c.distiller = Distiller::Off), FileError::Unknown(_)));
    // What no size tells: the digest does.
    assert!(matches!(other_config(|c| c.seed = 8), FileError::Digest));
    assert!(matches!(other_config(|c| c.vocab = 11), FileError::Digest));
    assert!(matches!(other_config(|c| c.composition = Composition::Bind), FileError::Digest));
}

#[test]
fn tensors_of_another_kind_are_refused() {
    let error = changed(|_, tensors| drop(tensors.remove("C1.T")));
    assert!(matches!(error, FileError::Missing(name) if name == "C1.T"));
    let error = changed(|_, tensors| {
        let more = tensors["C1.T"].clone();
        tensors.insert("C3.T".into(), more);
    });
    assert!(matches!(error, FileError::Unknown(name) if name == "C3.T"));
    let with = |name: &str, dtype: Dtype, shape: &[usize]| {
        changed(|_, tensors| {
            let tensor = tensors.get_mut(name).unwrap();
            (tensor.0, tensor.1) = (dtype, shape.to_vec());
        })
    };
    for error in [
        with("C1.T", Dtype::F32, &[64]),
        with("C1.T", Dtype::F32, &[4, 16]),
        with("C1.T", Dtype::I32, &[8, 8]),
        with("C1.T", Dtype::F64, &[4, 8]),
        with("texts", Dtype::U64, &[2, 3]),
        with("texts", Dtype::I64, &[3, 2]),
        with("texts", Dtype::U64, &[6]),
    ] {
        assert!(matches!(error, FileError::Shape { .. }), "{error}");
    }
}

#[test]
fn impossible_values_are_refused() {
    let at = |name: &str, at: usize, bytes: &[u8]| {
        changed(|_, tensors| {
            let data = &mut tensors.get_mut(name).unwrap().2;
            data[at..at + bytes.len()].copy_from_slice(bytes);
        })
    };
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = at("C2.T", 12, &value.to_le_bytes());
        assert!(matches!(&error, FileError::NotFinite { name, index: 3 } if name == "C2.T"));
    }
    // A text that was memorized no times; hashes that are not in their order, or equal.
    let zero = at("texts", 8, &0u64.to_le_bytes());
    assert!(matches!(&zero, FileError::Counts { name, row: 0 } if name == "texts"));
    let last = at("texts", 0, &u64::MAX.to_le_bytes());
    assert!(matches!(&last, FileError::Counts { name, row: 1 } if name == "texts"));
    let twice = changed(|_, tensors| {
        let data = &mut tensors.get_mut("sequences.1").unwrap().2;
        data.copy_within(0..16, 16);
    });
    assert!(matches!(&twice, FileError::Counts { name, row: 1 } if name == "sequences.1"));
    // A possible value, but not the one that was written.
    assert!(matches!(at("C2.T", 12, &0.5f32.to_le_bytes()), FileError::Digest));
    assert!(matches!(at("texts", 8, &9u64.to_le_bytes()), FileError::Digest));
}

#[test]
fn a_file_that_is_cut_off_or_goes_on_is_refused() {
    for end in 0..SAVED.len() {
        let error = DenseFile::parse(&SAVED[..end]).unwrap_err();
        assert!(matches!(error, FileError::Container(_)), "{end} bytes: {error}");
    }
    let longer = [&SAVED[..], b"\0"].concat();
    assert!(matches!(DenseFile::parse(&longer).unwrap_err(), FileError::Container(_)));
    let text = DenseFile::parse(b"The owl reads at night.").unwrap_err();
    assert!(text.to_string().starts_with("this is not a whole safetensors file: "), "{text}");
}

proptest! {
    #[test]
    fn no_changed_byte_goes_unnoticed(at in 0..SAVED.len(), to in any::<u8>()) {
        let mut bytes = SAVED.clone();
        bytes[at] = to;
        // Only white space between the header and the tensors says nothing.
        if let Ok(file) = DenseFile::parse(&bytes) {
            let saved = DenseFile::parse(&SAVED).unwrap();
            let [read, memo] = [&file, &saved].map(|file| file.load(0, u64::MAX).unwrap());
            prop_assert_eq!(read.to_safetensors().unwrap(), memo.to_safetensors().unwrap());
            prop_assert_eq!(file.notes(), saved.notes());
        }
    }
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let mut memo = DenseMemo::new(config()).unwrap();
    let mut cells = vec![0.0; 64];
    cells[5] = f32::NAN;
    memo.memory_mut(1).unwrap().set_cells(&cells);
    let error = memo.to_safetensors().unwrap_err();
    assert!(matches!(error, FileError::NotFinite { name, index: 5 } if name == "C1.T"));
    let memo = DenseMemo::new(config()).unwrap();
    let notes = Notes::from([("tokenizer".to_owned(), "x".repeat(100_000_000))]);
    let error = memo.write_safetensors(&notes, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, FileError::NotesTooLong(_)));
    // A writer that fails says why.
    let error = memo.write_safetensors(&Notes::new(), &mut &mut [0; 100][..]).unwrap_err();
    assert!(matches!(error, FileError::Io(_)));
}

#[test]
fn a_larger_model_comes_back_too() {
    let text = Stream::new(5, Purpose::Sampling, 0).draws().tokens(3000, 300);
    let config = DenseConfig { codes: CodeKind::Hadamard, ..DenseConfig::new(300, 256, 4, 3) };
    let mut memo = DenseMemo::new(config).unwrap();
    memo.memorize(&text).unwrap();
    let read = DenseMemo::from_safetensors(&memo.to_safetensors().unwrap()).unwrap();
    assert_eq!(read.predict_along(&text).unwrap(), memo.predict_along(&text).unwrap());
}

#[test]
fn a_file_of_format_1_is_read_forever() {
    // Made by the first version that wrote files. If this fails, models that people keep can no longer be read.
    const GOLDEN: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dense-1.safetensors"));
    let file = DenseFile::parse(GOLDEN).unwrap();
    assert_eq!((file.config(), file.notes()["tokenizer"].as_str()), (&config(), "gpt2"));
    let mut memo = file.load(0, u64::MAX).unwrap();
    let mut written = Vec::new();
    memo.write_safetensors(file.notes(), &mut written).unwrap();
    assert_eq!(written, GOLDEN);
    // Its counts are those of the texts, and its cells their sums.
    memo.forget_completely_all(&TEXTS).unwrap();
    assert_eq!(memo.stored_sequences(), [0]);
    for layer in [1, 2] {
        let memory = memo.memory(layer).unwrap();
        assert!(memory.norm() < 1e-4 && memory.load() == 0.0);
    }
}
