//! Tasks: changes of the model, one at a time, and long work that reads it, whose progress can be watched and which can be cancelled.

use crate::error::{ApiError, ErrorDetail};
use crate::metrics::Metrics;
use crate::model::{Cost, Model};
use memo_store::{Observer, Progress, Snapshot, Store, Unit};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use utoipa::ToSchema;

/// Tasks that are kept, finished ones included.
const MAX_KEPT: usize = 100;

/// The time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(80);

/// A change of the model or a proof, and how far it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Task {
    /// Its name.
    pub(crate) id: String,
    /// What kind of change it is.
    kind: TaskKind,
    /// Whether it waits, runs or has ended.
    pub(crate) state: TaskState,
    /// How far it is.
    #[serde(flatten)]
    progress: Progress,
    /// What it returned, once it is done: what the request returns that began it.
    #[schema(value_type = Option<Object>)]
    result: Option<Value>,
    /// Why it failed.
    #[schema(value_type = Option<ErrorDetail>)]
    error: Option<ApiError>,
}

/// What kind of change a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskKind {
    Memorize,
    Forget,
    Prove,
    Retire,
    Restore,
    Replace,
    Edit,
    Rollback,
    Rebuild,
}

impl Display for TaskKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskState {
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

impl TaskState {
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, TaskState::Queued | TaskState::Running)
    }
}

/// A task that others watch and may cancel.
pub(crate) struct TaskHandle {
    task: watch::Sender<Task>,
    cancelled: AtomicBool,
}

impl TaskHandle {
    pub(crate) fn watch(&self) -> watch::Receiver<Task> {
        self.task.subscribe()
    }

    /// The task as it is now.
    pub(crate) fn task(&self) -> Task {
        self.task.borrow().clone()
    }

    /// Ends the task as soon as it can be.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Fails if the task was cancelled.
    pub(crate) fn check(&self) -> Result<(), memo_store::Error> {
        if self.is_cancelled() { Err(memo_store::Error::Stopped) } else { Ok(()) }
    }

    /// Notes that its turn has come; fails if it was cancelled before.
    fn begin(&self) -> Result<(), ApiError> {
        self.check()?;
        self.task.send_modify(|task| task.state = TaskState::Running);
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn is_final(&self) -> bool {
        self.task.borrow().state.is_final()
    }

    pub(crate) fn report(&self, progress: Progress) {
        self.task.send_modify(|task| task.progress = progress);
    }

    fn finish(&self, result: Result<Value, ApiError>) {
        self.task.send_modify(|task| match result {
            Ok(value) => {
                task.state = TaskState::Done;
                task.progress.done = task.progress.total;
                task.result = Some(value);
            }
            Err(error) => {
                let cancelled = self.is_cancelled();
                task.state = if cancelled { TaskState::Cancelled } else { TaskState::Failed };
                task.error = Some(error);
            }
        });
    }

    /// Waits for the result; `None` if that takes longer than `timeout`.
    pub(crate) async fn wait(&self, timeout: Duration) -> Option<Result<Value, ApiError>> {
        let mut watch = self.watch();
        let end = watch.wait_for(|task| task.state.is_final());
        let task = tokio::time::timeout(timeout, end).await.ok()?.ok()?.clone();
        Some(task.result.ok_or_else(|| task.error.unwrap_or_else(ApiError::internal)))
    }
}

/// The queue of tasks, and those that have ended lately.
pub(crate) struct Tasks {
    model: Arc<Model>,
    metrics: Arc<Metrics>,
    /// Held by the change that runs.
    turn: Arc<Semaphore>,
    /// Held by the task that reads: it may need as much memory as the model.
    reading: Arc<Semaphore>,
    max_waiting: usize,
    table: Mutex<TaskTable>,
}

#[derive(Default)]
struct TaskTable {
    last_id: u64,
    tasks: BTreeMap<u64, Arc<TaskHandle>>,
}

impl Tasks {
    /// An empty queue, in which at most `max_waiting` tasks may wait.
    pub(crate) fn new(model: Arc<Model>, metrics: Arc<Metrics>, max_waiting: usize) -> Self {
        let [turn, reading] = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        Tasks { model, metrics, turn, reading, max_waiting, table: Mutex::default() }
    }

    /// Begins a change.
    pub(crate) fn spawn<T: Serialize>(
        &self,
        kind: TaskKind,
        cost: Cost,
        change: impl FnOnce(&mut Store) -> Result<T, memo_store::Error> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        let change = move |store: &mut Store, ()| Ok(change(store)?);
        self.spawn_prepared(kind, move |_| Ok((cost, ())), change)
    }

    /// Begins a change. `prepare` is done before its turn, without the model.
    pub(crate) fn spawn_prepared<P: Send + 'static, T: Serialize>(
        &self,
        kind: TaskKind,
        prepare: impl FnOnce(&TaskHandle) -> Result<(Cost, P), ApiError> + Send + 'static,
        change: impl FnOnce(&mut Store, P) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        let handle = self.register(kind)?;
        let (model, metrics) = (Arc::clone(&self.model), Arc::clone(&self.metrics));
        let (turn, task) = (Arc::clone(&self.turn), Arc::clone(&handle));
        tokio::spawn(async move {
            let preparing = Arc::clone(&task);
            let prepared = tokio::task::spawn_blocking(move || prepare(&preparing)).await;
            let (cost, prepared) = match prepared.unwrap_or_else(|_| Err(ApiError::internal())) {
                Ok(prepared) => prepared,
                Err(error) => return task.finish(Err(error)),
            };
            let Ok(turn) = turn.acquire_owned().await else {
                return task.finish(Err(ApiError::unavailable("the server is stopping")));
            };
            let running = Arc::clone(&task);
            let done = tokio::task::spawn_blocking(move || {
                let change = |store: &mut Store| change(store, prepared);
                running.finish(run(&model, &metrics, kind, cost, &running, change));
                drop(turn);
            });
            if done.await.is_err() {
                task.finish(Err(ApiError::internal()));
            }
        });
        Ok(handle)
    }

    /// Begins long work that reads the model as it is now. Changes and other readers go on meanwhile.
    pub(crate) fn spawn_read<T: Serialize>(
        &self,
        kind: TaskKind,
        read: impl FnOnce(&Snapshot, &Observer) -> Result<T, memo_store::Error> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        let handle = self.register(kind)?;
        let (model, task) = (Arc::clone(&self.model), Arc::clone(&handle));
        let turn = Arc::clone(&self.reading);
        tokio::spawn(async move {
            let Ok(turn) = turn.acquire_owned().await else {
                return task.finish(Err(ApiError::unavailable("the server is stopping")));
            };
            let running = Arc::clone(&task);
            let done = tokio::task::spawn_blocking(move || {
                let result = running.begin().and_then(|()| {
                    let observer = Observer::new(observer(&running));
                    let result = read(&*model.snapshot()?, &observer)?;
                    serde_json::to_value(result).map_err(|_| ApiError::internal())
                });
                running.finish(result);
                drop(turn);
            });
            if done.await.is_err() {
                task.finish(Err(ApiError::internal()));
            }
        });
        Ok(handle)
    }

    fn register(&self, kind: TaskKind) -> Result<Arc<TaskHandle>, ApiError> {
        let mut table = self.table.lock();
        let open = table.tasks.values().filter(|task| !task.is_final());
        if open.count() >= self.max_waiting {
            return Err(ApiError::unavailable("too many changes are waiting; try again soon"));
        }
        table.last_id += 1;
        let id = table.last_id;
        let handle = Arc::new(TaskHandle {
            task: watch::Sender::new(Task {
                id: format!("t-{id}"),
                kind,
                state: TaskState::Queued,
                progress: Progress { stage: "waiting", done: 0, total: 0, unit: Unit::Tokens },
                result: None,
                error: None,
            }),
            cancelled: AtomicBool::new(false),
        });
        table.tasks.insert(id, Arc::clone(&handle));
        while table.tasks.len() > MAX_KEPT {
            let Some((&oldest, _)) = table.tasks.iter().find(|(_, task)| task.is_final()) else {
                break;
            };
            table.tasks.remove(&oldest);
        }
        Ok(handle)
    }

    /// All tasks that are kept, the newest first.
    pub(crate) fn list(&self) -> Vec<Task> {
        self.table.lock().tasks.values().rev().map(|task| task.task()).collect()
    }

    pub(crate) fn find(&self, id: &str) -> Result<Arc<TaskHandle>, ApiError> {
        let table = self.table.lock();
        let number = id.strip_prefix("t-").and_then(|number| number.parse().ok());
        let found = number.and_then(|number: u64| table.tasks.get(&number));
        found.cloned().ok_or_else(|| ApiError::not_found(format!("there is no task {id:?}")))
    }

    /// Cancels all tasks, and waits for the one that runs.
    pub(crate) async fn stop(&self) {
        for task in self.table.lock().tasks.values() {
            task.cancel();
        }
        for turn in [&self.turn, &self.reading] {
            let _ = turn.acquire().await;
            turn.close();
        }
    }
}

/// Makes a change whose turn it is.
fn run<T: Serialize>(
    model: &Model,
    metrics: &Metrics,
    kind: TaskKind,
    cost: Cost,
    task: &Arc<TaskHandle>,
    change: impl FnOnce(&mut Store) -> Result<T, ApiError>,
) -> Result<Value, ApiError> {
    task.begin()?;
    let start = Instant::now();
    let result = model.change(cost, observer(task), change);
    metrics.record_change(kind, start.elapsed(), result.is_ok());
    serde_json::to_value(result?).map_err(|_| ApiError::internal())
}

/// What reports a task's progress now and then, and ends the work if it was cancelled.
fn observer(
    task: &Arc<TaskHandle>,
) -> impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static {
    let (task, last) = (Arc::clone(task), Mutex::new(Instant::now()));
    move |progress: Progress| {
        let mut last = last.lock();
        if last.elapsed() >= REPORT_INTERVAL {
            *last = Instant::now();
            task.report(progress);
        }
        if task.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
