//! The state that all requests share, and the model that a request is about.

use crate::app::{App, Shared};
use crate::config::Config;
use crate::error::ApiError;
use crate::extract::{NoParameters, Query, query};
use crate::metrics::Metrics;
use crate::models::{Models, Registry};
use crate::workers::Workers;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

/// The state of the server; a handle, cheap to clone.
pub(crate) type Server = Arc<ServerState>;

pub(crate) struct ServerState {
    pub(crate) config: Arc<Config>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) models: Arc<Registry>,
    pub(crate) stopping: AtomicBool,
    /// When it began, in seconds since 1970.
    pub(crate) created: u64,
    responses: AtomicU64,
}

impl ServerState {
    pub(crate) fn new(models: Models, config: Config) -> Server {
        let shared = Shared::new(config);
        let models = Registry::new(models, shared.clone());
        let Shared { config, workers, metrics } = shared;
        Arc::new(ServerState {
            config,
            workers,
            metrics,
            models,
            stopping: AtomicBool::new(false),
            created: now(),
            responses: AtomicU64::new(0),
        })
    }

    /// The id of the next response.
    pub(crate) fn response_id(&self, prefix: &str) -> String {
        let number = self.responses.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{:x}-{number:x}", self.created)
    }
}

/// The model that a request is about: that of the parameter `model`, or the only one. There is no other parameter.
pub(crate) struct Chosen(pub(crate) App);

/// The model that a request is about, and the other parameters.
pub(crate) struct ChosenWith<Q>(pub(crate) App, pub(crate) Q);

/// The parameter that names a model.
#[derive(Deserialize)]
struct ModelQuery {
    model: Option<String>,
}

/// The model that a request names, or the only one.
pub(crate) async fn chosen(parts: &Parts, server: &Server) -> Result<App, ApiError> {
    let ModelQuery { model } = query(&parts.uri)?;
    server.models.find(model.as_deref()).await
}

impl FromRequestParts<Server> for Chosen {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, ApiError> {
        let ChosenWith(app, NoParameters {}) =
            ChosenWith::from_request_parts(parts, server).await?;
        Ok(Chosen(app))
    }
}

impl<Q: DeserializeOwned + Send> FromRequestParts<Server> for ChosenWith<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, ApiError> {
        // What is misspelt may be the model's own name.
        let Query(others) = Query::from_request_parts(parts, server).await?;
        Ok(ChosenWith(chosen(parts, server).await?, others))
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
