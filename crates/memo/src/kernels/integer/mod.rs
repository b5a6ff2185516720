//! Integer kernels of the sparse engine: rows of signed cells, written and read through one sign a cell.
//!
//! A row is made of lines of 64 cells; a line's signs are one 64-bit word, 1 meaning −1. Cell k has bit [`bit`]`(k)`:
//! byte k mod 8 of the word, bit k div 8 of that byte. Eight copies of the word, each masked with another power of
//! two, are then the 64 signs, which every instruction set can do without a table.
//!
//! This file has what all of them share: lines, signs and the codes of tokens. `write` adds codes to rows, `signed`
//! is for single rows outside the cells, `read` scores whole buckets of tokens, and `settle` is the arithmetic of
//! scores: weights, noise and what is peeled off.

mod read;
mod settle;
mod signed;
mod write;

pub(crate) use self::read::{Bucket, read_buckets};
pub(crate) use self::settle::{LEAST_SIGMA, SOFTENING, Scale, quantize, round, settle};
pub(crate) use self::signed::{add_signed, unbind};
pub(crate) use self::write::{Write, write_rows};
use crate::random::mix;

/// Cells in a line, which is a cache line: rows are a whole number of lines.
pub const LINE: usize = 64;

/// Cells in a page, the unit of the digest and of a mapped file's checksum. Writing marks the pages that it changes.
pub const PAGE: usize = 16 * 1024;

/// The first cell of a row whose values do not fit in a byte; they are kept elsewhere. No cell is ever −128.
pub(crate) const WIDE: i8 = i8::MIN;

/// The bit of a line's sign word that belongs to cell `k`.
pub(crate) const fn bit(k: usize) -> usize {
    k % 8 * 8 + k / 8
}

/// The signs of line `line` of a row, which grow from the row's address: 64 bits, one a cell (see [`bit`]); 1 is −1.
#[inline(always)]
pub(crate) fn signs(address: u64, line: u64) -> u64 {
    mix(address, line.wrapping_mul(0xE703_7ED1_A0B4_28DB).wrapping_add(0x8EBC_6AF0_9C88_C6E3))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    pub(super) fn sign(word: u64, k: usize) -> i32 {
        if word >> bit(k) & 1 == 0 { 1 } else { -1 }
    }

    pub(super) fn random_cells(len: usize, limit: u64, index: u32) -> Vec<i8> {
        let mut reader = Stream::new(3, Purpose::Sampling, index).draws();
        (0..len).map(|_| (reader.below(2 * limit + 1) as i64 - limit as i64) as i8).collect()
    }

    #[test]
    fn bits_of_a_line_are_all_different() {
        let mut bits: Vec<usize> = (0..LINE).map(bit).collect();
        bits.sort_unstable();
        assert_eq!(bits, (0..LINE).collect::<Vec<_>>());
    }
}
