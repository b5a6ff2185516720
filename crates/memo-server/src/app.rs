//! A model that is served, with all that its requests need.

use crate::config::Config;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::model::{Model, ModelGuard};
use crate::tasks::Tasks;
use crate::workers::Workers;
use memo_store::{DigestReport, Stats, Store};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Changes of a model that may wait.
const MAX_CHANGES: usize = 256;

/// A model that is served; a handle, cheap to clone.
pub(crate) type App = Arc<AppState>;

pub(crate) struct AppState {
    /// Its name, as clients see it.
    pub(crate) name: String,
    pub(crate) model: Arc<Model>,
    pub(crate) tasks: Tasks,
    /// Whether the model is being closed: what fails from now on has changed nothing.
    pub(crate) closing: AtomicBool,
    /// The last digest that was taken, and how many changes there had been.
    pub(crate) digest: Mutex<Option<(u64, DigestReport)>>,
    /// The last figures, likewise.
    pub(crate) stats: Mutex<Option<(u64, Stats)>>,
    pub(crate) config: Arc<Config>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) metrics: Arc<Metrics>,
}

/// What all models of a server share: so they take turns with each other, too.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) config: Arc<Config>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let workers = Arc::new(Workers::new(cores, config.limits.waiting, config.keys.len()));
        Shared { config: Arc::new(config), workers, metrics: Arc::new(Metrics::new()) }
    }
}

impl AppState {
    pub(crate) fn new(name: String, store: Store, shared: &Shared) -> App {
        let Shared { config, workers, metrics } = shared.clone();
        let model = Arc::new(Model::new(store));
        let tasks = Tasks::new(
            name.clone(),
            Arc::clone(&model),
            Arc::clone(&metrics),
            workers.turns(),
            MAX_CHANGES,
        );
        Arc::new(AppState {
            name,
            model,
            tasks,
            closing: AtomicBool::new(false),
            digest: Mutex::new(None),
            stats: Mutex::new(None),
            config,
            workers,
            metrics,
        })
    }

    /// A model without a server around it.
    pub(crate) fn alone(store: Store, config: Config) -> App {
        let shared = Shared::new(config);
        Self::new(shared.config.name.clone(), store, &shared)
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
