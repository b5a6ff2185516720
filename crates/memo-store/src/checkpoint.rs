//! `memory.*`: the memory as it was after some transaction, in one file that never changes.
//!
//! ```text
//! magic "MEMOCELL", format u32, length of the head u32
//! head: JSON (settings, transaction, and the place, length and checksum of each section)
//! checksum of all before (crc32)
//! sections: checks, leaves, unigrams, wide, pairs, totals
//! cells, from a multiple of 64 KiB on
//! ```
//!
//! All numbers are little-endian. Sections are checked when they are read, which is when the file is opened; the runs
//! of cells when they are first touched. A table section begins with the length, in bytes, of each part; an entry is its
//! key (4 bytes) and its count (1 byte, or −128 and 8 more). Everything is a function of the memory's values, so
//! the same memory gives the same file.
//!
//! A *frozen* memory is such a file with fewer bits a cell (`bits` in its head), and one section more, the rows' numbers
//! ([`crate::packed`]).

use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use crate::mapped::Mapped;
use crate::packed;
use memo::sparse::{Leaves, Memory, PARTS, RUN, Ram, Saved, Settings, Storage, TableKind};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
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

#[derive(Clone, Copy, Serialize, Deserialize)]
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

/// Writes a checkpoint, whole or not at all.
pub(crate) fn write(
    directory: &Path,
    memory: &mut Memory,
    transaction: u64,
) -> Result<PathBuf, Error> {
    write_as(directory, memory, transaction, None)
}

/// Writes a checkpoint, or a frozen memory with some bits a cell.
pub(crate) fn write_as(
    directory: &Path,
    memory: &mut Memory,
    transaction: u64,
    bits: Option<u32>,
) -> Result<PathBuf, Error> {
    let path = directory.join(name(transaction));
    let leaves = memory.leaves()?;
    let memory = &*memory;
    // New checksums must not bless damage that the old ones would have told.
    memory.verify_cells()?;
    let frozen = bits.map(|bits| packed::pack(memory, bits));
    let cells = frozen.as_ref().map_or(memory.cells(), |(_, packed)| packed);
    let checks: Vec<u8> =
        cells.par_chunks(RUN).flat_map_iter(|run| crc32fast::hash(run).to_le_bytes()).collect();
    let trees = [&leaves.cells, &leaves.pairs, &leaves.totals, &leaves.unigrams];
    let mut sections = vec![
        checks,
        trees.iter().flat_map(|tree| tree.as_flattened()).copied().collect(),
        memory.unigrams().iter().flat_map(|count| count.to_le_bytes()).collect(),
        // Where a row has its own number, none is too large.
        if bits.is_some_and(|bits| bits < 8) { Vec::new() } else { wide(memory) },
        table(memory, TableKind::Pairs),
        table(memory, TableKind::Totals),
    ];
    sections.extend(frozen.as_ref().map(|(scales, _)| scales.clone()));
    // The head's own length does not depend on the numbers in it: they are written after room of fixed size.
    let room = ALIGN;
    let mut start = room;
    let placed = sections.iter().map(|section| {
        let len = section.len() as u64;
        let placed = Section { start, len, crc: crc32fast::hash(section) };
        start += len;
        placed
    });
    let head = Head {
        settings: memory.settings().clone(),
        transaction,
        sections: placed.collect(),
        cells: 0,
        bits,
    };
    let head = Head { cells: start.next_multiple_of(ALIGN), ..head };
    let json = serde_json::to_vec(&head).map_err(|e| Error::Invalid(e.to_string()))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(json);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    if bytes.len() as u64 > room {
        return Err(Error::Invalid("these settings have too many slots for a checkpoint".into()));
    }
    files::write_whole(&path, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut write = |at: u64, bytes: &[u8]| {
            out.seek(SeekFrom::Start(at)).and_then(|_| out.write_all(bytes)).map_err(io(&path))
        };
        write(0, &bytes)?;
        for (place, section) in head.sections.iter().zip(&sections) {
            write(place.start, section)?;
        }
        write(head.cells, cells)?;
        out.flush().map_err(io(&path))
    })?;
    Ok(path)
}

fn wide(memory: &Memory) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (slot, row, values) in memory.wide_rows() {
        bytes.extend((slot as u32).to_le_bytes());
        bytes.extend(row.to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

fn table(memory: &Memory, kind: TableKind) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = (0..PARTS)
        .into_par_iter()
        .map(|part| {
            let mut bytes = Vec::new();
            for (key, count) in memory.part(kind, part) {
                bytes.extend(key.to_le_bytes());
                match i8::try_from(count) {
                    Ok(count) if count != i8::MIN => bytes.push(count as u8),
                    _ => {
                        bytes.push(i8::MIN as u8);
                        bytes.extend(count.to_le_bytes());
                    }
                }
            }
            bytes
        })
        .collect();
    let mut bytes: Vec<u8> =
        parts.iter().flat_map(|part| (part.len() as u64).to_le_bytes()).collect();
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

/// A checkpoint whose head and sections were checked.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: File,
    head: Head,
    sections: Vec<Vec<u8>>,
    /// Where each part of the two tables begins and ends.
    parts: [Vec<(usize, usize)>; 2],
}

impl Checkpoint {
    /// Reads all but the cells.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let damaged = |what: Damage| Error::Damaged { path: path.to_owned(), what, help: HELP };
        let mut file = File::open(path).map_err(io(path))?;
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
        let cells = packed::packed_len(&head.settings, head.bits.unwrap_or(8)) as u64;
        let ends = head.cells.checked_add(cells);
        if ends != Some(size) {
            return Err(damaged(Damage::Length));
        }
        if head.sections.len() != SCALES + usize::from(head.bits.is_some()) {
            return Err(damaged(Damage::Lacks("a section")));
        }
        let mut sections = Vec::new();
        let mut start = ALIGN;
        for section in &head.sections {
            let end = section.start.checked_add(section.len);
            let Some(end) = end.filter(|&end| section.start == start && end <= head.cells) else {
                return Err(damaged(Damage::Misplaced("a section")));
            };
            start = end;
            let mut bytes = vec![0; section.len as usize];
            file.seek(SeekFrom::Start(section.start)).map_err(io(path))?;
            file.read_exact(&mut bytes).map_err(io(path))?;
            sections.push(bytes);
        }
        if head.cells != start.next_multiple_of(ALIGN) {
            return Err(damaged(Damage::Misplaced("the block of cells")));
        }
        let right = sections.par_iter().zip(&head.sections);
        if !right.all(|(bytes, section)| crc32fast::hash(bytes) == section.crc) {
            return Err(damaged(Damage::Checksum("a section")));
        }
        let parts = [PAIRS, TOTALS].map(|table| parts(&sections[table]));
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
        let right = packed.par_chunks(RUN).zip(&checks).all(|(run, c)| crc32fast::hash(run) == *c);
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
        if checks.len() != len.div_ceil(RUN) {
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

impl Saved for Unpacked<'_> {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        self.from.unigrams()
    }

    fn wide_rows(&self) -> Result<Vec<(usize, u64, Vec<i32>)>, memo::sparse::Error> {
        Ok(self.wide.clone())
    }

    fn part(&self, kind: TableKind, part: usize) -> Result<Vec<(u32, i64)>, memo::sparse::Error> {
        self.from.part(kind, part)
    }
}

/// Splits a table section into its parts.
fn parts(section: &[u8]) -> Option<Vec<(usize, usize)>> {
    let lens: Vec<u64> = numbers(section.get(..PARTS * 8)?, u64::from_le_bytes);
    let mut start = PARTS * 8;
    let mut parts = Vec::new();
    for len in lens {
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        parts.push((start, end));
        start = end;
    }
    (start == section.len()).then_some(parts)
}

/// Little-endian numbers.
pub(crate) fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
}

fn cut(what: &str) -> memo::sparse::Error {
    memo::sparse::Error::Storage(format!("{what} of a checkpoint is cut off"))
}

impl Saved for Checkpoint {
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

    fn part(&self, kind: TableKind, part: usize) -> Result<Vec<(u32, i64)>, memo::sparse::Error> {
        let (section, parts) = match kind {
            TableKind::Pairs => (PAIRS, &self.parts[0]),
            TableKind::Totals => (TOTALS, &self.parts[1]),
        };
        let (start, end) = parts[part];
        let mut bytes = &self.sections[section][start..end];
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
        let cells = Memory::storage_len(&self.head.settings) / RUN;
        let mut take = |count: usize| {
            let (taken, rest) = hashes.split_at_checked(count).ok_or_else(|| cut("a hash"))?;
            hashes = rest;
            Ok(taken.to_vec())
        };
        let (cells, pairs, totals) = (take(cells)?, take(PARTS)?, take(PARTS)?);
        Ok(Some(Leaves { cells, pairs, totals, unigrams: hashes.to_vec() }))
    }
}
