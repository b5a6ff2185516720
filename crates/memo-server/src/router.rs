//! Which path leads where.

use crate::app::App;
use crate::error::Failure;
use crate::guard::{Doors, cors, door, outermost};
use crate::native::{changes, documents, facts, forgetting, reading, tasks};
use crate::openai::{self, chat, completions};
use crate::{harness, page, reference};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use std::sync::Arc;

/// All paths. Each is behind the door for its right: to read, to write, or none.
pub(crate) fn router(app: &App) -> Router {
    let [readers, writers] = Doors::new(app);
    let open = Router::new()
        .route("/", get(page::index))
        .route("/assets/{*path}", get(page::asset))
        .route("/healthz", get(facts::healthz))
        .route("/readyz", get(facts::readyz))
        .route("/openapi.json", get(reference::openapi))
        .route("/docs", get(reference::docs));
    let reads = Router::new()
        .route("/v1/models", get(openai::models))
        .route("/v1/models/{model}", get(openai::model))
        .route("/v1/completions", post(completions::completions))
        .route("/v1/chat/completions", post(chat::chat))
        .route("/tokenize", post(harness::tokenize))
        .route("/detokenize", post(harness::detokenize))
        .route("/tokenizer_info", get(harness::tokenizer_info))
        .route("/metrics", get(facts::metrics))
        .route("/api/stats", get(facts::stats))
        .route("/api/digest", get(facts::digest))
        .route("/api/documents", get(documents::list))
        .route("/api/documents/{id}", get(documents::show))
        .route("/api/documents/{id}/history", get(documents::history))
        .route("/api/transactions", get(changes::log))
        .route("/api/tasks", get(tasks::list))
        .route("/api/tasks/{id}", get(tasks::show))
        .route("/api/tasks/{id}/events", get(tasks::events))
        .route("/api/complete", post(reading::complete))
        .route("/api/read", post(reading::read_text))
        .route("/api/explain", post(reading::explain))
        .route("/api/find", post(reading::find))
        .route_layer(from_fn_with_state(readers, door));
    let writes = Router::new()
        .route("/api/documents", post(documents::memorize))
        .route("/api/upload", post(documents::upload))
        .route("/api/documents/{id}", delete(forgetting::forget_document))
        .route("/api/documents/{id}/retire", post(documents::retire))
        .route("/api/documents/{id}/restore", post(documents::restore))
        .route("/api/forget", post(forgetting::forget))
        .route("/api/prove", post(forgetting::prove))
        .route("/api/edit", post(changes::edit))
        .route("/api/replace", post(changes::replace))
        .route("/api/transactions/{id}/rollback", post(changes::rollback))
        .route("/api/rebuild", post(facts::rebuild))
        .route("/api/tasks/{id}", delete(tasks::cancel))
        .route_layer(from_fn_with_state(writers, door));
    let mut all = open
        .merge(reads)
        .merge(writes)
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(app.config.limits.body));
    if let Some(cors) = cors(&app.config) {
        all = all.layer(cors);
    }
    all.layer(from_fn_with_state(Arc::clone(app), outermost)).with_state(Arc::clone(app))
}

async fn nothing_here(uri: axum::http::Uri) -> Failure {
    Failure::missing(format!("there is nothing at {}; /docs lists what there is", uri.path()))
}

async fn wrong_method(method: Method, uri: axum::http::Uri) -> Failure {
    let message = format!("{method} is not for {}; /docs says what is", uri.path());
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
