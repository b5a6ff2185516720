//! A pool of workers for requests that take a processor, and its queue, whose length is limited.

use crate::error::ApiError;
use crate::events::{EventReceiver, EventSender, channel};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Returns whether nobody waits for a response any more: the client has disconnected, or its time is over.
pub(crate) type Cancelled<'a> = dyn Fn() -> bool + 'a;

/// A pool of workers.
pub(crate) struct Workers {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_waiting: usize,
}

/// A place in the queue.
struct QueueEntry<'a>(&'a AtomicUsize);

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Workers {
    /// A pool of `count` workers, for which at most `max_waiting` requests may wait.
    pub(crate) fn new(count: usize, max_waiting: usize) -> Self {
        let permits = Arc::new(Semaphore::new(count));
        Workers { permits, waiting: AtomicUsize::new(0), max_waiting }
    }

    /// Waits for a free worker.
    async fn acquire(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let full = || ApiError::unavailable("too many requests are waiting; try again soon");
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _entry = QueueEntry(&self.waiting);
        if before >= self.max_waiting {
            return Err(full());
        }
        Arc::clone(&self.permits).acquire_owned().await.map_err(|_| full())
    }

    /// Runs work on a thread of its own, once a worker is free. Long work asks now and then whether it is cancelled.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancelled<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.acquire().await?;
        run_blocking(move |cancelled| {
            let result = work(cancelled);
            drop(permit);
            result
        })
        .await
    }

    /// Runs work that sends events as it goes on. An error of `check` is returned before the first of them.
    pub(crate) async fn stream<W, T: Send + 'static>(
        &self,
        check: impl FnOnce() -> Result<W, ApiError> + Send + 'static,
        work: impl FnOnce(W, &mut EventSender<T>) + Send + 'static,
    ) -> Result<EventReceiver<T>, ApiError> {
        let permit = self.acquire().await?;
        let (mut sender, receiver) = channel();
        let (begin, begun) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            match check() {
                Err(error) => drop(begin.send(Err(error))),
                Ok(checked) if begin.send(Ok(())).is_ok() => work(checked, &mut sender),
                Ok(_) => {}
            }
            drop((sender, permit));
        });
        begun.await.unwrap_or_else(|_| Err(ApiError::internal()))?;
        Ok(receiver)
    }
}

/// Runs work on a thread of its own, without waiting for a worker.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce(&Cancelled<'_>) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let (sender, receiver) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let result = work(&|| sender.is_closed());
        let _ = sender.send(result);
    });
    receiver.await.unwrap_or_else(|_| Err(ApiError::internal()))
}
