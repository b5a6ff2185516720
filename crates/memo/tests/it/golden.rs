//! The same seed gives the same model everywhere, forever. If one of these values changes, models that people keep
//! can no longer be read: the change must not be made.

use memo::codes::{CodeKind, TokenCodes};
use memo::dense::{Composer, Composition, DenseConfig, DenseMemo};
use memo::random::{Purpose, Stream};
use memo::transform::{FastTransform, GaussianTransform, Transform};

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
