//! Changes that reach the disk together.
//!
//! A short text is memorized in a moment; that the disk has it takes much longer. Of transactions that are made together, each is recorded by
//! itself and in order, and the disk is waited for once, after the last. Until then none of them has happened for whoever opens the model,
//! and none may be acknowledged.

use super::memorize::{MemorizeReport, NewDocument};
use super::remember::RememberReport;
use super::transaction::PATIENCE;
use super::{Store, WaitsForDisk};
use crate::error::Error;
use crate::knowledge::Knowledge;
use crate::snapshot::{MemoryState, Snapshot};
use memo::sparse::Memory;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A model that texts are added to, whose transactions may have to wait for others before they are on the disk. It dereferences to the
/// [`Snapshot`] that is about to change.
pub struct Together<'a>(&'a mut Store);

impl Together<'_> {
    /// Memorizes documents in one transaction, as [`Store::memorize`] does.
    pub fn memorize(
        &mut self,
        documents: impl IntoIterator<Item = NewDocument>,
        reason: Option<&str>,
    ) -> Result<MemorizeReport, Error> {
        self.0.memorize(documents, reason)
    }

    /// Memorizes a text unless it is known already, as [`Store::remember`] does.
    pub fn remember(
        &mut self,
        text: &str,
        labels: impl IntoIterator<Item = (String, String)>,
        reason: Option<&str>,
    ) -> Result<RememberReport, Error> {
        self.0.remember(text, labels, reason)
    }
}

impl Deref for Together<'_> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        self.0
    }
}

/// What a store has to go back to.
struct Before {
    memory: Memory,
    knowledge: OnceLock<Option<Arc<Knowledge>>>,
    transaction: u64,
    pending: u64,
}

impl Store {
    /// Makes changes, each in transactions of its own, and waits for the disk once for all. When this returns, all that they did is on the
    /// disk. If the disk refuses, that is an error for all, and the model is as it was.
    ///
    /// ```
    /// # use memo_store::{NewDocument, NewModel, Store, Together};
    /// # let home = tempfile::tempdir()?;
    /// # let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
    /// let texts = ["The owl reads at night.", "The cat sleeps all day."];
    /// let memorize = |text| move |store: &mut Together<'_>| store.memorize([NewDocument::text(text)], None);
    /// let reports = store.make_together(texts.map(memorize))?;
    /// assert_eq!(reports[1].as_ref().unwrap().transaction, Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn make_together<T, F: FnOnce(&mut Together<'_>) -> T>(
        &mut self,
        changes: impl IntoIterator<Item = F>,
    ) -> Result<Vec<T>, Error> {
        let changes: Vec<F> = changes.into_iter().collect();
        // One by itself need not be able to go back: it takes out again what it wrote.
        if changes.len() == 1 {
            return Ok(changes.into_iter().map(|change| change(&mut Together(self))).collect());
        }
        self.together(|store| {
            changes.into_iter().map(|change| change(&mut Together(store))).collect()
        })
    }

    /// Makes changes whose transactions are recorded one by one, and waits for the disk at their end. They write no checkpoint: that would be
    /// of transactions that the disk may not have.
    pub(super) fn together<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Result<T, Error> {
        let before = Before {
            memory: self.memory()?.clone(),
            knowledge: self.snapshot.knowledge.clone(),
            transaction: self.transaction,
            pending: self.pending,
        };
        self.disk = WaitsForDisk::Together;
        let mut made = Making(self);
        let done = make(made.0);
        let written = made.write(before.transaction);
        drop(made);
        if let Err(error) = written {
            self.go_back(before);
            return Err(error);
        }
        // The transactions are done, whether there is room for a checkpoint or not.
        let _ = self.checkpoint_if(PATIENCE);
        Ok(done)
    }

    /// Goes back to what was before, or to what the disk has, after it refused something.
    fn go_back(&mut self, Before { memory, knowledge, transaction, pending }: Before) {
        if let Some(ledger) = &mut self.snapshot.ledger {
            ledger.reopen();
        }
        self.snapshot.memory = MemoryState::Ready(Box::new(memory));
        (self.snapshot.transaction, self.pending) = (transaction, pending);
        self.snapshot.knowledge = knowledge;
        self.follow_disk();
    }
}

/// A store while changes are made together. However that ends, later ones wait for the disk again.
struct Making<'a>(&'a mut Store);

impl Making<'_> {
    /// Waits until the disk has what was recorded after a transaction.
    fn write(&mut self, after: u64) -> Result<(), Error> {
        match std::mem::take(&mut self.0.disk) {
            WaitsForDisk::Refused(error) => Err(error),
            _ if self.0.transaction == after => Ok(()),
            _ => self.0.ledger()?.sync(),
        }
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.disk = WaitsForDisk::default();
    }
}
