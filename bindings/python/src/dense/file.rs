//! Models in files: written whole or not at all, and checked before they are believed.

use crate::error::{Kind, Refusal};
use crate::files::{name, storage, write_whole};
use crate::work::Watch;
use memo::ConfigError;
use memo::dense::{DenseFile, DenseMemo, FileError, Notes};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 24;

/// Writes a model to a file.
pub(super) fn save(
    model: &DenseMemo,
    path: &Path,
    notes: &Notes,
    watch: &Watch,
) -> Result<(), Refusal> {
    let whole = model.parameters() * 4;
    write_whole(path, |file| {
        let mut watched = WatchedFile { file, watch, done: 0, whole };
        model.write_safetensors(notes, &mut watched).map_err(|error| match error {
            FileError::Io(error) => storage(path)(error),
            other => Refusal::invalid(name(path, other)),
        })
    })
}

/// Reads a model from a file, with its notes.
pub(super) fn load(
    path: &Path,
    memory_limit: Option<u64>,
    watch: &Watch,
) -> Result<(DenseMemo, Notes), Refusal> {
    let named = |refusal: Refusal| Refusal { message: name(path, refusal.message), ..refusal };
    parse(&read(path, watch)?, memory_limit).map_err(named)
}

/// Reads a model from the bytes of such a file.
pub(super) fn parse(
    bytes: &[u8],
    memory_limit: Option<u64>,
) -> Result<(DenseMemo, Notes), Refusal> {
    let file = DenseFile::parse(bytes)?;
    // Threads are those that this is called on.
    Ok((file.load(0, memory_limit.unwrap_or(u64::MAX))?, file.notes().clone()))
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        use ConfigError::{OutOfMemory, OverLimit};
        let kind = match &error {
            FileError::Config(OverLimit { .. } | OutOfMemory { .. })
            | FileError::NotesTooLong(_) => Kind::Invalid,
            FileError::Io(_) => Kind::Storage,
            _ => Kind::Damaged,
        };
        Refusal::new(kind, error)
    }
}

fn read(path: &Path, watch: &Watch) -> Result<Vec<u8>, Refusal> {
    let refused = |error: io::Error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        Refusal::new(if missing { Kind::NotAModel } else { Kind::Storage }, name(path, error))
    };
    let mut file = File::open(path).map_err(refused)?;
    let whole = file.metadata().map_err(refused)?.len() as usize;
    let mut bytes = Vec::new();
    loop {
        watch.at("reading", bytes.len(), whole)?;
        let piece = Read::by_ref(&mut file).take(PIECE).read_to_end(&mut bytes);
        if piece.map_err(refused)? == 0 {
            return Ok(bytes);
        }
    }
}

/// A file that tells how much of it is written, and may be told to stop.
struct WatchedFile<'a> {
    file: &'a File,
    watch: &'a Watch,
    done: usize,
    whole: usize,
}

impl Write for WatchedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let told = self.watch.tell("saving", self.done.min(self.whole), self.whole);
        if told.is_break() {
            return Err(io::Error::other("stopped"));
        }
        let written = self.file.write(bytes)?;
        self.done += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
