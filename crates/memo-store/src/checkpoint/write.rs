//! Writing a checkpoint: entries, then sections, then the head that names their places.

use super::{
    DERIVED, ENTRIES, FORMAT, FileSection, Head, INDEX, LARGE, LEAVES, MAGIC, SECTIONS, UNIGRAMS,
};
use crate::error::{Error, io};
use crate::files;
use crate::progress::{Observer, Progress, Unit};
use memo::sparse::{Leaves, Memory, PARTITIONS, PackedEntries, Settings, TableKind};
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
    let leaves = memory.leaves()?;
    files::write_beside(path, |file| {
        let mut draft = Draft::new(file, path)?;
        for start in (0..PARTITIONS).step_by(TOGETHER) {
            let (done, total) = (draft.at - ENTRIES, memory.usage().tables as u64);
            let stage = "writing the checkpoint";
            observer.report(Progress { stage, done: done.min(total), total, unit: Unit::Bytes });
            draft.partitions(memory, start..start + TOGETHER)?;
        }
        let derived = memory.derived();
        draft.finish(memory.settings(), memory.unigrams(), &derived, &leaves, transaction)
    })
}

/// A checkpoint that is being written.
pub(super) struct Draft<'a> {
    file: &'a mut File,
    path: &'a Path,
    /// Where the next entries or the next section begin.
    at: u64,
    index: Vec<u8>,
    large: Vec<u8>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(file: &'a mut File, path: &'a Path) -> Result<Self, Error> {
        file.seek(SeekFrom::Start(ENTRIES)).map_err(io(path))?;
        Ok(Draft { file, path, at: ENTRIES, index: Vec::new(), large: Vec::new() })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(io(self.path))
    }

    /// The entries of the next partitions, of all tables.
    pub(super) fn partitions(
        &mut self,
        memory: &Memory,
        partitions: Range<usize>,
    ) -> Result<(), Error> {
        let each = partitions.into_par_iter().flat_map_iter(|partition| {
            TableKind::ALL.map(|kind| {
                let entries = memory.partition(kind, partition)?;
                let crc = crc32fast::hash(&entries.bytes);
                Ok((entries, crc))
            })
        });
        let each: Vec<(PackedEntries<'_>, u32)> = each.collect::<Result<_, Error>>()?;
        for (PackedEntries { bytes, large }, crc) in each {
            self.index.extend(self.at.to_le_bytes());
            self.index.extend((bytes.len() as u32).to_le_bytes());
            self.index.extend(crc.to_le_bytes());
            self.index.extend((large.len() as u32).to_le_bytes());
            for large in large.iter() {
                self.large.extend(large.rank.to_le_bytes());
                self.large.extend(large.count.to_le_bytes());
            }
            self.put(&bytes)?;
        }
        Ok(())
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
        let numbers =
            |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let trees = leaves.tables.iter().chain([&leaves.unigrams]);
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
        let head = Head { settings: settings.clone(), transaction, sections };
        let json = serde_json::to_vec(&head).map_err(|e| Error::Invalid(e.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        self.file.seek(SeekFrom::Start(0)).map_err(io(self.path))?;
        self.put(&bytes)
    }
}
