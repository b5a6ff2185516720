//! Cells: the matrices of all slots, one signed byte a cell, exact whatever is added to them.
//!
//! A cell holds −127…127. A row that needs more is *wide*: its first cell is −128, its others 0, and its values are
//! kept in a map with 16 or 32 bits each, until they fit again. So the bytes and the map are functions of
//! the values alone, never of how they came about, and a digest can read them as they are. Sums are taken modulo
//! 2³², which no text reaches and which would still be undone exactly.
//!
//! `layout` says where in the bytes a row lies.

use super::layout::{SlotLayout, slot_layouts};
use super::row_range::RowRange;
use super::storage::Ram;
use super::wide::{Wide, row_values};
use super::{Error, LINE, Settings};
use crate::kernels::integer::{WIDE, as_cells, as_cells_mut, bit, unbind};
use crate::kernels::prefetch;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The cells of all slots.
pub(crate) struct Cells {
    bytes: Ram,
    layouts: Vec<SlotLayout>,
    /// The wide rows of each row range, by their number in it.
    wide: Vec<BTreeMap<u32, Wide>>,
}

impl Cells {
    /// Returns the bytes that settings need, one a cell.
    pub(crate) fn len(settings: &Settings) -> usize {
        settings.slots.iter().map(super::Slot::stride).sum()
    }

    pub(crate) fn new(settings: &Settings, bytes: Ram) -> Result<Self, Error> {
        let len = Self::len(settings);
        if bytes.bytes().len() != len {
            let found = bytes.bytes().len();
            return Err(Error::Storage(format!("{found} bytes where the settings need {len}")));
        }
        let layouts = slot_layouts(settings);
        let ranges = layouts.last().map_or(0, |last| last.ranges().end);
        Ok(Cells { bytes, layouts, wide: vec![BTreeMap::new(); ranges] })
    }

    pub(crate) fn layout(&self, slot: usize) -> &SlotLayout {
        &self.layouts[slot]
    }

    /// Returns how many row ranges there are.
    pub(crate) fn row_ranges(&self) -> usize {
        self.wide.len()
    }

    /// Returns the cells of a slot.
    pub(crate) fn slot(&self, slot: usize) -> &[i8] {
        let layout = &self.layouts[slot];
        &as_cells(self.bytes.bytes())[layout.start..layout.start + layout.stride]
    }

    pub(crate) fn prefetch(&self, slot: usize, row: u64) {
        let width = self.layouts[slot].width;
        for line in 0..width / LINE {
            prefetch(self.slot(slot), row as usize * width + line * LINE);
        }
    }

    /// Copies the values of a row, wide or not.
    pub(crate) fn values(&self, slot: usize, row: u64, out: &mut [i32]) {
        let layout = &self.layouts[slot];
        let cells = &self.slot(slot)[row as usize * layout.width..][..layout.width];
        let (range, row) = layout.place(row as u32);
        row_values(cells, &self.wide[range], row, out);
    }

    /// Copies the values of a row times the signs it was written with.
    pub(crate) fn unbound(&self, slot: usize, row: u64, signs: &[u64], out: &mut [i32]) {
        let width = self.layouts[slot].width;
        let cells = &self.slot(slot)[row as usize * width..][..width];
        if cells[0] == WIDE {
            self.values(slot, row, out);
            for (k, value) in out.iter_mut().enumerate() {
                if signs[k / LINE] >> bit(k % LINE) & 1 == 1 {
                    *value = value.wrapping_neg();
                }
            }
        } else {
            unbind(cells, signs, out);
        }
    }

    /// Returns all row ranges, each to be written by one thread.
    pub(crate) fn row_ranges_mut(&mut self) -> Vec<RowRange<'_>> {
        let mut cells = as_cells_mut(self.bytes.bytes_mut());
        let mut wide = self.wide.iter_mut();
        let mut ranges = Vec::new();
        for (slot, layout) in self.layouts.iter().enumerate() {
            let (mine, rest) = cells.split_at_mut(layout.stride);
            cells = rest;
            for (cells, wide) in mine.chunks_mut(layout.range_cells()).zip(&mut wide) {
                ranges.push(RowRange { slot, width: layout.width, cells, wide });
            }
        }
        ranges
    }

    /// Adds another memory's cells to these.
    pub(crate) fn merge(&mut self, other: &Cells) {
        self.row_ranges_mut().into_par_iter().enumerate().for_each(|(index, mut range)| {
            let (_, first) = other.row_range(index);
            let (mut mine, mut theirs) = (vec![0; range.width], vec![0; range.width]);
            for row in 0..(range.cells.len() / range.width) as u32 {
                other.values(range.slot, first + u64::from(row), &mut theirs);
                if theirs.iter().any(|&v| v != 0) {
                    range.load(row, &mut mine);
                    mine.iter_mut().zip(&theirs).for_each(|(m, t)| *m = m.wrapping_add(*t));
                    range.store(row, &mine);
                }
            }
        });
    }

    /// Returns the bytes of cells, and the bytes that wide rows take besides.
    pub(crate) fn held(&self) -> (usize, usize) {
        let entries = self.wide.iter().flat_map(BTreeMap::values);
        // A map entry and its heap block cost about 40 bytes.
        (self.bytes.bytes().len(), entries.map(|wide| wide.bytes() + 40).sum())
    }

    /// Returns the slot of a row range, and its first row.
    pub(crate) fn row_range(&self, range: usize) -> (usize, u64) {
        let slot = self.layouts.partition_point(|layout| layout.ranges().end <= range);
        (slot, self.layouts[slot].first_row(range))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    /// Returns the rows that do not fit in bytes: slot, row and values, in order.
    pub(crate) fn wide_rows(&self) -> impl Iterator<Item = (usize, u64, Vec<i32>)> + '_ {
        self.layouts.iter().enumerate().flat_map(move |(slot, layout)| {
            layout.ranges().flat_map(move |range| {
                let first = layout.first_row(range);
                let wide = self.wide[range].iter();
                wide.map(move |(&row, wide)| (slot, first + u64::from(row), wide.values()))
            })
        })
    }
}
