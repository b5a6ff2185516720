//! Writing a checkpoint: cells, then sections as they come, then the head that names their places.

use super::{
    ALIGN, CHECKS, FORMAT, Head, LEAVES, MAGIC, PAIRS, SCALES, Section, TOTALS, UNIGRAMS, WIDE,
};
use crate::error::{Error, io};
use crate::files;
use crate::packed;
use crate::progress::{Observer, Progress, Unit};
use memo::sparse::{Leaves, Memory, PAGE, PARTITIONS, Settings, TableKind};
use rayon::prelude::*;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes of cells, or parts of a table, that are written at once.
const CHUNK: usize = 64 << 20;
const CHUNK_OF_PARTS: usize = PARTITIONS / 32;

/// Writes a checkpoint beside its place, or a frozen memory with some bits a cell; gives its path there.
pub(crate) fn write(
    path: &Path,
    memory: &Memory,
    transaction: u64,
    bits: Option<u32>,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    let leaves = memory.leaves()?;
    // New checksums must not bless damage that the old ones would have told.
    memory.verify_cells()?;
    let frozen = bits.map(|bits| packed::pack(memory, bits));
    let cells = frozen.as_ref().map_or(memory.cells(), |(_, packed)| packed);
    files::write_beside(path, |file| {
        let mut draft = Draft::new(file, path);
        for (i, chunk) in cells.chunks(CHUNK).enumerate() {
            observer.report(Progress {
                stage: "writing the checkpoint",
                done: (i * CHUNK) as u64,
                total: cells.len() as u64,
                unit: Unit::Bytes,
            });
            draft.cells(chunk)?;
        }
        // Where a row has its own number, none is too large.
        let narrow = bits.is_some_and(|bits| bits < 8);
        if !narrow {
            draft.wide(memory);
        }
        draft.begin_sections(memory.settings(), &leaves);
        for kind in [TableKind::Pairs, TableKind::Totals] {
            let mut table = draft.begin_table(kind);
            for start in (0..PARTITIONS).step_by(CHUNK_OF_PARTS) {
                draft.parts(&mut table, memory, start..(start + CHUNK_OF_PARTS).min(PARTITIONS))?;
            }
            draft.end_table(Some(table))?;
        }
        if let Some((scales, _)) = &frozen {
            draft.scales(scales)?;
        }
        draft.finish(memory.settings(), memory.unigrams(), &leaves, transaction, bits)
    })
}

/// A checkpoint that is being written.
pub(super) struct Draft<'a> {
    file: &'a mut File,
    path: &'a Path,
    /// Where the next cells or the next section begin.
    at: u64,
    checks: Vec<u8>,
    wide: Vec<u8>,
    sections: Vec<Section>,
}

/// A table section that is being written.
pub(super) struct DraftTable {
    section: usize,
    start: u64,
    lens: Vec<u8>,
    body: crc32fast::Hasher,
}

impl<'a> Draft<'a> {
    pub(super) fn new(file: &'a mut File, path: &'a Path) -> Self {
        let sections = vec![Section::default(); SCALES];
        Draft { file, path, at: ALIGN, checks: Vec::new(), wide: Vec::new(), sections }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes));
        written.map_err(io(self.path))
    }

    /// The next cells, in whole runs.
    pub(super) fn cells(&mut self, cells: &[u8]) -> Result<(), Error> {
        let checks: Vec<u32> = cells.par_chunks(PAGE).map(crc32fast::hash).collect();
        self.checks.extend(checks.iter().flat_map(|check| check.to_le_bytes()));
        self.put(self.at, cells)?;
        self.at += cells.len() as u64;
        Ok(())
    }

    /// Notes the rows of a memory that do not fit in bytes.
    pub(super) fn wide(&mut self, memory: &Memory) {
        for (slot, row, values) in memory.wide_rows() {
            self.wide.extend((slot as u32).to_le_bytes());
            self.wide.extend(row.to_le_bytes());
            self.wide.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
    }

    /// Called when all cells are there: the lengths of the sections before the tables are known then, and so their places.
    pub(super) fn begin_sections(&mut self, settings: &Settings, leaves: &Leaves) {
        let Leaves { cells, pairs, totals, unigrams } = leaves;
        let hashes = cells.len() + pairs.len() + totals.len() + unigrams.len();
        let counts = settings.vocabulary as usize * 8;
        for (section, len) in [
            (CHECKS, self.checks.len()),
            (LEAVES, hashes * 32),
            (UNIGRAMS, counts),
            (WIDE, self.wide.len()),
        ] {
            self.sections[section] = Section { start: self.at, len: len as u64, crc: 0 };
            self.at += len as u64;
        }
    }

    pub(super) fn begin_table(&mut self, kind: TableKind) -> DraftTable {
        let section = if kind == TableKind::Pairs { PAIRS } else { TOTALS };
        let start = self.at;
        self.at += PARTITIONS as u64 * 8;
        DraftTable { section, start, lens: Vec::new(), body: crc32fast::Hasher::new() }
    }

    /// The next parts of a table, as this memory has them.
    pub(super) fn parts(
        &mut self,
        table: &mut DraftTable,
        memory: &Memory,
        parts: Range<usize>,
    ) -> Result<(), Error> {
        let kind = if table.section == PAIRS { TableKind::Pairs } else { TableKind::Totals };
        let encoded: Vec<Vec<u8>> =
            parts.into_par_iter().map(|part| encoded(memory, kind, part)).collect();
        table.lens.extend(encoded.iter().flat_map(|part| (part.len() as u64).to_le_bytes()));
        let bytes = encoded.concat();
        table.body.update(&bytes);
        self.put(self.at, &bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn end_table(&mut self, table: Option<DraftTable>) -> Result<(), Error> {
        let Some(DraftTable { section, start, lens, body }) = table else { return Ok(()) };
        self.put(start, &lens)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&lens);
        crc.combine(&body);
        self.sections[section] = Section { start, len: self.at - start, crc: crc.finalize() };
        Ok(())
    }

    /// The rows' numbers of a frozen memory.
    fn scales(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.put(self.at, bytes)?;
        let crc = crc32fast::hash(bytes);
        self.sections.push(Section { start: self.at, len: bytes.len() as u64, crc });
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// The sections before the tables, and the head.
    pub(super) fn finish(
        mut self,
        settings: &Settings,
        unigrams: &[i64],
        leaves: &Leaves,
        transaction: u64,
        bits: Option<u32>,
    ) -> Result<(), Error> {
        let trees = [&leaves.cells, &leaves.pairs, &leaves.totals, &leaves.unigrams];
        let hashes = trees.iter().flat_map(|tree| tree.as_flattened()).copied().collect();
        let counts = unigrams.iter().flat_map(|count| count.to_le_bytes()).collect();
        let front: [Vec<u8>; 4] =
            [std::mem::take(&mut self.checks), hashes, counts, std::mem::take(&mut self.wide)];
        for (section, bytes) in front.iter().enumerate() {
            self.sections[section].crc = crc32fast::hash(bytes);
            self.put(self.sections[section].start, bytes)?;
        }
        let sections = std::mem::take(&mut self.sections);
        let head = Head { settings: settings.clone(), transaction, sections, cells: ALIGN, bits };
        let json = serde_json::to_vec(&head).map_err(|e| Error::Invalid(e.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        if bytes.len() as u64 > ALIGN {
            let why = "these settings have too many slots for a checkpoint";
            return Err(Error::Invalid(why.into()));
        }
        self.put(0, &bytes)
    }
}

/// A part of a table as it is stored.
fn encoded(memory: &Memory, kind: TableKind, part: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, count) in memory.partition(kind, part) {
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
}
