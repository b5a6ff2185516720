//! Reading one slot: from a key to an estimated count of every token, and the noise of those estimates.
//!
//! The K rows that a key selects are unbound by its signs. Each is then the sum of the codes of the context's
//! successors, plus what other keys left there, which looks like noise; a row's energy says how much. The rows' mean,
//! weighed inversely to energy, is transformed: one fast Walsh–Hadamard transform a block of tokens instead of one
//! product a token. Successors that stand out are *peeled*: their codes are taken off and what is left is weighed and
//! transformed again, free of their noise.
//!
//! Transforms are in 16-bit integers. Rows are scaled so that Σ|x| fits, which bounds every sum; the rounding this
//! costs is below 0.3 % of σ, because σ is itself proportional to the size of the rows.

use super::keys::row;
use super::{LINE, Memory};
use crate::kernels::integer::{
    Bucket, LEAST_SIGMA, SOFTENING, Scale, add_signed, quantize, read_buckets, round, settle, signs,
};
use crate::kernels::walsh::{above, walsh_blocks};

/// Estimated counts of all tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    /// One a token, in units of its line's scale.
    pub(crate) counts: Vec<i16>,
    /// One for each 64 tokens.
    pub(crate) scales: Vec<Scale>,
    /// Counts to be added to those above.
    pub(crate) peeled: Vec<(u32, i32)>,
}

impl Scores {
    /// Returns the estimated count of one token, without what was peeled.
    #[inline(always)]
    pub(crate) fn rest(&self, token: usize) -> f32 {
        f32::from(self.counts[token]) * self.scales[token / LINE].unit
    }

    /// Estimates how often the block occurred, from the counts that stand out from the noise.
    pub(crate) fn standing_out(&self) -> i64 {
        let lines = self.counts.chunks_exact(LINE).zip(&self.scales);
        let rest = lines.flat_map(|(counts, scale)| {
            let count = move |&count: &i16| f32::from(count) * scale.unit;
            counts.iter().map(count).filter(|count| *count > scale.threshold())
        });
        let peeled: i64 = self.peeled.iter().map(|(_, count)| i64::from(*count)).sum();
        peeled + rest.map(|count| (count + 0.5) as i64).sum::<i64>()
    }
}

/// A reader of slots, which keeps its buffers between reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoder {
    rows: Vec<i32>,
    words: Vec<u64>,
    mean: Vec<i16>,
    buckets: Vec<Bucket>,
    left: Vec<u32>,
    found: Vec<u32>,
    thresholds: Vec<i16>,
    each: Vec<f32>,
    settled: Vec<f32>,
    counts: Vec<f32>,
}

impl Decoder {
    /// Estimates the successors of a slot's key, in at most `rounds` of peeling and transforming.
    pub(crate) fn read(
        &mut self,
        memory: &Memory,
        slot: usize,
        key: u64,
        rounds: usize,
        out: &mut Scores,
    ) {
        let codes = &memory.codes[slot];
        out.counts.resize(codes.scores(), 0);
        out.scales.resize(codes.scores() / LINE, Scale::default());
        out.peeled.clear();
        let settings = &memory.settings().slots[slot];
        if !settings.bucketed {
            return self.read_whole(memory, slot, key, rounds, out);
        }
        if (settings.width, settings.copies) == (LINE as u32, 2) {
            return self.read_pairs(memory, slot, key, rounds, out);
        }
        (0..codes.blocks()).for_each(|b| self.read_bucket(memory, slot, key, rounds, b, out));
    }

    /// Reads an unbucketed slot: one set of rows for all tokens.
    fn read_whole(
        &mut self,
        memory: &Memory,
        slot: usize,
        key: u64,
        rounds: usize,
        out: &mut Scores,
    ) {
        let (codes, width) = (&memory.codes[slot], memory.settings().slots[slot].width as usize);
        self.unbind(memory, slot, key, 0);
        for round in 1.. {
            let scale = mean(&self.rows, width, &mut self.mean);
            walsh_blocks(&self.mean, codes.lane_signs(), codes.lanes(), &mut out.counts);
            out.scales.fill(scale);
            if round >= rounds {
                break;
            }
            self.found.clear();
            self.thresholds.clear();
            let threshold = (scale.threshold() / scale.unit).min(32_767.0) as i16;
            self.thresholds.resize(out.scales.len(), threshold);
            above(&out.counts, &self.thresholds, &mut self.found);
            self.found.retain(|&token| token < memory.settings().vocabulary);
            if self.found.is_empty() {
                break;
            }
            let words = codes.words();
            for &token in &self.found {
                let count = (out.rest(token as usize) + 0.5).floor().max(1.0) as i32;
                out.peeled.push((token, count));
                self.words.clear();
                self.words.extend((0..width / LINE).map(|line| words.word(token, line)));
                for row in self.rows.chunks_exact_mut(width) {
                    add_signed(row, &self.words, -count);
                }
            }
        }
    }

    /// Reads a bucketed slot of two copies of 64 cells, the usual kind.
    fn read_pairs(
        &mut self,
        memory: &Memory,
        slot: usize,
        key: u64,
        rounds: usize,
        out: &mut Scores,
    ) {
        let (rows, settings) = (memory.cells.layout(slot).rows, &memory.settings().slots[slot]);
        self.buckets.clear();
        for b in 0..memory.codes[slot].blocks() as u64 {
            let mut bucket = Bucket::default();
            for copy in 0..2 {
                let (row, address) = row(key, b, copy as u64, rows);
                memory.cells.prefetch(slot, row);
                bucket.rows[copy] = row as u32;
                bucket.signs[copy] = signs(settings.signs_of(address), 0);
            }
            self.buckets.push(bucket);
        }
        self.left.clear();
        let cells = memory.cells.slot(slot);
        let (scores, scales) = (&mut out.counts, &mut out.scales);
        read_buckets(cells, &self.buckets, rounds, scores, scales, &mut self.left);
        let left = std::mem::take(&mut self.left);
        for &b in &left {
            self.read_bucket(memory, slot, key, rounds, b as usize, out);
        }
        self.left = left;
    }

    /// Reads one bucket of any bucketed slot.
    fn read_bucket(
        &mut self,
        memory: &Memory,
        slot: usize,
        key: u64,
        rounds: usize,
        bucket: usize,
        out: &mut Scores,
    ) {
        let width = memory.settings().slots[slot].width as usize;
        self.unbind(memory, slot, key, bucket as u64);
        self.each.clear();
        for row in self.rows.chunks_exact_mut(width) {
            walsh(row);
            self.each.extend(row.iter().map(|&v| v as f32 / width as f32));
        }
        self.settled.resize(width, 0.0);
        self.counts.clear();
        self.counts.resize(width, 0.0);
        let sigma = settle(&self.each, rounds, &mut self.settled, &mut self.counts);
        let scale = quantize(&self.settled, sigma, &mut out.counts[bucket * width..][..width]);
        out.scales[bucket * width / LINE..][..width / LINE].fill(scale);
    }

    /// Unbinds the rows of a key, one after the other.
    fn unbind(&mut self, memory: &Memory, slot: usize, key: u64, bucket: u64) {
        let settings = &memory.settings().slots[slot];
        let width = settings.width as usize;
        self.rows.resize(width * settings.copies as usize, 0);
        for (copy, out) in self.rows.chunks_exact_mut(width).enumerate() {
            let (row, address) = row(key, bucket, copy as u64, settings.rows);
            self.words.clear();
            let address = settings.signs_of(address);
            self.words.extend((0..width / LINE).map(|line| signs(address, line as u64)));
            memory.cells.unbound(slot, row, &self.words, out);
        }
    }
}

/// Computes the rows' mean, weighed inversely to their energy, scaled to fill 16-bit sums.
fn mean(rows: &[i32], width: usize, out: &mut Vec<i16>) -> Scale {
    let d = width as f32;
    let mut weights = [(0.0f32, 0.0f32); 8];
    let mut size = 0.0;
    for (row, weight) in rows.chunks_exact(width).zip(&mut weights) {
        // Integer sums are the same in any order.
        let (mut sum, mut energy) = (0i64, 0i64);
        for &x in row {
            sum += i64::from(x).abs();
            energy += i64::from(x) * i64::from(x);
        }
        let energy = energy as f32 / d;
        *weight = (1.0 / (energy + SOFTENING), energy);
        size += weight.0 * sum as f32;
    }
    let copies = rows.len() / width;
    let weights = &weights[..copies];
    let whole: f32 = weights.iter().map(|weight| weight.0).sum();
    let variance: f32 =
        weights.iter().map(|(weight, energy)| (weight / whole) * (weight / whole) * energy).sum();
    let sigma = (variance / d).sqrt().max(LEAST_SIGMA);
    out.clear();
    if size == 0.0 {
        out.resize(width, 0);
        return Scale { unit: 1.0, sigma };
    }
    // Rounding adds at most one half a cell.
    let precision = (32_767.0 - d / 2.0) / size.max(whole);
    out.extend((0..width).map(|k| {
        let sum: f32 =
            (0..copies).map(|q| weights[q].0 * precision * rows[q * width + k] as f32).sum();
        round(sum)
    }));
    Scale { unit: 1.0 / (precision * whole * d), sigma }
}

/// Transforms a row of any values in place (Walsh–Hadamard).
fn walsh(row: &mut [i32]) {
    let mut stride = 1;
    while stride < row.len() {
        for pair in row.chunks_exact_mut(stride * 2) {
            let (a, b) = pair.split_at_mut(stride);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (a.wrapping_add(*b), a.wrapping_sub(*b));
            }
        }
        stride *= 2;
    }
}
