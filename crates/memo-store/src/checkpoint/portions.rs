//! Portions of a memory: some partitions of all tables each, in files of their own, read as one memory.
//!
//! Every entry of a memory is in one partition, so that portions made by different processes of the same texts need not be added
//! up: they lie side by side. A portion is a checkpoint in which all other partitions are empty.

use super::read::Checkpoint;
use crate::error::Error;
use crate::memory::Blueprint;
use memo::sparse::{
    LargeCount, Leaves, Memory, PARTITIONS, SavedMemory, Scope, Section, TableKind,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The partitions that portion `index` of `count` has.
fn partitions(index: usize, count: usize) -> Range<usize> {
    index * PARTITIONS / count..(index + 1) * PARTITIONS / count
}

/// What a portion is limited to.
pub(crate) fn scope(index: usize, count: usize) -> Result<Scope, Error> {
    if index >= count || count > PARTITIONS {
        let why = format!("portion {index} of {count}: there are 1 to {PARTITIONS}, from 0 on");
        return Err(Error::Invalid(why));
    }
    Ok(Scope::partitions(partitions(index, count)))
}

/// The memory of all portions, in their order, its entries mapped from their files.
pub(crate) fn open_portions(paths: &[PathBuf], blueprint: &Blueprint) -> Result<Memory, Error> {
    let portions: Vec<Checkpoint> =
        paths.iter().map(|path| Checkpoint::open(path)).collect::<Result<_, _>>()?;
    if portions.iter().any(|portion| *portion.settings() != blueprint.settings) {
        let why = "a portion was made for a model with other settings; write all portions again";
        return Err(Error::Invalid(why.to_owned()));
    }
    let (settings, words) = (blueprint.settings.clone(), blueprint.words.clone());
    Ok(Memory::restore(settings, words, &Portions(portions))?)
}

struct Portions(Vec<Checkpoint>);

impl Portions {
    /// The portion that has a partition.
    fn of(&self, partition: usize) -> Result<&Checkpoint, memo::sparse::Error> {
        let count = self.0.len();
        let found = (0..count).find(|&index| partitions(index, count).contains(&partition));
        let missing = || memo::sparse::Error::Storage("there is no portion at all".into());
        found.map(|index| &self.0[index]).ok_or_else(missing)
    }

    /// What the portions have, added up: what each lacks is zero there.
    fn sum(
        &self,
        each: impl Fn(&Checkpoint) -> Result<Vec<i64>, memo::sparse::Error>,
    ) -> Result<Vec<i64>, memo::sparse::Error> {
        let mut sums = Vec::new();
        for portion in &self.0 {
            let counts = each(portion)?;
            sums.resize(counts.len().max(sums.len()), 0);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }
}

impl SavedMemory for Portions {
    fn unigrams(&self) -> Result<Vec<i64>, memo::sparse::Error> {
        self.sum(SavedMemory::unigrams)
    }

    fn partition(
        &self,
        kind: TableKind,
        partition: usize,
    ) -> Result<(Arc<dyn Section>, Vec<LargeCount>), memo::sparse::Error> {
        self.of(partition)?.partition(kind, partition)
    }

    fn derived(&self) -> Result<Option<Vec<i64>>, memo::sparse::Error> {
        self.sum(|portion| Ok(portion.derived()?.unwrap_or_default())).map(Some)
    }

    fn leaves(&self) -> Result<Option<Leaves>, memo::sparse::Error> {
        let count = self.0.len();
        let mut whole: Option<Leaves> = None;
        for (index, portion) in self.0.iter().enumerate() {
            let Some(leaves) = SavedMemory::leaves(portion)? else { return Ok(None) };
            let Some(whole) = &mut whole else {
                whole = Some(leaves);
                continue;
            };
            // A leaf of an empty partition is one too, so those of the first portion stand where another has entries.
            for (to, from) in whole.tables.iter_mut().zip(&leaves.tables) {
                let partitions = partitions(index, count);
                to[partitions.clone()].copy_from_slice(&from[partitions]);
            }
        }
        Ok(whole)
    }
}
