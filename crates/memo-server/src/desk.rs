//! The desk: work that takes a processor waits in line, and the line has an end.

use crate::error::Failure;
use crate::tell::{Teller, Told, telling};
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Says whether nobody waits any more for what is being done: the client has left, or its time is over.
pub(crate) type Gone<'a> = dyn Fn() -> bool + 'a;

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
    async fn seat(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let full = || Failure::busy("too many requests are waiting; try again soon");
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if before >= self.most {
            return Err(full());
        }
        Arc::clone(&self.seats).acquire_owned().await.map_err(|_| full())
    }

    /// Does work on a thread of its own, when it is its turn. Long work asks now and then whether it is still wanted.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Gone<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let seat = self.seat().await?;
        aside(move |gone| {
            let done = work(gone);
            drop(seat);
            done
        })
        .await
    }

    /// Does work that tells of itself as it goes on. What `check` finds wrong is said before that begins.
    pub(crate) async fn tell<W, T: Send + 'static>(
        &self,
        check: impl FnOnce() -> Result<W, Failure> + Send + 'static,
        work: impl FnOnce(W, &mut Teller<T>) + Send + 'static,
    ) -> Result<Told<T>, Failure> {
        let seat = self.seat().await?;
        let (mut teller, told) = telling();
        let (begin, begun) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            match check() {
                Err(failure) => drop(begin.send(Err(failure))),
                Ok(checked) if begin.send(Ok(())).is_ok() => work(checked, &mut teller),
                Ok(_) => {}
            }
            drop((teller, seat));
        });
        begun.await.unwrap_or_else(|_| Err(failed()))?;
        Ok(told)
    }
}

/// Does work on a thread of its own, at once.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce(&Gone<'_>) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (tell, told) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let done = work(&|| tell.is_closed());
        let _ = tell.send(done);
    });
    told.await.unwrap_or_else(|_| Err(failed()))
}

fn failed() -> Failure {
    let message = "the request failed in a way that should not be";
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, message)
}
