//! The routes.

use crate::error::ApiError;
use crate::guard::{AccessControl, authorize, cors, handle_request};
use crate::native::{
    changes, documents, facts, forgetting, graphs, inside, lexicon, models, queries, rules, status,
    tasks,
};
use crate::openai::{self, chat, completions, responses};
use crate::server::Server;
use crate::{harness, mcp, page, reference};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use std::sync::Arc;

/// All routes, each behind the check of the permission that it needs: to read, to write, or none.
pub(crate) fn router(server: &Server) -> Router {
    let [readers, writers] = AccessControl::new(server);
    let open = Router::new()
        .route("/", get(page::index))
        .route("/assets/{*path}", get(page::asset))
        .route("/health", get(status::health))
        .route("/healthz", get(status::healthz))
        .route("/readyz", get(status::readyz))
        .route("/openapi.json", get(reference::openapi))
        .route("/docs", get(reference::docs));
    let reads = Router::new()
        .route("/v1/models", get(openai::models))
        .route("/v1/models/{model}", get(openai::model))
        .route("/v1/completions", post(completions::completions))
        .route("/v1/chat/completions", post(chat::chat))
        .route("/v1/responses", post(responses::responses))
        .route("/tokenize", post(harness::tokenize))
        .route("/detokenize", post(harness::detokenize))
        .route("/tokenizer_info", get(harness::tokenizer_info))
        .route("/metrics", get(status::metrics))
        .route("/api/models", get(models::list))
        .route("/api/stats", get(status::stats))
        .route("/api/digest", get(status::digest))
        .route("/api/documents", get(documents::list))
        .route("/api/documents/{id}", get(documents::show))
        .route("/api/documents/{id}/history", get(documents::history))
        .route("/api/transactions", get(changes::log))
        .route("/api/tasks", get(tasks::list))
        .route("/api/tasks/{id}", get(tasks::show))
        .route("/api/tasks/{id}/events", get(tasks::events))
        .route("/api/complete", post(queries::complete))
        .route("/api/read", post(queries::read_text))
        .route("/api/explain", post(queries::explain))
        .route("/api/breakdown", post(inside::breakdown))
        .route("/api/fill", get(inside::fill))
        .route("/api/find", post(queries::find))
        .route("/api/prove", post(forgetting::prove))
        .route("/api/closest", get(queries::closest))
        .route("/api/lexicon", get(lexicon::show))
        .route("/api/lexicon/text", post(lexicon::text))
        .route("/api/lexicon/words/{word}", get(lexicon::word))
        .route("/api/lexicon/classes/{class}", get(lexicon::class))
        .route("/api/facts", get(facts::ask))
        .route("/api/graphs", get(graphs::list))
        .route("/api/graphs/{id}", get(graphs::export))
        .route("/api/rules", get(rules::list))
        .route("/api/rules/preview", post(rules::preview))
        .route("/api/why", get(rules::why))
        .route_service("/mcp", mcp::http::service(server))
        .route_layer(from_fn_with_state(readers, authorize));
    let writes = Router::new()
        .route("/api/models", post(models::create))
        .route("/api/documents", post(documents::memorize))
        .route("/api/upload", post(documents::upload))
        .route("/api/documents/{id}", delete(forgetting::forget_document))
        .route("/api/documents/{id}/retire", post(documents::retire))
        .route("/api/documents/{id}/restore", post(documents::restore))
        .route("/api/facts", post(facts::state))
        .route("/api/graphs", post(graphs::add))
        .route("/api/rules", post(rules::add))
        .route("/api/forget", post(forgetting::forget))
        .route("/api/edit", post(changes::edit))
        .route("/api/replace", post(changes::replace))
        .route("/api/transactions/{id}/rollback", post(changes::rollback))
        .route("/api/rebuild", post(status::rebuild))
        .route("/api/tasks/{id}", delete(tasks::cancel))
        .route_layer(from_fn_with_state(writers, authorize));
    let mut all = open
        .merge(reads)
        .merge(writes)
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(server.config.limits.body));
    if let Some(cors) = cors(&server.config) {
        all = all.layer(cors);
    }
    all.layer(from_fn_with_state(Arc::clone(server), handle_request)).with_state(Arc::clone(server))
}

async fn not_found(uri: axum::http::Uri) -> ApiError {
    ApiError::not_found(format!("there is nothing at {}; /docs lists what there is", uri.path()))
}

async fn method_not_allowed(method: Method, uri: axum::http::Uri) -> ApiError {
    let message = format!("{method} is not for {}; /docs says what is", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
