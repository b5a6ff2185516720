//! A row range: some rows of one slot, which one thread owns while it writes. No two threads touch the same row, so
//! nothing is locked, and sums do not depend on how many threads there are.

use super::LINE;
use super::codes::Codes;
use super::wide::{Wide, fits, row_values};
use crate::kernels::integer::{WIDE, Write, add_signed, signs, write_rows};
use std::collections::BTreeMap;

/// Some rows of one slot, to be written by one thread.
pub(crate) struct RowRange<'a> {
    pub(crate) slot: usize,
    pub(super) width: usize,
    pub(super) cells: &'a mut [i8],
    pub(super) wide: &'a mut BTreeMap<u32, Wide>,
}

impl RowRange<'_> {
    /// Adds `weight` times each write's code.
    pub(crate) fn write(&mut self, codes: &Codes, writes: &[Write], weight: i32) {
        let mut spilled = Vec::new();
        if weight.unsigned_abs() == 1 {
            let flip = if weight < 0 { u64::MAX } else { 0 };
            write_rows(self.cells, &codes.words(), writes, flip, &mut spilled);
        } else {
            spilled.extend(0..writes.len() as u32);
        }
        if spilled.is_empty() {
            return;
        }
        // Mostly these are the same few rows: each is loaded and stored once.
        spilled.sort_by_key(|&i| writes[i as usize].row);
        let words = codes.words();
        let (mut values, mut bound) = (vec![0; self.width], vec![0; self.width / LINE]);
        let row = |i: &u32| writes[*i as usize].row;
        for same in spilled.chunk_by(|a, b| row(a) == row(b)) {
            self.load(row(&same[0]), &mut values);
            for write in same.iter().map(|&i| &writes[i as usize]) {
                for (line, bound) in bound.iter_mut().enumerate() {
                    *bound = signs(write.address, line as u64) ^ words.word(write.token, line);
                }
                add_signed(&mut values, &bound, weight);
            }
            self.store(row(&same[0]), &values);
        }
    }

    pub(super) fn load(&self, row: u32, values: &mut [i32]) {
        let cells = &self.cells[row as usize * self.width..][..self.width];
        row_values(cells, self.wide, row, values);
    }

    /// Stores the values of a row: as bytes if they fit, else wide.
    pub(super) fn store(&mut self, row: u32, values: &[i32]) {
        let cells = &mut self.cells[row as usize * self.width..][..self.width];
        if fits(values) {
            if cells[0] == WIDE {
                self.wide.remove(&row);
            }
            cells.iter_mut().zip(values).for_each(|(cell, &v)| *cell = v as i8);
        } else {
            cells.fill(0);
            cells[0] = WIDE;
            self.wide
                .entry(row)
                .and_modify(|wide| wide.set(values))
                .or_insert_with(|| Wide::of(values));
        }
    }
}
