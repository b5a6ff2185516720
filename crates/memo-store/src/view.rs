//! What can be read of a model: the same of a store that is open for writing and of a snapshot of it.

use crate::build::latest;
use crate::checkpoint;
use crate::damage::Damage;
use crate::engine::Engine;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::model::Model;
use crate::moves::replay;
use crate::record::{Document, Transaction};
use crate::store::{Store, complete};
use crate::watch::Watch;
use memo_text::Tokenizer;
use std::path::PathBuf;

/// A model as it is read. A [`Store`] is one that also changes; [`Store::snapshot`] gives one that does not.
pub struct View {
    pub(crate) directory: PathBuf,
    pub(crate) model: Model,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) ledger: Ledger,
    pub(crate) memory: Engine,
    /// The last transaction that the memory contains.
    pub(crate) applied: u64,
}

impl View {
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

    /// All documents that were ever here, by id.
    pub fn documents(&self) -> Result<Vec<Document>, Error> {
        self.ledger.documents()
    }

    /// One document.
    pub fn document(&self, id: &str) -> Result<Document, Error> {
        self.ledger.document(id)?.ok_or_else(|| Error::NoDocument(id.to_owned()))
    }

    /// The text of a document as it is now, or of one of its versions. Where text was cut out, parts are on lines of
    /// their own.
    pub fn text(&self, id: &str, version: Option<u32>) -> Result<String, Error> {
        let document = self.document(id)?;
        let state = |why: &str| Error::State { id: id.to_owned(), why: why.to_owned() };
        let number = version
            .or(document.place.map(|place| place.version))
            .ok_or_else(|| state("has no version now"))?;
        let version = document
            .versions
            .iter()
            .find(|version| version.number == number)
            .ok_or_else(|| state(&format!("has no version {number}")))?;
        if let Some(transaction) = version.forgotten {
            return Err(state(&format!("was forgotten in transaction {transaction}")));
        }
        let content = self.ledger.content(document.number, version)?;
        let parts: Vec<String> =
            content.parts.iter().map(|part| self.tokenizer.decode_lossy(part)).collect();
        Ok(parts.join("\n"))
    }

    /// All transactions, in order.
    pub fn log(&self) -> Result<Vec<Transaction>, Error> {
        self.ledger.transactions(0)
    }

    /// The transactions that changed a document, in order.
    pub fn trace(&self, id: &str) -> Result<Vec<Transaction>, Error> {
        let document = self.document(id)?;
        let touched = |t: &Transaction| t.ops.iter().any(|op| op.number == document.number);
        Ok(self.log()?.into_iter().filter(touched).collect())
    }

    /// Continues a prompt by the most probable tokens, up to the end of a document.
    pub fn complete(&self, prompt: &str, tokens: usize) -> Result<String, Error> {
        self.whole()?;
        complete(&self.memory, &self.tokenizer, prompt, tokens)
    }

    /// Refuses if the memory lacks a transaction that was recorded: cells that it touches turned out to be damaged.
    pub(crate) fn whole(&self) -> Result<(), Error> {
        if self.ledger.last()? == self.applied {
            return Ok(());
        }
        Err(self.lacking("its checkpoint is damaged"))
    }

    pub(crate) fn lacking(&self, why: impl std::fmt::Display) -> Error {
        let what = Damage::Behind(why.to_string());
        Error::Damaged { path: self.directory.clone(), what, help: checkpoint::HELP }
    }

    /// The last transaction that it contains.
    pub fn transaction(&self) -> u64 {
        self.applied
    }
}

impl Store {
    /// The model as it is now, for readers that must not wait while it changes. A memory in RAM is copied; one that is
    /// mapped from its checkpoint is mapped once more, and completed from the ledger.
    pub fn snapshot(&self) -> Result<View, Error> {
        self.whole()?;
        let View { directory, model, tokenizer, ledger, memory, applied } = &self.view;
        let ledger = ledger.pinned()?;
        let (memory, applied) = if let Some(memory) = memory.copied()? {
            (memory, *applied)
        } else {
            let (mut memory, mut transaction) = latest(directory, model)?;
            replay(&ledger, model, &mut memory, &mut transaction, &Watch::default())?;
            (memory, transaction)
        };
        let (directory, model, tokenizer) = (directory.clone(), model.clone(), tokenizer.clone());
        Ok(View { directory, model, tokenizer, ledger, memory, applied })
    }
}
