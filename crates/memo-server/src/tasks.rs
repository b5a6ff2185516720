//! Tasks: changes of the model, one at a time, and long work that reads it, whose progress can be watched and which can be cancelled.
//!
//! Changes are made in the order in which they came, but for those that are made together: forgets of documents, with one scrub, and short
//! texts to memorize, with one wait for the disk; that is what takes long. Readers have a snapshot meanwhile. A change never goes before
//! another one that is about the same documents. Each is a transaction of its own, and is answered when all are done.

use crate::error::ApiError;
use crate::log;
use crate::metrics::Metrics;
use crate::model::{Cost, LONG_TOKENS, Model};
use crate::turns::Turns;
use crate::workers::{on_thread, run_blocking};
use memo_store::{Observer, Progress, Selection, Snapshot, Store, Together, Unit};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Tasks that are kept, finished ones included.
const MAX_KEPT: usize = 100;

/// Tasks that may wait to read the model.
const MAX_READING: usize = 32;

/// Changes that are made together.
const MAX_GROUP: usize = 64;

/// The time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(80);

/// A change of the model or a proof, and how far it is.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
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
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    result: Option<Value>,
    /// Why it failed.
    #[cfg_attr(test, schema(value_type = Option<crate::error::ErrorDetail>))]
    error: Option<ApiError>,
}

/// What kind of change a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
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

/// The documents that a change is about.
pub(crate) enum Documents {
    /// These, by id.
    Named(Vec<String>),
    /// Any.
    Any,
}

/// A change whose turn has not come.
struct Pending {
    task: Arc<TaskHandle>,
    kind: TaskKind,
    cost: Cost,
    documents: Documents,
    change: Change,
}

/// Memorizes texts, together with others.
type Memorize = dyn FnOnce(&mut Together<'_>) -> Result<Value, ApiError> + Send;

/// Makes a change ready: what it costs, which documents it is of, and the change itself.
type Prepare = Box<dyn FnOnce(&TaskHandle) -> Result<(Cost, Documents, Change), ApiError> + Send>;

/// A change that is made by itself.
type OtherChange = dyn FnOnce(&mut Store) -> Result<Value, ApiError> + Send;

/// What a change does.
enum Change {
    Forget { what: Selection, reason: Option<String> },
    Memorize(Box<Memorize>),
    Other(Box<OtherChange>),
}

/// Changes that can be made together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// With one scrub.
    Forgets,
    /// With one wait for the disk.
    Memorizes,
}

impl Pending {
    /// What it can be made together with.
    fn group(&self) -> Option<Group> {
        match (&self.change, self.cost) {
            (Change::Forget { what: Selection::Documents(_), .. }, _) => Some(Group::Forgets),
            (Change::Memorize(_), Cost::Tokens(..=LONG_TOKENS)) => Some(Group::Memorizes),
            _ => None,
        }
    }

    fn tokens(&self) -> u64 {
        match self.cost {
            Cost::Tokens(tokens) => tokens,
            Cost::Whole => 0,
        }
    }
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
    fn new(id: u64, kind: TaskKind) -> Self {
        let task = watch::Sender::new(Task {
            id: format!("t-{id}"),
            kind,
            state: TaskState::Queued,
            progress: Progress { stage: "waiting", done: 0, total: 0, unit: Unit::Tokens },
            result: None,
            error: None,
        });
        TaskHandle { task, cancelled: AtomicBool::new(false) }
    }

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

    fn kind(&self) -> TaskKind {
        self.task.borrow().kind
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
    changes: Arc<Changes>,
    /// Held by the change that runs.
    turn: Arc<Semaphore>,
    /// Held by the task that reads: it may need as much memory as the model.
    reading: Arc<Semaphore>,
    max_waiting: usize,
    table: Mutex<TaskTable>,
}

/// Changes that wait, and what they change.
struct Changes {
    /// The model's name.
    name: String,
    model: Arc<Model>,
    metrics: Arc<Metrics>,
    turns: Arc<Turns>,
    queue: Mutex<VecDeque<Pending>>,
}

#[derive(Default)]
struct TaskTable {
    last_id: u64,
    tasks: BTreeMap<u64, Arc<TaskHandle>>,
}

impl Tasks {
    /// An empty queue, in which at most `max_waiting` changes may wait.
    pub(crate) fn new(
        name: String,
        model: Arc<Model>,
        metrics: Arc<Metrics>,
        turns: Arc<Turns>,
        max_waiting: usize,
    ) -> Self {
        let [turn, reading] = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        let changes = Arc::new(Changes { name, model, metrics, turns, queue: Mutex::default() });
        Tasks { changes, turn, reading, max_waiting, table: Mutex::default() }
    }

    /// Begins a change of any documents.
    pub(crate) fn spawn<T: Serialize>(
        &self,
        kind: TaskKind,
        cost: Cost,
        change: impl FnOnce(&mut Store) -> Result<T, memo_store::Error> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        let change = move |store: &mut Store, ()| Ok(change(store)?);
        self.spawn_prepared(kind, move |_| Ok((cost, Documents::Any, ())), change)
    }

    /// Begins a change. `prepare` is done before its turn, without the model.
    pub(crate) fn spawn_prepared<P: Send + 'static, T: Serialize>(
        &self,
        kind: TaskKind,
        prepare: impl FnOnce(&TaskHandle) -> Result<(Cost, Documents, P), ApiError> + Send + 'static,
        change: impl FnOnce(&mut Store, P) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        self.queue(kind, move |task| {
            let (cost, documents, prepared) = prepare(task)?;
            let change = move |store: &mut Store| to_value(change(store, prepared)?);
            Ok((cost, documents, Change::Other(Box::new(change))))
        })
    }

    /// Begins to memorize texts, together with others that wait. `prepare` is done before its turn, without the model.
    pub(crate) fn spawn_memorize<P: Send + 'static, T: Serialize>(
        &self,
        prepare: impl FnOnce(&TaskHandle) -> Result<(Cost, Documents, P), ApiError> + Send + 'static,
        change: impl FnOnce(&mut Together<'_>, P) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        self.queue(TaskKind::Memorize, move |task| {
            let (cost, documents, prepared) = prepare(task)?;
            let change = move |store: &mut Together<'_>| to_value(change(store, prepared)?);
            Ok((cost, documents, Change::Memorize(Box::new(change))))
        })
    }

    /// Begins to forget.
    pub(crate) fn spawn_forget(
        &self,
        what: Selection,
        reason: Option<String>,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        self.queue(TaskKind::Forget, move |_| {
            let documents = match &what {
                Selection::Documents(ids) => Documents::Named(ids.clone()),
                _ => Documents::Any,
            };
            Ok((Cost::Whole, documents, Change::Forget { what, reason }))
        })
    }

    fn queue(
        &self,
        kind: TaskKind,
        prepare: impl FnOnce(&TaskHandle) -> Result<(Cost, Documents, Change), ApiError>
        + Send
        + 'static,
    ) -> Result<Arc<TaskHandle>, ApiError> {
        self.queue_boxed(kind, Box::new(prepare))
    }

    fn queue_boxed(&self, kind: TaskKind, prepare: Prepare) -> Result<Arc<TaskHandle>, ApiError> {
        let handle = self.register(kind, self.max_waiting)?;
        let (changes, turn) = (Arc::clone(&self.changes), Arc::clone(&self.turn));
        let task = Arc::clone(&handle);
        tokio::spawn(async move {
            let preparing = Arc::clone(&task);
            let (cost, documents, change) = match run_blocking(move || prepare(&preparing)).await {
                Ok(prepared) => prepared,
                Err(error) => return task.finish(Err(error)),
            };
            let pending = Pending { task: Arc::clone(&task), kind, cost, documents, change };
            changes.queue.lock().push_back(pending);
            let Ok(turn) = turn.acquire_owned().await else {
                return task.finish(Err(ApiError::unavailable("the server is stopping")));
            };
            // There is a turn for each change, so there is one for those that are made with others, too.
            let done = on_thread(move || {
                let next = take_group(&mut changes.queue.lock());
                changes.run(next);
                drop(turn);
            });
            if done.await.is_none() {
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
        let handle = self.register(kind, MAX_READING)?;
        let (model, task) = (Arc::clone(&self.changes.model), Arc::clone(&handle));
        let turn = Arc::clone(&self.reading);
        tokio::spawn(async move {
            let Ok(turn) = turn.acquire_owned().await else {
                return task.finish(Err(ApiError::unavailable("the server is stopping")));
            };
            let running = Arc::clone(&task);
            let done = on_thread(move || {
                let result = running.begin().and_then(|()| {
                    let observer = Observer::new(observer(vec![Arc::clone(&running)]));
                    to_value(read(&*model.snapshot()?, &observer)?)
                });
                running.finish(result);
                drop(turn);
            });
            if done.await.is_none() {
                task.finish(Err(ApiError::internal()));
            }
        });
        Ok(handle)
    }

    /// Makes a task, if less than `most` of its sort are open: changes, and what reads. So those who may only read cannot keep others from
    /// changing.
    fn register(&self, kind: TaskKind, most: usize) -> Result<Arc<TaskHandle>, ApiError> {
        let mut table = self.table.lock();
        let same =
            |task: &TaskHandle| (task.kind() == TaskKind::Prove) == (kind == TaskKind::Prove);
        let open = table.tasks.values().filter(|task| !task.is_final() && same(task));
        if open.count() >= most {
            return Err(ApiError::unavailable("too many changes are waiting; try again soon"));
        }
        table.last_id += 1;
        let id = table.last_id;
        let handle = Arc::new(TaskHandle::new(id, kind));
        table.tasks.insert(id, Arc::clone(&handle));
        while table.tasks.len() > MAX_KEPT {
            let Some((&oldest, _)) = table.tasks.iter().find(|(_, task)| task.is_final()) else {
                break;
            };
            table.tasks.remove(&oldest);
        }
        Ok(handle)
    }

    /// Whether a task waits or runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.table.lock().tasks.values().any(|task| !task.is_final())
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

/// Takes the next change out of the queue, and those that can be made together with it.
fn take_group(queue: &mut VecDeque<Pending>) -> Vec<Pending> {
    let Some(first) = queue.pop_front() else { return Vec::new() };
    let (Some(sort), mut tokens) = (first.group(), first.tokens()) else { return vec![first] };
    let mut passed: HashSet<String> = HashSet::new();
    let (mut group, mut at) = (vec![first], 0);
    while at < queue.len() && group.len() < MAX_GROUP {
        let Documents::Named(named) = &queue[at].documents else { break };
        let fits = tokens + queue[at].tokens() <= LONG_TOKENS;
        if queue[at].group() == Some(sort) && fits && named.iter().all(|id| !passed.contains(id)) {
            tokens += queue[at].tokens();
            group.extend(queue.remove(at));
        } else {
            passed.extend(named.iter().cloned());
            at += 1;
        }
    }
    group
}

impl Changes {
    /// Makes changes whose turn it is: one, or several forgets.
    fn run(&self, mut group: Vec<Pending>) {
        group.retain(|pending| match pending.task.begin() {
            Ok(()) => true,
            Err(error) => {
                pending.task.finish(Err(error));
                false
            }
        });
        let Some(cost) = group.first().map(|first| first.cost) else { return };
        let cost = if group.len() > 1 { Cost::Whole } else { cost };
        let _processor = self.turns.leave_one();
        let start = Instant::now();
        let tasks: Vec<_> = group.iter().map(|p| (p.kind, Arc::clone(&p.task))).collect();
        let observer = observer(tasks.iter().map(|(_, task)| Arc::clone(task)).collect());
        let results = self.model.change(cost, observer, |store| make(store, group));
        let failed = results.as_ref().err().cloned();
        let mut results = results.unwrap_or_default().into_iter();
        for (kind, task) in tasks {
            let missing = || Err(failed.clone().unwrap_or_else(ApiError::internal));
            let result = results.next().unwrap_or_else(missing);
            self.metrics.record_change(kind, start.elapsed(), result.is_ok());
            log::change(&self.name, &task.task.borrow().id, &kind, result.is_ok(), start.elapsed());
            task.finish(result);
        }
    }
}

/// Makes changes, and gives the result of each.
fn make(store: &mut Store, group: Vec<Pending>) -> Result<Vec<Result<Value, ApiError>>, ApiError> {
    let (mut forgets, mut memorizes, mut results) = (Vec::new(), Vec::new(), Vec::new());
    // A group is of one sort.
    for pending in group {
        match pending.change {
            Change::Forget { what, reason } => forgets.push((what, reason)),
            Change::Memorize(change) => memorizes.push(change),
            Change::Other(change) => results.push(change(store)),
        }
    }
    if !memorizes.is_empty() {
        results.extend(store.make_together(memorizes)?);
    }
    if !forgets.is_empty() {
        let requests = forgets.iter().map(|(what, reason)| (what, reason.as_deref()));
        let receipts = store.forget_each(requests)?.into_iter();
        results.extend(receipts.map(|receipt| to_value(receipt?)));
    }
    Ok(results)
}

fn to_value(result: impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(result).map_err(|_| ApiError::internal())
}

/// What reports the progress of tasks now and then, and ends the work if all of them were cancelled.
fn observer(
    tasks: Vec<Arc<TaskHandle>>,
) -> impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static {
    let last = Mutex::new(Instant::now());
    move |progress: Progress| {
        let mut last = last.lock();
        if last.elapsed() >= REPORT_INTERVAL {
            *last = Instant::now();
            tasks.iter().for_each(|task| task.report(progress));
        }
        let cancelled = tasks.iter().all(|task| task.is_cancelled());
        if cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(name: &str, documents: &[&str]) -> Pending {
        let ids: Vec<String> = documents.iter().map(|&id| id.to_owned()).collect();
        let named = if ids.is_empty() { Documents::Any } else { Documents::Named(ids.clone()) };
        let (kind, change) = match name {
            "forget" => {
                let what = Selection::Documents(ids);
                (TaskKind::Forget, Change::Forget { what, reason: None })
            }
            _ => (TaskKind::Memorize, Change::Memorize(Box::new(|_| Ok(Value::Null)))),
        };
        let cost = if name == "forget" { Cost::Whole } else { Cost::Tokens(LONG_TOKENS / 2) };
        let task = Arc::new(TaskHandle::new(0, kind));
        Pending { task, kind, cost, documents: named, change }
    }

    /// The documents of groups, in the order in which they are made.
    fn groups(changes: &[(&str, &[&str])]) -> Vec<Vec<String>> {
        let mut queue: VecDeque<_> = changes.iter().map(|(name, ids)| pending(name, ids)).collect();
        let mut groups = Vec::new();
        while !queue.is_empty() {
            let group = take_group(&mut queue);
            let name = |pending: &Pending| match &pending.documents {
                Documents::Named(ids) => ids.join("+"),
                Documents::Any => "any".to_owned(),
            };
            groups.push(group.iter().map(name).collect());
        }
        groups
    }

    #[test]
    fn changes_that_wait_are_made_together_unless_that_changes_what_comes_of_it() {
        let (forget, memorize) = ("forget", "memorize");
        // Past others that are about other documents.
        let waiting: &[(&str, &[&str])] =
            &[(forget, &["a"]), (memorize, &["m"]), (forget, &["b", "c"]), (forget, &["d"])];
        assert_eq!(groups(waiting), [vec!["a", "b+c", "d"], vec!["m"]]);
        // A document that is memorized and then forgotten is not forgotten first.
        let waiting: &[(&str, &[&str])] =
            &[(forget, &["a"]), (memorize, &["b"]), (forget, &["b"]), (forget, &["c"])];
        assert_eq!(groups(waiting), [vec!["a", "c"], vec!["b"], vec!["b"]]);
        // Nothing goes past what may be about anything.
        let waiting: &[(&str, &[&str])] = &[(forget, &["a"]), (memorize, &[]), (forget, &["b"])];
        assert_eq!(groups(waiting), [vec!["a"], vec!["any"], vec!["b"]]);
        // Texts to memorize, as long as they are short together.
        let waiting: &[(&str, &[&str])] =
            &[(memorize, &["a"]), (forget, &["f"]), (memorize, &["b"]), (memorize, &["c"])];
        assert_eq!(groups(waiting), [vec!["a", "b"], vec!["f"], vec!["c"]]);
        let waiting: &[(&str, &[&str])] =
            &[(memorize, &["a"]), (forget, &["f"]), (memorize, &["f"]), (memorize, &["c"])];
        assert_eq!(groups(waiting), [vec!["a", "c"], vec!["f"], vec!["f"]]);
        // Whatever else comes first is made first.
        let waiting: &[(&str, &[&str])] = &[(memorize, &["a"]), (forget, &["a"]), (forget, &["b"])];
        assert_eq!(groups(waiting), [vec!["a"], vec!["a", "b"]]);
    }
}
