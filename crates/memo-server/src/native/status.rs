//! The state of the model and of the server: figures, digest, health, metrics.

use super::lexicon::parsed;
use super::respond;
use crate::error::ApiError;
use crate::extract::Json;
use crate::model::Cost;
use crate::partner::PartnerInfo;
use crate::server::{Chosen, Server};
use crate::tasks::TaskKind;
use crate::workers::run_blocking;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use memo::sparse::Digest;
use memo_store::{DigestReport, Stats, Store};
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// The model in figures.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ModelStats {
    /// Its name.
    model: String,
    #[serde(flatten)]
    stats: Stats,
    /// Its digest, if it has been taken since the last change.
    #[cfg_attr(test, schema(value_type = Option<String>))]
    digest: Option<Digest>,
    /// Whether a long change is being made.
    busy: bool,
    /// The model beside it, if there is one.
    partner: Option<PartnerInfo>,
}

/// The model in figures: documents, tokens, bytes and contexts.
#[cfg_attr(test, utoipa::path(get, path = "/api/stats", tag = "model", responses((status = 200, body = ModelStats))))]
pub(crate) async fn stats(Chosen(app): Chosen) -> Result<axum::Json<ModelStats>, ApiError> {
    let changes = app.model.changes();
    let known =
        app.stats.lock().clone().filter(|(then, _)| *then == changes && !app.model.is_broken());
    // As long as nothing changes, they need no seat: a busy server is what figures are for.
    let stats = if let Some((_, stats)) = known {
        stats
    } else {
        let stats = app.read(|_, snapshot| Ok(snapshot.stats()?)).await?;
        *app.stats.lock() = Some((changes, stats.clone()));
        stats
    };
    let digest = app.digest.lock().filter(|(then, _)| *then == changes).map(|(_, known)| known);
    Ok(axum::Json(ModelStats {
        model: app.name.clone(),
        digest: digest
            .filter(|known| known.transaction == stats.transaction)
            .map(|known| known.digest),
        stats,
        busy: app.model.is_changing(),
        partner: app.config.partner.as_ref().map(|partner| partner.info().clone()),
    }))
}

/// The digest of the memory: the same for every model of these settings that knows the same texts.
#[cfg_attr(test, utoipa::path(get, path = "/api/digest", tag = "model", responses((status = 200, body = DigestReport))))]
pub(crate) async fn digest(Chosen(app): Chosen) -> Result<axum::Json<DigestReport>, ApiError> {
    let changes = app.model.changes();
    let report = app.read(|_, snapshot| Ok(snapshot.digest_report()?)).await?;
    *app.digest.lock() = Some((changes, report));
    Ok(axum::Json(report))
}

/// How a memory is made anew.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RebuildRequest {
    /// The text of another lexicon, as a file of it would be, or `none`; left out, the lexicon stays.
    lexicon: Option<String>,
    /// Its format: `table` (the default: a word, a tab, its class), `csv`, `jsonl`, `turtle`, `ntriples` or `lexicon`.
    format: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Makes the memory anew from its documents, as it was or with another lexicon.
#[cfg_attr(test, utoipa::path(post, path = "/api/rebuild", tag = "model", request_body = RebuildRequest, responses((status = 200, body = memo_store::RebuildReport), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn rebuild(
    Chosen(app): Chosen,
    Json(RebuildRequest { lexicon, format, wait }): Json<RebuildRequest>,
) -> Result<Response, ApiError> {
    let lexicon = match lexicon {
        Some(text) => Some(app.workers.run(move |_| parsed(&text, format.as_deref())).await?),
        None => None,
    };
    let change = move |store: &mut Store| match lexicon {
        Some(lexicon) => store.rebuild_with_lexicon(lexicon),
        None => store.rebuild(),
    };
    let task = app.tasks.spawn(TaskKind::Rebuild, Cost::Whole, change)?;
    respond(&app, &task, wait).await
}

/// Whether the process lives.
#[cfg_attr(test, utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses((status = 200, body = String))))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server can answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Health {
    /// `ok`, or `unavailable`.
    status: &'static str,
}

/// Whether it can answer, as other local servers say it.
#[cfg_attr(test, utoipa::path(get, path = "/health", tag = "operation", security(()), responses((status = 200, body = Health), (status = 503, body = Health))))]
pub(crate) async fn health(State(server): State<Server>) -> (StatusCode, axum::Json<Health>) {
    let (code, _) = readyz(State(server)).await;
    let status = if code == StatusCode::OK { "ok" } else { "unavailable" };
    (code, axum::Json(Health { status }))
}

/// Whether it can answer.
#[cfg_attr(test, utoipa::path(get, path = "/readyz", tag = "operation", security(()), responses((status = 200, body = String), (status = 503, body = String))))]
pub(crate) async fn readyz(State(server): State<Server>) -> (StatusCode, &'static str) {
    if server.stopping.load(Ordering::Acquire) || !server.models.is_ready() {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}

/// Metrics for Prometheus.
#[cfg_attr(test, utoipa::path(get, path = "/metrics", tag = "operation", responses((status = 200, body = String, content_type = "application/openmetrics-text"))))]
pub(crate) async fn metrics(State(server): State<Server>) -> Result<Response, ApiError> {
    // Without waiting for a seat, because a busy server is what metrics are for.
    let text =
        run_blocking(move || server.metrics.text(&server.models.apps(), &server.workers)).await?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
