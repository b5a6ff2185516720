//! Work that takes a while: on a thread of its own, while Python's waits, hears Ctrl-C and shows how far it is.

use crate::error::Refusal;
use memo_store::Step;
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
    step: Mutex<Option<Step>>,
}

impl Watch {
    /// Tells how far it is; an error if it should stop.
    pub(crate) fn at(&self, what: &'static str, done: usize, whole: usize) -> Result<(), Refusal> {
        if self.tell(what, done, whole).is_break() {
            return Err(memo_store::Error::Stopped.into());
        }
        Ok(())
    }

    /// The same, as a store asks for it.
    pub(crate) fn watcher(&self) -> impl Fn(Step) -> ControlFlow<()> + Send + Sync + 'static {
        let watch = self.clone();
        move |step| watch.step(step)
    }

    /// Tells how far it is, and whether to go on.
    pub(crate) fn tell(&self, what: &'static str, done: usize, whole: usize) -> ControlFlow<()> {
        self.step(Step { what, done: done as u64, whole: whole as u64 })
    }

    fn step(&self, step: Step) -> ControlFlow<()> {
        *self.0.step.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
        if self.0.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn take(&self) -> Option<Step> {
        self.0.step.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does work, and tells `progress` how far it is. An interrupt, or an error in `progress`, has the work stop.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    std::thread::scope(|scope| {
        let (done, ended) = sync_channel::<()>(1);
        let told = watch.clone();
        let worker = scope.spawn(move || {
            // Dropped at the end, also of a panic: that is what is waited for.
            let _done = done;
            work(&told)
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
            let looked = py.check_signals().and_then(|()| match (progress, watch.take()) {
                (Some(progress), Some(Step { what, done, whole })) => {
                    progress.call1((what, done, whole)).map(|_| ())
                }
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
