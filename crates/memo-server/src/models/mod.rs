//! The models of a server: one that answers to every name, or several, each by its own.
//!
//! Several are opened when they are asked for, one at a time, and stay open. When more are asked for than may be open at once, the one that
//! was idle longest is closed. A model that cannot be opened refuses its own requests only. One whose directory is gone, or is another
//! one now, is closed without writing anything.

mod folder;

use crate::app::{App, AppState, Shared};
use crate::error::{ApiError, ErrorCode};
use crate::log;
use crate::workers::run_blocking;
use axum::http::StatusCode;
use memo_store::{Error, NewModel, Store};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::folder::{is_model, models_in, name_of};

/// How long it is waited for a model that nobody uses any more, to be closed for another.
const PATIENCE: Duration = Duration::from_millis(500);

/// Names that an error lists at most.
const LISTED: usize = 20;

/// The models that a server has.
pub enum Models {
    /// One, which is open and answers to any name.
    One(Box<Store>),
    /// Several, by their names.
    Named(BTreeMap<String, PathBuf>),
    /// Those of a folder, also those that will be made or put there.
    Folder(PathBuf),
}

impl From<Store> for Models {
    fn from(store: Store) -> Self {
        Models::One(Box::new(store))
    }
}

/// The models of a server, and those of them that are open.
pub(crate) struct Registry {
    source: Source,
    shared: Shared,
    open: Mutex<OpenModels>,
    /// Held while a model is opened or made.
    turn: tokio::sync::Mutex<()>,
}

enum Source {
    One(App),
    Named(BTreeMap<String, PathBuf>),
    Folder(PathBuf),
}

#[derive(Default)]
struct OpenModels {
    models: BTreeMap<String, OpenModel>,
    /// Counts uses.
    clock: u64,
    /// Whether the server is stopping: nothing is opened any more.
    stopping: bool,
}

struct OpenModel {
    app: App,
    path: PathBuf,
    /// Tells its directory from one that took its place.
    identity: Option<(u64, u64)>,
    /// When it was used last.
    used: u64,
}

impl OpenModel {
    /// Whether it is still the model of its directory, and sound.
    fn is_current(&self) -> bool {
        folder::identity(&self.path) == self.identity && !self.app.model.is_broken()
    }

    /// Whether nobody uses it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.app) == 1 && !self.app.tasks.is_busy()
    }
}

impl Registry {
    pub(crate) fn new(models: Models, shared: Shared) -> Arc<Self> {
        let source = match models {
            Models::One(store) => {
                Source::One(AppState::new(shared.config.name.clone(), *store, &shared))
            }
            Models::Named(models) => Source::Named(models),
            Models::Folder(folder) => Source::Folder(folder),
        };
        let (open, turn) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Registry { source, shared, open, turn })
    }

    /// The model of a name; without one, the only model.
    pub(crate) async fn find(self: &Arc<Self>, name: Option<&str>) -> Result<App, ApiError> {
        if let Source::One(app) = &self.source {
            return Ok(Arc::clone(app));
        }
        let name = name.filter(|name| !name.is_empty());
        if let Some(app) = name.and_then(|name| self.opened(name)) {
            return Ok(app);
        }
        let (name, path) = self.choose(name).await?;
        if let Some(app) = self.opened(&name) {
            return Ok(app);
        }
        self.in_turn(move |registry| registry.open(&name, &path, || Store::open(&path))).await
    }

    /// Makes a new, empty model.
    pub(crate) async fn create(self: &Arc<Self>, name: String) -> Result<App, ApiError> {
        let Source::Folder(folder) = &self.source else {
            let message = "this server has the models that it was started with; `memo serve FOLDER` makes new ones";
            return Err(ApiError::new(StatusCode::CONFLICT, message));
        };
        if !folder::is_new_name(&name) {
            let message = "name must be 1 to 64 letters, digits, `-`, `_` and `.`, and begin with a letter or a digit; \
                           `.memo` is added to it";
            return Err(ApiError::invalid_field("name", message));
        }
        let path = folder.join(format!("{name}.memo"));
        self.in_turn(move |registry| {
            if registry.known()?.contains_key(&name) || path.exists() {
                let message = format!("there is a model {name:?} already");
                return Err(ApiError::new(StatusCode::CONFLICT, message));
            }
            registry.open(&name, &path, || Store::create(&path, &NewModel::default()))
        })
        .await
    }

    /// Whether new models can be made.
    pub(crate) fn can_create(&self) -> bool {
        matches!(self.source, Source::Folder(_))
    }

    /// The names of all models, and whether each is open.
    pub(crate) async fn list(self: &Arc<Self>) -> Result<Vec<(String, bool)>, ApiError> {
        let registry = Arc::clone(self);
        run_blocking(move || {
            if let Source::One(app) = &registry.source {
                return Ok(vec![(app.name.clone(), true)]);
            }
            let known = registry.known()?;
            let open = registry.open.lock();
            let is_open = |name: &String| open.models.contains_key(name);
            Ok(known.into_keys().map(|name| (name.clone(), is_open(&name))).collect())
        })
        .await
    }

    /// Refuses a name that no model has.
    pub(crate) async fn check(self: &Arc<Self>, name: &str) -> Result<String, ApiError> {
        if let Source::One(app) = &self.source {
            return Ok(app.name.clone());
        }
        Ok(self.choose(Some(name)).await?.0)
    }

    /// The models that are open.
    pub(crate) fn apps(&self) -> Vec<App> {
        match &self.source {
            Source::One(app) => vec![Arc::clone(app)],
            _ => self.open.lock().models.values().map(|open| Arc::clone(&open.app)).collect(),
        }
    }

    /// Whether it can answer. Of several models, one that cannot is no reason to start the server again: it is opened anew.
    pub(crate) fn is_ready(&self) -> bool {
        match &self.source {
            Source::One(app) => !app.model.is_broken(),
            _ => true,
        }
    }

    /// Ends all tasks. No model is opened any more.
    pub(crate) async fn stop(&self) {
        let _turn = self.turn.lock().await;
        self.open.lock().stopping = true;
        for app in self.apps() {
            app.tasks.stop().await;
        }
    }

    /// Closes all models, each with its checkpoint, and gives the last error.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let mut failed = None;
        for error in self.apps().iter().filter_map(|app| app.model.close().err()) {
            if let Some(before) = failed.replace(error) {
                log::error(&before);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// A model that is open, and still what its directory has.
    fn opened(&self, name: &str) -> Option<App> {
        let mut open = self.open.lock();
        open.clock += 1;
        let used = open.clock;
        let model = open.models.get_mut(name).filter(|model| model.is_current())?;
        model.used = used;
        Some(Arc::clone(&model.app))
    }

    /// The name and the path of the model that is meant.
    async fn choose(self: &Arc<Self>, name: Option<&str>) -> Result<(String, PathBuf), ApiError> {
        let (registry, name) = (Arc::clone(self), name.map(str::to_owned));
        run_blocking(move || {
            let known = registry.known()?;
            let (name, path) = choose(&known, name.as_deref())?;
            Ok((name.to_owned(), path.to_owned()))
        })
        .await
    }

    /// Does something with the models that are open, on a thread of its own, while nobody else does. It goes on if the client leaves: half
    /// of it would be in the way of the next one.
    async fn in_turn(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<App, ApiError> + Send + 'static,
    ) -> Result<App, ApiError> {
        let registry = Arc::clone(self);
        let done = tokio::spawn(async move {
            let _turn = registry.turn.lock().await;
            let worker = Arc::clone(&registry);
            run_blocking(move || work(&worker)).await
        });
        done.await.unwrap_or_else(|_| Err(ApiError::internal()))
    }

    /// The models that there are, by their names.
    fn known(&self) -> Result<BTreeMap<String, PathBuf>, ApiError> {
        match &self.source {
            Source::One(_) => Ok(BTreeMap::new()),
            Source::Named(models) => Ok(models.clone()),
            Source::Folder(folder) => models_in(folder).map_err(|error| {
                log::error(&format_args!("{}: {error}", folder.display()));
                let message =
                    "the folder of models cannot be read; the server's own output says why";
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
            }),
        }
    }

    /// Opens a model, unless it is open already.
    fn open(
        &self,
        name: &str,
        path: &Path,
        open: impl FnOnce() -> Result<Store, Error>,
    ) -> Result<App, ApiError> {
        self.discard_gone();
        if let Some(app) = self.opened(name) {
            return Ok(app);
        }
        self.make_room()?;
        let store = open().map_err(|error| refusal(name, &error))?;
        let (path, identity) = (path.to_owned(), folder::identity(path));
        let app = AppState::new(name.to_owned(), store, &self.shared);
        let mut open = self.open.lock();
        if open.stopping {
            return Err(ApiError::unavailable("the server is stopping"));
        }
        open.clock += 1;
        let model = OpenModel { app: Arc::clone(&app), path, identity, used: open.clock };
        open.models.insert(name.to_owned(), model);
        Ok(app)
    }

    /// Lets go of models that are not what their directories have any more.
    fn discard_gone(&self) {
        let mut open = self.open.lock();
        let gone: Vec<String> = open
            .models
            .iter()
            .filter(|(_, model)| !model.is_current())
            .map(|(name, _)| name.clone())
            .collect();
        let gone: Vec<_> = gone.iter().filter_map(|name| open.models.remove(name)).collect();
        drop(open);
        for model in gone {
            model.app.model.discard();
        }
    }

    /// Closes models that nobody uses, the idlest first, until one more may be open.
    fn make_room(&self) -> Result<(), ApiError> {
        let most = self.shared.config.limits.models;
        let until = Instant::now() + PATIENCE;
        loop {
            let mut open = self.open.lock();
            if open.models.len() < most {
                return Ok(());
            }
            let idle = open.models.iter().filter(|(_, model)| model.is_idle());
            let idlest = idle.min_by_key(|(_, model)| model.used).map(|(name, _)| name.clone());
            let Some(idlest) = idlest.and_then(|name| open.models.remove(&name)) else {
                drop(open);
                if Instant::now() < until {
                    std::thread::sleep(PATIENCE / 50);
                    continue;
                }
                let message = format!(
                    "all of the {most} models that may be open at once are in use; try again soon"
                );
                return Err(ApiError::unavailable(message));
            };
            drop(open);
            if let Err(error) = idlest.app.model.close() {
                log::error(&error);
            }
        }
    }
}

/// The model that is meant.
fn choose<'a>(
    known: &'a BTreeMap<String, PathBuf>,
    name: Option<&str>,
) -> Result<(&'a str, &'a Path), ApiError> {
    let found = match name {
        Some(name) => known.get_key_value(name),
        None => known.first_key_value().filter(|_| known.len() == 1),
    };
    if let Some((name, path)) = found {
        return Ok((name, path));
    }
    let listed: Vec<String> = known.keys().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = known.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let there = match known.len() {
        0 => "this server has none yet".to_owned(),
        _ => format!("this server has {}{more}", listed.join(", ")),
    };
    Err(match name {
        Some(name) => {
            let name: String = name.chars().take(100).collect();
            ApiError::new(StatusCode::NOT_FOUND, format!("there is no model {name:?}; {there}"))
                .with_code(ErrorCode::ModelNotFound)
                .with_field("model")
        }
        None if known.is_empty() => {
            let message = "this server has no model yet; POST /api/models makes one";
            ApiError::new(StatusCode::NOT_FOUND, message).with_code(ErrorCode::ModelNotFound)
        }
        None => ApiError::invalid_field("model", format!("say which `model`: {there}")),
    })
}

/// Why a model cannot be opened, without naming its path.
fn refusal(name: &str, error: &Error) -> ApiError {
    let conflict = |message| ApiError::new(StatusCode::CONFLICT, message);
    match error {
        Error::Busy { .. } => ApiError::unavailable(format!(
            "the model {name:?} is being written by another program; try again when that is done"
        )),
        Error::Frozen { .. } => {
            conflict(format!("the model {name:?} is frozen and cannot be served"))
        }
        Error::NotAModel { .. } => ApiError::not_found(format!("the model {name:?} is gone"))
            .with_code(ErrorCode::ModelNotFound),
        _ => {
            log::error(error);
            let message =
                format!("the model {name:?} cannot be opened; the server's own output says why");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
        }
    }
}
