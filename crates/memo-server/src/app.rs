//! The state that all requests share.

use crate::config::Config;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::model::{Model, ModelGuard};
use crate::tasks::Tasks;
use crate::workers::Workers;
use memo::sparse::Settings;
use memo_store::{DigestReport, Store};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

/// Changes that may wait.
const MAX_CHANGES: usize = 256;

/// The state of the server; a handle, cheap to clone.
pub(crate) type App = Arc<AppState>;

pub(crate) struct AppState {
    pub(crate) config: Config,
    pub(crate) model: Arc<Model>,
    pub(crate) workers: Workers,
    pub(crate) tasks: Tasks,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stopping: AtomicBool,
    pub(crate) created: u64,
    /// The last digest that was taken, and the settings of the memory that it was taken of.
    pub(crate) digest: Mutex<Option<(Settings, DigestReport)>>,
    responses: AtomicU64,
}

impl AppState {
    pub(crate) fn new(store: Store, config: Config) -> App {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let (model, metrics) = (Arc::new(Model::new(store)), Arc::new(Metrics::new()));
        let workers = Workers::new(cores, config.limits.waiting, config.keys.len());
        let turns = workers.turns();
        Arc::new(AppState {
            workers,
            tasks: Tasks::new(Arc::clone(&model), Arc::clone(&metrics), turns, MAX_CHANGES),
            config,
            model,
            metrics,
            stopping: AtomicBool::new(false),
            created: now(),
            digest: Mutex::new(None),
            responses: AtomicU64::new(0),
        })
    }

    /// The id of the next response.
    pub(crate) fn response_id(&self, prefix: &str) -> String {
        let number = self.responses.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{:x}-{number:x}", self.created)
    }

    /// Reads the model on a worker thread.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self, &ModelGuard<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = Arc::clone(self);
        self.workers.run(move |_| read(&app, &app.model.read()?)).await
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
