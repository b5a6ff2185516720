//! `memory.*`: the memory as it was after some transaction, in one file that never changes.
//!
//! ```text
//! magic "MEMOCELL", format u32, length of the head u32
//! head: JSON (settings, transaction, and the place, length and checksum of each section)
//! checksum of all before (crc32)
//! entries, from byte 65,536 on: of each partition those of the pairs, the successors and the events
//! sections: index, large counts, leaves, unigrams, derived counts
//! ```
//!
//! All numbers are little-endian. Sections are checked when the file is opened; the entries of a partition when they are
//! first touched. The index has, for each partition and table, the place of its entries (8 bytes), their length (4), their
//! checksum (4) and the number of its large counts (4); a large count is a rank and a count, 8 bytes each. Everything is
//! a function of the memory's counts, so the same memory gives the same file.
//!
//! A frozen memory has entries of its own form (`memo::sparse::FrozenBits`), no large counts and no leaves: the head has their digest, and that of
//! the memory that was frozen. Its unigrams and derived counts are of as many bytes as they need (LEB128).
//!
//! Entries come first because their place is then known before anything else is: a memory larger than RAM is written
//! some partitions at a time ([`write_chunks`]).

mod chunks;
mod kept;
mod portions;
mod read;
mod write;

pub(crate) use self::chunks::{Texts, digest_by_chunks, is_large, write_chunks};
pub(crate) use self::portions::{open_portions, scope as portion_scope};
pub(crate) use self::read::{Checkpoint, numbers};
pub(crate) use self::write::{write, write_frozen, write_over};

use crate::error::{Error, io};
use crate::files;
use memo::sparse::{Digest, Settings};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"MEMOCELL";
const FORMAT: u32 = 2;

/// The format of a frozen memory, whose entries are packed in another way.
const FROZEN_FORMAT: u32 = 3;

pub(crate) const HELP: &str = "`memo rebuild` makes it again from the ledger";

/// Entries begin here.
const ENTRIES: u64 = 64 << 10;

/// The longest head that is read.
const MOST: u32 = ENTRIES as u32 - 20;

/// Bytes of an entry of the index.
const INDEXED: usize = 20;

#[derive(Serialize, Deserialize)]
struct Head {
    settings: Settings,
    transaction: u64,
    sections: Vec<FileSection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frozen: Option<FrozenHead>,
}

/// What the head of a frozen memory has besides.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct FrozenHead {
    /// The digest of the memory that was frozen.
    digest: Digest,
    /// The digest of the entries that were made of it, which are in this file.
    entries: Digest,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct FileSection {
    start: u64,
    len: u64,
    crc: u32,
}

/// The sections, in order.
const INDEX: usize = 0;
const LARGE: usize = 1;
const LEAVES: usize = 2;
const UNIGRAMS: usize = 3;
const DERIVED: usize = 4;
const SECTIONS: usize = 5;

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
