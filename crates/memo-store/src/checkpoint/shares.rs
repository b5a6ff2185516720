//! Shares of a memory: some partitions of all tables each, in files of their own, read as one memory.
//!
//! Every entry of a memory is in one partition, so that shares made by different processes of the same texts need not be added
//! up: they lie side by side. A share is a checkpoint in which all other partitions are empty.

use super::read::Checkpoint;
use crate::error::Error;
use crate::memory::Blueprint;
use memo::sparse::{
    LargeCount, Leaves, Memory, PARTITIONS, SavedMemory, Scope, Section, TableKind,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The partitions that share `index` of `count` has.
fn partitions(index: usize, count: usize) -> Range<usize> {
    index * PARTITIONS / count..(index + 1) * PARTITIONS / count
}

/// What a share is limited to.
pub(crate) fn scope(index: usize, count: usize) -> Result<Scope, Error> {
    if index >= count || count > PARTITIONS {
        let why = format!("share {index} of {count}: there are 1 to {PARTITIONS}, from 0 on");
        return Err(Error::Invalid(why));
    }
    Ok(Scope::partitions(partitions(index, count)))
}

/// The memory of all shares, in their order, its entries mapped from their files.
pub(crate) fn open_shares(paths: &[PathBuf], blueprint: &Blueprint) -> Result<Memory, Error> {
    let shares: Vec<Checkpoint> =
        paths.iter().map(|path| Checkpoint::open(path)).collect::<Result<_, _>>()?;
    if shares.iter().any(|share| *share.settings() != blueprint.settings) {
        let why = "a share was made for a model with other settings; write all shares again";
        return Err(Error::Invalid(why.to_owned()));
    }
    let (settings, words) = (blueprint.settings.clone(), blueprint.words.clone());
    Ok(Memory::restore(settings, words, &Shares(shares))?)
}

struct Shares(Vec<Checkpoint>);

impl Shares {
    /// The share that has a partition.
    fn of(&self, partition: usize) -> Result<&Checkpoint, memo::sparse::Error> {
        let count = self.0.len();
        let found = (0..count).find(|&index| partitions(index, count).contains(&partition));
        let missing = || memo::sparse::Error::Storage("there is no share at all".into());
        found.map(|index| &self.0[index]).ok_or_else(missing)
    }

    /// What the shares have, added up: what each lacks is zero there.
    fn sum(
        &self,
        each: impl Fn(&Checkpoint) -> Result<Vec<i64>, memo::sparse::Error>,
    ) -> Result<Vec<i64>, memo::sparse::Error> {
        let mut sums = Vec::new();
        for share in &self.0 {
            let counts = each(share)?;
            sums.resize(counts.len().max(sums.len()), 0);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }
}

impl SavedMemory for Shares {
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
        self.sum(|share| Ok(share.derived()?.unwrap_or_default())).map(Some)
    }

    fn leaves(&self) -> Result<Option<Leaves>, memo::sparse::Error> {
        let count = self.0.len();
        let mut whole: Option<Leaves> = None;
        for (index, share) in self.0.iter().enumerate() {
            let Some(leaves) = SavedMemory::leaves(share)? else { return Ok(None) };
            let Some(whole) = &mut whole else {
                whole = Some(leaves);
                continue;
            };
            // A leaf of an empty partition is one too, so those of the first share stand where another has entries.
            for (to, from) in whole.tables.iter_mut().zip(&leaves.tables) {
                let partitions = partitions(index, count);
                to[partitions.clone()].copy_from_slice(&from[partitions]);
            }
        }
        Ok(whole)
    }
}
