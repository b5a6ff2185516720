//! What a new checkpoint can take over from the one before: entries of partitions that have not changed.
//!
//! A partition's entries are a function of its counts, so two whose leaves of the digest are equal are the same bytes. These
//! are copied by the system, from file to file (where the file system can share them, nothing is copied), and keep the
//! checksum that they had: neither read nor hashed, and not believed either. If they were damaged they still are, and whoever
//! touches them is told.

use super::read::Checkpoint;
use crate::damage::Damage;
use crate::error::{Error, io};
use memo::sparse::{LargeCount, Leaves, SavedMemory, TableKind};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// A checkpoint that is there, to take entries over from.
pub(super) struct KeptEntries {
    checkpoint: Checkpoint,
    leaves: Leaves,
    file: File,
}

/// Entries that both checkpoints have, as the index names them.
pub(super) struct Kept {
    pub(super) place: Range<u64>,
    pub(super) crc: u32,
    pub(super) large: Vec<LargeCount>,
}

impl KeptEntries {
    /// Opens a checkpoint. `None` if that cannot be done: then nothing is taken over.
    pub(super) fn new(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let checkpoint = Checkpoint::read(path, &mut file).ok()?;
        let leaves = SavedMemory::leaves(&checkpoint).ok()??;
        Some(KeptEntries { checkpoint, leaves, file })
    }

    /// The entries of a partition, if they have this leaf.
    pub(super) fn get(
        &self,
        kind: TableKind,
        partition: usize,
        leaf: [u8; 32],
    ) -> Result<Option<Kept>, Error> {
        if self.leaves.tables[kind as usize].get(partition) != Some(&leaf) {
            return Ok(None);
        }
        let (place, crc) = self.checkpoint.place(kind, partition);
        let (_, large) = self.checkpoint.partition(kind, partition)?;
        Ok(Some(Kept { place: place.start as u64..place.end as u64, crc, large }))
    }

    /// Copies bytes of its file to the place where another file is being written.
    pub(super) fn copy(&self, place: Range<u64>, to: &mut File, path: &Path) -> Result<(), Error> {
        let mut from = &self.file;
        from.seek(SeekFrom::Start(place.start)).map_err(io(path))?;
        let len = place.end - place.start;
        let copied = std::io::copy(&mut from.take(len), to).map_err(io(path))?;
        if copied == len { Ok(()) } else { Err(self.checkpoint.damaged(Damage::CutOff)) }
    }
}
