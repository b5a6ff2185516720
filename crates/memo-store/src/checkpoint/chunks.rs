//! A memory that is larger than RAM, made from its texts chunk by chunk: so many cells, or so many partitions of a table,
//! at a time. Everything in a memory is a sum over positions, so a chunk needs nothing of the others; it is used and let go
//! before the next one begins.

use super::write::Draft;
use crate::error::Error;
use crate::files;
use crate::progress::Observer;
use memo::sparse::{Digest, Leaves, Memory, PAGE, PARTITIONS, Scope, Settings, Span, TableKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What a memory is made of, to be gone through as often as it takes.
pub(crate) trait Texts {
    /// Their tokens, ends included.
    fn positions(&self) -> u64;

    /// Gives all of them, some at a time, until that fails.
    fn each(&self, write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>) -> Result<(), Error>;
}

/// Bytes that a table entry takes in memory, about.
const ENTRY: u64 = 8;

/// Part of a memory, the only part that is right in the memory that it comes with.
enum Chunk {
    /// Bytes of cells.
    Cells(Range<usize>),
    /// Partitions of a table; the first chunk of the pairs also has the counts of single tokens.
    Table(TableKind, Range<usize>),
}

/// Makes a memory in chunks of about `size` bytes, cells first, then tables, and gives each to `take`.
fn each_chunk(
    settings: &Settings,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
    mut take: impl FnMut(&Chunk, &Memory) -> Result<(), Error>,
) -> Result<(), Error> {
    let longer = settings.slots.iter().filter(|slot| slot.len > 2 && slot.skip == 0).count() as u64;
    let mut chunks: Vec<(Scope, Chunk)> = Scope::cells(settings, size)
        .into_iter()
        .map(|(scope, bytes)| (scope, Chunk::Cells(bytes)))
        .collect();
    for (kind, entries) in [(TableKind::Pairs, 1), (TableKind::Totals, longer.max(1))] {
        let bytes = texts.positions() * entries * ENTRY;
        for parts in divided(usize::try_from(bytes / size as u64).unwrap_or(PARTITIONS) + 1) {
            let scope = Scope::partitions(kind, parts.clone());
            let first = kind == TableKind::Pairs && parts.start == 0;
            let scope = if first { scope.and_unigrams() } else { scope };
            chunks.push((scope, Chunk::Table(kind, parts)));
        }
    }
    let passes = chunks.len() as u64;
    let mut done = 0;
    for (scope, chunk) in &chunks {
        let mut memory = Memory::new(settings.clone())?;
        texts.each(&mut |spans| {
            observer.tokens("memorizing", done / passes, texts.positions())?;
            memory.write_within(scope, spans)?;
            done += spans.iter().map(|span| span.positions.len() as u64).sum::<u64>();
            Ok(())
        })?;
        take(chunk, &memory)?;
    }
    Ok(())
}

/// Takes over the hashes of a chunk.
fn copy_leaves(leaves: &mut Leaves, chunk: &Chunk, memory: &Memory) -> Result<(), Error> {
    let made = memory.leaves()?;
    let (to, from, range) = match chunk {
        Chunk::Cells(bytes) => {
            (&mut leaves.cells, &made.cells, bytes.start / PAGE..bytes.end / PAGE)
        }
        Chunk::Table(TableKind::Pairs, parts) => (&mut leaves.pairs, &made.pairs, parts.clone()),
        Chunk::Table(TableKind::Totals, parts) => (&mut leaves.totals, &made.totals, parts.clone()),
    };
    to[range.clone()].copy_from_slice(&from[range]);
    if matches!(chunk, Chunk::Table(TableKind::Pairs, parts) if parts.start == 0) {
        leaves.unigrams = made.unigrams;
    }
    Ok(())
}

/// Writes a checkpoint beside its place, holding about `size` bytes of it in memory at a time; gives its path there.
pub(crate) fn write_chunks(
    path: &Path,
    settings: &Settings,
    transaction: u64,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    files::write_beside(path, |file| {
        let mut draft = Draft::new(file, path);
        let mut leaves = Memory::new(settings.clone())?.leaves()?;
        let (mut table, mut unigrams) = (None, Vec::new());
        each_chunk(settings, texts, size, observer, |chunk, memory| {
            copy_leaves(&mut leaves, chunk, memory)?;
            match chunk {
                Chunk::Cells(bytes) => {
                    draft.cells(&memory.cells()[bytes.clone()])?;
                    draft.wide(memory);
                }
                Chunk::Table(kind, parts) => {
                    if parts.start == 0 {
                        match *kind {
                            TableKind::Pairs => {
                                draft.begin_sections(settings, &leaves);
                                unigrams = memory.unigrams().to_vec();
                            }
                            TableKind::Totals => draft.end_table(table.take())?,
                        }
                        table = Some(draft.begin_table(*kind));
                    }
                    if let Some(table) = &mut table {
                        draft.parts(table, memory, parts.clone())?;
                    }
                }
            }
            Ok(())
        })?;
        draft.end_table(table)?;
        draft.finish(settings, &unigrams, &leaves, transaction, None)
    })
}

/// The digest of a memory, holding about `size` bytes of it at a time.
pub(crate) fn digest_by_chunks(
    settings: &Settings,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
) -> Result<Digest, Error> {
    let mut leaves = Memory::new(settings.clone())?.leaves()?;
    each_chunk(settings, texts, size, observer, |chunk, memory| {
        copy_leaves(&mut leaves, chunk, memory)
    })?;
    Ok(Digest::of_leaves(settings, leaves)?)
}

/// The partitions of a table in so many ranges.
fn divided(ranges: usize) -> Vec<Range<usize>> {
    let ranges = ranges.min(PARTITIONS);
    (0..ranges).map(|i| i * PARTITIONS / ranges..(i + 1) * PARTITIONS / ranges).collect()
}
