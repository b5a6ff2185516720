//! Transactions: the one way in which a model changes.
//!
//! A [`TransactionBuilder`] collects what is to change and hands out the numbers of documents, versions and the transaction
//! itself; [`Store::commit`] makes it so. What must happen in which order stands there and nowhere else:
//!
//! - Usually the memory comes first, which takes long and can be undone exactly, then the ledger, in an instant. Until the
//!   ledger has it, nothing has happened.
//! - Much text into a large memory: a checkpoint is made chunk by chunk beside its place, then the ledger, then the
//!   checkpoint is put in place. If that fails, opening the model does it again.
//! - A forget is recorded first, because one that was begun is finished whatever happens; then the memory follows. Then
//!   [`Store::finish_forgets`] writes a checkpoint, and a ledger without the text.

use super::portions::is_empty;
use super::{Store, WaitsForDisk};
use crate::checkpoint;
use crate::error::Error;
use crate::knowledge::{Contents, KnowledgeChange};
use crate::ledger::{Commit, Content, Ledger};
use crate::lock::SnapshotLock;
use crate::memory::{Failure, MemoryUpdate, NewContents, open};
use crate::progress::Observer;
use crate::record::{
    DocumentRecord, ForgottenVersion, OpRecord, Place, TransactionKind, TransactionRecord,
    VersionRecord,
};
use crate::snapshot::MemoryState;
use crate::time::Timestamp;
use memo::sparse::{Digest, Memory};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Tokens after which a checkpoint is written at once: writing them again would take several seconds.
pub(super) const PATIENCE: u64 = 10_000_000;

/// A change of documents that were there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ChangeReport {
    /// The transaction.
    pub transaction: u64,
    /// What kind of change it is.
    pub kind: TransactionKind,
    /// The documents that changed, by name.
    pub documents: Vec<String>,
    /// The digest of the memory afterwards.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_after: Digest,
}

/// What a transaction is to change.
pub(super) struct TransactionBuilder {
    /// The number that the transaction will have.
    pub(super) id: u64,
    kind: TransactionKind,
    reason: Option<String>,
    next_number: u64,
    changes: Vec<Change>,
    /// The transaction that this one rolls back.
    pub(super) undoes: Option<u64>,
    /// Earlier transactions that change: those that are rolled back.
    pub(super) earlier: Vec<TransactionRecord>,
    /// What a forget takes away.
    pub(super) forgotten: Vec<ForgottenVersion>,
    pub(super) scrub: Vec<(u64, u32)>,
    pub(super) scrub_texts: Vec<String>,
}

/// A document as it will be, where it was, and its content if that is new.
struct Change {
    document: DocumentRecord,
    before: Option<Place>,
    content: Option<Content>,
}

/// Another memory that is added to ours, instead of writing its documents again.
pub(super) struct Addition<'a> {
    pub(super) memory: &'a Memory,
    /// What is in it, or in ours, and must not be afterwards.
    pub(super) without: Vec<Content>,
    /// Positions of the documents that come.
    pub(super) positions: u64,
    /// Nobody else changes the files that it is mapped from, so an empty memory can become it as it is.
    pub(super) takes_over: bool,
}

impl Addition<'_> {
    /// Adds it; gives the number of positions that came.
    fn add_to(&self, ours: &mut Memory) -> Result<u64, Failure> {
        let untouched = |error: memo::sparse::Error| Failure { error: error.into(), undone: true };
        if self.takes_over && is_empty(ours) {
            *ours = self.memory.clone();
        } else {
            ours.merge(self.memory).map_err(untouched)?;
        }
        let without: Vec<_> = self.without.iter().flat_map(|content| content.spans(-1)).collect();
        let taken_out = ours.write(&without);
        taken_out.map_err(|error| Failure { error: error.into(), undone: false })?;
        Ok(self.positions)
    }
}

impl TransactionBuilder {
    /// A document that was never here.
    pub(super) fn new_document(&mut self, id: String) -> DocumentRecord {
        let number = self.next_number;
        self.next_number += 1;
        let (labels, versions) = (BTreeMap::new(), Vec::new());
        DocumentRecord { id, number, labels, versions, place: None }
    }

    /// Gives a document a new version, which counts from then on. It is live unless the document is retired and
    /// `stays` so.
    pub(super) fn add_version(
        &mut self,
        mut document: DocumentRecord,
        content: Content,
        digest: String,
        stays: bool,
    ) {
        let before = document.place;
        let number = document.versions.last().map_or(1, |version| version.number + 1);
        document.versions.push(VersionRecord {
            number,
            time: Timestamp::now().0,
            tokens: content.tokens(),
            digest,
            transaction: self.id,
            parts: content.parts.iter().map(|part| part.len() as u64).collect(),
            role: content.role,
            forgotten: None,
        });
        let live = !stays || before.is_some_and(|place| place.live);
        document.place = Some(Place { version: number, live });
        self.changes.push(Change { document, before, content: Some(content) });
    }

    /// Moves a document to another place.
    pub(super) fn move_to(&mut self, mut document: DocumentRecord, place: Option<Place>) {
        let before = std::mem::replace(&mut document.place, place);
        self.changes.push(Change { document, before, content: None });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether a document of this name is among those that change.
    pub(super) fn has(&self, id: &str) -> bool {
        self.changes.iter().any(|change| change.document.id == id)
    }

    /// The documents that change.
    pub(super) fn documents_mut(&mut self) -> impl Iterator<Item = &mut DocumentRecord> {
        self.changes.iter_mut().map(|change| &mut change.document)
    }

    /// The names of the documents that change, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.changes.iter().map(|change| change.document.id.clone());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Tokens that leave the memory.
    pub(super) fn tokens_leaving(&self) -> u64 {
        let leaving = self.changes.iter().map(|change| {
            let tokens = |place: Option<Place>| {
                let version = change.document.version(place.filter(|place| place.live)?.version)?;
                Some(version.tokens)
            };
            let before = tokens(change.before).unwrap_or(0);
            before.saturating_sub(tokens(change.document.place).unwrap_or(0))
        });
        leaving.sum()
    }

    fn moves(&self) -> impl Iterator<Item = (&DocumentRecord, Option<Place>)> {
        self.changes.iter().map(|change| (&change.document, change.before))
    }

    fn all_moves(&self) -> Vec<(&DocumentRecord, Option<Place>)> {
        self.moves().collect()
    }

    fn record(&self) -> TransactionRecord {
        let ops = self.moves().map(|(document, before)| OpRecord {
            document: document.id.clone(),
            number: document.number,
            before,
            after: document.place,
        });
        TransactionRecord {
            id: self.id,
            time: Timestamp::now().0,
            kind: self.kind,
            reason: self.reason.clone(),
            ops: ops.collect(),
            undoes: self.undoes,
            undone_by: None,
            forgotten: self.forgotten.clone(),
            scrub: self.scrub.clone(),
            scrub_texts: self.scrub_texts.clone(),
        }
    }

    /// New contents: document number, version, content.
    fn contents(&self) -> Vec<(u64, u32, &Content)> {
        let contents = self.changes.iter().filter_map(|Change { document, content, .. }| {
            let version = document.versions.last()?;
            Some((document.number, version.number, content.as_ref()?))
        });
        contents.collect()
    }
}

impl Store {
    /// Begins a transaction. Nothing changes before it is committed.
    pub(super) fn begin(
        &mut self,
        kind: TransactionKind,
        reason: Option<&str>,
    ) -> Result<TransactionBuilder, Error> {
        self.check_memory(kind)?;
        if let Some(ledger) = &mut self.snapshot.ledger {
            ledger.reopen_to_write();
        }
        Ok(TransactionBuilder {
            id: self.transaction + 1,
            kind,
            reason: reason.map(str::to_owned),
            next_number: self.ledger()?.next_number()?,
            changes: Vec::new(),
            undoes: None,
            earlier: Vec::new(),
            forgotten: Vec::new(),
            scrub: Vec::new(),
            scrub_texts: Vec::new(),
        })
    }

    /// Makes a transaction: all of it, or nothing.
    pub(super) fn commit(&mut self, change: &TransactionBuilder) -> Result<(), Error> {
        self.commit_adding(change, None)
    }

    /// Makes a transaction. All that it does to the memory may be done by adding another memory to it.
    pub(super) fn commit_adding(
        &mut self,
        change: &TransactionBuilder,
        addition: Option<Addition<'_>>,
    ) -> Result<(), Error> {
        let done = self.try_commit(change, addition);
        if done.is_err() {
            self.follow_disk();
        }
        done
    }

    /// Makes the memory that of the ledger, where the disk has more than it said when it refused a transaction.
    pub(super) fn follow_disk(&mut self) {
        let (transaction, pending) = (self.transaction, self.pending);
        let lost = matches!(self.snapshot.memory, MemoryState::Lost(_));
        if !lost && self.ledger().and_then(Ledger::last).is_ok_and(|last| last > transaction) {
            self.snapshot.knowledge = OnceLock::new();
            if let Err(error) = self.catch_up() {
                self.lose_memory(&error);
            }
            self.pending += pending;
        }
    }

    fn try_commit(
        &mut self,
        change: &TransactionBuilder,
        addition: Option<Addition<'_>>,
    ) -> Result<(), Error> {
        self.check_memory(change.kind)?;
        let record = change.record();
        let contents = change.contents();
        let new: NewContents<'_> =
            contents.iter().map(|(n, version, content)| ((*n, *version), *content)).collect();
        let documents: Vec<&DocumentRecord> =
            change.moves().map(|(document, _)| document).collect();
        let commit = Commit {
            transaction: &record,
            documents: &documents,
            contents: &contents,
            earlier: &change.earlier,
        };
        if change.kind == TransactionKind::Forget {
            let anew = self.memory_without_damaged(change, &new)?;
            if let Some(memory) = anew {
                self.record_commit(&commit)?;
                self.snapshot.knowledge = OnceLock::new();
                self.set_memory((memory, change.id));
                return Ok(());
            }
            let knowledge = self.knowledge_after(change, &new)?;
            self.record_commit(&commit)?;
            let written = self.update(change, &new, &knowledge, &Observer::default());
            self.pending += written.map_err(|failure| self.lose_memory(&failure.error))?;
            self.snapshot.knowledge = OnceLock::from(knowledge.after);
            self.snapshot.transaction = change.id;
            return Ok(());
        }
        let knowledge = self.knowledge_after(change, &new)?;
        match addition {
            None => {
                if let Some(beside) = self.write_large(change, &new, &knowledge)? {
                    self.commit_large(&commit, &beside)?;
                    self.snapshot.knowledge = OnceLock::from(knowledge.after);
                    return Ok(());
                }
                let observer = self.observer.clone();
                let written = self.update(change, &new, &knowledge, &observer);
                self.pending += written.map_err(|failure| self.failed(failure))?;
            }
            Some(addition) => {
                let written = addition.add_to(self.memory_mut()?);
                self.pending += written.map_err(|failure| self.failed(failure))?;
            }
        }
        if let Err(error) = self.record_commit(&commit) {
            let undone = self.undo(change, &new, &knowledge);
            return Err(self.failed(Failure { error, undone: undone.is_ok() }));
        }
        self.snapshot.knowledge = OnceLock::from(knowledge.after);
        self.snapshot.transaction = change.id;
        if matches!(self.disk, WaitsForDisk::Each) {
            // The transaction is done, whether there is room for a checkpoint or not.
            let _ = self.checkpoint_if(PATIENCE);
        }
        Ok(())
    }

    /// Refuses to change a memory that is not there. A forget may bring it back, by taking away the documents that are damaged.
    fn check_memory(&self, kind: TransactionKind) -> Result<(), Error> {
        match (&self.snapshot.memory, kind) {
            (MemoryState::Unmade(_), TransactionKind::Forget) => Ok(()),
            _ => self.memory().map(drop),
        }
    }

    /// The memory after a forget of documents whose tokens are damaged, and so cannot be subtracted: one that is made of all
    /// other documents. `None` if they can be.
    fn memory_without_damaged(
        &self,
        change: &TransactionBuilder,
        new: &NewContents<'_>,
    ) -> Result<Option<Memory>, Error> {
        let ledger = self.ledger()?;
        let sound = |(document, place): (&DocumentRecord, Option<Place>)| {
            let version = place.filter(|place| place.live).map(|place| place.version);
            let version = version.and_then(|version| document.version(version));
            version.is_none_or(|version| ledger.content(document, version).is_ok())
        };
        if matches!(self.snapshot.memory, MemoryState::Ready(_)) && change.moves().all(sound) {
            return Ok(None);
        }
        let documents = change.moves().map(|(document, _)| document);
        let others =
            MemoryUpdate::of_live(ledger, &self.blueprint, new, documents, &self.observer)?;
        let mut memory = self.blueprint.empty()?;
        others.apply(&mut memory, &self.observer).map_err(|failure| failure.error)?;
        Ok(Some(memory))
    }

    /// Adds a transaction to the ledger. If that fails, as on a full disk, the model can still be read.
    fn record_commit(&mut self, commit: &Commit<'_>) -> Result<(), Error> {
        match self.disk {
            WaitsForDisk::Each => {
                let recorded = self.ledger()?.commit(commit);
                if let (Err(_), Some(ledger)) = (&recorded, &mut self.snapshot.ledger) {
                    ledger.reopen();
                }
                recorded
            }
            WaitsForDisk::Together => {
                let recorded = self.ledger()?.commit_unsynced(commit);
                // Those before it have not reached the disk either: all of them go back together.
                recorded.map_err(|error| {
                    self.disk = WaitsForDisk::Refused(error);
                    Error::Stopped
                })
            }
            WaitsForDisk::Refused(_) => Err(Error::Stopped),
        }
    }

    /// What a transaction does to what is known by rule.
    fn knowledge_after(
        &self,
        change: &TransactionBuilder,
        new: &NewContents<'_>,
    ) -> Result<KnowledgeChange, Error> {
        let contents = Contents { ledger: self.ledger()?, new };
        let (known, observer) = (self.known()?, &self.observer);
        KnowledgeChange::of_moves(known, contents, &self.blueprint, &change.all_moves(), observer)
    }

    /// Makes a transaction's changes in the memory; gives the number of positions that they took.
    fn update(
        &mut self,
        change: &TransactionBuilder,
        new: &NewContents<'_>,
        knowledge: &KnowledgeChange,
        observer: &Observer,
    ) -> Result<u64, Failure> {
        let untouched = |error| Failure { error, undone: true };
        let ledger = self.ledger().and_then(Ledger::pinned).map_err(untouched)?;
        let update = MemoryUpdate::of_moves(&ledger, new, change.moves()).map_err(untouched)?;
        let update = update.with_knowledge(knowledge, &self.blueprint).map_err(untouched)?;
        update.apply(self.memory_mut().map_err(untouched)?, observer)
    }

    /// Takes a transaction's changes out of the memory again.
    fn undo(
        &mut self,
        change: &TransactionBuilder,
        new: &NewContents<'_>,
        knowledge: &KnowledgeChange,
    ) -> Result<u64, Error> {
        let ledger = self.ledger()?.pinned()?;
        let update = MemoryUpdate::of_moves(&ledger, new, change.moves())?;
        let update = update.with_knowledge(knowledge, &self.blueprint)?.inverse();
        let undone = update.apply(self.memory_mut()?, &Observer::default());
        undone.map_err(|failure| failure.error)
    }

    /// The checkpoint of a transaction that brings much text into a large memory, beside its place.
    fn write_large(
        &self,
        change: &TransactionBuilder,
        new: &NewContents<'_>,
        knowledge: &KnowledgeChange,
    ) -> Result<Option<PathBuf>, Error> {
        use crate::checkpoint::Texts;
        let (ledger, blueprint) = (self.ledger()?, &self.blueprint);
        let coming = MemoryUpdate::of_moves(ledger, new, change.moves())?;
        let coming = coming.with_knowledge(knowledge, blueprint)?;
        let together = !matches!(self.disk, WaitsForDisk::Each);
        if together || !checkpoint::is_large(&coming, self.chunk) {
            return Ok(None);
        }
        let documents = change.moves().map(|(document, _)| document);
        let all = MemoryUpdate::of_live(ledger, blueprint, new, documents, &self.observer)?;
        // What is there already is made again too.
        if coming.positions() < all.positions() / 8 {
            return Ok(None);
        }
        let path = self.directory.join(checkpoint::name(change.id));
        let (chunk, observer) = (self.chunk, &self.observer);
        checkpoint::write_chunks(&path, blueprint, change.id, &all, chunk, observer).map(Some)
    }

    /// Records a transaction whose checkpoint is written, and puts that in place.
    fn commit_large(&mut self, commit: &Commit<'_>, beside: &Path) -> Result<(), Error> {
        if let Err(error) = self.record_commit(commit) {
            let _ = std::fs::remove_file(beside);
            return Err(error);
        }
        let id = commit.transaction.id;
        let publish = || {
            let _lock = SnapshotLock::exclusive(&self.directory)?;
            let path = checkpoint::publish(&self.directory, beside, id)?;
            open(&path, &self.blueprint)
        };
        match publish() {
            Ok(memory) => self.set_memory((memory, id)),
            // It is recorded: opening the model makes the memory again.
            Err(error) => return Err(self.lose_memory(&error)),
        }
        Ok(())
    }

    /// The error of a memory that could not be changed. If that was not undone, the memory is lost.
    fn failed(&mut self, Failure { error, undone }: Failure) -> Error {
        if undone { error } else { self.lose_memory(&error) }
    }

    /// What a transaction that was committed did.
    pub(super) fn report(&self, change: &TransactionBuilder) -> Result<ChangeReport, Error> {
        Ok(ChangeReport {
            transaction: change.id,
            kind: change.kind,
            documents: change.names(),
            digest_after: self.digest()?,
        })
    }
}
