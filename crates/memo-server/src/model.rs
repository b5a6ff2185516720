//! The model that all requests share: any number of readers, one change at a time.
//!
//! Readers hold a lock for a token or so. A short change takes its turn between them. Before a long one a snapshot is
//! made, and readers use that until the change is done; so they never wait for it, and never see half of it.

use crate::error::Failure;
use memo_store::{Error, Store, View};
use memo_text::Tokenizer;
use parking_lot::{RwLock, RwLockReadGuard};
use std::ops::{ControlFlow, Deref};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How much a change has to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    /// Tokens to be written.
    Tokens(u64),
    /// The whole memory is written to disk, or made anew.
    Whole,
}

/// Tokens that are written before a reader notices.
const NOTICED: u64 = 10_000;

/// Cells that are written to disk before a reader notices.
const NOTICED_CELLS: u64 = 4 << 20;

/// A model that is served.
pub(crate) struct Model {
    store: RwLock<Option<Store>>,
    snapshot: RwLock<Option<Arc<View>>>,
    tokenizer: Tokenizer,
    /// A change panicked: nobody knows what the memory holds.
    broken: AtomicBool,
}

/// A model while it is read: as it is, or as it was before the change that is being made.
pub(crate) enum Reading<'a> {
    Live(RwLockReadGuard<'a, Option<Store>>),
    Before(Arc<View>),
}

impl Deref for Reading<'_> {
    type Target = View;

    fn deref(&self) -> &View {
        match self {
            // `Model::read` gives none that is closed.
            Reading::Live(store) => store.as_ref().expect("an open store"),
            Reading::Before(view) => view,
        }
    }
}

impl Model {
    pub(crate) fn new(store: Store) -> Self {
        let tokenizer = store.tokenizer().clone();
        let (store, snapshot) = (RwLock::new(Some(store)), RwLock::new(None));
        Model { store, snapshot, tokenizer, broken: AtomicBool::new(false) }
    }

    pub(crate) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The model to be read, for a short time.
    pub(crate) fn read(&self) -> Result<Reading<'_>, Failure> {
        loop {
            if self.broken.load(Ordering::Acquire) {
                return Err(broken());
            }
            if let Some(view) = &*self.snapshot.read() {
                return Ok(Reading::Before(Arc::clone(view)));
            }
            // A long change may begin just now: look again whether there is a snapshot.
            if let Some(store) = self.store.try_read_for(Duration::from_millis(2)) {
                if store.is_none() {
                    return Err(Failure::busy("the server is stopping"));
                }
                return Ok(Reading::Live(store));
            }
        }
    }

    /// Whether a long change is being made.
    pub(crate) fn changing(&self) -> bool {
        self.snapshot.read().is_some()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Changes the model. The caller sees to it that there is one change at a time.
    pub(crate) fn change<T>(
        &self,
        cost: Cost,
        watcher: impl Fn(memo_store::Step) -> ControlFlow<()> + Send + Sync + 'static,
        make: impl FnOnce(&mut Store) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.broken.load(Ordering::Acquire) {
            return Err(broken());
        }
        if self.is_long(cost) {
            // Where there is no room for a copy, readers have to wait.
            let snapshot = self.store.read().as_ref().map(Store::snapshot);
            if let Some(Ok(view)) = snapshot {
                *self.snapshot.write() = Some(Arc::new(view));
            }
        }
        let mut guard = self.store.write();
        let Some(store) = guard.as_mut() else {
            return Err(Failure::busy("the server is stopping"));
        };
        store.watch(watcher);
        let made = std::panic::catch_unwind(AssertUnwindSafe(|| make(store)));
        store.watch(|_| ControlFlow::Continue(()));
        if made.is_err() {
            self.broken.store(true, Ordering::Release);
        }
        drop(guard);
        *self.snapshot.write() = None;
        made.unwrap_or_else(|_| Err(broken()))
    }

    fn is_long(&self, cost: Cost) -> bool {
        match cost {
            Cost::Tokens(tokens) => tokens > NOTICED,
            Cost::Whole => {
                let store = self.store.read();
                let settings = store.as_ref().and_then(|store| store.model().sparse());
                settings.is_none_or(|settings| settings.parameters() > NOTICED_CELLS)
            }
        }
    }

    /// Closes the store, writing its checkpoint. Nothing can be read or changed after that.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let store = self.store.write().take();
        match store {
            Some(store) if !self.broken.load(Ordering::Acquire) => store.close(),
            Some(store) => {
                // Its memory must not become a checkpoint; the ledger is sound, and opening begins from there.
                std::mem::forget(store);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn broken() -> Failure {
    let message = "a change failed in a way that should not be; start the server again";
    Failure::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, message).coded("broken")
}
