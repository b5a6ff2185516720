//! What all requests share.

use crate::config::Config;
use crate::desk::Desk;
use crate::error::Failure;
use crate::metrics::Metrics;
use crate::model::{Model, Reading};
use crate::tasks::Tasks;
use memo_store::Store;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

/// Changes that may wait.
const CHANGES: usize = 256;

/// The state of the server; a handle, cheap to clone.
pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) model: Arc<Model>,
    pub(crate) desk: Desk,
    pub(crate) tasks: Tasks,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stopping: AtomicBool,
    pub(crate) created: u64,
    /// The last digest that was taken, and of which transaction.
    pub(crate) digest: Mutex<Option<(u64, String)>>,
    answers: AtomicU64,
}

impl Shared {
    pub(crate) fn new(store: Store, config: Config) -> App {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let (model, metrics) = (Arc::new(Model::new(store)), Arc::new(Metrics::new()));
        Arc::new(Shared {
            desk: Desk::new(cores, config.limits.waiting),
            tasks: Tasks::new(Arc::clone(&model), Arc::clone(&metrics), CHANGES),
            config,
            model,
            metrics,
            stopping: AtomicBool::new(false),
            created: now(),
            digest: Mutex::new(None),
            answers: AtomicU64::new(0),
        })
    }

    /// A name for the next answer.
    pub(crate) fn answer_id(&self, prefix: &str) -> String {
        let number = self.answers.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{:x}-{number:x}", self.created)
    }

    /// Reads the model on a thread of its own.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self, &Reading<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let app = Arc::clone(self);
        self.desk.work(move |_| read(&app, &app.model.read()?)).await
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
