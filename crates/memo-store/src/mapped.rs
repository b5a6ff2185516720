//! Tables mapped from a checkpoint: read when first touched, checked when first touched, never written.
//!
//! Checkpoints are never changed in place (they are written beside and renamed), so the bytes under the mapping do not
//! change. This is the one file of the store with `unsafe` code.
#![allow(unsafe_code)]

use crate::error::{Error, io};
use memmap2::Mmap;
use memo::sparse::Section;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A checkpoint's file, mapped.
pub(crate) struct Mapping {
    map: Mmap,
    path: PathBuf,
}

impl Mapping {
    pub(crate) fn new(file: &File, path: &Path) -> Result<Arc<Self>, Error> {
        // SAFETY: the file is not changed or shortened by anyone who follows the rules of the model directory; one who does
        // not can end this process, not corrupt the model.
        let map = unsafe { Mmap::map(file) }.map_err(io(path))?;
        Ok(Arc::new(Mapping { map, path: path.to_owned() }))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }
}

/// The entries of a partition within a checkpoint.
pub(crate) struct MappedEntries {
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) place: Range<usize>,
    pub(crate) crc: u32,
    pub(crate) checked: AtomicBool,
}

impl Section for MappedEntries {
    fn bytes(&self) -> Result<&[u8], memo::sparse::Error> {
        let bytes = &self.mapping.map[self.place.clone()];
        // Several threads may check the same entries at the same time.
        if !self.checked.load(Ordering::Acquire) {
            if crc32fast::hash(bytes) != self.crc {
                let path = self.mapping.path.display();
                let place = format!("{path}: entries from byte {} on", self.place.start);
                return Err(memo::sparse::Error::Storage(place));
            }
            self.checked.store(true, Ordering::Release);
        }
        Ok(bytes)
    }

    fn len(&self) -> usize {
        self.place.len()
    }
}
