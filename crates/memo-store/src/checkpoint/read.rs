//! Reading a checkpoint: the head and the sections are checked, the entries mapped.

use super::{
    DERIVED, ENTRIES, FORMAT, FROZEN_FORMAT, FileSection, HELP, Head, INDEX, INDEXED, LARGE,
    LEAVES, MAGIC, MOST, SECTIONS, UNIGRAMS,
};
use crate::damage::Damage;
use crate::error::{Error, io};
use crate::mapped::{MappedEntries, Mapping};
use crate::memory::Blueprint;
use memo::sparse::{
    Digest, LargeCount, Leaves, Memory, PARTITIONS, SavedMemory, Section, Settings, TableKind,
};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A checkpoint whose head and sections were checked.
pub(crate) struct Checkpoint {
    path: PathBuf,
    mapping: Arc<Mapping>,
    head: Head,
    index: Vec<Indexed>,
}

/// Where the entries of a partition are.
struct Indexed {
    entries: Range<usize>,
    crc: u32,
    /// Its large counts, by their numbers.
    large: Range<usize>,
}

impl Checkpoint {
    /// Opens a file, and reads all but the entries.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(io(path))?;
        Self::read(path, &mut file)
    }

    /// Reads all but the entries of an open file.
    pub(crate) fn read(path: &Path, file: &mut File) -> Result<Self, Error> {
        let damaged = |what: Damage| Error::Damaged { path: path.to_owned(), what, help: HELP };
        let size = file.metadata().map_err(io(path))?.len();
        let mut front = [0; 16];
        file.read_exact(&mut front).map_err(|_| damaged(Damage::CutOff))?;
        if &front[..8] != MAGIC {
            return Err(damaged(Damage::Magic));
        }
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| front[at + k]));
        let format = number(8);
        if ![FORMAT, FROZEN_FORMAT].contains(&format) {
            let (path, known) = (path.to_owned(), FROZEN_FORMAT);
            return Err(Error::Format { path, found: format, known });
        }
        let len = number(12);
        if len > MOST || u64::from(len) + 20 > size {
            return Err(damaged(Damage::Length));
        }
        let mut rest = vec![0; len as usize + 4];
        file.read_exact(&mut rest).map_err(|_| damaged(Damage::CutOff))?;
        let (json, crc) = rest.split_at(len as usize);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&front);
        hasher.update(json);
        if hasher.finalize().to_le_bytes() != *crc {
            return Err(damaged(Damage::Checksum("its head")));
        }
        let head: Head =
            serde_json::from_slice(json).map_err(|e| damaged(Damage::Syntax(e.to_string())))?;
        head.settings.check().map_err(|e| damaged(Damage::Sizes(e.to_string())))?;
        if head.frozen.is_some() != (format == FROZEN_FORMAT) {
            return Err(damaged(Damage::Unfitting("its format".into())));
        }
        if head.sections.len() != SECTIONS {
            return Err(damaged(Damage::Lacks("a section")));
        }
        let mapping = Mapping::new(file, path)?;
        check_places(&head, size).map_err(damaged)?;
        for section in &head.sections {
            let bytes = bytes(&mapping, section).ok_or_else(|| damaged(Damage::CutOff))?;
            if crc32fast::hash(bytes) != section.crc {
                return Err(damaged(Damage::Checksum("a section")));
            }
        }
        let index = index(&mapping, &head);
        let index = index.ok_or_else(|| damaged(Damage::Unfitting("its index".into())))?;
        Ok(Checkpoint { path: path.to_owned(), mapping, head, index })
    }

    /// The last transaction that it contains.
    pub(crate) fn transaction(&self) -> u64 {
        self.head.transaction
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.head.settings
    }

    /// The memory, its entries mapped.
    pub(crate) fn memory(&self, blueprint: &Blueprint) -> Result<Memory, Error> {
        let settings = self.head.settings.clone();
        let memory = Memory::restore(settings, blueprint.words.clone(), self);
        memory.map_err(|error| self.damaged(Damage::Unfitting(error.to_string())))
    }

    /// Where the entries of a partition are, and their checksum.
    pub(super) fn place(&self, kind: TableKind, partition: usize) -> (Range<usize>, u32) {
        let indexed = &self.index[partition * TableKind::ALL.len() + kind as usize];
        (indexed.entries.clone(), indexed.crc)
    }

    pub(super) fn damaged(&self, what: Damage) -> Error {
        Error::Damaged { path: self.path.clone(), what, help: HELP }
    }

    /// The digest that its entries should have anew, where that is not the memory's.
    pub(crate) fn frozen_entries(&self) -> Option<Digest> {
        self.head.frozen.map(|frozen| frozen.entries)
    }

    /// The numbers of a section.
    fn counts(&self, section: usize) -> Result<Vec<i64>, memo::sparse::Error> {
        let bytes = self.section(section);
        if self.head.frozen.is_none() {
            return Ok(numbers(bytes, i64::from_le_bytes));
        }
        short_numbers(bytes).ok_or_else(|| memo::sparse::Error::Storage("its counts".into()))
    }

    fn section(&self, section: usize) -> &[u8] {
        bytes(&self.mapping, &self.head.sections[section]).unwrap_or_default()
    }
}

/// Refuses sections that do not follow each other up to the end of the file.
fn check_places(head: &Head, size: u64) -> Result<(), Damage> {
    let mut at = head.sections[INDEX].start;
    for section in &head.sections {
        if section.start != at || at < ENTRIES {
            return Err(Damage::Misplaced("a section"));
        }
        at = at.checked_add(section.len).ok_or(Damage::Length)?;
    }
    if at == size { Ok(()) } else { Err(Damage::Length) }
}

/// The bytes of a section, if the file has them.
fn bytes<'m>(mapping: &'m Mapping, section: &FileSection) -> Option<&'m [u8]> {
    let start = usize::try_from(section.start).ok()?;
    let end = start.checked_add(usize::try_from(section.len).ok()?)?;
    mapping.bytes().get(start..end)
}

/// Reads the index; `None` if it names entries or counts that the file does not have.
fn index(mapping: &Mapping, head: &Head) -> Option<Vec<Indexed>> {
    let index = bytes(mapping, &head.sections[INDEX])?;
    let (indexed, rest) = index.as_chunks::<INDEXED>();
    let (mut large, mut next) = (0, ENTRIES);
    let indexed = indexed.iter().map(|indexed| {
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| indexed[at + k]));
        let start = u64::from(number(0)) | u64::from(number(4)) << 32;
        // One after the other, without gaps.
        let begin = usize::try_from(start).ok().filter(|_| start == next)?;
        next += u64::from(number(8));
        let entries = begin..begin.checked_add(number(8) as usize)?;
        mapping.bytes().get(entries.clone())?;
        let first = large;
        large += number(16) as usize;
        Some(Indexed { entries, crc: number(12), large: first..large })
    });
    let indexed: Vec<Indexed> = indexed.collect::<Option<_>>()?;
    let right = rest.is_empty()
        && next == head.sections[INDEX].start
        && indexed.len() == PARTITIONS * TableKind::ALL.len()
        && head.sections[LARGE].len == large as u64 * 16;
    right.then_some(indexed)
}

impl SavedMemory for Checkpoint {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        self.counts(UNIGRAMS)
    }

    fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> Result<(Arc<dyn Section>, Vec<LargeCount>), memo::sparse::Error> {
        let Indexed { entries, crc, large } =
            &self.index[partition * TableKind::ALL.len() + kind as usize];
        let section = MappedEntries {
            mapping: Arc::clone(&self.mapping),
            place: entries.clone(),
            crc: *crc,
            checked: AtomicBool::new(false),
        };
        let large = self.section(LARGE).as_chunks::<16>().0[large.clone()].iter().map(|bytes| {
            let number = |at: usize| std::array::from_fn(|k| bytes[at + k]);
            LargeCount { rank: u64::from_le_bytes(number(0)), count: i64::from_le_bytes(number(8)) }
        });
        Ok((Arc::new(section), large.collect()))
    }

    fn derived(&self) -> Result<Option<Vec<i64>>, memo::sparse::Error> {
        self.counts(DERIVED).map(Some)
    }

    fn frozen(&self) -> Option<Digest> {
        self.head.frozen.map(|frozen| frozen.digest)
    }

    fn leaves(&self) -> Result<Option<Leaves>, memo::sparse::Error> {
        if self.head.frozen.is_some() {
            return Ok(None);
        }
        let hashes = self.section(LEAVES).as_chunks::<32>().0;
        let unigrams = hashes.get(PARTITIONS * TableKind::ALL.len()..).unwrap_or_default().to_vec();
        let table = |i: usize| hashes.get(i * PARTITIONS..(i + 1) * PARTITIONS);
        let tables = std::array::from_fn(|i| table(i).unwrap_or_default().to_vec());
        Ok(Some(Leaves { tables, unigrams }))
    }
}

/// Numbers of as many bytes as they need; `None` if the last is cut off, or one is too long.
fn short_numbers(bytes: &[u8]) -> Option<Vec<i64>> {
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0u64, 0);
    for byte in bytes {
        if shift > 63 {
            return None;
        }
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            numbers.push(number as i64);
            (number, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(numbers)
}

/// Little-endian numbers.
pub(crate) fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|bytes| number(*bytes)).collect()
}
