//! The store: a model directory open for writing.

mod additions;
mod backup;
mod edit;
mod export;
mod forget;
mod freeze;
mod knowledge;
mod memorize;
mod merge;
mod passage;
mod portions;
mod rebuild;
mod remember;
mod rollback;
#[cfg(test)]
mod tests;
mod together;
mod transaction;

pub use self::additions::{AddedGraph, AddedRules};
pub use self::edit::EditReport;
pub use self::forget::Receipt;
pub use self::freeze::FreezeReport;
pub use self::knowledge::OWN_GRAPH;
pub use self::memorize::{MemorizeReport, NewDocument};
pub use self::merge::{Conflict, MergeReport, RenamedDocument};
pub use self::rebuild::RebuildReport;
pub use self::remember::{KnownPlace, RememberOutcome, RememberReport, SOURCE_LABEL};
pub use self::together::Together;
pub use self::transaction::ChangeReport;

use crate::checkpoint;
use crate::config::{ModelConfig, NewModel};
use crate::error::Error;
use crate::files;
use crate::ledger::Ledger;
use crate::lexicon;
use crate::lock::{SnapshotLock, WriterLock};
use crate::memory::{Blueprint, CheckpointFile, MemoryUpdate, NewContents, load, open, replay};
use crate::progress::{Observer, Progress};
use crate::snapshot::{CHUNK, MemoryState, Snapshot};
use memo::sparse::Memory;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Tokens that opening may have to write again before it is felt. With more, closing and opening write a checkpoint.
const FELT: u64 = 500_000;

/// A model open for writing; there is one of these at a time. It dereferences to the [`Snapshot`] that is about to change.
pub struct Store {
    snapshot: Snapshot,
    /// Positions written since the last checkpoint.
    pending: u64,
    /// Bytes of a memory that are made at once, if there are many more.
    chunk: usize,
    observer: Observer,
    /// When transactions wait for the disk.
    disk: WaitsForDisk,
    lock: WriterLock,
}

/// When transactions wait until the disk has them.
#[derive(Default)]
enum WaitsForDisk {
    /// Each when it is made.
    #[default]
    Each,
    /// All at their end.
    Together,
    /// They would have at their end, but the disk refused one.
    Refused(Error),
}

impl Store {
    /// Makes a model where nothing is yet.
    pub fn create(directory: &Path, new: &NewModel) -> Result<Self, Error> {
        let config = new.config()?;
        files::create_directory(directory, |beside| write_new(beside, &config, new))?;
        Self::open(directory)
    }

    /// Makes a model where nothing is yet, with all that `fill` puts into it, or none at all.
    pub fn create_filled<T, E: From<Error>>(
        directory: &Path,
        new: &NewModel,
        fill: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let config = new.config()?;
        files::create_directory(directory, |beside| {
            write_new(beside, &config, new)?;
            let mut store = Self::open(beside)?;
            let filled = fill(&mut store)?;
            store.close()?;
            Ok(filled)
        })
    }

    /// Opens a model for writing. Finishes a forget that was interrupted. A process that has the model and lets others use it, as
    /// `memo mcp` does, is asked to hand it over.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let lock = WriterLock::acquire;
        Self::open_with(directory, lock, |blueprint| newest(directory, blueprint))
    }

    /// Opens a model for writing if no other process does; nobody is asked to hand it over.
    pub fn open_if_free(directory: &Path) -> Result<Self, Error> {
        let lock = WriterLock::acquire_if_free;
        Self::open_with(directory, lock, |blueprint| newest(directory, blueprint))
    }

    /// Tells other processes at which socket they can use the model, or ask for it ([`handover`](crate::handover)).
    pub fn announce(&self, socket: &Path) {
        self.lock.announce(Some(socket));
    }

    /// Opens a model for writing without reading its checkpoint, which may be damaged: the memory is made again from
    /// the ledger, and a new checkpoint written.
    pub fn open_anew(directory: &Path) -> Result<Self, Error> {
        let empty = |blueprint: &Blueprint| Ok((blueprint.empty()?, 0));
        let mut store = Self::open_with(directory, WriterLock::acquire, empty)?;
        store.checkpoint()?;
        Ok(store)
    }

    fn open_with(
        directory: &Path,
        lock: impl FnOnce(&Path) -> Result<WriterLock, Error>,
        memory: impl FnOnce(&Blueprint) -> Result<(Memory, u64), Error>,
    ) -> Result<Self, Error> {
        if ModelConfig::read(directory)?.frozen {
            return Err(Error::Frozen { path: directory.to_owned() });
        }
        let lock = lock(directory)?;
        // Another writer may have brought it to today's format until now.
        let config = ModelConfig::read(directory)?;
        let upgraded = config.upgrade(directory)?;
        files::remove_unfinished(directory)?;
        lexicon::remove_others(directory, &config.memory)?;
        let tokenizer = config.tokenizer(directory)?;
        let ledger = Ledger::open(directory)?;
        let lexicon = lexicon::read(directory, &config.memory)?;
        let blueprint = Blueprint::new(&config, &tokenizer, lexicon);
        let (memory, transaction) = memory(&blueprint)?;
        let mut store = Store {
            snapshot: Snapshot {
                directory: directory.to_owned(),
                config,
                tokenizer,
                blueprint,
                ledger: Some(ledger),
                memory: MemoryState::Ready(Box::new(memory)),
                knowledge: OnceLock::new(),
                transaction,
            },
            pending: 0,
            chunk: CHUNK,
            observer: Observer::default(),
            disk: WaitsForDisk::default(),
            lock,
        };
        store.catch_up()?;
        store.finish_forgets()?;
        // A full disk must not keep a sound model from being opened.
        let _ = if upgraded { store.checkpoint() } else { store.checkpoint_if(FELT) };
        Ok(store)
    }

    /// Brings the memory up to the ledger's last transaction.
    fn catch_up(&mut self) -> Result<(), Error> {
        let from = self.snapshot.transaction;
        if from == 0 {
            // Where there is no room for a checkpoint there may be enough memory.
            if let Ok(Some(made)) = self.rebuild_by_chunks() {
                self.set_memory(made);
                return Ok(());
            }
        }
        let ledger = self.ledger()?.pinned()?;
        let observer = self.observer.clone();
        let blueprint = self.blueprint.clone();
        match replay(&ledger, &blueprint, self.memory_mut()?, from, &observer) {
            Ok((last, written)) => (self.snapshot.transaction, self.pending) = (last, written),
            // What is damaged can be forgotten; nothing else can change.
            Err(error) => {
                self.snapshot.memory = MemoryState::Unmade(error.damaged_tokens()?);
                self.snapshot.transaction = ledger.last()?;
            }
        }
        Ok(())
    }

    /// A new memory of all live documents, in a checkpoint that is put in its place, if it is better made chunk by chunk.
    fn rebuild_by_chunks(&self) -> Result<Option<(Memory, u64)>, Error> {
        let (ledger, blueprint) = (self.ledger()?, &self.blueprint);
        let new = NewContents::new();
        let live = MemoryUpdate::of_live(ledger, blueprint, &new, [], &self.observer)?;
        if !checkpoint::is_large(&live, self.chunk) {
            return Ok(None);
        }
        let last = ledger.last()?;
        let path = self.directory.join(checkpoint::name(last));
        let beside =
            checkpoint::write_chunks(&path, blueprint, last, &live, self.chunk, &self.observer)?;
        let lock = SnapshotLock::exclusive(&self.directory)?;
        let path = checkpoint::publish(&self.directory, &beside, last)?;
        drop(lock);
        Ok(Some((open(&path, blueprint)?, last)))
    }

    /// Makes a memory of more than twice as many bytes in chunks of this size when much text comes. Half a GiB by default.
    pub fn set_chunk(&mut self, bytes: usize) {
        self.chunk = bytes.max(1 << 16);
    }

    /// Reports the progress of long work to a callback, which may stop it by [`ControlFlow::Break`]: nothing has changed
    /// then.
    pub fn observe(
        &mut self,
        callback: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
    ) {
        self.observer = Observer::new(callback);
    }

    /// The model as it is now, for readers that must not wait while it changes. It shares all of the memory that does not change
    /// afterwards.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let ledger = self.ledger()?.pinned()?;
        Ok(Snapshot {
            directory: self.directory.clone(),
            config: self.config.clone(),
            tokenizer: self.tokenizer.clone(),
            blueprint: self.blueprint.clone(),
            ledger: Some(ledger),
            memory: MemoryState::Ready(Box::new(self.memory()?.clone())),
            knowledge: self.knowledge.clone(),
            transaction: self.transaction,
        })
    }

    /// The ledger, which every model that can be changed has.
    fn ledger(&self) -> Result<&Ledger, Error> {
        self.snapshot.ledger("documents")
    }

    fn memory_mut(&mut self) -> Result<&mut Memory, Error> {
        self.snapshot.memory()?;
        match &mut self.snapshot.memory {
            MemoryState::Ready(memory) => Ok(memory),
            MemoryState::Lost(reason) => Err(Error::Invalid(reason.clone())),
            MemoryState::Unmade(damage) => Err(Error::Invalid(damage.to_string())),
        }
    }

    /// Takes another memory in place of its own, which is that of a checkpoint.
    fn set_memory(&mut self, (memory, transaction): (Memory, u64)) {
        self.snapshot.memory = MemoryState::Ready(Box::new(memory));
        (self.snapshot.transaction, self.pending) = (transaction, 0);
    }

    /// Notes that the memory is not what the ledger says any more, and gives the error that says so.
    fn lose_memory(&mut self, error: &Error) -> Error {
        let reason = error.to_string();
        self.snapshot.memory = MemoryState::Lost(reason.clone());
        self.snapshot.lost(&reason)
    }

    /// Writes a checkpoint, and removes older ones.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        let path = self.directory.join(checkpoint::name(self.transaction));
        let memory = self.memory()?;
        let beside = checkpoint::write(&path, memory, self.transaction, &self.observer)?;
        self.publish_checkpoint(&beside)
    }

    /// Writes a checkpoint beside its place, and copies from the newest one that is there what has not changed since; gives its
    /// path. Entries that are copied are not checked, and stay as damaged as they were.
    fn write_next_checkpoint(&self) -> Result<PathBuf, Error> {
        let path = self.directory.join(checkpoint::name(self.transaction));
        let (memory, observer) = (self.memory()?, &self.observer);
        match checkpoint::list(&self.directory)?.first() {
            Some((_, older)) => {
                checkpoint::write_over(&path, memory, self.transaction, older, observer)
            }
            None => checkpoint::write(&path, memory, self.transaction, observer),
        }
    }

    /// Puts a checkpoint that was written beside its place there, and removes older ones.
    fn publish_checkpoint(&mut self, beside: &Path) -> Result<(), Error> {
        let _lock = SnapshotLock::exclusive(&self.directory)?;
        checkpoint::publish(&self.directory, beside, self.transaction)?;
        self.pending = 0;
        Ok(())
    }

    /// Writes a checkpoint if opening without it would be felt. Dropping a store does the same, but cannot say if that
    /// fails; nothing acknowledged is lost either way.
    pub fn close(mut self) -> Result<(), Error> {
        self.checkpoint_if(FELT)
    }

    /// Closes the model and writes nothing: for a model whose directory was removed or replaced, or whose memory is not to be trusted. Nothing
    /// acknowledged is lost, because that is in the ledger.
    pub fn discard(mut self) {
        self.pending = 0;
    }

    fn checkpoint_if(&mut self, tokens: u64) -> Result<(), Error> {
        if self.pending > tokens { self.checkpoint() } else { Ok(()) }
    }
}

impl Deref for Store {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Without it, opening takes longer; that is all. A panic may have left the memory in the middle of something.
        if !std::thread::panicking() {
            let _ = self.checkpoint_if(FELT);
        }
    }
}

/// The memory of the newest checkpoint that can be read.
fn newest(directory: &Path, blueprint: &Blueprint) -> Result<(Memory, u64), Error> {
    load(CheckpointFile::list(directory)?, blueprint)
}

/// Writes the files of an empty model.
fn write_new(directory: &Path, config: &ModelConfig, new: &NewModel) -> Result<(), Error> {
    write_tokenizer(directory, &new.tokenizer)?;
    lexicon::write(directory, new.lexicon.as_deref())?;
    Ledger::create(directory)?;
    config.write(directory)
}

/// Writes the tokenizer if it does not come with the program.
fn write_tokenizer(directory: &Path, tokenizer: &memo_text::Tokenizer) -> Result<(), Error> {
    match tokenizer.to_json()? {
        Some(json) => files::write_bytes(&directory.join("tokenizer.json"), json.as_bytes()),
        None => Ok(()),
    }
}
