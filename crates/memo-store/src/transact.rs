//! Transactions: the one way in which a model changes.

use crate::checkpoint;
use crate::engine::{Engine, passages};
use crate::error::Error;
use crate::files;
use crate::ledger::{Changes, Content};
use crate::moves::{self, Failed, Known, Moves};
use crate::record::{Document, Kind, Op, Place, Transaction};
use crate::store::Store;
use crate::view::View;
use crate::watch::Watch;
use memo::sparse::Memory;
use std::path::PathBuf;

/// Tokens after which a checkpoint is written at once: writing them again would take several seconds.
const PATIENCE: u64 = 10_000_000;

/// What a document is to become, and its content if that is new.
pub(crate) struct Change {
    pub(crate) document: Document,
    pub(crate) before: Option<Place>,
    pub(crate) content: Option<Content>,
}

/// Another memory that is added to ours, instead of writing its documents again.
pub(crate) struct Sum<'a> {
    pub(crate) memory: &'a Memory,
    /// What is in it, or in ours, and must not be afterwards.
    pub(crate) without: Vec<Content>,
    /// Positions of the documents that come.
    pub(crate) positions: u64,
}

impl Sum<'_> {
    /// Adds it; tells how many positions that brought.
    fn add_to(&self, ours: &mut Engine) -> Result<u64, Failed> {
        let untouched = |error: Error| Failed { error, undone: true };
        let Engine::Sparse(ours) = ours else {
            return Err(untouched(Error::Engine("adding a memory")));
        };
        ours.own_cells().map_err(|error| untouched(error.into()))?;
        ours.merge(self.memory).map_err(|error| untouched(error.into()))?;
        let without: Vec<_> = self.without.iter().flat_map(|c| passages(c, -1)).collect();
        let taken_out = ours.write(&without);
        taken_out.map_err(|error| Failed { error: error.into(), undone: false })?;
        Ok(self.positions)
    }
}

impl Store {
    /// Records changes as one transaction, and makes them in the memory.
    pub(crate) fn transact(
        &mut self,
        kind: Kind,
        reason: Option<&str>,
        changes: Vec<Change>,
        complete: impl FnOnce(&mut Transaction, &mut Changes) -> Result<(), Error>,
    ) -> Result<Transaction, Error> {
        self.transact_with(kind, reason, changes, complete, None)
    }

    /// The same; all that the changes do to the memory may be done by adding another memory to it.
    pub(crate) fn transact_with(
        &mut self,
        kind: Kind,
        reason: Option<&str>,
        changes: Vec<Change>,
        complete: impl FnOnce(&mut Transaction, &mut Changes) -> Result<(), Error>,
        sum: Option<Sum<'_>>,
    ) -> Result<Transaction, Error> {
        self.whole()?;
        let id = self.view.applied + 1;
        let mut recorded = Changes::default();
        let mut ops = Vec::new();
        for Change { document, before, content } in changes {
            let number = document.number;
            ops.push(Op { document: document.id.clone(), number, before, after: document.place });
            if let (Some(content), Some(version)) = (content, document.versions.last()) {
                recorded.contents.push((number, version.number, content));
            }
            recorded.documents.push(document);
        }
        let mut transaction = Transaction {
            id,
            time: files::now(),
            kind,
            reason: reason.map(str::to_owned),
            ops,
            undoes: None,
            undone_by: None,
            forgotten: Vec::new(),
            scrub: Vec::new(),
            scrub_texts: Vec::new(),
        };
        complete(&mut transaction, &mut recorded)?;
        let contents = recorded.contents.iter();
        let known: Known<'_> =
            contents.map(|(number, version, content)| ((*number, *version), content)).collect();
        if kind == Kind::Forget || !self.view.memory.exact() {
            // A forget that was begun is finished whatever happens, and a memory of floats can only be made anew.
            self.view.ledger.commit(&transaction, &recorded)?;
            let Store { view: View { ledger, model, memory, .. }, watch, .. } = self;
            let watch = if kind == Kind::Forget { &Watch::default() } else { &*watch };
            let written = moves::apply(ledger, model, memory, &transaction.ops, &known, watch)
                .map_err(|failed| self.lacking(failed.error))?;
            self.pending += written;
            self.view.applied = id;
            return Ok(transaction);
        }
        let large = match sum {
            Some(_) => None,
            None => self.record_large(&transaction, &recorded, &known)?,
        };
        if let Some(beside) = large {
            drop(recorded);
            // It is recorded: if what follows fails, opening the model does it again.
            let made = self.in_place(&beside);
            (self.view.memory, self.view.applied) = made.map_err(|error| self.lacking(error))?;
            self.pending = 0;
            return Ok(transaction);
        }
        // First the memory, which takes long; then the ledger, in an instant. Until then nothing has happened.
        let Store { view: View { ledger, model, memory, .. }, watch, .. } = self;
        let written = match sum {
            Some(sum) => sum.add_to(memory),
            None => moves::apply(ledger, model, memory, &transaction.ops, &known, watch),
        };
        let written = written.map_err(|failed| self.failed(failed))?;
        if let Err(error) = self.view.ledger.commit(&transaction, &recorded) {
            let inverse: Vec<Op> = transaction.ops.iter().map(Op::inverse).collect();
            let View { ledger, model, memory, .. } = &mut self.view;
            let undone = moves::apply(ledger, model, memory, &inverse, &known, &Watch::default());
            return Err(self.failed(Failed { error, undone: undone.is_ok() }));
        }
        self.pending += written;
        self.view.applied = id;
        // The transaction is done, whether there is room for a checkpoint or not.
        let _ = self.checkpoint_if(PATIENCE);
        Ok(transaction)
    }

    /// Records a transaction if it brings much text into a large memory, and gives the checkpoint with it, which is still
    /// beside its place.
    fn record_large(
        &self,
        transaction: &Transaction,
        recorded: &Changes,
        known: &Known<'_>,
    ) -> Result<Option<PathBuf>, Error> {
        let Some(settings) = self.view.model.sparse() else { return Ok(None) };
        let coming = Moves::new(&self.view.ledger, &transaction.ops[..], known)?;
        if !self.is_large(settings, &coming) {
            return Ok(None);
        }
        let all = Moves::all_live(&self.view.ledger, &transaction.ops, known)?;
        // What is there already is made again too.
        if coming.positions() < all.positions() / 8 {
            return Ok(None);
        }
        let path = self.directory.join(checkpoint::name(transaction.id));
        let (piece, watch) = (self.piece, &self.watch);
        let beside = all.write_pieces(&path, settings, transaction.id, piece, watch)?;
        if let Err(error) = self.view.ledger.commit(transaction, recorded) {
            let _ = std::fs::remove_file(&beside);
            return Err(error);
        }
        Ok(Some(beside))
    }

    /// What to say of moves that were not made. If they were not undone either, the memory is of no use any more.
    fn failed(&mut self, Failed { error, undone }: Failed) -> Error {
        if undone {
            return error;
        }
        self.view.applied = u64::MAX;
        self.lacking(error)
    }
}
