//! Forgetting, with receipts, and its proof.

use super::{Reason, respond};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::model::Cost;
use crate::tasks::{Task, TaskKind};
use axum::extract::State;
use axum::response::Response;
use memo_store::{Proof, Receipt, Store};
use serde::Deserialize;
use utoipa::ToSchema;

/// What to forget: documents, or a text wherever it stands.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ForgetRequest {
    document: Option<String>,
    documents: Option<Vec<String>>,
    text: Option<String>,
    /// Kept with the transaction.
    reason: Option<String>,
}

/// Forgets documents or a text for good, and says what that reached.
#[utoipa::path(post, path = "/api/forget", tag = "forgetting", request_body = ForgetRequest, responses((status = 200, body = Receipt), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn forget(
    State(app): State<App>,
    Json(ForgetRequest { document, documents, text, reason }): Json<ForgetRequest>,
) -> Result<Response, ApiError> {
    let documents = match (document, documents, &text) {
        (Some(id), None, None) => vec![id],
        (None, Some(ids), None) => ids,
        (None, None, Some(_)) => Vec::new(),
        _ => return Err(ApiError::bad_request("give one of `document`, `documents` and `text`")),
    };
    let change = move |store: &mut Store| {
        if let Some(text) = text {
            return store.forget_text(&text, reason.as_deref());
        }
        let ids: Vec<&str> = documents.iter().map(String::as_str).collect();
        store.forget(&ids, reason.as_deref())
    };
    respond(&app, &app.tasks.spawn(TaskKind::Forget, Cost::Whole, change)?, true).await
}

/// Forgets a document for good.
#[utoipa::path(delete, path = "/api/documents/{id}", tag = "forgetting", params(("id" = String, Path), Reason), responses((status = 200, body = Receipt), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn forget_document(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(Reason { reason }): Query<Reason>,
) -> Result<Response, ApiError> {
    let request = ForgetRequest { document: Some(id), documents: None, text: None, reason };
    forget(State(app), Json(request)).await
}

/// A document to forget with a proof.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ProveRequest {
    document: String,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Forgets a document, and proves it: the digest must be that of a memory which never saw it.
#[utoipa::path(post, path = "/api/prove", tag = "forgetting", request_body = ProveRequest, responses((status = 200, body = Proof), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn prove(
    State(app): State<App>,
    Json(ProveRequest { document, reason, wait }): Json<ProveRequest>,
) -> Result<Response, ApiError> {
    let change = move |store: &mut Store| store.forget_with_proof(&[&document], reason.as_deref());
    let task = app.tasks.spawn(TaskKind::Prove, Cost::Whole, change)?;
    respond(&app, &task, wait.unwrap_or(true)).await
}
