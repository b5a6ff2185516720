//! Keys: which rows a context selects, and the signs that bind a value to it.
//!
//! A block of hⁱ tokens has a 64-bit hash made from the hashes of its h sub-blocks, so that the hashes of all layers
//! cost one combination a token and layer. A slot's key is its block's hash mixed with the slot. A key selects K rows
//! of the slot's matrix and, for each, a ±1 vector g: the sparse counterpart of the paper's dense key. Everything
//! is integer arithmetic on the seed, so keys are the same on every machine.

use super::Settings;
use crate::random::{Purpose, Stream, mix};
use std::ops::Range;

/// The symbol before the first token of a document.
pub(crate) const BOUNDARY: u32 = u32::MAX;

/// Returns row number `copy` of `bucket` that a key selects, and the address that its signs are made from.
#[inline(always)]
pub(crate) fn row(key: u64, bucket: u64, copy: u64, rows: u64) -> (u64, u64) {
    let address = mix(key, (bucket << 3 | copy).wrapping_mul(0xA24B_AED4_963E_E407));
    let row = (u128::from(address) * u128::from(rows)) >> 64;
    (row as u64, address)
}

/// The keys of one memory, as a function of its seed and slots.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    heads: usize,
    token: u64,
    join: u64,
    /// For each slot: its skip, the blocks that make up its block, its own word.
    slots: Vec<(usize, Vec<SubBlock>, u64)>,
    /// hⁱ for each level whose blocks are needed.
    lens: Vec<usize>,
    /// The hash of a block of each level that lies before the start.
    outside: Vec<u64>,
}

/// A block of hⁱ tokens within a slot's block.
#[derive(Clone, Copy, Debug)]
struct SubBlock {
    level: usize,
    /// Tokens of the slot's block that come after it.
    newer: usize,
}

/// The hashes of every level's block ending at each position of one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    levels: Vec<Vec<u64>>,
}

impl Keys {
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut words = Stream::new(settings.seed, Purpose::SparseKeys, 0).draws();
        let (token, join) = (words.word(), words.word());
        let heads = settings.heads as usize;
        let mut lens = vec![1];
        let longest = settings.slots.iter().map(|slot| slot.len as usize).max().unwrap_or(1);
        while lens[lens.len() - 1] * heads <= longest {
            lens.push(lens[lens.len() - 1] * heads);
        }
        let slots = settings.slots.iter().map(|slot| {
            let mut newer = slot.len as usize;
            let mut blocks = Vec::new();
            for level in (0..lens.len()).rev() {
                while newer >= lens[level] {
                    newer -= lens[level];
                    blocks.push(SubBlock { level, newer });
                }
            }
            let own = mix(words.word(), u64::from(slot.skip) << 32 | u64::from(slot.len));
            (slot.skip as usize, blocks, own)
        });
        let slots = slots.collect();
        let mut keys = Keys { heads, token, join, slots, outside: Vec::new(), lens };
        let mut outside = vec![keys.leaf(BOUNDARY)];
        for _ in 1..keys.lens.len() {
            let below = outside[outside.len() - 1];
            outside.push((0..heads).fold(keys.join, |hash, _| mix(hash, below)));
        }
        keys.outside = outside;
        keys
    }

    #[inline(always)]
    fn leaf(&self, token: u32) -> u64 {
        mix(self.token, u64::from(token).wrapping_add(1).wrapping_mul(0x9FB2_1C65_1E98_DF25))
    }

    /// Hashes the blocks of all levels that end at each position of `text`.
    pub(crate) fn blocks(&self, text: &[u32], blocks: &mut Blocks) {
        blocks.levels.resize(self.lens.len(), Vec::new());
        blocks.levels[0].clear();
        blocks.levels[0].extend(text.iter().map(|&token| self.leaf(token)));
        for level in 1..self.lens.len() {
            let (below, above) = blocks.levels.split_at_mut(level);
            let (below, len) = (&below[level - 1], self.lens[level - 1]);
            above[0].clear();
            let whole = ((self.heads - 1) * len).min(text.len());
            above[0].extend((0..whole).map(|p| {
                (0..self.heads).rev().fold(self.join, |hash, j| {
                    let sub = p.checked_sub(j * len).map_or(self.outside[level - 1], |q| below[q]);
                    mix(hash, sub)
                })
            }));
            if self.heads == 2 {
                let both = below.iter().zip(&below[whole..]);
                above[0].extend(both.map(|(&a, &b)| mix(mix(self.join, a), b)));
                continue;
            }
            above[0].extend((whole..text.len()).map(|p| {
                (0..self.heads).rev().fold(self.join, |hash, j| mix(hash, below[p - j * len]))
            }));
        }
    }

    /// Collects the keys of `slot` for predicting some positions, without the first ones that have none.
    pub(crate) fn of_slot(
        &self,
        blocks: &Blocks,
        slot: usize,
        positions: Range<usize>,
        out: &mut Vec<u64>,
    ) {
        out.clear();
        let (skip, within, own) = &self.slots[slot];
        let positions = positions.start.max(skip + 1)..positions.end;
        if let ([SubBlock { level, newer: 0 }], false) = (&within[..], positions.is_empty()) {
            let ends = positions.start - skip - 1..positions.end - skip - 1;
            out.extend(blocks.levels[*level][ends].iter().map(|&hash| mix(*own, hash)));
        } else {
            out.extend(positions.filter_map(|p| self.key(blocks, slot, p)));
        }
    }

    /// Returns the key of `slot` for predicting position `p`, or `None` if its block lies wholly before the start.
    #[inline(always)]
    pub(crate) fn key(&self, blocks: &Blocks, slot: usize, p: usize) -> Option<u64> {
        let (skip, within, own) = &self.slots[slot];
        let last = p.checked_sub(skip + 1)?;
        let mut key = *own;
        for block in within {
            let hash = match last.checked_sub(block.newer) {
                Some(end) => blocks.levels[block.level][end],
                None => self.outside[block.level],
            };
            key = mix(key, hash);
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, Shape, Slot};
    use super::*;
    use crate::kernels::integer::signs;
    use std::collections::HashMap;

    fn settings(heads: u32, slots: &[(u32, u32)]) -> Settings {
        let mut settings = Settings::new(50, 49, 3, &Shape::default(), 1 << 20).unwrap();
        settings.heads = heads;
        settings.slots = slots
            .iter()
            .map(|&(skip, len)| Slot {
                skip,
                len,
                rows: 64,
                width: 64,
                copies: 2,
                bucketed: false,
                bound: true,
            })
            .collect();
        settings
    }

    /// A key stands for its block's tokens, boundary included, and nothing else.
    #[test]
    fn keys_are_equal_exactly_when_blocks_are() {
        for heads in [2, 3, 4] {
            let settings = settings(heads, &[(0, 1), (0, 2), (0, 3), (0, 7), (2, 4), (5, 9)]);
            let keys = Keys::new(&settings);
            let text = Stream::new(1, Purpose::Sampling, heads).draws().tokens(4000, 3);
            let mut seen: HashMap<u64, (usize, Vec<u32>)> = HashMap::new();
            for text in [&text[..], &text[5..40], &text[..7]] {
                let mut blocks = Blocks::default();
                keys.blocks(text, &mut blocks);
                for (s, slot) in settings.slots.iter().enumerate() {
                    for p in 0..=text.len() {
                        let Some(key) = keys.key(&blocks, s, p) else {
                            assert!(p <= slot.skip as usize);
                            continue;
                        };
                        let block: Vec<u32> = (1..=slot.len as usize)
                            .rev()
                            .map(|q| {
                                p.checked_sub(slot.skip as usize + q).map_or(BOUNDARY, |i| text[i])
                            })
                            .collect();
                        let known = seen.entry(key).or_insert_with(|| (s, block.clone()));
                        assert_eq!(*known, (s, block));
                    }
                }
            }
            let blocks: std::collections::HashSet<_> = seen.values().collect();
            assert_eq!(blocks.len(), seen.len());
        }
    }

    /// Rows and signs are even enough: chi-square of rows, balance and independence of sign bits.
    #[test]
    fn rows_and_signs_look_random() {
        let (rows, draws) = (1000u64, 200_000u64);
        let mut counts = vec![0f64; rows as usize];
        let mut bits = [0i64; 64];
        let mut both = [0i64; 64];
        for i in 0..draws {
            let (r, address) = row(mix(5, i / 20), i % 20, 1, rows);
            counts[r as usize] += 1.0;
            let (a, b) = (signs(address, 0), signs(address, 1));
            for k in 0..64 {
                bits[k] += (a >> k & 1) as i64 * 2 - 1;
                both[k] += ((a ^ b.rotate_left(7)) >> k & 1) as i64 * 2 - 1;
            }
        }
        let expected = draws as f64 / rows as f64;
        let chi: f64 = counts.iter().map(|c| (c - expected) * (c - expected) / expected).sum();
        // Chi-square with 999 degrees of freedom: mean 999, deviation √1998.
        assert!((chi - 999.0).abs() < 5.0 * 1998f64.sqrt(), "{chi}");
        let limit = (5.0 * (draws as f64).sqrt()) as i64;
        assert!(bits.iter().chain(&both).all(|b| b.abs() < limit), "{bits:?} {both:?}");
    }

    /// Keys are part of the model format.
    #[test]
    fn keys_never_change() {
        let keys = Keys::new(&settings(2, &[(0, 1), (0, 4), (8, 8)]));
        let mut blocks = Blocks::default();
        keys.blocks(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &mut blocks);
        let golden: Vec<u64> = (0..3).filter_map(|s| keys.key(&blocks, s, 10)).collect();
        assert_eq!(golden, GOLDEN);
        assert_eq!(row(golden[0], 3, 1, 1000), GOLDEN_ROW);
        assert_eq!(signs(GOLDEN_ROW.1, 2), GOLDEN_SIGNS);
    }

    const GOLDEN: [u64; 3] =
        [5_843_698_947_224_845_384, 8_840_599_108_943_698_545, 14_489_859_482_874_393_186];
    const GOLDEN_ROW: (u64, u64) = (41, 760_847_275_522_281_362);
    const GOLDEN_SIGNS: u64 = 7_762_331_585_479_037_094;
}
