//! A memory that is larger than RAM, made from its texts chunk by chunk: some partitions of all tables at a time. Everything
//! in a memory is a sum over positions, so a chunk needs nothing of the others; it is used and let go before the next one
//! begins.

use super::write::Draft;
use crate::error::Error;
use crate::files;
use crate::memory::Blueprint;
use crate::progress::Observer;
use memo::sparse::{Digest, Leaves, Memory, PARTITIONS, Scope, Span};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What a memory is made of, to be gone through as often as it takes.
pub(crate) trait Texts {
    /// Their tokens, ends included.
    fn positions(&self) -> u64;

    /// Gives all of them, some at a time, until that fails.
    fn each(&self, write: &mut dyn FnMut(&[Span<'_>]) -> Result<(), Error>) -> Result<(), Error>;
}

/// Bytes that a memory takes for each token while it is made, about.
const BYTES_PER_TOKEN: u64 = 80;

/// Whether a memory of these texts is better made chunk by chunk.
pub(crate) fn is_large(texts: &dyn Texts, chunk: usize) -> bool {
    texts.positions() * BYTES_PER_TOKEN / 2 > chunk as u64
}

/// Makes a memory in chunks of about `size` bytes and gives each to `take`.
fn each_chunk(
    blueprint: &Blueprint,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
    mut take: impl FnMut(Range<usize>, &Memory) -> Result<(), Error>,
) -> Result<(), Error> {
    let chunks = texts.positions() * BYTES_PER_TOKEN / size as u64 + 1;
    let chunks = usize::try_from(chunks).unwrap_or(PARTITIONS).min(PARTITIONS);
    let mut done = 0;
    for i in 0..chunks {
        let partitions = i * PARTITIONS / chunks..(i + 1) * PARTITIONS / chunks;
        let scope = Scope::partitions(partitions.clone());
        let mut memory = blueprint.empty()?;
        texts.each(&mut |spans| {
            observer.tokens("memorizing", done / chunks as u64, texts.positions())?;
            memory.write_within(&scope, spans)?;
            done += spans.iter().map(|span| span.positions.len() as u64).sum::<u64>();
            Ok(())
        })?;
        take(partitions, &memory)?;
    }
    Ok(())
}

/// What a memory has besides its entries, gathered from its chunks.
struct Gathered {
    leaves: Leaves,
    unigrams: Vec<i64>,
    derived: Vec<i64>,
}

impl Gathered {
    fn new(blueprint: &Blueprint) -> Result<Self, Error> {
        let empty = blueprint.empty()?;
        let (leaves, derived) = (empty.leaves()?, empty.derived());
        Ok(Gathered { leaves, unigrams: empty.unigrams().to_vec(), derived })
    }

    fn take(&mut self, partitions: &Range<usize>, memory: &Memory) -> Result<(), Error> {
        let made = memory.leaves()?;
        for (to, from) in self.leaves.tables.iter_mut().zip(&made.tables) {
            to[partitions.clone()].copy_from_slice(&from[partitions.clone()]);
        }
        if partitions.start == 0 {
            self.leaves.unigrams = made.unigrams;
            self.unigrams = memory.unigrams().to_vec();
        }
        // What is derived is a sum over entries.
        self.derived.iter_mut().zip(memory.derived()).for_each(|(sum, more)| *sum += more);
        Ok(())
    }
}

/// Writes a checkpoint beside its place, holding about `size` bytes of it in memory at a time; gives its path there.
pub(crate) fn write_chunks(
    path: &Path,
    blueprint: &Blueprint,
    transaction: u64,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
) -> Result<PathBuf, Error> {
    files::write_beside(path, |file| {
        let mut draft = Draft::new(file, path)?;
        let mut gathered = Gathered::new(blueprint)?;
        each_chunk(blueprint, texts, size, observer, |partitions, memory| {
            gathered.take(&partitions, memory)?;
            draft.partitions(memory, partitions, None)
        })?;
        let Gathered { leaves, unigrams, derived } = gathered;
        draft.finish(&blueprint.settings, &unigrams, &derived, &leaves, transaction)
    })
}

/// The digest of a memory, holding about `size` bytes of it at a time.
pub(crate) fn digest_by_chunks(
    blueprint: &Blueprint,
    texts: &dyn Texts,
    size: usize,
    observer: &Observer,
) -> Result<Digest, Error> {
    let mut gathered = Gathered::new(blueprint)?;
    each_chunk(blueprint, texts, size, observer, |partitions, memory| {
        gathered.take(&partitions, memory)
    })?;
    Ok(Digest::of_leaves(&blueprint.settings, gathered.leaves)?)
}
