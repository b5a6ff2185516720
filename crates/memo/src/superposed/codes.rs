//! Token codes: rows of a Walsh matrix under the signs of a block, made from bits and never stored.
//!
//! A width of d has d exactly orthogonal codes; the vocabulary is covered by n/d blocks of them, each under its own
//! random signs, so that codes of different blocks are as nearly orthogonal as random ones. In a bucketed slot the
//! row already depends on the block, and its codes are the plain Walsh rows.
//!
//! Decoding transforms several blocks at once, one in each *lane* of a vector; neighbouring tokens are in different lanes.

use super::{LINE, Settings, Slot};
use crate::kernels::integer::{CodeWords, bit};
use crate::kernels::walsh::LANES;
use crate::random::{Purpose, Stream};
use std::sync::Arc;

/// The codes of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    lanes: u32,
    width: u32,
    /// Blocks that the vocabulary needs.
    blocks: usize,
    walsh: Vec<u64>,
    signs: Vec<u64>,
    /// The block signs turned for decoding: for each group of lanes and each cell, 0 or −1 a lane.
    lane_signs: Vec<i8>,
}

impl Codes {
    /// Makes the codes of every slot; slots of the same kind share them.
    pub(crate) fn of(settings: &Settings) -> Vec<Arc<Codes>> {
        let mut known: Vec<((u32, bool), Arc<Codes>)> = Vec::new();
        let mut codes = Vec::new();
        for slot in &settings.slots {
            let kind = (slot.width, slot.bucketed);
            let shared =
                known.iter().find(|(other, _)| *other == kind).map(|(_, codes)| codes.clone());
            codes.push(shared.unwrap_or_else(|| {
                let made = Arc::new(Codes::new(settings, slot));
                known.push((kind, made.clone()));
                made
            }));
        }
        codes
    }

    pub(crate) fn new(settings: &Settings, slot: &Slot) -> Self {
        let (width, vocabulary) = (slot.width as usize, settings.vocabulary as usize);
        let needed = vocabulary.div_ceil(width);
        let lanes = if slot.bucketed { 1 } else { needed.next_power_of_two().min(LANES) };
        let groups = vocabulary.div_ceil(width * lanes);
        let lines = width / LINE;
        let mut walsh = vec![0u64; width * lines];
        for (row, words) in walsh.chunks_mut(lines).enumerate() {
            for k in 0..width {
                words[k / LINE] |= u64::from((row & k).count_ones() % 2) << bit(k % LINE);
            }
        }
        let mut signs = vec![0u64; groups * lanes * lines];
        let mut lane_signs = vec![0; if slot.bucketed { 0 } else { groups * width * lanes }];
        if !slot.bucketed {
            let mut words = Stream::new(settings.seed, Purpose::HadamardSigns, slot.width).draws();
            for word in &mut signs {
                *word = words.word();
            }
            for (block, words) in signs.chunks(lines).enumerate() {
                for k in 0..width {
                    let negative = (words[k / LINE] >> bit(k % LINE) & 1) as i8;
                    lane_signs[(block / lanes * width + k) * lanes + block % lanes] = -negative;
                }
            }
        }
        Codes {
            lanes: lanes.ilog2(),
            width: slot.width.ilog2(),
            blocks: groups * lanes,
            walsh,
            signs,
            lane_signs,
        }
    }

    /// Returns the codes as the kernels take them.
    pub(crate) fn words(&self) -> CodeWords<'_> {
        CodeWords { lanes: self.lanes, width: self.width, walsh: &self.walsh, blocks: &self.signs }
    }

    pub(crate) fn lanes(&self) -> usize {
        1 << self.lanes
    }

    /// Returns how many blocks the vocabulary has: the buckets of a bucketed slot.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    pub(crate) fn lane_signs(&self) -> &[i8] {
        &self.lane_signs
    }

    /// Returns how many scores decoding gives: the vocabulary, rounded up to whole groups.
    pub(crate) fn scores(&self) -> usize {
        self.blocks << self.width
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    fn code(codes: &Codes, token: u32) -> Vec<i32> {
        let words = codes.words();
        let of = |k: usize| words.word(token, k / LINE) >> bit(k % LINE) & 1;
        (0..1 << codes.width).map(|k| if of(k) == 0 { 1 } else { -1 }).collect()
    }

    #[test]
    fn codes_are_orthogonal_in_a_block_and_nearly_so_elsewhere() {
        let mut settings = Settings::new(20_000, 0, 3, &Shape::default(), 1 << 20).unwrap();
        for (vocabulary, bucketed) in [(20_000, false), (20_000, true), (200, false), (700, false)]
        {
            settings.vocabulary = vocabulary;
            let slot =
                Slot { skip: 0, len: 4, rows: 10, width: 256, copies: 2, bucketed, bound: true };
            let codes = Codes::new(&settings, &slot);
            assert!(codes.scores() >= vocabulary as usize);
            let tokens: Vec<u32> = (0..60).map(|i| i * (vocabulary / 60)).chain(1..40).collect();
            for &a in &tokens {
                for &b in &tokens {
                    let (code_a, code_b) = (code(&codes, a), code(&codes, b));
                    let dot: i32 = code_a.iter().zip(&code_b).map(|(x, y)| x * y).sum();
                    let (place_a, place_b) = (codes.words().place(a), codes.words().place(b));
                    assert_eq!(place_a == place_b, a == b);
                    if a == b {
                        assert_eq!(dot, 256);
                    } else if place_a.0 == place_b.0 {
                        assert_eq!(dot, 0);
                    } else if !bucketed {
                        assert!(dot.abs() < 6 * 16, "{a} {b}: {dot}");
                    }
                }
            }
        }
    }
}
