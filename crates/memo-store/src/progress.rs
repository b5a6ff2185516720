//! Progress of long work: what is being done, how much of it is done, and whether to go on.

use crate::error::Error;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How far long work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Progress {
    /// What is being done, as in "memorizing".
    pub stage: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
    /// What is counted.
    pub unit: Unit,
}

/// What progress is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Unit {
    /// Tokens of text.
    Tokens,
    /// Bytes of a file.
    Bytes,
}

type Callback = dyn Fn(Progress) -> ControlFlow<()> + Send + Sync;

/// A callback that receives [`Progress`] and may stop the work by [`ControlFlow::Break`]: nothing has changed then. The
/// default receives nothing.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Callback>>);

impl Observer {
    /// An observer that calls `callback`.
    pub fn new(callback: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Observer(Some(Arc::new(callback)))
    }

    /// Reports progress of work that cannot be stopped.
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(callback) = &self.0 {
            let _ = callback(progress);
        }
    }

    /// Reports tokens done, and fails with [`Error::Stopped`] if the work is to stop.
    pub(crate) fn tokens(&self, stage: &'static str, done: u64, total: u64) -> Result<(), Error> {
        let progress = Progress { stage, done, total, unit: Unit::Tokens };
        match &self.0 {
            Some(callback) if callback(progress).is_break() => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
