//! Integer kernels of the sparse engine: rows of signed cells, written and read through one sign a cell.
//!
//! A row is made of lines of 64 cells; a line's signs are one 64-bit word, 1 meaning −1. Cell k has bit [`bit`]`(k)`:
//! byte k mod 8 of the word, bit k div 8 of that byte. Eight copies of the word, each masked with another power of
//! two, are then the 64 signs, which every instruction set can do without a table.

use super::dispatch;
use crate::sparse::RUN;
use crate::sparse::keys::signs;

/// Cells in a line.
pub(crate) const LINE: usize = 64;

/// The first cell of a row whose values do not fit in a byte; they are kept elsewhere. No cell is ever −128.
pub(crate) const WIDE: i8 = i8::MIN;

/// How many writes ahead rows are fetched: enough to hide a memory access behind the work on the rows between.
/// Into the second-level cache: the first cannot wait for as many lines at once.
const AHEAD: usize = 24;

/// The bit of a line's sign word that belongs to cell `k`.
pub(crate) const fn bit(k: usize) -> usize {
    k % 8 * 8 + k / 8
}

/// The token codes of one width, as sign words. Token t has row `(t >> lanes) mod width` of the Walsh matrix, under
/// the signs of its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeWords<'a> {
    /// log₂ of the lanes: neighbouring tokens are in different blocks, this many of them.
    pub(crate) lanes: u32,
    /// log₂ of the width.
    pub(crate) width: u32,
    /// Walsh rows, width/64 words each.
    pub(crate) walsh: &'a [u64],
    /// Block signs, width/64 words each.
    pub(crate) blocks: &'a [u64],
}

impl CodeWords<'_> {
    /// The block of a token, and its row of the Walsh matrix.
    #[inline(always)]
    pub(crate) fn place(&self, token: u32) -> (usize, usize) {
        let lane = token & ((1 << self.lanes) - 1);
        let row = (token >> self.lanes) & ((1 << self.width) - 1);
        let block = (token >> (self.lanes + self.width)) << self.lanes | lane;
        (block as usize, row as usize)
    }

    /// Line `line` of a token's code.
    #[inline(always)]
    pub(crate) fn word(&self, token: u32, line: usize) -> u64 {
        let (block, row) = self.place(token);
        let lines = (1usize << self.width) / LINE;
        self.walsh[row * lines + line] ^ self.blocks[block * lines + line]
    }
}

/// One value to add to one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Write {
    /// Where the row's signs grow from.
    pub(crate) address: u64,
    /// The row, counted from the beginning of the cells given.
    pub(crate) row: u32,
    /// The token whose code is added.
    pub(crate) token: u32,
}

/// The two rows of one bucket of 64 tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// The rows.
    pub(crate) rows: [u32; 2],
    /// Their signs.
    pub(crate) signs: [u64; 2],
}

/// What is known of a bucket's scores: a score times `unit` estimates a count, with deviation `sigma`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scale {
    /// The count that a score of 1 stands for.
    pub(crate) unit: f32,
    /// Standard deviation of the estimated counts.
    pub(crate) sigma: f32,
}

impl Scale {
    /// The estimated count above which a successor is certain enough to be peeled off.
    #[inline(always)]
    pub(crate) fn threshold(self) -> f32 {
        (4.5 * self.sigma).max(0.5)
    }
}

dispatch! {
    /// Adds `±code` for each write. `flip` is 0 to add and all ones to subtract. Writes to wide rows, and those that
    /// would leave a byte, change nothing; their indices go to `spilled`. The runs of all are marked in `changed`.
    pub(crate) fn write_rows / write_rows_at(cells: &mut [i8], changed: &mut [bool], codes: &CodeWords<'_>, writes: &[Write], flip: u64, spilled: &mut Vec<u32>) = write_rows_body
}

dispatch! {
    /// `out[k] = ±cells[k]`.
    pub(crate) fn unbind / unbind_at(cells: &[i8], signs: &[u64], out: &mut [i32]) = unbind_body
}

dispatch! {
    /// `row[k] += ±weight`.
    pub(crate) fn add_signed / add_signed_at(row: &mut [i32], signs: &[u64], weight: i32) = add_signed_body
}

dispatch! {
    /// Reads buckets of two rows of 64 cells: unbinds both, weighs them by their energy, and transforms their mean. If
    /// that finds successors and `rounds` are left, they are peeled off as in [`settle`].
    /// Buckets with a wide row are left and their indices returned in `left`.
    pub(crate) fn read_buckets / read_buckets_at(cells: &[i8], buckets: &[Bucket], rounds: usize, scores: &mut [i16], scales: &mut [Scale], left: &mut Vec<u32>) = read_buckets_body
}

/// The signs of one line as bytes: 0 where +1, −1 where −1.
#[inline(always)]
fn masks(word: u64) -> [i8; LINE] {
    // The bits of eight cells, one in each byte, made 0 or 255.
    let mut eights = [[0u8; 8]; 8];
    for (b, eight) in eights.iter_mut().enumerate() {
        let ones = word >> b & 0x0101_0101_0101_0101;
        *eight = (ones << 8).wrapping_sub(ones).to_le_bytes();
    }
    let mut masks = [0; LINE];
    for (mask, &byte) in masks.iter_mut().zip(eights.as_flattened()) {
        *mask = byte as i8;
    }
    masks
}

/// Adds +1 or −1 to each cell; tells whether one of them left −127…127.
#[inline(always)]
fn add_line(line: &mut [i8; LINE], word: u64) -> bool {
    let masks = masks(word);
    let mut left = [0i8; LINE];
    for k in 0..LINE {
        let sum = line[k].wrapping_add(masks[k] | 1);
        left[k] = if sum == i8::MIN { -1 } else { 0 };
        line[k] = sum;
    }
    left.iter().fold(0, |all, l| all | l) != 0
}

/// Asks for the cache line of an element that will be needed.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// Asks for a cache line that will be needed later.
#[inline(always)]
fn prefetch_far(place: *const i8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[inline(always)]
fn write_rows_body(
    cells: &mut [i8],
    changed: &mut [bool],
    codes: &CodeWords<'_>,
    writes: &[Write],
    flip: u64,
    spilled: &mut Vec<u32>,
) {
    match codes.width {
        6 => write_rows_of::<1>(cells, changed, codes, writes, flip, spilled),
        7 => write_rows_of::<2>(cells, changed, codes, writes, flip, spilled),
        8 => write_rows_of::<4>(cells, changed, codes, writes, flip, spilled),
        9 => write_rows_of::<8>(cells, changed, codes, writes, flip, spilled),
        10 => write_rows_of::<16>(cells, changed, codes, writes, flip, spilled),
        _ => unreachable!("widths are 64 to 1024"),
    }
}

#[inline(always)]
fn write_rows_of<const LINES: usize>(
    cells: &mut [i8],
    changed: &mut [bool],
    codes: &CodeWords<'_>,
    writes: &[Write],
    flip: u64,
    spilled: &mut Vec<u32>,
) {
    let width = LINES * LINE;
    let start = cells.as_ptr();
    let fetch = |write: &Write| {
        for line in 0..LINES {
            prefetch_far(start.wrapping_add(write.row as usize * width + line * LINE));
        }
    };
    writes.iter().take(AHEAD).for_each(fetch);
    for (i, write) in writes.iter().enumerate() {
        if let Some(next) = writes.get(i + AHEAD) {
            fetch(next);
        }
        changed[write.row as usize * width / RUN] = true;
        let row = &mut cells[write.row as usize * width..][..width];
        if row[0] == WIDE {
            spilled.push(i as u32);
            continue;
        }
        let (block, walsh) = codes.place(write.token);
        let blocks = &codes.blocks[block * LINES..][..LINES];
        let walsh = &codes.walsh[walsh * LINES..][..LINES];
        let mut words = [0; LINES];
        for line in 0..LINES {
            words[line] = signs(write.address, line as u64) ^ walsh[line] ^ blocks[line] ^ flip;
        }
        let mut left = false;
        for (line, word) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(words) {
            left |= add_line(line, word);
        }
        if left {
            for (line, word) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(words) {
                add_line(line, !word);
            }
            spilled.push(i as u32);
        }
    }
}

#[inline(always)]
fn unbind_body(cells: &[i8], signs: &[u64], out: &mut [i32]) {
    let lines = cells.as_chunks::<LINE>().0.iter().zip(out.as_chunks_mut::<LINE>().0);
    for ((line, out), &word) in lines.zip(signs) {
        let masks = masks(word);
        for k in 0..LINE {
            out[k] = i32::from((line[k] ^ masks[k]).wrapping_sub(masks[k]));
        }
    }
}

#[inline(always)]
fn add_signed_body(row: &mut [i32], signs: &[u64], weight: i32) {
    for (line, &word) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(signs) {
        let masks = masks(word);
        for k in 0..LINE {
            let mask = i32::from(masks[k]);
            line[k] = line[k].wrapping_add((weight ^ mask).wrapping_sub(mask));
        }
    }
}

#[inline(always)]
fn read_buckets_body(
    cells: &[i8],
    buckets: &[Bucket],
    rounds: usize,
    scores: &mut [i16],
    scales: &mut [Scale],
    left: &mut Vec<u32>,
) {
    let outs = scores.as_chunks_mut::<LINE>().0.chunks_mut(BATCH).zip(scales.chunks_mut(BATCH));
    for (batch, (buckets, (scores, scales))) in buckets.chunks(BATCH).zip(outs).enumerate() {
        let mut rows = [[[0i8; LINE]; 2]; BATCH];
        let mut wide = [false; BATCH];
        let mut sums = Sums::default();
        for (j, bucket) in buckets.iter().enumerate() {
            for q in 0..2 {
                let line: &[i8; LINE] =
                    cells[bucket.rows[q] as usize * LINE..].first_chunk().expect("a row is whole");
                wide[j] |= line[0] == WIDE;
                let masks = masks(bucket.signs[q]);
                let row = &mut rows[j][q];
                let (mut size, mut energy) = (0, 0);
                for k in 0..LINE {
                    row[k] = (line[k] ^ masks[k]).wrapping_sub(masks[k]);
                    let x = i32::from(row[k]);
                    size += x.abs();
                    energy += x * x;
                }
                sums.size[q][j] = size as f32;
                sums.energy[q][j] = energy as f32 * (1.0 / LINE as f32);
            }
        }
        let weighed = weigh(&sums);
        for j in 0..buckets.len() {
            let factors = [weighed.factors[0][j], weighed.factors[1][j]];
            if wide[j] {
                left.push((batch * BATCH + j) as u32);
                continue;
            }
            if weighed.coarse[j] {
                scales[j] = peel(&rows[j], rounds, &mut scores[j]);
                continue;
            }
            let mut mean = [0i16; LINE];
            for k in 0..LINE {
                let (a, b) = (i16::from(rows[j][0][k]), i16::from(rows[j][1][k]));
                mean[k] = a.wrapping_mul(factors[0]).wrapping_add(b.wrapping_mul(factors[1]));
            }
            let out = &mut scores[j];
            *out = super::walsh::fwht_line(&mean);
            scales[j] = Scale { unit: weighed.unit[j], sigma: weighed.sigma[j] };
            let threshold = (scales[j].threshold() / scales[j].unit).min(32_767.0) as i16;
            let mut any = 0;
            for &score in &*out {
                any |= u8::from(score > threshold);
            }
            if rounds > 1 && any != 0 {
                scales[j] = peel(&rows[j], rounds, out);
            }
        }
    }
}

/// Buckets weighed together.
const BATCH: usize = 16;

/// Σ|x| and Σx²/64 of both rows of some buckets.
#[derive(Default)]
struct Sums {
    size: [[f32; BATCH]; 2],
    energy: [[f32; BATCH]; 2],
}

/// Integer weights of both rows, and the scale that results. Too coarse: weights of no precision.
#[derive(Default)]
struct Weighed {
    factors: [[i16; BATCH]; 2],
    unit: [f32; BATCH],
    sigma: [f32; BATCH],
    coarse: [bool; BATCH],
}

/// Weighs rows inversely to their energy, with integers as large as 16-bit sums allow.
#[inline(always)]
fn weigh(sums: &Sums) -> Weighed {
    let mut weighed = Weighed::default();
    for j in 0..BATCH {
        let (e0, e1) = (sums.energy[0][j], sums.energy[1][j]);
        let (w0, w1) = (1.0 / (e0 + SOFTENING), 1.0 / (e1 + SOFTENING));
        // The sum of all absolute values bounds every partial sum of the transform.
        let size = w0 * sums.size[0][j] + w1 * sums.size[1][j];
        let most = if w0 > w1 { w0 } else { w1 };
        let precision = 32_767.0 / if size > most { size } else { most };
        let (f0, f1) = ((w0 * precision) as i32, (w1 * precision) as i32);
        let whole = (f0 + f1) as f32;
        let (share0, share1) = (f0 as f32 / whole, f1 as f32 / whole);
        let variance = share0 * share0 * e0 + share1 * share1 * e1;
        let sigma = (variance / LINE as f32).sqrt();
        weighed.factors[0][j] = f0 as i16;
        weighed.factors[1][j] = f1 as i16;
        weighed.coarse[j] = whole < 16.0;
        weighed.unit[j] = 1.0 / (whole * LINE as f32);
        weighed.sigma[j] = if sigma > LEAST_SIGMA { sigma } else { LEAST_SIGMA };
    }
    weighed
}

/// A bucket again, row by row, with its successors peeled off.
#[inline(always)]
fn peel(rows: &[[i8; LINE]; 2], rounds: usize, out: &mut [i16; LINE]) -> Scale {
    let mut each = [0.0f32; 2 * LINE];
    for (each, row) in each.as_chunks_mut::<LINE>().0.iter_mut().zip(rows) {
        let mut wider = [0i16; LINE];
        for k in 0..LINE {
            wider[k] = i16::from(row[k]);
        }
        let row = super::walsh::fwht_line(&wider);
        for k in 0..LINE {
            each[k] = f32::from(row[k]) * (1.0 / LINE as f32);
        }
    }
    let (mut mean, mut counts) = ([0.0; LINE], [0.0; LINE]);
    let sigma = settle(&each, rounds, &mut mean, &mut counts);
    quantize(&mean, sigma, out)
}

/// Estimates counts from the scores of several rows, peeling off what is certain.
///
/// `rows` holds the scores of each row, one after the other; their squares sum to the row's energy. Rows are weighed
/// inversely to it. Counts that stand out are taken off, the weights found again from what is left, which now
/// shows the noise alone, and so on. In a bucket this is exact in the scores: its codes are orthogonal, so a peeled
/// code touches no other score. Returns σ; `counts` must be zero.
#[inline(always)]
pub(crate) fn settle(rows: &[f32], rounds: usize, mean: &mut [f32], counts: &mut [f32]) -> f32 {
    let width = mean.len();
    let mut pass = 1;
    loop {
        mean.copy_from_slice(counts);
        let (mut whole, mut variance) = (0.0, 0.0);
        for row in rows.chunks_exact(width) {
            whole += 1.0 / (energy(row, counts) + SOFTENING);
        }
        for row in rows.chunks_exact(width) {
            let energy = energy(row, counts);
            let weight = 1.0 / (energy + SOFTENING) / whole;
            variance += weight * weight * energy;
            for ((mean, &score), &count) in mean.iter_mut().zip(row).zip(&*counts) {
                *mean += weight * (score - count);
            }
        }
        let sigma = (variance / width as f32).sqrt().max(LEAST_SIGMA);
        let threshold = Scale { unit: 1.0, sigma }.threshold();
        let mut found = 0u8;
        if pass < rounds {
            for (count, &mean) in counts.iter_mut().zip(&*mean) {
                let rest = mean - *count;
                let certain = rest > threshold;
                found |= u8::from(certain);
                *count += if certain { f32::from(round(rest)) } else { 0.0 };
            }
        }
        if found == 0 {
            return sigma;
        }
        pass += 1;
    }
}

/// Σ(score − count)², summed in a fixed shape.
#[inline(always)]
fn energy(row: &[f32], counts: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    for (row, counts) in row.as_chunks::<16>().0.iter().zip(counts.as_chunks::<16>().0) {
        for k in 0..16 {
            let rest = row[k] - counts[k];
            sums[k] += rest * rest;
        }
    }
    let mut half = 8;
    while half > 0 {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
        half /= 2;
    }
    sums[0]
}

/// The nearest integer, ties to even, of a number that fits: adding 1.5·2²³ leaves no room for a fraction.
#[inline(always)]
pub(crate) fn round(x: f32) -> i16 {
    const SHIFT: f32 = 12_582_912.0;
    (x + SHIFT - SHIFT) as i32 as i16
}

/// Counts as 16-bit scores; what that rounds away is counted as noise.
#[inline(always)]
pub(crate) fn quantize(counts: &[f32], sigma: f32, out: &mut [i16]) -> Scale {
    let largest = counts.iter().fold(0.0f32, |most, count| most.max(count.abs()));
    // Fine enough for the smallest σ, or as fine as the largest count allows.
    let unit = (largest / 32_000.0).max(LEAST_SIGMA / 16.0);
    for (out, &count) in out.iter_mut().zip(counts) {
        *out = round(count / unit);
    }
    Scale { unit, sigma: (sigma * sigma + unit * unit / 12.0).sqrt() }
}

/// Bytes as cells.
pub(crate) fn as_cells(bytes: &[u8]) -> &[i8] {
    // SAFETY: u8 and i8 have the same size and alignment, and every byte is a valid i8.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// Bytes as cells to write.
pub(crate) fn as_cells_mut(bytes: &mut [u8]) -> &mut [i8] {
    // SAFETY: as in `as_cells`, and the exclusive borrow passes on.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

/// Added to a row's energy before it is inverted, so that an empty row does not count alone.
pub(crate) const SOFTENING: f32 = 0.05;

/// Estimated counts are never believed to be better than this.
pub(crate) const LEAST_SIGMA: f32 = 0.02;

#[cfg(test)]
mod tests {
    use super::super::Path;
    use super::*;
    use crate::random::{Purpose, Stream};

    fn sign(word: u64, k: usize) -> i32 {
        if word >> bit(k) & 1 == 0 { 1 } else { -1 }
    }

    fn random_cells(len: usize, limit: u64, index: u32) -> Vec<i8> {
        let mut reader = Stream::new(3, Purpose::Sampling, index).reader();
        (0..len).map(|_| (reader.below(2 * limit + 1) as i64 - limit as i64) as i8).collect()
    }

    fn codes(width: u32) -> (Vec<u64>, Vec<u64>) {
        let mut reader = Stream::new(4, Purpose::Sampling, width).reader();
        let lines = (1usize << width) / LINE;
        let walsh = (0..lines << width).map(|_| reader.word()).collect();
        (walsh, (0..lines * 8).map(|_| reader.word()).collect())
    }

    #[test]
    fn bits_of_a_line_are_all_different() {
        let mut bits: Vec<usize> = (0..LINE).map(bit).collect();
        bits.sort_unstable();
        assert_eq!(bits, (0..LINE).collect::<Vec<_>>());
    }

    #[test]
    fn writes_add_signs_and_spill_what_does_not_fit() {
        for width in 6..=10 {
            let (walsh, blocks) = codes(width);
            let codes = CodeWords { lanes: 3, width, walsh: &walsh, blocks: &blocks };
            let (size, rows) = (1usize << width, 5);
            let mut before = random_cells(size * rows, 127, width);
            for (row, cells) in before.chunks_mut(size).enumerate() {
                match row {
                    // Nothing overflows in the first two rows, the last is wide.
                    0 | 1 => cells.iter_mut().for_each(|c| *c /= 2),
                    4 => cells
                        .iter_mut()
                        .enumerate()
                        .for_each(|(k, c)| *c = if k == 0 { WIDE } else { 0 }),
                    _ => {}
                }
            }
            let mut reader = Stream::new(5, Purpose::Sampling, width).reader();
            let writes: Vec<Write> = (0..40)
                .map(|_| Write {
                    address: reader.word(),
                    row: reader.below(rows as u64) as u32,
                    token: reader.below(8 << width) as u32,
                })
                .collect();
            for flip in [0, u64::MAX] {
                let (mut naive, mut naive_spilled) = (before.clone(), Vec::new());
                for (i, write) in writes.iter().enumerate() {
                    let row = &mut naive[write.row as usize * size..][..size];
                    let sums: Vec<i32> = (0..size)
                        .map(|k| {
                            let word = signs(write.address, (k / LINE) as u64)
                                ^ codes.word(write.token, k / LINE)
                                ^ flip;
                            i32::from(row[k]) + sign(word, k % LINE)
                        })
                        .collect();
                    if row[0] == WIDE || sums.iter().any(|s| s.abs() > 127) {
                        naive_spilled.push(i as u32);
                    } else {
                        row.iter_mut().zip(sums).for_each(|(c, s)| *c = s as i8);
                    }
                }
                assert!(!naive_spilled.is_empty() && naive_spilled.len() < writes.len());
                for path in Path::available() {
                    let (mut cells, mut spilled) = (before.clone(), Vec::new());
                    let mut changed = vec![false; cells.len().div_ceil(RUN)];
                    write_rows_at(
                        path,
                        &mut cells,
                        &mut changed,
                        &codes,
                        &writes,
                        flip,
                        &mut spilled,
                    );
                    assert!(cells == naive, "{path:?} width {width}");
                    assert_eq!(spilled, naive_spilled, "{path:?} width {width}");
                }
            }
        }
    }

    #[test]
    fn unbinding_and_signed_addition_follow_the_signs() {
        let cells = random_cells(256, 127, 1);
        let words: Vec<u64> = (0..4).map(|line| signs(99, line)).collect();
        let of = |k: usize| sign(words[k / LINE], k % LINE);
        for path in Path::available() {
            let mut out = vec![0; 256];
            unbind_at(path, &cells, &words, &mut out);
            assert!((0..256).all(|k| out[k] == i32::from(cells[k]) * of(k)), "{path:?}");
            add_signed_at(path, &mut out, &words, -70_000);
            assert!((0..256).all(|k| out[k] == (i32::from(cells[k]) - 70_000) * of(k)), "{path:?}");
        }
    }

    #[test]
    fn buckets_are_read_as_defined() {
        let rows = 40u32;
        let mut cells = random_cells(rows as usize * LINE, 20, 2);
        cells[..LINE].fill(0);
        cells[LINE] = WIDE;
        let mut reader = Stream::new(6, Purpose::Sampling, 0).reader();
        let mut buckets: Vec<Bucket> = (0..100)
            .map(|_| Bucket {
                rows: std::array::from_fn(|_| reader.below(u64::from(rows)) as u32),
                signs: std::array::from_fn(|_| reader.word()),
            })
            .collect();
        buckets[0].rows = [0, 0];
        buckets[1].rows = [0, 5];
        for path in Path::available() {
            let mut scores = vec![7i16; buckets.len() * LINE];
            let mut scales = vec![Scale::default(); buckets.len()];
            let mut left = Vec::new();
            read_buckets_at(path, &cells, &buckets, 1, &mut scores, &mut scales, &mut left);
            for (i, bucket) in buckets.iter().enumerate() {
                let wide = bucket.rows.contains(&1);
                assert_eq!(left.contains(&(i as u32)), wide);
                if wide {
                    continue;
                }
                let row = |q: usize, k: usize| {
                    let cell = cells[bucket.rows[q] as usize * LINE + k];
                    f64::from(cell) * f64::from(sign(bucket.signs[q], k))
                };
                let energy =
                    |q: usize| (0..LINE).map(|k| row(q, k) * row(q, k)).sum::<f64>() / 64.0;
                let weight = [0, 1].map(|q| 1.0 / (energy(q) + 0.05));
                let share = weight.map(|w| w / (weight[0] + weight[1]));
                let sigma =
                    ((0..2).map(|q| share[q] * share[q] * energy(q)).sum::<f64>() / 64.0).sqrt();
                assert!(
                    (f64::from(scales[i].sigma) - sigma.max(0.02)).abs() < 0.03 * sigma.max(0.02)
                );
                for t in 0..LINE {
                    let expected: f64 = (0..LINE)
                        .map(|k| {
                            let walsh =
                                if (t & k).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                            (share[0] * row(0, k) + share[1] * row(1, k)) * walsh / 64.0
                        })
                        .sum();
                    let got = f64::from(scores[i * LINE + t]) * f64::from(scales[i].unit);
                    // Weights are rounded to 16-bit integers; that moves scores by a small part of σ.
                    assert!(
                        (got - expected).abs() < 0.15 * sigma.max(0.02),
                        "{path:?} {got} {expected} {sigma}"
                    );
                }
            }
        }
    }

    /// Two rows share three successors; one of them also carries much noise, which the peeled weights must see.
    #[test]
    fn peeling_finds_the_quiet_row() {
        let mut reader = Stream::new(7, Purpose::Sampling, 0).reader();
        let walsh =
            |t: usize, k: usize| if (t & k).count_ones().is_multiple_of(2) { 1 } else { -1 };
        let signs = [reader.word(), reader.word()];
        let mut cells = vec![0i8; 2 * LINE];
        for (q, noise) in [(0, 0), (1, 25)] {
            for k in 0..LINE {
                let value: i32 =
                    [(3, 40), (17, 9), (60, 1)].iter().map(|&(t, c)| c * walsh(t, k)).sum();
                let noise = reader.below(2 * noise + 1) as i32 - noise as i32;
                cells[q * LINE + k] = ((value + noise) * sign(signs[q], k)) as i8;
            }
        }
        let buckets = [Bucket { rows: [0, 1], signs }];
        for path in Path::available() {
            let (mut scores, mut scales, mut left) = ([0i16; LINE], [Scale::default()], Vec::new());
            read_buckets_at(path, &cells, &buckets, 4, &mut scores, &mut scales, &mut left);
            let count = |t: usize| f32::from(scores[t]) * scales[0].unit;
            assert!(left.is_empty() && scales[0].sigma < 0.05, "{scales:?}");
            for t in 0..LINE {
                let expected = [(3, 40.0), (17, 9.0), (60, 1.0)]
                    .iter()
                    .find(|e| e.0 == t)
                    .map_or(0.0, |e| e.1);
                assert!((count(t) - expected).abs() < 0.1, "{path:?} token {t}: {}", count(t));
            }
        }
    }
}
