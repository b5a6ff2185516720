//! Watching: whoever waits for a store learns how far it is, and may tell it to stop.

use crate::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How far a store is with what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does, as in "memorizing".
    pub what: &'static str,
    /// How much of it is done: tokens, or bytes where files are written.
    pub done: u64,
    /// How much there is to do.
    pub whole: u64,
}

type Watcher = dyn Fn(Step) -> ControlFlow<()> + Send + Sync;

/// Who watches, if anyone.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<Watcher>>);

impl Watch {
    pub(crate) fn new(watcher: impl Fn(Step) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Watch(Some(Arc::new(watcher)))
    }

    /// Tells how far something is that cannot be stopped.
    pub(crate) fn say(&self, what: &'static str, done: u64, whole: u64) {
        if let Some(watcher) = &self.0 {
            let _ = watcher(Step { what, done, whole });
        }
    }

    /// Tells how far something is, and asks whether to go on.
    pub(crate) fn ask(&self, what: &'static str, done: u64, whole: u64) -> Result<(), Error> {
        match &self.0 {
            Some(watcher) if watcher(Step { what, done, whole }).is_break() => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
