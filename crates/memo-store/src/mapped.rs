//! Cells mapped from a checkpoint: read when first touched, checked when first touched, never written back.
//!
//! The mapping is private: what this process writes stays in its memory, and the file stays as it is for all who read
//! it. Checkpoints are never changed in place (they are written beside and renamed), so the bytes under the mapping do
//! not change either. This is the one file of the store with `unsafe` code.
#![allow(unsafe_code)]

use crate::error::{Error, io};
use crate::files;
use memmap2::{MmapMut, MmapOptions};
use memo::sparse::{PAGE, Storage};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The cells of a checkpoint.
pub(crate) struct Mapped {
    map: MmapMut,
    file: File,
    path: PathBuf,
    offset: u64,
    /// The checksum of each run of cells in the file.
    checks: Vec<u32>,
    checked: Vec<AtomicBool>,
}

impl Mapped {
    /// Maps `len` bytes from `offset` on, which must be a multiple of the page size.
    pub(crate) fn new(
        file: &File,
        path: &Path,
        offset: u64,
        len: usize,
        checks: Vec<u32>,
    ) -> Result<Self, Error> {
        // SAFETY: the mapping is private, and the file is not changed or shortened by anyone who follows the rules of the
        // model directory; one who does not can end this process, not corrupt the model.
        let map = unsafe { MmapOptions::new().offset(offset).len(len).map_copy(file) };
        let map = map.map_err(io(path))?;
        let checked = checks.iter().map(|_| AtomicBool::new(false)).collect();
        let file = file.try_clone().map_err(io(path))?;
        Ok(Mapped { map, file, path: path.to_owned(), offset, checks, checked })
    }
}

impl Storage for Mapped {
    fn bytes(&self) -> &[u8] {
        &self.map
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// Read from the file: touching the map brings in whole pages, and their neighbours with them.
    fn peek(&self, at: usize) -> u8 {
        let mut byte = [0];
        let read = files::read_at(&self.file, &self.path, self.offset + at as u64, &mut byte);
        if read.is_ok() { byte[0] } else { self.map[at] }
    }

    fn guarded(&self) -> bool {
        true
    }

    fn verify(&self, run: usize) -> Result<(), memo::sparse::Error> {
        if self.checked[run].load(Ordering::Acquire) {
            return Ok(());
        }
        if crc32fast::hash(&self.map[run * PAGE..][..PAGE]) != self.checks[run] {
            let place = format!("{}: cells from {} on", self.path.display(), run * PAGE);
            return Err(memo::sparse::Error::Storage(place));
        }
        // Several threads may check one run at the same time; none writes to it before its own check is done.
        self.checked[run].store(true, Ordering::Release);
        Ok(())
    }
}
