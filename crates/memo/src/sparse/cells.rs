//! Cells: the matrices of all slots, one signed byte a cell, exact whatever is added to them.
//!
//! A cell holds −127…127. A row that needs more is *wide*: its first cell is −128, its others 0, and its values are
//! kept in a map with 16 or 32 bits each, until they fit again. So the bytes and the map are functions of
//! the values alone, never of how they came about, and a digest can read them as they are. Sums are taken modulo
//! 2³², which no text reaches and which would still be undone exactly.
//!
//! The bytes are kept by a [`Storage`]. `layout` says where in them a row lies.

use super::layout::{SlotLayout, slot_layouts};
use super::row_range::RowRange;
use super::storage::{Ram, Storage};
use super::wide::{Wide, fits, row_values};
use super::{Error, LINE, PAGE, Settings};
use crate::kernels::integer::{WIDE, as_cells, as_cells_mut, bit, unbind};
use crate::kernels::prefetch;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The cells of all slots.
pub(crate) struct Cells {
    storage: Box<dyn Storage>,
    guarded: bool,
    layouts: Vec<SlotLayout>,
    /// The wide rows of each row range, by their number in it.
    wide: Vec<BTreeMap<u32, Wide>>,
    /// Pages that changed: see [`super::digest`].
    changed: Vec<bool>,
}

impl Cells {
    /// Copies cells that are in RAM; returns `None` for others.
    pub(crate) fn copied(&self) -> Result<Option<Self>, Error> {
        if self.guarded {
            return Ok(None);
        }
        let Cells { storage, guarded, layouts, wide, changed } = self;
        Ok(Some(Cells {
            storage: Box::new(Ram::copy(storage.bytes())?),
            guarded: *guarded,
            layouts: layouts.clone(),
            wide: wide.clone(),
            changed: changed.clone(),
        }))
    }

    /// Returns the bytes of storage that settings need, one a cell.
    pub(crate) fn len(settings: &Settings) -> usize {
        settings.slots.iter().map(super::Slot::stride).sum()
    }

    pub(crate) fn new(settings: &Settings, storage: Box<dyn Storage>) -> Result<Self, Error> {
        let len = Self::len(settings);
        if storage.bytes().len() != len {
            let found = storage.bytes().len();
            return Err(Error::Storage(format!("{found} bytes where the settings need {len}")));
        }
        let layouts = slot_layouts(settings);
        let ranges = layouts.last().map_or(0, |last| last.ranges().end);
        let guarded = storage.guarded();
        Ok(Cells {
            storage,
            guarded,
            layouts,
            wide: vec![BTreeMap::new(); ranges],
            changed: vec![false; len / PAGE],
        })
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
        &as_cells(self.storage.bytes())[layout.start..layout.start + layout.stride]
    }

    /// Has guarded storage check the page of a row.
    #[inline(always)]
    pub(crate) fn verify(&self, slot: usize, row: u64) -> Result<(), Error> {
        let layout = &self.layouts[slot];
        self.verify_page((layout.start + row as usize * layout.width) / PAGE)
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

    /// Returns a row as it is stored, and its values if it is wide.
    pub(crate) fn stored(&self, slot: usize, row: u64) -> (&[u8], Option<Vec<i32>>) {
        let layout = &self.layouts[slot];
        let at = layout.start + row as usize * layout.width;
        let cells = &self.storage.bytes()[at..at + layout.width];
        let (range, row) = layout.place(row as u32);
        let wide = (cells[0] as i8 == WIDE).then(|| &self.wide[range]);
        (cells, wide.and_then(|wide| Some(wide.get(&row)?.values())))
    }

    /// Replaces a row with what [`Cells::stored`] of another memory returned.
    pub(crate) fn put(
        &mut self,
        slot: usize,
        row: u64,
        cells: &[u8],
        wide: Option<&[i32]>,
    ) -> Result<(), Error> {
        let layout = self.layouts[slot];
        let at = layout.start + row as usize * layout.width;
        self.storage.bytes_mut()[at..at + layout.width].copy_from_slice(cells);
        match wide {
            Some(values) => self.restore_wide(slot, row, values),
            None => Ok(()),
        }
    }

    /// Sets all cells to zero by replacing the storage with one that is.
    pub(crate) fn clear(&mut self, storage: Box<dyn Storage>) {
        self.replace_storage(storage);
        self.wide.iter_mut().for_each(BTreeMap::clear);
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
        let mut cells = as_cells_mut(self.storage.bytes_mut());
        let mut changed = &mut self.changed[..];
        let mut wide = self.wide.iter_mut();
        let mut ranges = Vec::new();
        for (slot, layout) in self.layouts.iter().enumerate() {
            let (mine, rest) = cells.split_at_mut(layout.stride);
            let (my_changed, rest_changed) = changed.split_at_mut(layout.stride / PAGE);
            (cells, changed) = (rest, rest_changed);
            let len = layout.range_cells();
            let split = mine.chunks_mut(len).zip(my_changed.chunks_mut(len / PAGE));
            for ((cells, changed), wide) in split.zip(&mut wide) {
                ranges.push(RowRange { slot, width: layout.width, cells, wide, changed });
            }
        }
        ranges
    }

    /// Adds another memory's cells to these.
    pub(crate) fn merge(&mut self, other: &Cells) -> Result<(), Error> {
        for page in 0..self.pages() {
            other.verify_page(page)?;
            self.verify_page(page)?;
        }
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
        Ok(())
    }

    /// Returns the bytes of cells, and the bytes that wide rows take besides.
    pub(crate) fn held(&self) -> (usize, usize) {
        let entries = self.wide.iter().flat_map(BTreeMap::values);
        // A map entry and its heap block cost about 40 bytes.
        (self.storage.bytes().len(), entries.map(|wide| wide.bytes() + 40).sum())
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

    /// Refuses cells in which a row is marked as wide and has no values. Reads all cells.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (slot, layout) in self.layouts.iter().enumerate() {
            for (row, cells) in self.slot(slot).chunks_exact(layout.width).enumerate() {
                let (range, place) = layout.place(row as u32);
                if cells[0] == WIDE && !self.wide[range].contains_key(&place) {
                    return Err(Error::Storage(format!(
                        "row {row} of slot number {slot} lacks its values"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Restores the values of a wide row.
    pub(crate) fn restore_wide(
        &mut self,
        slot: usize,
        row: u64,
        values: &[i32],
    ) -> Result<(), Error> {
        let layout = self.layouts[slot];
        let first = || self.storage.peek(layout.start + row as usize * layout.width) as i8;
        let marked = row < layout.rows && first() == WIDE;
        if !marked || values.len() != layout.width || fits(values) {
            return Err(Error::Storage(format!(
                "row {row} of slot number {slot} is not a wide row"
            )));
        }
        let (range, row) = layout.place(row as u32);
        self.wide[range].insert(row, Wide::of(values));
        Ok(())
    }

    /// Returns the slot of a row range, and its first row.
    pub(crate) fn row_range(&self, range: usize) -> (usize, u64) {
        let slot = self.layouts.partition_point(|layout| layout.ranges().end <= range);
        (slot, self.layouts[slot].first_row(range))
    }

    pub(crate) fn guarded(&self) -> bool {
        self.guarded
    }

    /// Replaces the storage.
    pub(crate) fn replace_storage(&mut self, storage: Box<dyn Storage>) {
        debug_assert_eq!(storage.bytes().len(), self.storage.bytes().len());
        self.guarded = storage.guarded();
        self.storage = storage;
    }

    pub(crate) fn set_changed(&mut self, changed: bool) {
        self.changed.fill(changed);
    }

    /// Returns whether a page changed since flags were cleared.
    pub(crate) fn changed(&self, page: usize) -> bool {
        self.changed[page]
    }

    pub(crate) fn pages(&self) -> usize {
        self.changed.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// Has guarded storage check a page.
    #[inline(always)]
    pub(crate) fn verify_page(&self, page: usize) -> Result<(), Error> {
        if self.guarded { self.storage.verify(page) } else { Ok(()) }
    }

    /// Returns the wide rows of a page, by their number in it, each with its values.
    pub(crate) fn wide_in_page(&self, page: usize) -> Vec<(u32, Vec<i32>)> {
        let cell = page * PAGE;
        let at = self.layouts.partition_point(|layout| layout.start + layout.stride <= cell);
        let layout = &self.layouts[at];
        let first = (cell - layout.start) / layout.width;
        let (range, first) = layout.place(first as u32);
        let rows = (PAGE / layout.width) as u32;
        let found = self.wide[range].range(first..first + rows);
        found.map(|(&row, wide)| (row - first, wide.values())).collect()
    }
}
