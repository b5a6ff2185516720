//! Storage of cells: memory of this process, or whatever a caller implements, such as a mapped file.

use super::{Error, PAGE};
use rayon::prelude::*;

/// The bytes of all cells.
pub trait Storage: Send + Sync {
    /// Returns all cells, slots one after another.
    fn bytes(&self) -> &[u8];

    /// Returns all cells, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Returns one byte as it was when the storage was opened. Mapped storage can read it from the file, which does not bring
    /// the bytes around it into memory.
    fn peek(&self, at: usize) -> u8 {
        self.bytes()[at]
    }

    /// Returns whether [`Storage::verify`] must be called before a page is read.
    fn guarded(&self) -> bool {
        false
    }

    /// Checks page number `page`, of [`PAGE`](super::PAGE) cells, if that has not been done: a mapped file compares its checksum.
    fn verify(&self, page: usize) -> Result<(), Error> {
        let _ = page;
        Ok(())
    }
}

/// Cells in this process's memory, zero until written, in large pages where the system has them.
pub struct Ram(memmap2::MmapMut);

impl Ram {
    /// Makes `len` zero cells.
    pub fn new(len: usize) -> Result<Self, Error> {
        Self::map(memmap2::MmapOptions::new().len(len.max(1)), len)
    }

    /// Reserves addresses for `len` zero cells, which may be more than the machine has: only written cells take memory.
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

    /// Asks for small pages, which suit few rows that lie far apart.
    pub(crate) fn scattered(self) -> Self {
        #[cfg(target_os = "linux")]
        {
            let _ = self.0.advise(memmap2::Advice::NoHugePage);
        }
        self
    }

    /// Copies cells. Pages that are all zero take no memory.
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
