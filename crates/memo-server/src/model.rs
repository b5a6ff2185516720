//! The model that all requests share: any number of readers, one change at a time.
//!
//! Readers hold a lock for some milliseconds. A short change takes its turn between them. Before a long change a snapshot
//! is made, which readers use until the change is done; so they never wait for it, and never see half of it.

use crate::error::{ApiError, ErrorCode};
use memo_store::{Error, Progress, Snapshot, Store};
use memo_text::Tokenizer;
use parking_lot::{RwLock, RwLockReadGuard};
use std::ops::{ControlFlow, Deref};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How much a change has to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    /// Tokens to be written.
    Tokens(u64),
    /// The whole memory is written to disk, or made anew.
    Whole,
}

/// A change that writes more tokens is long.
pub(crate) const LONG_TOKENS: u64 = 10_000;

/// A model that is served.
pub(crate) struct Model {
    store: RwLock<Option<Store>>,
    snapshot: RwLock<Option<Arc<Snapshot>>>,
    tokenizer: Tokenizer,
    /// How many changes have ended. What was found before the last one may not be so any more.
    changes: AtomicU64,
    /// Whether a change panicked: nobody knows what the memory holds.
    broken: AtomicBool,
}

/// Read access to the model as it is, or as it was before the change that is being made.
pub(crate) enum ModelGuard<'a> {
    Current(RwLockReadGuard<'a, Option<Store>>),
    BeforeChange(Arc<Snapshot>),
}

impl Deref for ModelGuard<'_> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        match self {
            // `Model::read` gives none that is closed.
            ModelGuard::Current(store) => store.as_ref().expect("an open store"),
            ModelGuard::BeforeChange(snapshot) => snapshot,
        }
    }
}

impl Model {
    pub(crate) fn new(store: Store) -> Self {
        let tokenizer = store.tokenizer().clone();
        let (store, snapshot) = (RwLock::new(Some(store)), RwLock::new(None));
        let (changes, broken) = (AtomicU64::new(0), AtomicBool::new(false));
        Model { store, snapshot, tokenizer, changes, broken }
    }

    pub(crate) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Read access, to be held for a short time.
    pub(crate) fn read(&self) -> Result<ModelGuard<'_>, ApiError> {
        loop {
            if self.is_broken() {
                return Err(broken());
            }
            if let Some(snapshot) = &*self.snapshot.read() {
                return Ok(ModelGuard::BeforeChange(Arc::clone(snapshot)));
            }
            // A long change may begin just now: look again whether there is a snapshot.
            if let Some(store) = self.store.try_read_for(Duration::from_millis(2)) {
                if store.is_none() {
                    return Err(closed());
                }
                return Ok(ModelGuard::Current(store));
            }
        }
    }

    /// The model as it is, or as it was before the change that is being made, to be held for as long as it takes.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, ApiError> {
        match self.read()? {
            ModelGuard::BeforeChange(snapshot) => Ok(snapshot),
            ModelGuard::Current(store) => {
                let store = store.as_ref().expect("an open store");
                Ok(Arc::new(store.snapshot()?))
            }
        }
    }

    /// How many changes have ended. A change is not answered before it is counted.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Whether a long change is being made.
    pub(crate) fn is_changing(&self) -> bool {
        self.snapshot.read().is_some()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Changes the model. The caller sees to it that there is one change at a time.
    pub(crate) fn change<T>(
        &self,
        cost: Cost,
        observer: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static,
        change: impl FnOnce(&mut Store) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if self.is_broken() {
            return Err(broken());
        }
        if Self::is_long(cost) {
            // Where there is no room for a copy, readers have to wait.
            let snapshot = self.store.read().as_ref().map(Store::snapshot);
            if let Some(Ok(snapshot)) = snapshot {
                *self.snapshot.write() = Some(Arc::new(snapshot));
            }
        }
        let mut guard = self.store.write();
        let Some(store) = guard.as_mut() else {
            return Err(closed());
        };
        store.observe(observer);
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| change(store)));
        store.observe(|_| ControlFlow::Continue(()));
        if result.is_err() {
            self.broken.store(true, Ordering::Release);
        }
        drop(guard);
        // Readers who look for it wait only until it is taken away, not until it is dropped.
        let before = self.snapshot.write().take();
        self.changes.fetch_add(1, Ordering::Release);
        drop(before);
        result.unwrap_or_else(|_| Err(broken()))
    }

    fn is_long(cost: Cost) -> bool {
        match cost {
            Cost::Tokens(tokens) => tokens > LONG_TOKENS,
            Cost::Whole => true,
        }
    }

    /// Closes the store, writing its checkpoint. Nothing can be read or changed after that.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let store = self.store.write().take();
        match store {
            Some(store) if !self.is_broken() => store.close(),
            Some(store) => {
                // Its memory must not become a checkpoint; the ledger is sound, and opening begins from there.
                store.discard();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Closes the store, and writes nothing: its directory is gone, or is another one's, or its memory is broken.
    pub(crate) fn discard(&self) {
        let store = self.store.write().take();
        if let Some(store) = store {
            store.discard();
        }
    }
}

fn closed() -> ApiError {
    ApiError::unavailable("the model is being closed; try again soon")
}

fn broken() -> ApiError {
    let message = "a change failed because of an error in the server itself; start it again";
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    ApiError::new(status, message).with_code(ErrorCode::Broken)
}
