//! Who asks: the key and the connection that a request came with, which its work takes turns by.

use crate::connections::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Who asks. It follows a request through its task, so that every piece of its work is on the right account.
#[derive(Clone)]
pub(crate) struct Caller {
    /// The number of its key; 0 where there are none.
    pub(crate) key: usize,
    /// Its connection.
    pub(crate) connection: Arc<Connection>,
    /// The time in which others had their turn.
    pub(crate) waited: Arc<Waited>,
}

impl Caller {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Caller { key: 0, connection, waited: Arc::default() }
    }

    /// Who asks for the request that is being handled.
    pub(crate) fn current() -> Self {
        CALLER.try_with(Clone::clone).unwrap_or_else(|_| Self::new(Arc::default()))
    }
}

tokio::task_local! {
    /// Who asks for the request that is being handled.
    pub(crate) static CALLER: Caller;
}

/// The time that a request has waited between its turns. Its time limit does not count that: it is the time of others.
#[derive(Debug, Default)]
pub(crate) struct Waited(AtomicU64);

impl Waited {
    pub(crate) fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }

    pub(crate) fn total(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}
