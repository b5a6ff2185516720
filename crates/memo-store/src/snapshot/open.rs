//! Opening a model for reading: never waits for a writer's change, never sees half of one, and writes nothing.

use super::{MemoryState, Snapshot};
use crate::config::ModelConfig;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::lexicon;
use crate::lock::SnapshotLock;
use crate::memory::{Blueprint, CheckpointFile, load, replay};
use crate::progress::Observer;
use std::path::Path;
use std::sync::OnceLock;

impl Snapshot {
    /// Opens a model for reading, with all that was acknowledged until now. A writer may be at work on it. If the memory cannot
    /// be made because tokens of a document are damaged, everything that needs no memory still works.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        Self::open_observed(directory, &Observer::default())
    }

    /// Opens a model for reading. The observer sees what is memorized again that no checkpoint has.
    pub fn open_observed(directory: &Path, observer: &Observer) -> Result<Self, Error> {
        // All files of one state: whatever is put in their place afterwards, these stay.
        let lock = SnapshotLock::shared(directory);
        let config = ModelConfig::read(directory)?;
        let tokenizer = config.tokenizer(directory)?;
        let lexicon = lexicon::read(directory, &config.memory)?;
        let checkpoints = CheckpointFile::list(directory)?;
        let ledger = if config.frozen { None } else { Some(Ledger::copy(directory)?) };
        drop(lock);
        let blueprint = Blueprint::new(&config, &tokenizer, lexicon);
        let (mut memory, mut transaction) = load(checkpoints, &blueprint)?;
        let mut damage = None;
        if let Some(ledger) = &ledger {
            match replay(ledger, &blueprint, &mut memory, transaction, observer) {
                Ok((last, _)) => transaction = last,
                Err(error) => {
                    damage = Some(error.damaged_tokens()?);
                    transaction = ledger.last()?;
                }
            }
        }
        let ready = || MemoryState::Ready(Box::new(memory));
        let memory = damage.map_or_else(ready, MemoryState::Unmade);
        Ok(Snapshot {
            directory: directory.to_owned(),
            config,
            tokenizer,
            blueprint,
            ledger,
            memory,
            knowledge: OnceLock::new(),
            transaction,
        })
    }
}
