//! Edits, replacements, and the transactions that all changes are.

use super::{ChangeOptions, Pagination, TransactionList, respond};
use crate::error::ApiError;
use crate::extract::{Json, Path};
use crate::model::Cost;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::TaskKind;
use axum::response::Response;
use memo_store::Store;
use serde::Deserialize;

/// All changes, the newest first.
#[cfg_attr(test, utoipa::path(get, path = "/api/transactions", tag = "changes", params(Pagination), responses((status = 200, body = TransactionList))))]
pub(crate) async fn log(
    ChosenWith(app, pagination): ChosenWith<Pagination>,
) -> Result<axum::Json<TransactionList>, ApiError> {
    let all = app.read(|_, snapshot| Ok(snapshot.log()?)).await?;
    let total = all.len();
    let transactions = pagination.apply(all.into_iter().rev());
    Ok(axum::Json(TransactionList { transactions, total }))
}

/// Undoes a change, if no later one depends on it.
#[cfg_attr(test, utoipa::path(post, path = "/api/transactions/{id}/rollback", tag = "changes", params(("id" = u64, Path)), request_body = ChangeOptions, responses((status = 200, body = memo_store::ChangeReport), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn rollback(
    Chosen(app): Chosen,
    Path(id): Path<u64>,
    Json(ChangeOptions { reason, wait }): Json<ChangeOptions>,
) -> Result<Response, ApiError> {
    // How much there is to undo only the transaction itself knows.
    let change = move |store: &mut Store| store.rollback(id, reason.as_deref());
    respond(&app, &app.tasks.spawn(TaskKind::Rollback, Cost::Whole, change)?, wait).await
}

/// What is to follow a prompt.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct EditRequest {
    #[cfg_attr(test, schema(min_length = 1))]
    prompt: String,
    #[cfg_attr(test, schema(min_length = 1))]
    target: String,
    /// Whether the target is written as it is, and nothing after it: no space before it where two words meet, and not how a
    /// document that has the prompt goes on.
    #[serde(default)]
    exact: bool,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Makes a text what follows a prompt.
#[cfg_attr(test, utoipa::path(post, path = "/api/edit", tag = "changes", request_body = EditRequest, responses((status = 200, body = memo_store::EditReport), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn edit(
    Chosen(app): Chosen,
    Json(EditRequest { prompt, target, exact, reason, wait }): Json<EditRequest>,
) -> Result<Response, ApiError> {
    if prompt.is_empty() || target.is_empty() {
        return Err(ApiError::bad_request("an edit needs a prompt and a target"));
    }
    // A few tokens, tried with one weight after the other.
    let cost = Cost::Tokens(0);
    let change = move |store: &mut Store| {
        let edit = if exact { Store::edit } else { Store::edit_passage };
        edit(store, &prompt, &target, reason.as_deref())
    };
    respond(&app, &app.tasks.spawn(TaskKind::Edit, cost, change)?, wait).await
}

/// Text to replace.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceRequest {
    #[cfg_attr(test, schema(min_length = 1))]
    old: String,
    new: String,
    /// Only in this document.
    document: Option<String>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Replaces text in documents.
#[cfg_attr(test, utoipa::path(post, path = "/api/replace", tag = "changes", request_body = ReplaceRequest, responses((status = 200, body = memo_store::ChangeReport), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn replace(
    Chosen(app): Chosen,
    Json(ReplaceRequest { old, new, document, reason, wait }): Json<ReplaceRequest>,
) -> Result<Response, ApiError> {
    if old.is_empty() {
        return Err(ApiError::invalid_field("old", "there is nothing to replace"));
    }
    let change =
        move |store: &mut Store| store.replace(&old, &new, document.as_deref(), reason.as_deref());
    respond(&app, &app.tasks.spawn(TaskKind::Replace, Cost::Whole, change)?, wait).await
}
