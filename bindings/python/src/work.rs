//! Work that takes a while: on a thread of its own, while Python's waits, hears Ctrl-C and shows how far it is.

use crate::error::Refusal;
use memo_store::{Observer, Progress};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often Python's thread looks up.
const LOOK: Duration = Duration::from_millis(50);

/// How far some work is, and whether it should stop.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<State>);

#[derive(Default)]
struct State {
    stop: AtomicBool,
    /// What is being done, how much of it is done, and how much there is to do.
    progress: Mutex<Option<(&'static str, u64, u64)>>,
}

impl Watch {
    /// Reports how far it is; an error if it should stop.
    pub(crate) fn at(&self, stage: &'static str, done: usize, total: usize) -> Result<(), Refusal> {
        if self.tell(stage, done, total).is_break() {
            return Err(memo_store::Error::Stopped.into());
        }
        Ok(())
    }

    /// Reports how far it is, and says whether to go on.
    pub(crate) fn tell(&self, stage: &'static str, done: usize, total: usize) -> ControlFlow<()> {
        self.report(stage, done as u64, total as u64)
    }

    /// The same, as a store asks for it.
    pub(crate) fn callback(&self) -> impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static {
        let watch = self.clone();
        move |Progress { stage, done, total, .. }| watch.report(stage, done, total)
    }

    /// The same, as a snapshot asks for it.
    pub(crate) fn observer(&self) -> Observer {
        Observer::new(self.callback())
    }

    fn report(&self, stage: &'static str, done: u64, total: u64) -> ControlFlow<()> {
        let mut progress = self.0.progress.lock().unwrap_or_else(PoisonError::into_inner);
        *progress = Some((stage, done, total));
        if self.0.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Does work that is quick, while other threads of Python run.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    Ok(py.detach(work)?)
}

/// Does work, and calls `progress` with how far it is. An interrupt, or an error in `progress`, stops the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    std::thread::scope(|scope| {
        let (done, ended) = sync_channel::<()>(1);
        let reported = watch.clone();
        let worker = scope.spawn(move || {
            // Dropped at the end, also of a panic: that is what is waited for.
            let _done = done;
            work(&reported)
        });
        let mut interrupted = None;
        let ended = Mutex::new(ended);
        loop {
            let wait = || {
                let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout)
            };
            if !py.detach(wait) {
                break;
            }
            let reported =
                || watch.0.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
            let looked = py.check_signals().and_then(|()| match (progress, reported()) {
                (Some(progress), Some(reported)) => progress.call1(reported).map(|_| ()),
                _ => Ok(()),
            });
            if let Err(error) = looked {
                watch.0.stop.store(true, Ordering::Relaxed);
                interrupted.get_or_insert(error);
            }
        }
        let made = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match interrupted {
            Some(error) => Err(error),
            None => Ok(made?),
        }
    })
}
