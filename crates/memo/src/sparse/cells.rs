//! Cells: the matrices of all slots, one signed byte a cell, exact whatever is added to them.
//!
//! A cell holds −127…127. A row that needs more is *wide*: its first cell is −128, its others 0, and its values are
//! kept in a map with 16 or 32 bits each; when they fit again it returns. So the bytes and the map are functions of
//! the values alone, never of how they came about, and a digest can read them as they are. Sums are taken modulo
//! 2³², which no text reaches and which would still be undone exactly.
//!
//! The bytes sit behind [`Storage`]: in memory, mapped from a file, or wherever else. Slots lie one after the other,
//! each beginning at a new run; *shares*, at most 32 a slot, are what one thread owns while it writes.

use super::share::Share;
use super::storage::{Ram, Storage};
use super::wide::{Wide, fits, row_values};
use super::{Error, LINE, PAGE, Settings};
use crate::kernels::integer::{WIDE, as_cells, as_cells_mut, bit, unbind};
use crate::kernels::prefetch;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// The fewest cells that a share has, if its slot has more.
const SHARE: usize = 1 << 20;

/// The most shares that a slot has: enough to keep threads busy, few enough to sort writes by share in one pass.
const SHARES: usize = 32;

/// Where a slot's matrix lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Its first cell.
    pub(crate) start: usize,
    pub(crate) rows: u64,
    pub(crate) width: usize,
    /// Its first share.
    pub(crate) share: usize,
    /// Cells up to the next slot.
    stride: usize,
    /// log₂ of the rows in a share.
    share_rows: u32,
}

impl Region {
    /// Rows of a share.
    fn share_rows(&self) -> usize {
        1 << self.share_rows
    }

    /// Cells of a share.
    fn share_cells(&self) -> usize {
        self.width << self.share_rows
    }

    /// Which of the region's shares a row is in, and its number in there.
    #[inline(always)]
    pub(crate) fn place(&self, row: u32) -> (usize, u32) {
        ((row >> self.share_rows) as usize, row & ((1 << self.share_rows) - 1))
    }

    /// How many shares it has.
    pub(crate) fn shares(&self) -> usize {
        self.stride.div_ceil(self.share_cells())
    }

    /// The bytes of one of its shares.
    pub(super) fn share_bytes(&self, share: usize) -> Range<usize> {
        let end = self.stride.min((share + 1) * self.share_cells());
        self.start + share * self.share_cells()..self.start + end
    }
}

/// Where the matrices of all slots lie, one after the other.
pub(super) fn regions(settings: &Settings) -> Vec<Region> {
    let (mut start, mut share) = (0, 0);
    let regions = settings.slots.iter().map(|slot| {
        let stride = slot.stride();
        let width = slot.width as usize;
        let cells = SHARE.max(stride.div_ceil(SHARES).next_power_of_two());
        let share_rows = cells.ilog2() - width.ilog2();
        let region = Region { start, rows: slot.rows, width, share, stride, share_rows };
        start += stride;
        share += region.shares();
        region
    });
    regions.collect()
}

/// The cells of all slots.
pub(crate) struct Cells {
    storage: Box<dyn Storage>,
    guarded: bool,
    regions: Vec<Region>,
    /// The wide rows of each share, by their number in it.
    wide: Vec<BTreeMap<u32, Wide>>,
    /// Pages that changed: see [`super::digest`].
    changed: Vec<bool>,
}

impl Cells {
    /// Other cells with the same values, if they are in RAM.
    pub(crate) fn copied(&self) -> Result<Option<Self>, Error> {
        if self.guarded {
            return Ok(None);
        }
        let Cells { storage, guarded, regions, wide, changed } = self;
        Ok(Some(Cells {
            storage: Box::new(Ram::copy(storage.bytes())?),
            guarded: *guarded,
            regions: regions.clone(),
            wide: wide.clone(),
            changed: changed.clone(),
        }))
    }

    /// Cells that settings ask for, in bytes of storage.
    pub(crate) fn len(settings: &Settings) -> usize {
        settings.slots.iter().map(super::Slot::stride).sum()
    }

    pub(crate) fn new(settings: &Settings, storage: Box<dyn Storage>) -> Result<Self, Error> {
        let len = Self::len(settings);
        if storage.bytes().len() != len {
            let found = storage.bytes().len();
            return Err(Error::Storage(format!("{found} bytes where the settings need {len}")));
        }
        let regions = regions(settings);
        let shares = regions.last().map_or(0, |last| last.share + last.shares());
        let guarded = storage.guarded();
        Ok(Cells {
            storage,
            guarded,
            regions,
            wide: vec![BTreeMap::new(); shares],
            changed: vec![false; len / PAGE],
        })
    }

    pub(crate) fn region(&self, slot: usize) -> &Region {
        &self.regions[slot]
    }

    pub(crate) fn shares(&self) -> usize {
        self.wide.len()
    }

    /// The cells of a slot.
    pub(crate) fn slot(&self, slot: usize) -> &[i8] {
        let region = &self.regions[slot];
        &as_cells(self.storage.bytes())[region.start..region.start + region.stride]
    }

    /// Has guarded storage check the page of a row.
    #[inline(always)]
    pub(crate) fn verify(&self, slot: usize, row: u64) -> Result<(), Error> {
        let region = &self.regions[slot];
        self.verify_page((region.start + row as usize * region.width) / PAGE)
    }

    pub(crate) fn prefetch(&self, slot: usize, row: u64) {
        let width = self.regions[slot].width;
        for line in 0..width / LINE {
            prefetch(self.slot(slot), row as usize * width + line * LINE);
        }
    }

    /// The values of a row, wide or not.
    pub(crate) fn values(&self, slot: usize, row: u64, out: &mut [i32]) {
        let region = &self.regions[slot];
        let cells = &self.slot(slot)[row as usize * region.width..][..region.width];
        let (share, row) = region.place(row as u32);
        row_values(cells, &self.wide[region.share + share], row, out);
    }

    /// A row as it is stored, and its values if it is wide.
    pub(crate) fn stored(&self, slot: usize, row: u64) -> (&[u8], Option<Vec<i32>>) {
        let region = &self.regions[slot];
        let at = region.start + row as usize * region.width;
        let cells = &self.storage.bytes()[at..at + region.width];
        let (share, row) = region.place(row as u32);
        let wide = (cells[0] as i8 == WIDE).then(|| &self.wide[region.share + share]);
        (cells, wide.and_then(|wide| Some(wide.get(&row)?.values())))
    }

    /// Puts a row in place as another memory has stored it.
    pub(crate) fn put(
        &mut self,
        slot: usize,
        row: u64,
        cells: &[u8],
        wide: Option<&[i32]>,
    ) -> Result<(), Error> {
        let region = self.regions[slot];
        let at = region.start + row as usize * region.width;
        self.storage.bytes_mut()[at..at + region.width].copy_from_slice(cells);
        match wide {
            Some(values) => self.restore_wide(slot, row, values),
            None => Ok(()),
        }
    }

    /// Has nothing any more, in other storage.
    pub(crate) fn clear(&mut self, storage: Box<dyn Storage>) {
        self.replace_storage(storage);
        self.wide.iter_mut().for_each(BTreeMap::clear);
    }

    /// The values of a row times the signs it was written with.
    pub(crate) fn unbound(&self, slot: usize, row: u64, signs: &[u64], out: &mut [i32]) {
        let width = self.regions[slot].width;
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

    /// All shares, each to be owned by one thread.
    pub(crate) fn shares_mut(&mut self) -> Vec<Share<'_>> {
        let mut cells = as_cells_mut(self.storage.bytes_mut());
        let mut changed = &mut self.changed[..];
        let mut wide = self.wide.iter_mut();
        let mut shares = Vec::new();
        for (slot, region) in self.regions.iter().enumerate() {
            let (mine, rest) = cells.split_at_mut(region.stride);
            let (my_changed, rest_changed) = changed.split_at_mut(region.stride / PAGE);
            (cells, changed) = (rest, rest_changed);
            let share = region.share_cells();
            let parts = mine.chunks_mut(share).zip(my_changed.chunks_mut(share / PAGE));
            for ((cells, changed), wide) in parts.zip(&mut wide) {
                shares.push(Share { slot, width: region.width, cells, wide, changed });
            }
        }
        shares
    }

    /// Adds another memory's cells to these.
    pub(crate) fn merge(&mut self, other: &Cells) -> Result<(), Error> {
        for page in 0..self.pages() {
            other.verify_page(page)?;
            self.verify_page(page)?;
        }
        self.shares_mut().into_par_iter().enumerate().for_each(|(index, mut share)| {
            let (_, first) = other.share(index);
            let (mut mine, mut theirs) = (vec![0; share.width], vec![0; share.width]);
            for row in 0..(share.cells.len() / share.width) as u32 {
                other.values(share.slot, first + u64::from(row), &mut theirs);
                if theirs.iter().any(|&v| v != 0) {
                    share.load(row, &mut mine);
                    mine.iter_mut().zip(&theirs).for_each(|(m, t)| *m = m.wrapping_add(*t));
                    share.store(row, &mine);
                }
            }
        });
        Ok(())
    }

    /// Bytes of cells, and bytes that wide rows take besides.
    pub(crate) fn held(&self) -> (usize, usize) {
        let entries = self.wide.iter().flat_map(BTreeMap::values);
        // A map entry and its heap block cost about 40 bytes.
        (self.storage.bytes().len(), entries.map(|wide| wide.bytes() + 40).sum())
    }

    /// Rows that do not fit in bytes: slot, row and values, in order.
    pub(crate) fn wide_rows(&self) -> impl Iterator<Item = (usize, u64, Vec<i32>)> + '_ {
        self.regions.iter().enumerate().flat_map(move |(slot, region)| {
            let rows = region.share_rows() as u64;
            let shares = region.share..region.share + region.shares();
            shares.flat_map(move |share| {
                let first = (share - region.share) as u64 * rows;
                let wide = self.wide[share].iter();
                wide.map(move |(&row, wide)| (slot, first + u64::from(row), wide.values()))
            })
        })
    }

    /// Whether every row that is marked as wide has its values. Reads all cells.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (slot, region) in self.regions.iter().enumerate() {
            for (row, cells) in self.slot(slot).chunks_exact(region.width).enumerate() {
                let (share, place) = region.place(row as u32);
                if cells[0] == WIDE && !self.wide[region.share + share].contains_key(&place) {
                    return Err(Error::Storage(format!(
                        "row {row} of slot number {slot} lacks its values"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Puts back a wide row of a checkpoint.
    pub(crate) fn restore_wide(
        &mut self,
        slot: usize,
        row: u64,
        values: &[i32],
    ) -> Result<(), Error> {
        let region = self.regions[slot];
        let first = || self.storage.peek(region.start + row as usize * region.width) as i8;
        let marked = row < region.rows && first() == WIDE;
        if !marked || values.len() != region.width || fits(values) {
            return Err(Error::Storage(format!(
                "row {row} of slot number {slot} is not a wide row"
            )));
        }
        let (share, row) = region.place(row as u32);
        self.wide[region.share + share].insert(row, Wide::of(values));
        Ok(())
    }

    /// The slot of a share, and its first row.
    pub(crate) fn share(&self, share: usize) -> (usize, u64) {
        let slot = self.regions.partition_point(|region| region.share <= share) - 1;
        let region = &self.regions[slot];
        (slot, ((share - region.share) * region.share_rows()) as u64)
    }

    pub(crate) fn guarded(&self) -> bool {
        self.guarded
    }

    /// Takes other storage with the same bytes.
    pub(crate) fn replace_storage(&mut self, storage: Box<dyn Storage>) {
        debug_assert_eq!(storage.bytes().len(), self.storage.bytes().len());
        self.guarded = storage.guarded();
        self.storage = storage;
    }

    pub(crate) fn set_changed(&mut self, changed: bool) {
        self.changed.fill(changed);
    }

    /// Whether a page changed since flags were cleared.
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

    /// The wide rows of a page, by their number in it, each with its values.
    pub(crate) fn wide_in_page(&self, page: usize) -> Vec<(u32, Vec<i32>)> {
        let cell = page * PAGE;
        let at = self.regions.partition_point(|region| region.start + region.stride <= cell);
        let region = &self.regions[at];
        let first = (cell - region.start) / region.width;
        let (share, first) = region.place(first as u32);
        let rows = (PAGE / region.width) as u32;
        let found = self.wide[region.share + share].range(first..first + rows);
        found.map(|(&row, wide)| (row - first, wide.values())).collect()
    }
}
