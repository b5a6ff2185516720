//! Writing a checkpoint: entries, then sections, then the head that names their places.

use super::kept::{Kept, KeptEntries};
use super::{
    DERIVED, ENTRIES, FORMAT, FROZEN_FORMAT, FileSection, FrozenHead, Head, INDEX, LARGE, LEAVES,
    MAGIC, SECTIONS, UNIGRAMS,
};
use crate::error::{Error, io};
use crate::files;
use crate::progress::{Observer, Progress, Unit};
use memo::sparse::{
    Digest, FrozenBits, LargeCount, Leaves, Memory, PARTITIONS, PackedEntries, Settings, TableKind,
};
use rayon::prelude::*;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Partitions that are written at once.
const TOGETHER: usize = PARTITIONS / 32;

/// Writes a checkpoint beside its place; gives its path there.
pub(crate) fn write(
    path: &Path,
    memory: &Memory,
    transaction: u64,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    write_with(path, memory, transaction, None, None, observer)
}

/// Writes the same checkpoint, and copies from the file of an older one what has not changed since: see [`super::kept`].
pub(crate) fn write_over(
    path: &Path,
    memory: &Memory,
    transaction: u64,
    older: &Path,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    write_with(path, memory, transaction, Some(older), None, observer)
}

/// Writes the checkpoint of a frozen model beside its place; gives its path there.
pub(crate) fn write_frozen(
    path: &Path,
    memory: &Memory,
    bits: FrozenBits,
    transaction: u64,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    write_with(path, memory, transaction, None, Some(bits), observer)
}

fn write_with(
    path: &Path,
    memory: &Memory,
    transaction: u64,
    older: Option<&Path>,
    frozen: Option<FrozenBits>,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    let kept = older.and_then(KeptEntries::new);
    files::write_beside(path, |file| {
        let mut draft = Draft { frozen, ..Draft::new(file, path)? };
        for start in (0..PARTITIONS).step_by(TOGETHER) {
            let (done, total) = (draft.at - ENTRIES, memory.usage().tables as u64);
            let stage = "writing the checkpoint";
            observer.report(Progress { stage, done: done.min(total), total, unit: Unit::Bytes });
            draft.partitions(memory, start..start + TOGETHER, kept.as_ref())?;
        }
        let derived = memory.derived();
        let leaves = match frozen {
            Some(_) => memory.leaves()?,
            None => memory.keep_leaves(std::mem::take(&mut draft.leaves))?,
        };
        draft.finish(memory.settings(), memory.unigrams(), &derived, &leaves, transaction)
    })
}

/// The entries of a partition: with their checksum, or in an older file.
enum Entries<'a> {
    New(PackedEntries<'a>, u32),
    Kept(Kept),
}

/// A checkpoint that is being written.
pub(super) struct Draft<'a> {
    file: &'a mut File,
    path: &'a Path,
    /// Where the next entries or the next section begin.
    at: u64,
    index: Vec<u8>,
    large: Vec<u8>,
    /// How entries are frozen, if they are.
    frozen: Option<FrozenBits>,
    /// Of the partitions so far, as they are written, by table.
    leaves: [Vec<[u8; 32]>; TableKind::ALL.len()],
}

impl<'a> Draft<'a> {
    pub(super) fn new(file: &'a mut File, path: &'a Path) -> Result<Self, Error> {
        file.seek(SeekFrom::Start(ENTRIES)).map_err(io(path))?;
        let (index, large, leaves) = Default::default();
        Ok(Draft { file, path, at: ENTRIES, index, large, frozen: None, leaves })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(io(self.path))
    }

    /// The entries of the next partitions, of all tables. Those that were kept are copied, many at a time.
    pub(super) fn partitions(
        &mut self,
        memory: &Memory,
        partitions: Range<usize>,
        kept: Option<&KeptEntries>,
    ) -> Result<(), Error> {
        let each = partitions.into_par_iter().flat_map_iter(|partition| {
            TableKind::ALL.map(|kind| {
                if let Some(bits) = self.frozen {
                    let entries = memory.frozen_partition(kind, partition, bits)?;
                    let crc = crc32fast::hash(&entries.bytes);
                    return Ok((entries.leaf(), Entries::New(entries, crc)));
                }
                let known = memory.known_leaf(kind, partition);
                if let (Some(kept), Some(leaf)) = (kept, known)
                    && let Some(kept) = kept.get(kind, partition, leaf)?
                {
                    return Ok((leaf, Entries::Kept(kept)));
                }
                let entries = memory.partition(kind, partition)?;
                let leaf = known.unwrap_or_else(|| entries.leaf());
                let crc = crc32fast::hash(&entries.bytes);
                Ok((leaf, Entries::New(entries, crc)))
            })
        });
        let each: Vec<([u8; 32], Entries<'_>)> = each.collect::<Result<_, Error>>()?;
        // What lies one behind the other in the older file and is not copied yet.
        let mut run = 0..0;
        for (kind, (leaf, entries)) in TableKind::ALL.into_iter().cycle().zip(each) {
            self.leaves[kind as usize].push(leaf);
            match entries {
                Entries::New(PackedEntries { bytes, large }, crc) => {
                    self.copy(kept, std::mem::take(&mut run))?;
                    self.name(self.at, bytes.len(), crc, &large);
                    self.put(&bytes)?;
                }
                Entries::Kept(Kept { place, crc, large }) => {
                    if run.end != place.start {
                        self.copy(kept, std::mem::take(&mut run))?;
                        run = place.start..place.start;
                    }
                    let at = self.at + (run.end - run.start);
                    self.name(at, (place.end - place.start) as usize, crc, &large);
                    run.end = place.end;
                }
            }
        }
        self.copy(kept, run)
    }

    /// Copies entries of an older file.
    fn copy(&mut self, kept: Option<&KeptEntries>, place: Range<u64>) -> Result<(), Error> {
        let Some(kept) = kept.filter(|_| !place.is_empty()) else { return Ok(()) };
        self.at += place.end - place.start;
        kept.copy(place, self.file, self.path)
    }

    /// Adds entries to the index.
    fn name(&mut self, at: u64, len: usize, crc: u32, large: &[LargeCount]) {
        self.index.extend(at.to_le_bytes());
        self.index.extend((len as u32).to_le_bytes());
        self.index.extend(crc.to_le_bytes());
        self.index.extend((large.len() as u32).to_le_bytes());
        for large in large {
            self.large.extend(large.rank.to_le_bytes());
            self.large.extend(large.count.to_le_bytes());
        }
    }

    /// The sections, and the head.
    pub(super) fn finish(
        mut self,
        settings: &Settings,
        unigrams: &[i64],
        derived: &[i64],
        leaves: &Leaves,
        transaction: u64,
    ) -> Result<(), Error> {
        let frozen = match self.frozen {
            Some(_) => {
                let tables = std::mem::take(&mut self.leaves);
                let entries = Leaves { tables, unigrams: leaves.unigrams.clone() };
                Some(FrozenHead {
                    digest: Digest::of_leaves(settings, leaves.clone())?,
                    entries: Digest::of_leaves(settings, entries)?,
                })
            }
            None => None,
        };
        let numbers = |numbers: &[i64]| match frozen {
            Some(_) => numbers.iter().flat_map(|&number| short(number as u64)).collect(),
            None => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
        };
        let trees = leaves.tables.iter().chain([&leaves.unigrams]).filter(|_| frozen.is_none());
        let mut bytes: [Vec<u8>; SECTIONS] = Default::default();
        bytes[INDEX] = std::mem::take(&mut self.index);
        bytes[LARGE] = std::mem::take(&mut self.large);
        bytes[LEAVES] = trees.flat_map(|tree| tree.as_flattened()).copied().collect();
        bytes[UNIGRAMS] = numbers(unigrams);
        bytes[DERIVED] = numbers(derived);
        let mut sections = Vec::new();
        for bytes in &bytes {
            let (start, crc) = (self.at, crc32fast::hash(bytes));
            sections.push(FileSection { start, len: bytes.len() as u64, crc });
            self.put(bytes)?;
        }
        let head = Head { settings: settings.clone(), transaction, sections, frozen };
        let json = serde_json::to_vec(&head).map_err(|e| Error::Invalid(e.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        let format = if frozen.is_some() { FROZEN_FORMAT } else { FORMAT };
        bytes.extend(format.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        self.file.seek(SeekFrom::Start(0)).map_err(io(self.path))?;
        self.put(&bytes)
    }
}

/// A number in as many bytes as it needs: seven bits each, the lowest first; the highest bit says that more follow.
fn short(number: u64) -> impl Iterator<Item = u8> {
    let mut rest = Some(number);
    std::iter::from_fn(move || {
        let number = rest?;
        let more = number >> 7;
        rest = (more > 0).then_some(more);
        Some((number & 0x7f) as u8 | if more > 0 { 0x80 } else { 0 })
    })
}
