//! Room on the disk: what a forget needs of it, and what is there.
//!
//! A forget writes a whole checkpoint and a whole ledger before it can remove the old ones, and once it is recorded it must
//! be finished. So room is looked for before it is recorded.

use crate::error::Error;
use crate::ledger::FILE;
use crate::snapshot::Snapshot;
use std::path::Path;

/// What a checkpoint has besides cells and tables, and the ledger's growth by one transaction: at least this, or a share
/// of the whole.
const MARGIN: u64 = 1 << 20;
const SHARE: u64 = 32;

/// Bytes of a memory for each token of its documents, at most.
const BYTES_A_TOKEN: u64 = 64;

impl Snapshot {
    /// The bytes that a forget needs on the disk, about, and those that are free, if the system says so.
    pub(crate) fn room_to_forget(&self) -> Result<(u64, Option<u64>), Error> {
        let memory = match self.memory() {
            Ok(memory) => memory.usage().total() as u64,
            // It will be made from the documents.
            Err(_) => BYTES_A_TOKEN * self.ledger("documents")?.live_tokens()?,
        };
        let needed = memory + allocated(&self.directory.join(FILE));
        Ok((needed + MARGIN.max(needed / SHARE), free(&self.directory)))
    }

    /// Refuses a forget for which there is no room.
    pub(crate) fn check_room_to_forget(&self) -> Result<(), Error> {
        match self.room_to_forget()? {
            (needed, Some(free)) if free < needed => {
                Err(Error::NoRoom { path: self.directory.clone(), needed, free })
            }
            _ => Ok(()),
        }
    }
}

/// The bytes that a file takes on the disk, which may be less than its length.
fn allocated(path: &Path) -> u64 {
    #[cfg(unix)]
    let size =
        |metadata: std::fs::Metadata| std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
    #[cfg(not(unix))]
    let size = |metadata: std::fs::Metadata| metadata.len();
    std::fs::metadata(path).map_or(0, size)
}

/// The bytes that this user may still write to the disk of a directory.
fn free(directory: &Path) -> Option<u64> {
    #[cfg(unix)]
    let free = rustix::fs::statvfs(directory).ok().map(|disk| disk.f_bavail * disk.f_frsize);
    #[cfg(not(unix))]
    let free = None;
    let _ = directory;
    free
}

/// Bytes in a unit that a person reads.
pub(crate) fn shown(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}
