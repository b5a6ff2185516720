//! Reading a checkpoint: the head and the sections are checked, the cells mapped, the tables read part by part.

use super::{
    ALIGN, CHECKS, FORMAT, HELP, Head, LEAVES, MAGIC, MOST, PAIRS, SCALES, Section, TOTALS,
    UNIGRAMS, WIDE,
};
use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use crate::mapped::Mapped;
use crate::packed;
use memo::sparse::{
    Leaves, Memory, PAGE, PARTITIONS, Ram, SavedMemory, Settings, Storage, TableKind,
};
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A checkpoint whose head and sections were checked.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: File,
    head: Head,
    /// The sections; of tables only the lengths of their parts.
    sections: Vec<Vec<u8>>,
    /// Where each part of the two tables is in the file: its place and its length.
    parts: [Vec<(u64, usize)>; 2],
}

impl Checkpoint {
    /// Opens a file, and reads all but the cells.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Self::read(path, File::open(path).map_err(io(path))?)
    }

    /// Reads all but the cells of an open file.
    pub(crate) fn read(path: &Path, mut file: File) -> Result<Self, Error> {
        let damaged = |what: Damage| Error::Damaged { path: path.to_owned(), what, help: HELP };
        let size = file.metadata().map_err(io(path))?.len();
        let mut front = [0; 16];
        file.read_exact(&mut front).map_err(|_| damaged(Damage::CutOff))?;
        if &front[..8] != MAGIC {
            return Err(damaged(Damage::Magic));
        }
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| front[at + k]));
        if number(8) != FORMAT {
            return Err(Error::Format { path: path.to_owned(), found: number(8), known: FORMAT });
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
        if head.bits.is_some_and(|bits| !packed::BITS.contains(&bits)) {
            return Err(damaged(Damage::Unfitting("the number of bits a cell".into())));
        }
        if head.sections.len() != SCALES + usize::from(head.bits.is_some()) {
            return Err(damaged(Damage::Lacks("a section")));
        }
        check_places(&head, size).map_err(damaged)?;
        let sections: Result<Vec<Vec<u8>>, Error> = head
            .sections
            .par_iter()
            .enumerate()
            .map(|(i, section)| {
                let kept =
                    if [PAIRS, TOTALS].contains(&i) { PARTITIONS as u64 * 8 } else { u64::MAX };
                let (crc, bytes) = checked(&file, path, section, kept)?;
                if crc == section.crc {
                    Ok(bytes)
                } else {
                    Err(damaged(Damage::Checksum("a section")))
                }
            })
            .collect();
        let sections = sections?;
        let parts = [PAIRS, TOTALS].map(|table| parts(&sections[table], &head.sections[table]));
        let [Some(pairs), Some(totals)] = parts else {
            return Err(damaged(Damage::Unfitting("a table".into())));
        };
        let parts = [pairs, totals];
        Ok(Checkpoint { path: path.to_owned(), file, head, sections, parts })
    }

    /// The last transaction that it contains.
    pub(crate) fn transaction(&self) -> u64 {
        self.head.transaction
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.head.settings
    }

    /// Bits a cell, if it is frozen.
    pub(crate) fn bits(&self) -> Option<u32> {
        self.head.bits
    }

    /// The memory of a frozen one, its cells unpacked.
    pub(crate) fn unpacked(&self, bits: u32) -> Result<Memory, Error> {
        let settings = &self.head.settings;
        let mut packed = vec![0; packed::packed_len(settings, bits)];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.head.cells))
            .and_then(|_| file.read_exact(&mut packed))
            .map_err(io(&self.path))?;
        let checks = self.checks(packed.len())?;
        let right = packed.par_chunks(PAGE).zip(&checks).all(|(run, c)| crc32fast::hash(run) == *c);
        if !right {
            return Err(self.damaged(Damage::Checksum("its cells")));
        }
        let mut cells = Ram::new(Memory::storage_len(settings))?;
        if bits == 8 {
            cells.bytes_mut().copy_from_slice(&packed);
            let saved = Unpacked { from: self, wide: self.wide_rows()? };
            return Ok(Memory::restore(settings.clone(), Box::new(cells), &saved)?);
        }
        let scales = &self.sections[SCALES];
        let wide = packed::unpack(settings, bits, scales, &packed, cells.bytes_mut())?;
        let saved = Unpacked { from: self, wide };
        Ok(Memory::restore(settings.clone(), Box::new(cells), &saved)?)
    }

    fn damaged(&self, what: Damage) -> Error {
        Error::Damaged { path: self.path.clone(), what, help: HELP }
    }

    /// The checksums of the runs of `len` bytes.
    fn checks(&self, len: usize) -> Result<Vec<u32>, Error> {
        let checks: Vec<u32> = numbers(&self.sections[CHECKS], u32::from_le_bytes);
        if checks.len() != len.div_ceil(PAGE) {
            return Err(self.damaged(Damage::Unfitting("the number of its checksums".into())));
        }
        Ok(checks)
    }

    /// The memory, its cells mapped privately.
    pub(crate) fn memory(&self) -> Result<Memory, Error> {
        if let Some(bits) = self.head.bits {
            return self.unpacked(bits);
        }
        let len = Memory::storage_len(&self.head.settings);
        let checks = self.checks(len)?;
        let cells = Mapped::new(&self.file, &self.path, self.head.cells, len, checks)?;
        Ok(Memory::restore(self.head.settings.clone(), Box::new(cells), self)?)
    }
}

/// A frozen memory: its tables, and the rows that were too large once unpacked.
struct Unpacked<'c> {
    from: &'c Checkpoint,
    wide: Vec<(usize, u64, Vec<i32>)>,
}

impl SavedMemory for Unpacked<'_> {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        self.from.unigrams()
    }

    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, memo::sparse::Error> {
        Ok(self.wide.clone())
    }

    fn partition(
        &self,
        kind: TableKind,
        part: usize,
    ) -> Result<Vec<(u32, i64)>, memo::sparse::Error> {
        self.from.partition(kind, part)
    }
}

/// Whether cells and sections lie one after the other and fill the file: cells first, or, in older files, last.
fn check_places(head: &Head, size: u64) -> Result<(), Damage> {
    let cells = packed::packed_len(&head.settings, head.bits.unwrap_or(8)) as u64;
    let older = head.cells != ALIGN;
    let mut end = if older { Some(ALIGN) } else { ALIGN.checked_add(cells) };
    for section in &head.sections {
        if Some(section.start) != end {
            return Err(Damage::Misplaced("a section"));
        }
        end = section.start.checked_add(section.len);
        if end.is_none_or(|end| end > size) {
            return Err(Damage::Length);
        }
    }
    if older {
        end = end.and_then(|end| end.checked_next_multiple_of(ALIGN));
        if end != Some(head.cells) {
            return Err(Damage::Misplaced("the block of cells"));
        }
        end = head.cells.checked_add(cells);
    }
    if end == Some(size) { Ok(()) } else { Err(Damage::Length) }
}

/// The checksum of a section, and its first `kept` bytes. The rest is read and let go: tables may be large.
fn checked(
    file: &File,
    path: &Path,
    section: &Section,
    kept: u64,
) -> Result<(u32, Vec<u8>), Error> {
    const CHUNK: u64 = 8 << 20;
    let mut bytes = vec![0; section.len.min(kept) as usize];
    files::read_at(file, path, section.start, &mut bytes)?;
    let mut crc = crc32fast::Hasher::new();
    crc.update(&bytes);
    let mut at = bytes.len() as u64;
    let mut chunk = vec![0; (section.len - at).min(CHUNK) as usize];
    while at < section.len {
        let chunk = &mut chunk[..(section.len - at).min(CHUNK) as usize];
        files::read_at(file, path, section.start + at, chunk)?;
        crc.update(chunk);
        at += chunk.len() as u64;
    }
    Ok((crc.finalize(), bytes))
}

/// The places of a table's parts, from their lengths.
fn parts(lens: &[u8], section: &Section) -> Option<Vec<(u64, usize)>> {
    let lens: Vec<u64> = numbers(lens.get(..PARTITIONS * 8)?, u64::from_le_bytes);
    let mut start = section.start + PARTITIONS as u64 * 8;
    let end = section.start + section.len;
    let mut parts = Vec::new();
    for len in lens {
        let next = start.checked_add(len).filter(|&next| next <= end)?;
        parts.push((start, usize::try_from(len).ok()?));
        start = next;
    }
    (start == end).then_some(parts)
}

/// Little-endian numbers.
pub(crate) fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
}

fn cut(what: &str) -> memo::sparse::Error {
    memo::sparse::Error::Storage(format!("{what} of a checkpoint is cut off"))
}

impl SavedMemory for Checkpoint {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        Ok(numbers(&self.sections[UNIGRAMS], i64::from_le_bytes))
    }

    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, memo::sparse::Error> {
        let mut bytes = &self.sections[WIDE][..];
        let mut rows = Vec::new();
        while let Some((head, rest)) = bytes.split_at_checked(12) {
            let slot = u32::from_le_bytes([0, 1, 2, 3].map(|k| head[k])) as usize;
            let row = u64::from_le_bytes([4, 5, 6, 7, 8, 9, 10, 11].map(|k| head[k]));
            let slots = &self.head.settings.slots;
            let width = slots.get(slot).ok_or_else(|| cut("a wide row"))?.width as usize;
            let (values, rest) =
                rest.split_at_checked(width * 4).ok_or_else(|| cut("a wide row"))?;
            rows.push((slot, row, numbers(values, i32::from_le_bytes)));
            bytes = rest;
        }
        if bytes.is_empty() { Ok(rows) } else { Err(cut("a wide row")) }
    }

    fn partition(
        &self,
        kind: TableKind,
        part: usize,
    ) -> Result<Vec<(u32, i64)>, memo::sparse::Error> {
        let (start, len) = self.parts[usize::from(kind == TableKind::Totals)][part];
        let mut bytes = vec![0; len];
        let read = files::read_at(&self.file, &self.path, start, &mut bytes);
        read.map_err(|error| memo::sparse::Error::Storage(error.to_string()))?;
        let mut bytes = &bytes[..];
        let mut entries = Vec::with_capacity(bytes.len() / 5);
        while let Some((entry, rest)) = bytes.split_first_chunk::<5>() {
            let [a, b, c, d, count] = *entry;
            let key = u32::from_le_bytes([a, b, c, d]);
            bytes = rest;
            if count as i8 == i8::MIN {
                let (large, rest) = rest.split_first_chunk::<8>().ok_or_else(|| cut("a count"))?;
                entries.push((key, i64::from_le_bytes(*large)));
                bytes = rest;
            } else {
                entries.push((key, i64::from(count as i8)));
            }
        }
        if bytes.is_empty() { Ok(entries) } else { Err(cut("a table entry")) }
    }

    fn leaves(&self) -> Result<Option<Leaves>, memo::sparse::Error> {
        let mut hashes = self.sections[LEAVES].as_chunks::<32>().0;
        let cells = Memory::storage_len(&self.head.settings) / PAGE;
        let mut take = |count: usize| {
            let (taken, rest) = hashes.split_at_checked(count).ok_or_else(|| cut("a hash"))?;
            hashes = rest;
            Ok(taken.to_vec())
        };
        let (cells, pairs, totals) = (take(cells)?, take(PARTITIONS)?, take(PARTITIONS)?);
        Ok(Some(Leaves { cells, pairs, totals, unigrams: hashes.to_vec() }))
    }
}
