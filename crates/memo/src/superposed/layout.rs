//! Where cells lie: the matrices of all slots one after the other, each beginning at a new page.
//!
//! The rows of a slot are divided into at most 32 *row ranges*. A row range is what one thread owns while it writes. They
//! are numbered through all slots.

use super::Settings;
use std::ops::Range;

/// The fewest cells that a row range has, if its slot has as many.
const RANGE_CELLS: usize = 1 << 20;

/// The most row ranges that a slot has: enough to keep threads busy, few enough to sort writes by range in one pass.
const MAX_RANGES: usize = 32;

/// Where the matrix of a slot lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotLayout {
    /// Its first cell.
    pub(crate) start: usize,
    pub(crate) rows: u64,
    pub(crate) width: usize,
    /// Cells up to the next slot.
    pub(super) stride: usize,
    /// Its first row range.
    first_range: usize,
    /// log₂ of the rows in a row range.
    range_rows: u32,
}

impl SlotLayout {
    /// Returns the cells of a row range; the last one may have fewer.
    pub(super) fn range_cells(&self) -> usize {
        self.width << self.range_rows
    }

    /// Returns which row range a row is in, and its number in there.
    #[inline(always)]
    pub(crate) fn place(&self, row: u32) -> (usize, u32) {
        let range = self.first_range + (row >> self.range_rows) as usize;
        (range, row & ((1 << self.range_rows) - 1))
    }

    /// Returns its row ranges.
    pub(crate) fn ranges(&self) -> Range<usize> {
        let count = self.stride.div_ceil(self.range_cells());
        self.first_range..self.first_range + count
    }

    /// Returns the first row of one of its row ranges.
    pub(super) fn first_row(&self, range: usize) -> u64 {
        ((range - self.first_range) as u64) << self.range_rows
    }
}

/// Returns the layouts of all slots, one after the other.
pub(super) fn slot_layouts(settings: &Settings) -> Vec<SlotLayout> {
    let (mut start, mut first_range) = (0, 0);
    let layouts = settings.slots.iter().map(|slot| {
        let (stride, width) = (slot.stride(), slot.width as usize);
        let cells = RANGE_CELLS.max(stride.div_ceil(MAX_RANGES).next_power_of_two());
        let range_rows = cells.ilog2() - width.ilog2();
        let layout = SlotLayout { start, rows: slot.rows, width, stride, first_range, range_rows };
        start += stride;
        first_range = layout.ranges().end;
        layout
    });
    layouts.collect()
}
