//! Freezing: a read-only model, without ledger and texts.

use super::{Store, write_tokenizer};
use crate::checkpoint;
use crate::config::ModelConfig;
use crate::error::{Error, io};
use crate::files;
use crate::lexicon;
use crate::memory::open;
use crate::record::CopyKind;
use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{FrozenBits, Memory};
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;

/// What freezing cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FreezeReport {
    /// Bytes of the frozen memory.
    pub bytes: u64,
    /// Positions of live documents at which recall was tried.
    pub positions: usize,
    /// The share of them that the model recalls.
    pub recall_before: f64,
    /// The share of them that the frozen model recalls.
    pub recall_after: f64,
}

/// Positions at which recall is tried, at most.
const TRIED: usize = 2000;

/// Tokens of prompt before a position.
const PROMPT: usize = 64;

impl Store {
    /// Writes a frozen copy where nothing is yet, and measures what it recalls.
    pub fn freeze(&mut self, to: &Path) -> Result<FreezeReport, Error> {
        self.freeze_with(to, FrozenBits::default())
    }

    /// Writes a frozen copy that keeps other numbers of bits of its keys: the more, the larger it is, and the less often something is
    /// taken for known that is not.
    pub fn freeze_with(&mut self, to: &Path, bits: FrozenBits) -> Result<FreezeReport, Error> {
        let positions = self.positions_to_try()?;
        self.copy_to_new(to, CopyKind::Frozen, |store, directory| {
            write_tokenizer(directory, &store.tokenizer)?;
            lexicon::write(directory, store.lexicon().map(|lexicon| &**lexicon))?;
            let path = directory.join(checkpoint::name(store.transaction));
            let (memory, observer) = (store.memory()?, &store.observer);
            let beside =
                checkpoint::write_frozen(&path, memory, bits, store.transaction, observer)?;
            files::rename(&beside, &path)?;
            ModelConfig { frozen: true, ..store.config.clone() }.write(directory)
        })?;
        let path = to.join(checkpoint::name(self.transaction));
        Ok(FreezeReport {
            bytes: std::fs::metadata(&path).map_err(io(&path))?.len(),
            positions: positions.len(),
            recall_before: recall(self.memory()?, &positions)?,
            recall_after: recall(&open(&path, &self.blueprint)?, &positions)?,
        })
    }

    /// Random positions of live documents: what comes before, and the token there.
    fn positions_to_try(&self) -> Result<Vec<(Vec<u32>, u32)>, Error> {
        let mut parts = Vec::new();
        let ledger = self.ledger()?;
        for document in ledger.documents()? {
            if let Some(version) = document.live().filter(|version| version.is_text()) {
                parts.extend(ledger.content(&document, version)?.parts);
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
    let right = positions
        .par_iter()
        .map_init(Scratch::default, |scratch, (context, token)| {
            Ok(usize::from(BACKOFF.best(memory, context, scratch)? == *token))
        })
        .try_reduce(|| 0, |a, b| Ok::<_, memo::sparse::Error>(a + b))?;
    Ok(if positions.is_empty() { 1.0 } else { right as f64 / positions.len() as f64 })
}
