//! Freezing: a read-only model with fewer bits a cell, without ledger and texts.

use crate::checkpoint::{self, Checkpoint};
use crate::error::{Error, io};
use crate::memorize::{current, is_edit};
use crate::packed::BITS;
use crate::record::CopyKind;
use crate::store::Store;
use memo::random::{Purpose, Stream};
use memo::readout::{Backoff, ReadOut, Scratch};
use memo::sparse::Memory;
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;

/// What freezing cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Frozen {
    /// Bits a cell.
    pub bits: u32,
    /// Bytes of the frozen memory.
    pub bytes: u64,
    /// Positions of live documents at which recall was tried.
    pub positions: usize,
    /// The share of them that the model recalls.
    pub recall_before: f64,
    /// The share of them that the frozen model recalls.
    pub recall_after: f64,
}

const WHAT: &str = "freezing";

/// Positions at which recall is tried, at most.
const TRIED: usize = 2000;

/// Tokens of prompt before a position.
const PROMPT: usize = 64;

impl Store {
    /// Writes a frozen copy with 8, 2 or 1 bits a cell where nothing is yet, and measures what it recalls.
    pub fn freeze(&mut self, to: &Path, bits: u32) -> Result<Frozen, Error> {
        if !BITS.contains(&bits) {
            return Err(Error::Invalid(format!("{bits} bits a cell: choose 8, 2 or 1")));
        }
        self.view.memory.need_sparse(WHAT)?;
        let mut model = self.view.model.clone();
        model.frozen = Some(bits);
        let positions = self.positions_to_try()?;
        let transaction = self.view.applied;
        let mut path = None;
        self.copy_to_new(to, CopyKind::Frozen, |store, directory| {
            let watch = store.watch.clone();
            let memory = store.view.memory.need_sparse(WHAT)?;
            path = Some(checkpoint::write_as(directory, memory, transaction, Some(bits), &watch)?);
            model.write(directory)
        })?;
        let path =
            to.join(path.and_then(|p| p.file_name().map(ToOwned::to_owned)).unwrap_or_default());
        let frozen = Checkpoint::open(&path)?.memory()?;
        Ok(Frozen {
            bits,
            bytes: std::fs::metadata(&path).map_err(io(&path))?.len(),
            positions: positions.len(),
            recall_before: recall(self.view.memory.need_sparse(WHAT)?, &positions)?,
            recall_after: recall(&frozen, &positions)?,
        })
    }

    /// Random positions of live documents: what comes before, and the token there.
    fn positions_to_try(&self) -> Result<Vec<(Vec<u32>, u32)>, Error> {
        let mut parts = Vec::new();
        for document in self.view.ledger.documents()? {
            if let Some(version) =
                current(&document).filter(|v| !is_edit(v) && document.place.is_some_and(|p| p.live))
            {
                parts.extend(self.view.ledger.content(document.number, version)?.parts);
            }
        }
        parts.retain(|part| part.len() > 1);
        let whole: u64 = parts.iter().map(|part| part.len() as u64 - 1).sum();
        let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
        let mut places: Vec<u64> = if whole <= TRIED as u64 {
            (0..whole).collect()
        } else {
            (0..TRIED).map(|_| reader.below(whole)).collect()
        };
        places.sort_unstable();
        let (mut tried, mut before) = (Vec::new(), 0);
        let mut places = places.into_iter().peekable();
        for part in &parts {
            let end = before + part.len() as u64 - 1;
            while let Some(place) = places.next_if(|place| *place < end) {
                let p = (place - before) as usize + 1;
                tried.push((part[p.saturating_sub(PROMPT)..p].to_vec(), part[p]));
            }
            before = end;
        }
        Ok(tried)
    }
}

/// The share of positions at which the right token is the most probable one.
fn recall(memory: &Memory, positions: &[(Vec<u32>, u32)]) -> Result<f64, Error> {
    let readout = Backoff::default();
    let right = positions
        .par_iter()
        .map_init(Scratch::default, |scratch, (context, token)| {
            Ok(usize::from(readout.best(memory, context, scratch)? == *token))
        })
        .try_reduce(|| 0, |a, b| Ok::<_, memo::sparse::Error>(a + b))?;
    Ok(if positions.is_empty() { 1.0 } else { right as f64 / positions.len() as f64 })
}
