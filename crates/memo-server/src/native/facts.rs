//! The model in figures, its digest, and whether it is well.

use super::outcome;
use crate::app::{App, Shared};
use crate::desk::aside;
use crate::error::{ErrorBody, Failure};
use crate::extract::Json;
use crate::model::Cost;
use crate::tasks::Task;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use memo::sparse::Size;
use memo_store::{Store, View};
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use utoipa::ToSchema;

/// The model in figures.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Its name.
    model: String,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    stats: memo_store::Stats,
    /// The number of the last transaction.
    transaction: u64,
    /// Its digest, if it has been taken since the last change.
    digest: Option<String>,
    /// Whether a long change is being made.
    busy: bool,
}

/// The model in figures: sizes, documents, how full it is and how much it should recall.
#[utoipa::path(get, path = "/api/stats", tag = "model", responses((status = 200, body = Stats)))]
pub(crate) async fn stats(State(app): State<App>) -> Result<axum::Json<Stats>, Failure> {
    let found = app.read(|app, view| {
        Ok(Stats {
            model: app.config.name.clone(),
            stats: view.stats()?,
            transaction: view.transaction(),
            digest: known_digest(app, view).map(|known| known.digest),
            busy: app.model.changing(),
        })
    });
    Ok(axum::Json(found.await?))
}

/// The digest of the memory.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct Digest {
    digest: String,
    /// The last transaction that it contains.
    transaction: u64,
}

/// The digest of the memory: the same for every model of these settings that knows the same texts.
#[utoipa::path(get, path = "/api/digest", tag = "model", responses((status = 200, body = Digest), (status = 202, body = Task), (status = 409, body = ErrorBody)))]
pub(crate) async fn digest(State(app): State<App>) -> Result<Response, Failure> {
    if let Some(known) = app.read(|app, view| Ok(known_digest(app, view))).await? {
        return Ok(axum::Json(known).into_response());
    }
    let keeper = App::clone(&app);
    let make = move |store: &mut Store, ()| {
        let digest = store.digest()?.to_string();
        let transaction = store.transaction();
        *keeper.digest.lock() = Some((transaction, digest.clone()));
        Ok(Digest { digest, transaction })
    };
    // Only what changed since the last one is hashed.
    outcome(&app, &app.tasks.begin("digest", |_| Ok((Cost::Tokens(0), ())), make)?, true).await
}

/// The last digest, if it is that of this state.
fn known_digest(app: &Shared, view: &View) -> Option<Digest> {
    let known = app.digest.lock().clone();
    let known = known.map(|(transaction, digest)| Digest { digest, transaction });
    known.filter(|known| known.transaction == view.transaction())
}

/// How large the memory is to be.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Rebuild {
    /// Bytes of cells; the same as now if nothing is said.
    #[schema(minimum = 65536)]
    memory: Option<u64>,
    /// Whether to wait for the result; if not, or if it takes too long, the answer is a task.
    wait: Option<bool>,
}

/// A memory that was made anew.
#[derive(Serialize, ToSchema)]
pub(crate) struct Rebuilt {
    parameters: u64,
    digest: String,
}

/// Makes the memory anew from its documents, with more room if asked for.
#[utoipa::path(post, path = "/api/rebuild", tag = "model", request_body = Rebuild, responses((status = 200, body = Rebuilt), (status = 202, body = Task), (status = 409, body = ErrorBody)))]
pub(crate) async fn rebuild(
    State(app): State<App>,
    Json(Rebuild { memory, wait }): Json<Rebuild>,
) -> Result<Response, Failure> {
    if memory.is_some_and(|bytes| bytes < 1 << 16) {
        return Err(Failure::field("memory", "a memory must have at least 65536 bytes"));
    }
    let keeper = App::clone(&app);
    let make = move |store: &mut Store, ()| {
        store.rebuild(memory.map(Size::Parameters))?;
        // The same transaction as before, but another size has another digest.
        *keeper.digest.lock() = None;
        let parameters = store.stats()?.parameters;
        Ok(Rebuilt { parameters, digest: store.digest()?.to_string() })
    };
    let running = app.tasks.begin("rebuild", |_| Ok((Cost::Whole, ())), make)?;
    outcome(&app, &running, wait.unwrap_or(true)).await
}

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses((status = 200, body = String)))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether it can answer.
#[utoipa::path(get, path = "/readyz", tag = "operation", security(()), responses((status = 200, body = String), (status = 503, body = String)))]
pub(crate) async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    if app.stopping.load(Ordering::Acquire) || app.model.is_broken() {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation", responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, Failure> {
    // At once, because what a busy server does is of interest.
    let text = aside(move |_| app.metrics.text(&app.model)).await?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
