//! Where cells are kept: in this process's memory, in a mapped file, or wherever else bytes can be had.

use super::{Error, PAGE};
use rayon::prelude::*;

/// Where the bytes of the cells are.
pub trait Storage: Send + Sync {
    /// All cells, slots one after another.
    fn bytes(&self) -> &[u8];

    /// All cells, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// One byte, as it was when the storage was opened: where that can be had without bringing all around it into memory,
    /// it is.
    fn peek(&self, at: usize) -> u8 {
        self.bytes()[at]
    }

    /// Whether [`Storage::verify`] must be called before a run is read.
    fn guarded(&self) -> bool {
        false
    }

    /// Checks run number `run` ([`PAGE`](super::PAGE) cells) if that has not been done: a mapped file compares its checksum.
    fn verify(&self, run: usize) -> Result<(), Error> {
        let _ = run;
        Ok(())
    }
}

/// Cells in this process's memory, zero until written, in large pages where the system has them.
pub struct Ram(memmap2::MmapMut);

impl Ram {
    /// `len` zero cells.
    pub fn new(len: usize) -> Result<Self, Error> {
        Self::map(memmap2::MmapOptions::new().len(len.max(1)), len)
    }

    /// Room for `len` zero cells, which may be more than the machine has: memory is taken where they are written.
    pub(crate) fn reserved(len: usize) -> Result<Self, Error> {
        Self::map(memmap2::MmapOptions::new().len(len.max(1)).no_reserve_swap(), len)
    }

    fn map(options: &memmap2::MmapOptions, len: usize) -> Result<Self, Error> {
        let map = options
            .map_anon()
            .map_err(|error| Error::Room { bytes: len, reason: error.to_string() })?;
        #[cfg(target_os = "linux")]
        {
            // Rows are visited at random: with small pages, translating addresses would cost more than the data.
            // A system without large pages is slower, not wrong.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Ram(map))
    }

    /// The same cells in small pages: for few rows, here and there.
    pub(crate) fn scattered(self) -> Self {
        #[cfg(target_os = "linux")]
        {
            let _ = self.0.advise(memmap2::Advice::NoHugePage);
        }
        self
    }

    /// A copy of cells. Where they are all zero no memory is taken.
    pub(crate) fn copy(cells: &[u8]) -> Result<Self, Error> {
        let mut own = Self::new(cells.len())?;
        own.bytes_mut().par_chunks_mut(PAGE).zip(cells.par_chunks(PAGE)).for_each(|(to, from)| {
            if from.iter().any(|&cell| cell != 0) {
                to.copy_from_slice(from);
            }
        });
        Ok(own)
    }
}

impl Storage for Ram {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
