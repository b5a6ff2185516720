//! The same seed gives the same model everywhere, forever. If one of these values changes, models that people keep
//! can no longer be read: the change must not be made.

use crate::sparse_common::text;
use memo::codes::{CodeKind, TokenCodes};
use memo::dense::{Composer, Composition, DenseConfig, DenseMemo};
use memo::random::{Purpose, Stream};
use memo::sparse::{Memory, PARTITIONS, Settings, TableKind};
use memo::transform::{FastTransform, GaussianTransform, Transform};
use memo::words::Words;
use std::sync::Arc;

/// FNV-1a over the bits of some numbers: one golden value for many.
fn fingerprint(words: impl IntoIterator<Item = u32>) -> u64 {
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        word.to_le_bytes()
            .iter()
            .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

fn bits(values: &[f32]) -> u64 {
    fingerprint(values.iter().map(|v| v.to_bits()))
}

#[test]
fn streams() {
    let mut reader = Stream::new(42, Purpose::Sampling, 7).draws();
    assert_eq!(
        [reader.word(), reader.word(), reader.word()],
        [0x08d3_3028_2ed9_55c8, 0xdedc_dc2e_3972_84b6, 0x5115_9133_2b09_87df]
    );
    assert_eq!(
        Stream::new(42, Purpose::Sampling, 7).draws().permutation(10),
        [3, 5, 8, 9, 1, 6, 4, 2, 7, 0]
    );
    let mut values = [0.0; 4];
    Stream::new(42, Purpose::GaussianCodes, 0).gaussians(0, 1.0, &mut values);
    assert_eq!(values.map(f32::to_bits), [0x4042_19d6, 0x3cc3_1cdf, 0xbfbb_2d19, 0xbf62_8ae1]);
}

#[test]
fn gaussian_codes() {
    let codes = TokenCodes::new(CodeKind::Gaussian, 300, 1000, 42).unwrap();
    assert_eq!(bits(&codes.rows(&(0..300).collect::<Vec<_>>())), 0x732b_732b_cf1a_4551);
}

#[test]
fn hadamard_codes() {
    let codes = TokenCodes::new(CodeKind::Hadamard, 300, 128, 42).unwrap();
    assert_eq!(bits(&codes.rows(&(0..300).collect::<Vec<_>>())), 0x1265_a29f_146b_4b25);
}

#[test]
fn transforms() {
    assert_eq!(bits(GaussianTransform::new(100, 50, 42, 3).matrix()), 0xd4d2_aecb_0f27_4d4a);
    // Small integers, so that the transform is exact.
    let x: Vec<f32> = (0..256).map(|k| (k % 5) as f32).collect();
    assert_eq!(bits(&FastTransform::new(256, 64, 42, 3).apply(&x)), 0x136b_ff3f_3153_2113);
}

#[test]
fn compositions() {
    let config =
        DenseConfig { codes: CodeKind::Hadamard, seed: 42, ..DenseConfig::new(10, 64, 4, 3) };
    let memo = DenseMemo::new(config).unwrap();
    let Some(Composer::Fast(signs)) = memo.composer(2) else { panic!("a fast composition") };
    assert_eq!(bits(&signs.concat()), 0xfe49_e411_82b0_3525);
    let config = DenseConfig { composition: Composition::Bind, ..memo.config().clone() };
    let memo = DenseMemo::new(config).unwrap();
    let Some(Composer::Bind(tables)) = memo.composer(2) else { panic!("a bound composition") };
    assert_eq!(fingerprint(tables.concat()), 0x6c16_86dd_23a6_c0b5);
}

/// A sparse memory: its keys, its packed entries and its digest, which receipts quote; as it is made now, as it was made when the token before the
/// last one was no context, and when events of a context did not lie together either.
#[test]
fn sparse_memories() {
    let tokens = vec![1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64];
    let settings = Settings {
        vocabulary: 500,
        end: 499,
        seed: 42,
        tokens,
        words: vec![2, 4],
        lexicon: None,
        grouped: true,
        skip: true,
    };
    let layouts = [
        (true, true, SPARSE),
        (true, false, SPARSE_WITHOUT_SKIP),
        (false, false, SPARSE_SCATTERED),
    ];
    for (grouped, skip, expected) in layouts {
        let words = Words::new((0..500).map(|token| format!(" Word{token}")));
        let settings = Settings { grouped, skip, ..settings.clone() };
        let mut memory = Memory::with_words(settings, Some(Arc::new(words))).unwrap();
        let empty = memory.digest().unwrap().to_string();
        memory.memorize(&text(3_000, 500, 4)).unwrap();
        memory.memorize(&[7; 300]).unwrap();
        let full = memory.digest().unwrap().to_string();
        let tables = TableKind::ALL.map(|kind| {
            let partitions = (0..PARTITIONS).map(|i| memory.partition(kind, i).unwrap());
            let words = partitions.flat_map(|packed| {
                let large = packed.large.iter().flat_map(|large| [large.rank, large.count as u64]);
                let bytes: Vec<u32> = packed.bytes.iter().map(|&byte| byte.into()).collect();
                bytes.into_iter().chain(large.map(|word| word as u32)).collect::<Vec<_>>()
            });
            fingerprint(words)
        });
        assert_eq!((empty.as_str(), full.as_str(), tables), expected);
    }
}

const SPARSE: (&str, &str, [u64; 3]) = (
    "1af4f8ff18cdf67f58bef7116ba68a7d0c2a6f2871b6ce1d89c212911b023676",
    "e90afcbcf5dc1266abcdcd991ec58a33e51c1dbc8bebdfd3742f8a07bf5ffd8d",
    [0x0776_2e46_62ed_df16, 0x1753_4945_afab_33dc, 0x66e1_ea7b_f3ea_6c81],
);

const SPARSE_WITHOUT_SKIP: (&str, &str, [u64; 3]) = (
    "8af59ce44f3912a4b0c662fbca9de99fcdcef8771e2c1ae242d9e4adb5223cb2",
    "7e1fe5a00bd656eaeda1fabf3c83436dbb779e81e37ceb193dd65086f07e1760",
    [0x0776_2e46_62ed_df16, 0x0245_2dea_b8b2_ede0, 0x66e1_ea7b_f3ea_6c81],
);

const SPARSE_SCATTERED: (&str, &str, [u64; 3]) = (
    "d9cceeb053d917d5561a5a96d92ecc0c0cd981d1a9b046c407780bbe0717350e",
    "cf4677f9a77f1a0f31a6e72d59e5732a25ab20f70cf511fcc195e8606a8449a6",
    [0x0776_2e46_62ed_df16, 0x0245_2dea_b8b2_ede0, 0xd00b_30ad_4ba6_e3a9],
);
