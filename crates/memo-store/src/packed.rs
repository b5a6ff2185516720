//! Cells in fewer bits: what a frozen memory keeps of them.
//!
//! With one bit a cell keeps its sign, and its row one number: Σx²/Σ|x|, with which the signs return, on average, what
//! the cells would have. With two bits a cell also keeps whether it is among the larger half of its row, and the row two
//! numbers. Cells that were never written come back as zeros. A frozen memory is unpacked when it is opened.

use crate::error::Error;
use memo::sparse::{Memory, Settings};
use rayon::prelude::*;

/// Bits that a frozen cell may have.
pub(crate) const BITS: [u32; 3] = [1, 2, 8];

/// A row in fewer bits.
struct Row {
    /// The numbers that a cell can have, up to its sign.
    scales: [u16; 2],
    bits: Vec<u8>,
}

/// Bytes of packed cells.
pub(crate) fn packed_len(settings: &Settings, bits: u32) -> usize {
    Memory::storage_len(settings) / 8 * bits as usize
}

/// Bytes of the rows' numbers.
pub(crate) fn scales_len(settings: &Settings, bits: u32) -> usize {
    if bits == 8 { 0 } else { rows(settings).map(|(rows, _)| rows * 4).sum() }
}

/// The rows of each slot, those included that only fill its last run, and their width.
fn rows(settings: &Settings) -> impl Iterator<Item = (usize, usize)> + '_ {
    settings.slots.iter().map(|slot| {
        let width = slot.width as usize;
        (slot.stride() / width, width)
    })
}

/// Packs the cells of a memory; gives the rows' numbers and the packed cells.
pub(crate) fn pack(memory: &Memory, bits: u32) -> (Vec<u8>, Vec<u8>) {
    if bits == 8 {
        return (Vec::new(), memory.cells().to_vec());
    }
    let mut wide: Vec<std::collections::HashMap<u64, Vec<i32>>> =
        vec![std::collections::HashMap::new(); memory.settings().slots.len()];
    for (slot, row, values) in memory.wide_rows() {
        wide[slot].insert(row, values);
    }
    let (mut scales, mut packed) = (Vec::new(), Vec::new());
    let mut cells = memory.cells();
    for (slot, (rows, width)) in rows(memory.settings()).enumerate() {
        let (mine, rest) = cells.split_at(rows * width);
        cells = rest;
        let each: Vec<Row> = mine
            .par_chunks_exact(width)
            .enumerate()
            .map(|(row, cells)| {
                if let Some(values) = wide[slot].get(&(row as u64)) {
                    return pack_row(values, bits);
                }
                let values: Vec<i32> = cells.iter().map(|&c| i32::from(c as i8)).collect();
                pack_row(&values, bits)
            })
            .collect();
        for Row { scales: own, bits } in each {
            own.iter().for_each(|scale| scales.extend_from_slice(&scale.to_le_bytes()));
            packed.extend(bits);
        }
    }
    (scales, packed)
}

fn pack_row(values: &[i32], bits: u32) -> Row {
    let size = |v: &i32| f64::from(v.unsigned_abs());
    let energy: f64 = values.iter().map(|v| size(v) * size(v)).sum();
    let whole: f64 = values.iter().map(size).sum();
    if whole == 0.0 {
        return Row { scales: [0; 2], bits: vec![0; values.len() * bits as usize / 8] };
    }
    let limit = whole / values.len() as f64;
    let large = |v: &i32| bits == 2 && size(v) > limit;
    let mean = |wanted: bool| {
        let (mut sum, mut count) = (0.0, 0.0f64);
        for v in values.iter().filter(|v| large(v) == wanted) {
            (sum, count) = (sum + size(v), count + 1.0);
        }
        (sum / count.max(1.0), count)
    };
    let ((low, lows), (high, highs)) = (mean(false), mean(true));
    // So that the product with the row itself is what it was.
    let factor = energy / (low * low * lows + high * high * highs);
    let scale = |mean: f64| ((mean * factor).round() as u32).min(u32::from(u16::MAX)) as u16;
    // A row that was written is never all zeros.
    let scales = [scale(low).max(u16::from(bits == 1)), scale(high)];
    let mut packed = vec![0u8; values.len() * bits as usize / 8];
    for (k, v) in values.iter().enumerate() {
        let code = u8::from(*v < 0) | u8::from(large(v)) << 1;
        let at = k * bits as usize;
        packed[at / 8] |= code << (at % 8);
    }
    Row { scales, bits: packed }
}

/// Unpacks cells: bytes as a memory stores them, and the rows that do not fit in bytes.
pub(crate) fn unpack(
    settings: &Settings,
    bits: u32,
    scales: &[u8],
    packed: &[u8],
    out: &mut [u8],
) -> Result<Vec<(usize, u64, Vec<i32>)>, Error> {
    let wrong = || Error::Invalid("a frozen memory has the wrong length".to_owned());
    if packed.len() != packed_len(settings, bits) || scales.len() != scales_len(settings, bits) {
        return Err(wrong());
    }
    let (mut scales, mut packed, mut out) = (scales, packed, out);
    let mut wide = Vec::new();
    for (slot, (rows, width)) in rows(settings).enumerate() {
        let (my_scales, rest) = scales.split_at(rows * 4);
        let (my_bits, rest_bits) = packed.split_at(rows * width * bits as usize / 8);
        let (mine, rest_out) = out.split_at_mut(rows * width);
        (scales, packed, out) = (rest, rest_bits, rest_out);
        let each = mine.par_chunks_exact_mut(width).enumerate().map(|(row, cells)| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| my_scales[row * 4 + k]);
            let scales = [[a, b], [c, d]].map(|s| i32::from(u16::from_le_bytes(s)));
            let bytes = width * bits as usize / 8;
            let codes = &my_bits[row * bytes..][..bytes];
            let value = |k: usize| {
                let at = k * bits as usize;
                let code = codes[at / 8] >> (at % 8);
                let scale = scales[usize::from(bits == 2 && code & 2 != 0)];
                if code & 1 == 0 { scale } else { -scale }
            };
            if scales.iter().all(|&scale| scale <= 127) {
                (0..width).for_each(|k| cells[k] = value(k) as i8 as u8);
                return None;
            }
            let values: Vec<i32> = (0..width).map(value).collect();
            if values.iter().all(|v| v.abs() <= 127) {
                cells.iter_mut().zip(&values).for_each(|(cell, &v)| *cell = v as i8 as u8);
                return None;
            }
            // As the engine marks a row whose values are elsewhere.
            cells.fill(0);
            cells[0] = i8::MIN as u8;
            Some((slot, row as u64, values))
        });
        wide.extend(each.collect::<Vec<_>>().into_iter().flatten());
    }
    Ok(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memo::random::{Purpose, Stream};

    #[test]
    fn a_row_keeps_its_direction() {
        let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
        for (bits, least) in [(1, 0.75), (2, 0.90)] {
            for spread in [3, 20, 90, 5000] {
                let values: Vec<i32> = (0..256)
                    .map(|_| {
                        (0..3).map(|_| reader.below(2 * spread + 1) as i32 - spread as i32).sum()
                    })
                    .collect();
                let row = pack_row(&values, bits);
                let back: Vec<f64> = (0..256)
                    .map(|k| {
                        let at = k * bits as usize;
                        let code = row.bits[at / 8] >> (at % 8);
                        let scale = row.scales[usize::from(bits == 2 && code & 2 != 0)];
                        f64::from(scale) * if code & 1 == 0 { 1.0 } else { -1.0 }
                    })
                    .collect();
                let dot: f64 = values.iter().zip(&back).map(|(a, b)| f64::from(*a) * b).sum();
                let energy: f64 = values.iter().map(|a| f64::from(*a) * f64::from(*a)).sum();
                let length: f64 = back.iter().map(|b| b * b).sum::<f64>().sqrt();
                assert!(dot / (energy.sqrt() * length) > least, "{bits} bits, spread {spread}");
                // What is read is, on average, what was there: up to the rounding of the row's number.
                assert!((dot / energy - 1.0).abs() < 0.5 / (spread as f64).min(10.0) + 0.02);
            }
        }
    }

    #[test]
    fn a_row_of_ones_is_exact() {
        let values: Vec<i32> = (0..64).map(|k| if k % 3 == 0 { -1 } else { 1 }).collect();
        let row = pack_row(&values, 1);
        assert_eq!(row.scales[0], 1);
        assert!((0..64).all(|k| (row.bits[k / 8] >> (k % 8) & 1 == 1) == (values[k] < 0)));
    }
}
