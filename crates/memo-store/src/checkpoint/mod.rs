//! `memory.*`: the memory as it was after some transaction, in one file that never changes.
//!
//! ```text
//! magic "MEMOCELL", format u32, length of the head u32
//! head: JSON (settings, transaction, and the place, length and checksum of each section)
//! checksum of all before (crc32)
//! cells, from byte 65,536 on
//! sections: checks, leaves, unigrams, wide, pairs, totals
//! ```
//!
//! All numbers are little-endian. Sections are checked when the file is opened; the runs of cells when they are first
//! touched. A table section begins with the length, in bytes, of each part; an entry is its key (4 bytes) and its
//! count (1 byte, or −128 and 8 more). Everything is a function of the memory's values, so the same memory gives the
//! same file. Files of older versions have their sections before the cells, which begin at the next multiple of 65,536
//! then; they are read too.
//!
//! Cells come first because their place is then known before anything else is: a memory larger than RAM is written
//! chunk by chunk ([`write_chunks`]).
//!
//! A *frozen* memory is such a file with fewer bits a cell (`bits` in its head), and one section more, the rows' numbers
//! ([`crate::packed`]).

mod chunks;
mod read;
mod write;

pub(crate) use self::chunks::{Texts, digest_by_chunks, write_chunks};
pub(crate) use self::read::{Checkpoint, numbers};
pub(crate) use self::write::write;

use crate::error::{Error, io};
use crate::files;
use memo::sparse::Settings;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"MEMOCELL";
const FORMAT: u32 = 1;
pub(crate) const HELP: &str = "`memo rebuild` makes it again from the ledger";

/// Cells begin at a multiple of this: the largest page size in use.
const ALIGN: u64 = 64 << 10;

/// The longest head that is read.
const MOST: u32 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Head {
    settings: Settings,
    transaction: u64,
    sections: Vec<Section>,
    cells: u64,
    /// Bits a cell, if it is frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<u32>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Section {
    start: u64,
    len: u64,
    crc: u32,
}

/// The sections, in order.
const CHECKS: usize = 0;
const LEAVES: usize = 1;
const UNIGRAMS: usize = 2;
const WIDE: usize = 3;
const PAIRS: usize = 4;
const TOTALS: usize = 5;
const SCALES: usize = 6;

/// The name of the checkpoint after a transaction.
pub(crate) fn name(transaction: u64) -> String {
    format!("memory.{transaction:012}")
}

/// The checkpoints of a directory, the newest first.
pub(crate) fn list(directory: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(io(directory))? {
        let path = entry.map_err(io(directory))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("memory.").and_then(|number| number.parse().ok());
        found.extend(number.map(|number: u64| (number, path.clone())));
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Puts a checkpoint that was written beside its place there, and removes all others; gives its path. Readers must be
/// kept away.
pub(crate) fn publish(directory: &Path, beside: &Path, transaction: u64) -> Result<PathBuf, Error> {
    let kept = directory.join(name(transaction));
    files::rename(beside, &kept)?;
    for (_, path) in list(directory)? {
        if path != kept {
            std::fs::remove_file(&path).map_err(io(&path))?;
        }
    }
    Ok(kept)
}
