//! Making the memory of a model again from its ledger, as it was or with another lexicon.

use super::Store;
use crate::checkpoint;
use crate::config::ModelConfig;
use crate::error::Error;
use crate::lexicon;
use crate::lock::SnapshotLock;
use crate::memory::{Blueprint, MemoryUpdate, NewContents, open};
use memo::lexicon::Lexicon;
use memo::sparse::Digest;
use serde::Serialize;
use std::sync::{Arc, OnceLock};

/// A memory that was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RebuildReport {
    /// Its bytes.
    pub bytes: u64,
    /// Its digest.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
}

impl Store {
    /// Makes the memory again from the ledger.
    pub fn rebuild(&mut self) -> Result<RebuildReport, Error> {
        let (config, blueprint) = (self.config.clone(), self.blueprint.clone());
        self.rebuild_as(config, blueprint)
    }

    /// Makes the memory again from the ledger with another lexicon, or with none, and laid out as that of a new model. If that
    /// fails the model is as it was.
    pub fn rebuild_with_lexicon(
        &mut self,
        lexicon: Option<Arc<Lexicon>>,
    ) -> Result<RebuildReport, Error> {
        let memory = self.config.memory.clone().current();
        let memory = memory.with_lexicon(lexicon.as_deref());
        memory.check()?;
        let config = ModelConfig { memory, ..self.config.clone() };
        let blueprint = Blueprint::new(&config, &self.tokenizer, lexicon);
        self.rebuild_as(config, blueprint)
    }

    fn rebuild_as(
        &mut self,
        config: ModelConfig,
        blueprint: Blueprint,
    ) -> Result<RebuildReport, Error> {
        let ledger = self.ledger()?;
        let last = ledger.last()?;
        let path = self.directory.join(checkpoint::name(last));
        let new = NewContents::new();
        let live = MemoryUpdate::of_live(ledger, &blueprint, &new, [], &self.observer)?;
        let (made, beside) = if checkpoint::is_large(&live, self.chunk) {
            let (chunk, observer) = (self.chunk, &self.observer);
            (None, checkpoint::write_chunks(&path, &blueprint, last, &live, chunk, observer)?)
        } else {
            let mut memory = blueprint.empty()?;
            live.apply(&mut memory, &self.observer).map_err(|failure| failure.error)?;
            let beside = checkpoint::write(&path, &memory, last, &self.observer)?;
            (Some(memory), beside)
        };
        // Readers see all of it or nothing. After a kill in between, opening makes the memory that `model.toml` asks for.
        let lock = SnapshotLock::exclusive(&self.directory)?;
        if config != self.config {
            lexicon::write(&self.directory, blueprint.lexicon().map(|lexicon| &**lexicon))?;
            config.write(&self.directory)?;
        }
        (self.snapshot.config, self.snapshot.blueprint) = (config, blueprint);
        // Rules may ask for classes of the lexicon.
        self.snapshot.knowledge = OnceLock::new();
        let path = match checkpoint::publish(&self.directory, &beside, last) {
            Ok(path) => path,
            Err(error) => return Err(self.lose_memory(&error)),
        };
        lexicon::remove_others(&self.directory, &self.config.memory)?;
        drop(lock);
        let memory = made.map_or_else(|| open(&path, &self.blueprint), Ok)?;
        self.set_memory((memory, last));
        let bytes = self.memory()?.usage().total() as u64;
        Ok(RebuildReport { bytes, digest: self.digest()? })
    }
}
