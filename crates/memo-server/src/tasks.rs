//! Tasks: changes of the model, one at a time, each of which can be watched and cancelled.

use crate::error::{Detail, Failure};
use crate::metrics::Metrics;
use crate::model::{Cost, Model};
use memo_store::{Step, Store};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use utoipa::ToSchema;

/// Finished tasks that are remembered.
const REMEMBERED: usize = 100;

/// How often a watcher is told.
const OFTEN: Duration = Duration::from_millis(80);

/// How far a change is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Task {
    /// Its name.
    pub(crate) id: String,
    /// What kind of change: `memorize`, `forget`, …
    kind: &'static str,
    /// `queued`, `running`, `done`, `failed` or `cancelled`.
    pub(crate) state: State,
    /// What it does just now.
    what: String,
    /// How much of that is done.
    done: u64,
    /// How much there is to do.
    whole: u64,
    /// What came of it.
    #[schema(value_type = Option<Object>)]
    pub(crate) result: Option<Value>,
    /// What went wrong.
    #[schema(value_type = Option<Detail>)]
    error: Option<Failure>,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for another one.
    Queued,
    /// It is being done.
    Running,
    /// It is done.
    Done,
    /// It failed, and nothing has changed.
    Failed,
    /// It was cancelled, and nothing has changed.
    Cancelled,
}

impl State {
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, State::Queued | State::Running)
    }
}

/// A task from inside.
pub(crate) struct Running {
    state: watch::Sender<Task>,
    cancelled: AtomicBool,
}

impl Running {
    pub(crate) fn watch(&self) -> watch::Receiver<Task> {
        self.state.subscribe()
    }

    pub(crate) fn now(&self) -> Task {
        self.state.borrow().clone()
    }

    /// Has it end as soon as it can.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn say(&self, what: &str, done: u64, whole: u64) {
        self.state.send_modify(|task| {
            what.clone_into(&mut task.what);
            (task.done, task.whole) = (done, whole);
        });
    }

    fn finish(&self, result: Result<Value, Failure>) {
        self.state.send_modify(|task| match result {
            Ok(value) => {
                task.state = State::Done;
                task.done = task.whole;
                task.result = Some(value);
            }
            Err(failure) => {
                task.state = if self.is_cancelled() { State::Cancelled } else { State::Failed };
                task.error = Some(failure);
            }
        });
    }

    /// Waits for the end, and gives the result; `None` if that takes longer than `most`.
    pub(crate) async fn outcome(&self, most: Duration) -> Option<Result<Value, Failure>> {
        let mut watch = self.watch();
        let end = watch.wait_for(|task| task.state.is_final());
        let task = tokio::time::timeout(most, end).await.ok()?.ok()?.clone();
        let failure = || task.error.unwrap_or_else(|| Failure::bad("it failed"));
        Some(task.result.ok_or_else(failure))
    }
}

/// All tasks, the running one and others.
pub(crate) struct Tasks {
    model: Arc<Model>,
    metrics: Arc<Metrics>,
    /// Whose turn it is.
    turn: Arc<Semaphore>,
    most: usize,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    last: u64,
    tasks: BTreeMap<u64, Arc<Running>>,
}

impl Tasks {
    /// No tasks yet, of which at most `most` may wait.
    pub(crate) fn new(model: Arc<Model>, metrics: Arc<Metrics>, most: usize) -> Self {
        let (turn, known) = (Arc::new(Semaphore::new(1)), Mutex::default());
        Tasks { model, metrics, turn, most, known }
    }

    /// Begins a change. `prepare` is done before its turn, without the model.
    pub(crate) fn begin<P: Send + 'static, T: Serialize>(
        &self,
        kind: &'static str,
        prepare: impl FnOnce(&Running) -> Result<(Cost, P), Failure> + Send + 'static,
        make: impl FnOnce(&mut Store, P) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Arc<Running>, Failure> {
        let running = self.enter(kind)?;
        let (model, metrics) = (Arc::clone(&self.model), Arc::clone(&self.metrics));
        let (turn, task) = (Arc::clone(&self.turn), Arc::clone(&running));
        tokio::spawn(async move {
            let preparing = Arc::clone(&task);
            let prepared = tokio::task::spawn_blocking(move || prepare(&preparing)).await;
            let prepared = prepared.unwrap_or_else(|_| Err(Failure::bad("it could not be read")));
            let (cost, prepared) = match prepared {
                Ok(prepared) => prepared,
                Err(failure) => return task.finish(Err(failure)),
            };
            let Ok(turn) = turn.acquire_owned().await else {
                return task.finish(Err(Failure::busy("the server is stopping")));
            };
            let changing = Arc::clone(&task);
            let made = tokio::task::spawn_blocking(move || {
                let made = change(&model, &metrics, kind, cost, &changing, prepared, make);
                changing.finish(made);
                drop(turn);
            });
            if made.await.is_err() {
                task.finish(Err(Failure::bad("it failed in a way that should not be")));
            }
        });
        Ok(running)
    }

    fn enter(&self, kind: &'static str) -> Result<Arc<Running>, Failure> {
        let mut known = self.known.lock();
        let open = known.tasks.values().filter(|task| !task.state.borrow().state.is_final());
        if open.count() >= self.most {
            return Err(Failure::busy("too many changes are waiting; try again soon"));
        }
        known.last += 1;
        let id = known.last;
        let running = Arc::new(Running {
            state: watch::Sender::new(Task {
                id: format!("t-{id}"),
                kind,
                state: State::Queued,
                what: "waiting".to_owned(),
                done: 0,
                whole: 0,
                result: None,
                error: None,
            }),
            cancelled: AtomicBool::new(false),
        });
        known.tasks.insert(id, Arc::clone(&running));
        while known.tasks.len() > REMEMBERED {
            let finished = |(_, task): &(&u64, &Arc<Running>)| task.state.borrow().state.is_final();
            let Some((&oldest, _)) = known.tasks.iter().find(finished) else { break };
            known.tasks.remove(&oldest);
        }
        Ok(running)
    }

    /// All that are known, the newest first.
    pub(crate) fn all(&self) -> Vec<Task> {
        self.known.lock().tasks.values().rev().map(|task| task.now()).collect()
    }

    pub(crate) fn find(&self, id: &str) -> Result<Arc<Running>, Failure> {
        let known = self.known.lock();
        let number = id.strip_prefix("t-").and_then(|number| number.parse().ok());
        let found = number.and_then(|number: u64| known.tasks.get(&number));
        found.cloned().ok_or_else(|| Failure::missing(format!("there is no task {id:?}")))
    }

    /// Cancels all, and waits for the one that runs.
    pub(crate) async fn stop(&self) {
        for task in self.known.lock().tasks.values() {
            task.cancel();
        }
        let _ = self.turn.acquire().await;
        self.turn.close();
    }
}

fn change<P, T: Serialize>(
    model: &Model,
    metrics: &Metrics,
    kind: &'static str,
    cost: Cost,
    task: &Arc<Running>,
    prepared: P,
    make: impl FnOnce(&mut Store, P) -> Result<T, Failure>,
) -> Result<Value, Failure> {
    if task.is_cancelled() {
        return Err(memo_store::Error::Stopped.into());
    }
    task.state.send_modify(|task| task.state = State::Running);
    let watched = Arc::clone(task);
    let last = Mutex::new(Instant::now());
    let watcher = move |step: Step| {
        let mut last = last.lock();
        if last.elapsed() >= OFTEN {
            *last = Instant::now();
            watched.say(step.what, step.done, step.whole);
        }
        if watched.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let start = Instant::now();
    let made = model.change(cost, watcher, |store| make(store, prepared));
    metrics.changed(kind, start.elapsed(), made.is_ok());
    let value = serde_json::to_value(made?);
    value.map_err(|error| Failure::bad(error.to_string()))
}
