//! The distiller: Φ = D·F, which makes inner memories store each sequence once (paper, section 3.2).

use super::file::numbers;
use super::memory::CorrelationMemory;
use crate::kernels::{add, dot};
use std::collections::HashMap;

/// Φ as the paper computes it for one update: `D = 1 − round(I·C·x̄)`, `F = 1/round(X·x̄)`, with x̄ the sum of the
/// update's codes. Rows for which `stored` is false take no part and get 0.
///
/// With `clamped` D is kept in {0, 1}: the paper calls it "0 if the pattern is already stored and 1 if it is not", where the formula
/// alone gives 1 − f for a pattern that is stored and occurs f times, and 2 where noise reads −1. The frequency is then at least 1.
/// Without, both are as printed, and Φ is 0 where the frequency rounds to 0.
pub(super) fn by_rounding(
    memory: &CorrelationMemory,
    keys: &[f32],
    codes: &[f32],
    stored: &[bool],
    clamped: bool,
) -> Vec<f32> {
    let (kd, vd) = (memory.key_dim(), memory.value_dim());
    let mut sum = vec![0.0; vd];
    for (code, _) in codes.chunks_exact(vd).zip(stored).filter(|(_, stored)| **stored) {
        add(&mut sum, code);
    }
    // I·(C·x̄) costs one read instead of one per row.
    let probe = memory.read_back(&sum);
    let rows = keys.chunks_exact(kd).zip(codes.chunks_exact(vd)).zip(stored);
    rows.map(|((key, code), stored)| {
        if !stored {
            return 0.0;
        }
        let (distilled, frequency) = (1.0 - dot(key, &probe).round(), dot(code, &sum).round());
        if clamped {
            distilled.clamp(0.0, 1.0) / frequency.max(1.0)
        } else if frequency == 0.0 {
            0.0
        } else {
            distilled / frequency
        }
    })
    .collect()
}

/// The exact distiller of one layer: how often each sequence was memorized.
#[derive(Clone, Debug, Default)]
pub(super) struct SequenceCounts(HashMap<u64, u64>);

impl SequenceCounts {
    /// Counts one more; true if the sequence is new.
    pub(super) fn add(&mut self, sequence: u64) -> bool {
        let count = self.0.entry(sequence).or_insert(0);
        *count += 1;
        *count == 1
    }

    /// Counts one less; true if that was the last.
    pub(super) fn remove(&mut self, sequence: u64) -> bool {
        let Some(count) = self.0.get_mut(&sequence) else { return false };
        *count -= 1;
        let last = *count == 0;
        if last {
            self.0.remove(&sequence);
        }
        last
    }

    pub(super) fn count(&self, sequence: u64) -> u64 {
        self.0.get(&sequence).copied().unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Hash and count, one after the other, in the order of hashes, as little-endian words.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut rows: Vec<[u64; 2]> = self.0.iter().map(|(hash, count)| [*hash, *count]).collect();
        rows.sort_unstable();
        rows.into_flattened().into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// What [`to_bytes`](Self::to_bytes) gave.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let words: Vec<u64> = numbers(bytes, u64::from_le_bytes).collect();
        SequenceCounts(words.as_chunks().0.iter().map(|[hash, count]| (*hash, *count)).collect())
    }
}

/// Stands for a token before the text.
const MISSING: u64 = u64::MAX;

/// A 64-bit hash of every window of every layer: element p of layer i for the window that ends at token p.
/// Built up the layers from the hashes of blocks, like the codes themselves.
pub(super) fn sequence_hashes(tokens: &[u32], heads: usize, layers: usize) -> Vec<Vec<u64>> {
    let mut hashes: Vec<Vec<u64>> = Vec::with_capacity(layers);
    let mut blocks: Vec<u64> = tokens.iter().map(|&t| u64::from(t)).collect();
    let mut span = 1usize;
    for layer in 0..layers {
        let windows: Vec<u64> = (0..blocks.len())
            .map(|p| {
                (0..heads).rev().fold(mix(layer as u64), |hash, j| {
                    let block = p.checked_sub(j * span).map_or(MISSING, |row| blocks[row]);
                    mix(hash ^ mix(block))
                })
            })
            .collect();
        blocks.clone_from(&windows);
        hashes.push(windows);
        span = span.saturating_mul(heads);
    }
    hashes
}

/// A 64-bit hash of a whole text.
pub(super) fn text_hash(text: &[u32]) -> u64 {
    text.iter().fold(mix(text.len() as u64), |hash, token| mix(hash ^ mix(u64::from(*token))))
}

/// A bijective mixer of 64 bits in which every input bit reaches every output bit (SplitMix64's finisher).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_windows_have_equal_hashes_and_others_do_not() {
        let tokens = [1, 2, 3, 4, 1, 2, 3, 5, 2, 1];
        let hashes = sequence_hashes(&tokens, 2, 2);
        let layer1 = &hashes[0];
        assert_eq!(layer1[1], layer1[5]); // 1 2
        assert_ne!(layer1[1], layer1[9]); // 2 1: order counts
        let layer2 = &hashes[1];
        assert_ne!(layer2[3], layer2[7]); // 1 2 3 4 and 1 2 3 5
        assert_ne!(layer1[0], layer1[4]); // the first window reaches before the text
    }

    #[test]
    fn counts_say_when_a_sequence_comes_and_goes() {
        let mut counts = SequenceCounts::default();
        assert!(counts.add(7));
        assert!(!counts.add(7));
        assert_eq!((counts.count(7), counts.len()), (2, 1));
        assert!(!counts.remove(7));
        assert!(counts.remove(7));
        assert!(!counts.remove(7));
        assert_eq!((counts.count(7), counts.len()), (0, 0));
    }
}
