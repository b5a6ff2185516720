//! The desk: work that takes a processor waits in line, and the line has an end.

use crate::error::Failure;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Where requests wait for a processor.
pub(crate) struct Desk {
    seats: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

/// One who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Desk {
    /// A desk with some seats, for which at most `most` may wait.
    pub(crate) fn new(seats: usize, most: usize) -> Self {
        Desk { seats: Arc::new(Semaphore::new(seats)), waiting: AtomicUsize::new(0), most }
    }

    /// A seat, when it is this one's turn.
    pub(crate) async fn seat(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let full = || Failure::busy("too many requests are waiting; try again soon");
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if before >= self.most {
            return Err(full());
        }
        Arc::clone(&self.seats).acquire_owned().await.map_err(|_| full())
    }

    /// Does work on a thread of its own, when it is its turn.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let seat = self.seat().await?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(seat);
            done
        });
        done.await.unwrap_or_else(|_| {
            let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
            Err(Failure::new(status, "the request failed in a way that should not be"))
        })
    }
}
