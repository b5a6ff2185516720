//! Memory for cells.

use super::Error;

/// Cells in this process's memory, zero until written, in large pages where the system has them.
pub struct Ram(memmap2::MmapMut);

impl Ram {
    /// Makes `len` zero cells.
    pub fn new(len: usize) -> Result<Self, Error> {
        let map = memmap2::MmapOptions::new()
            .len(len.max(1))
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

    /// Returns all cells, slots one after another.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns all cells, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
