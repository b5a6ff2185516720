//! Writing: one ±1 code after another, each to a row that is somewhere else in a large memory.
//!
//! Waiting for rows would cost more than adding to them, so they are fetched many writes ahead. A write that would
//! take a cell out of its byte is undone and left to the caller.

use super::{CodeWords, LINE, WIDE, masks, signs};
use crate::kernels::dispatch;
use crate::kernels::prefetch::prefetch_far;

/// How many writes ahead rows are fetched: enough to hide a memory access behind the work on the rows between.
/// Into the second-level cache: the first cannot wait for as many lines at once.
const AHEAD: usize = 24;

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

dispatch! {
    /// Adds `±code` for each write. `flip` is 0 to add and all ones to subtract. Writes to wide rows, and those that
    /// would leave a byte, change nothing; their indices go to `spilled`.
    pub(crate) fn write_rows / write_rows_at(cells: &mut [i8], codes: &CodeWords<'_>, writes: &[Write], flip: u64, spilled: &mut Vec<u32>) = write_rows_body
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

#[inline(always)]
fn write_rows_body(
    cells: &mut [i8],
    codes: &CodeWords<'_>,
    writes: &[Write],
    flip: u64,
    spilled: &mut Vec<u32>,
) {
    match codes.width {
        6 => write_rows_of::<1>(cells, codes, writes, flip, spilled),
        7 => write_rows_of::<2>(cells, codes, writes, flip, spilled),
        8 => write_rows_of::<4>(cells, codes, writes, flip, spilled),
        9 => write_rows_of::<8>(cells, codes, writes, flip, spilled),
        10 => write_rows_of::<16>(cells, codes, writes, flip, spilled),
        _ => unreachable!("widths are 64 to 1024"),
    }
}

#[inline(always)]
fn write_rows_of<const LINES: usize>(
    cells: &mut [i8],
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

#[cfg(test)]
mod tests {
    use super::super::tests::{random_cells, sign};
    use super::*;
    use crate::kernels::Path;
    use crate::random::{Purpose, Stream};

    fn codes(width: u32) -> (Vec<u64>, Vec<u64>) {
        let mut reader = Stream::new(4, Purpose::Sampling, width).draws();
        let lines = (1usize << width) / LINE;
        let walsh = (0..lines << width).map(|_| reader.word()).collect();
        (walsh, (0..lines * 8).map(|_| reader.word()).collect())
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
            let mut reader = Stream::new(5, Purpose::Sampling, width).draws();
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
                    write_rows_at(path, &mut cells, &codes, &writes, flip, &mut spilled);
                    assert!(cells == naive, "{path:?} width {width}");
                    assert_eq!(spilled, naive_spilled, "{path:?} width {width}");
                }
            }
        }
    }
}
