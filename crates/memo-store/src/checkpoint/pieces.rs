//! A checkpoint of a memory that is larger than RAM, made from its texts piece by piece: so many cells, or so many parts
//! of a table, at a time. Everything in a memory is a sum over positions, so a piece needs nothing of the others; it is
//! written out and let go before the next one begins.

use super::write::Draft;
use crate::error::Error;
use crate::files;
use crate::watch::Watch;
use memo::sparse::{Memory, PAGE, PARTITIONS, Scope, Settings, Span, TableKind};
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

/// Writes a checkpoint beside its place, holding about `piece` bytes of it in memory at a time; tells where it is.
pub(crate) fn write_pieces(
    path: &Path,
    settings: &Settings,
    transaction: u64,
    texts: &dyn Texts,
    piece: usize,
    watch: &Watch,
) -> Result<PathBuf, Error> {
    let cells = Scope::cells(settings, piece);
    let longer = settings.slots.iter().filter(|slot| slot.len > 2 && slot.skip == 0).count() as u64;
    let tables = [(TableKind::Pairs, 1), (TableKind::Totals, longer.max(1))].map(|(kind, each)| {
        let bytes = texts.positions() * each * ENTRY;
        (kind, divided(usize::try_from(bytes / piece as u64).unwrap_or(PARTITIONS) + 1))
    });
    let passes = cells.len() + tables.iter().map(|(_, ranges)| ranges.len()).sum::<usize>();
    let mut done = 0;
    let mut make = |scope: &Scope| {
        let mut memory = Memory::new(settings.clone())?;
        texts.each(&mut |passages| {
            watch.ask("memorizing", done / passes as u64, texts.positions())?;
            memory.write_within(scope, passages)?;
            done += passages.iter().map(|p| p.positions.len() as u64).sum::<u64>();
            Ok(())
        })?;
        Ok::<_, Error>(memory)
    };
    files::write_beside(path, |file| {
        let mut draft = Draft::new(file, path);
        let mut leaves = Memory::new(settings.clone())?.leaves()?;
        for (scope, bytes) in &cells {
            let memory = make(scope)?;
            let runs = bytes.start / PAGE..bytes.end / PAGE;
            leaves.cells[runs.clone()].copy_from_slice(&memory.leaves()?.cells[runs]);
            draft.cells(&memory.cells()[bytes.clone()])?;
            draft.wide(&memory);
        }
        draft.begin_sections(settings, &leaves);
        let mut unigrams = Vec::new();
        for (kind, ranges) in tables {
            let mut table = draft.begin_table(kind);
            for parts in ranges {
                let first = kind == TableKind::Pairs && parts.start == 0;
                let scope = Scope::partitions(kind, parts.clone());
                let memory = make(&if first { scope.and_unigrams() } else { scope })?;
                let made = memory.leaves()?;
                let (to, from) = match kind {
                    TableKind::Pairs => (&mut leaves.pairs, &made.pairs),
                    TableKind::Totals => (&mut leaves.totals, &made.totals),
                };
                to[parts.clone()].copy_from_slice(&from[parts.clone()]);
                if first {
                    leaves.unigrams = made.unigrams;
                    unigrams = memory.unigrams().to_vec();
                }
                draft.parts(&mut table, &memory, parts)?;
            }
            draft.end_table(table)?;
        }
        draft.finish(settings, &unigrams, &leaves, transaction, None)
    })
}

/// The parts of a table in so many ranges.
fn divided(ranges: usize) -> Vec<Range<usize>> {
    let ranges = ranges.min(PARTITIONS);
    (0..ranges).map(|i| i * PARTITIONS / ranges..(i + 1) * PARTITIONS / ranges).collect()
}
