//! A model open for reading: it never waits for a writer, and never sees half of a transaction.

use crate::build::{latest, newest};
use crate::engine::Engine;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::lock::Lock;
use crate::model::Model;
use crate::moves::replay;
use crate::store::complete;
use crate::watch::Watch;
use memo_text::Tokenizer;
use std::path::Path;

/// A model as it was when it was opened.
///
/// Beside a writer this is its last checkpoint; otherwise the ledger adds what came after that.
pub struct Reader {
    model: Model,
    tokenizer: Tokenizer,
    memory: Engine,
    transaction: u64,
}

impl Reader {
    /// Opens a model for reading.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let model = Model::read(directory)?;
        if model.frozen.is_some() {
            let tokenizer = model.tokenizer(directory)?;
            let (memory, transaction) = latest(directory, &model)?;
            return Ok(Reader { model, tokenizer, memory, transaction });
        }
        // The lock first: what the checkpoint lacks must not be forgotten before it is read.
        let lock = Lock::shared(directory)?;
        // A writer may have changed its sizes until now.
        let model = Model::read(directory)?;
        let tokenizer = model.tokenizer(directory)?;
        if lock.is_none() {
            let found = newest(directory, &model)?;
            let (memory, transaction) = found.ok_or_else(|| Lock::holder(directory))?;
            return Ok(Reader { model, tokenizer, memory, transaction });
        }
        let path = directory.join("ledger.redb");
        let ledger = match Ledger::open_to_read(&path) {
            Err(Error::Ledger { reason, .. }) if matches!(*reason, redb::Error::RepairAborted) => {
                // A writer was killed. Opening as a writer repairs the database; then everyone can read it again.
                drop(lock);
                let lock = Lock::exclusive(directory)?;
                drop(Ledger::open(&path)?);
                drop(lock);
                return Self::open(directory);
            }
            opened => opened?,
        };
        let (mut memory, mut transaction) = latest(directory, &model)?;
        replay(&ledger, &model, &mut memory, &mut transaction, &Watch::default())?;
        Ok(Reader { model, tokenizer, memory, transaction })
    }

    /// What the model is.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Its memory.
    pub fn memory(&self) -> &Engine {
        &self.memory
    }

    /// The last transaction that it contains.
    pub fn transaction(&self) -> u64 {
        self.transaction
    }

    /// Continues a prompt by the most probable tokens, up to the end of a document.
    pub fn complete(&self, prompt: &str, tokens: usize) -> Result<String, Error> {
        complete(&self.memory, &self.tokenizer, prompt, tokens)
    }
}
