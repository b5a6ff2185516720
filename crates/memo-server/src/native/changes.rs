//! Edits, replacements, and the transactions that all changes are.

use super::{Rows, Why, outcome};
use crate::app::App;
use crate::error::{ErrorBody, Failure};
use crate::extract::{Asked, At, Json};
use crate::model::Cost;
use crate::tasks::Task;
use axum::extract::State;
use axum::response::Response;
use memo_store::{Kind, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct Changed {
    pub(super) transaction: u64,
}

/// A change of the model.
#[derive(Serialize, ToSchema)]
pub(crate) struct Transaction {
    id: u64,
    /// When, in UTC.
    time: String,
    /// `memorize`, `forget`, `retire`, `restore`, `replace`, `edit`, `merge` or `rollback`.
    kind: &'static str,
    reason: Option<String>,
    documents: Vec<String>,
    /// The transaction that this one rolled back.
    undoes: Option<u64>,
    /// The transaction that rolled this one back.
    undone_by: Option<u64>,
    /// Whether it may be rolled back, if no later one depends on it.
    can_roll_back: bool,
}

impl From<memo_store::Transaction> for Transaction {
    fn from(transaction: memo_store::Transaction) -> Self {
        let memo_store::Transaction { id, time, kind, reason, ops, undoes, undone_by, .. } =
            transaction;
        Transaction {
            id,
            time: memo_store::utc(time),
            kind: kind.name(),
            reason,
            documents: ops.into_iter().map(|op| op.document).collect(),
            undoes,
            undone_by,
            can_roll_back: kind != Kind::Forget && undone_by.is_none(),
        }
    }
}

/// Transactions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Log {
    transactions: Vec<Transaction>,
    /// How many there are in all.
    total: usize,
}

/// All changes, the newest first.
#[utoipa::path(get, path = "/api/transactions", tag = "changes", params(Rows), responses((status = 200, body = Log)))]
pub(crate) async fn log(
    State(app): State<App>,
    Asked(rows): Asked<Rows>,
) -> Result<axum::Json<Log>, Failure> {
    let all = app.read(|_, view| Ok(view.log()?)).await?;
    let total = all.len();
    let transactions = rows.of(all.into_iter().rev().map(Transaction::from));
    Ok(axum::Json(Log { transactions, total }))
}

/// Undoes a change, if no later one depends on it.
#[utoipa::path(post, path = "/api/transactions/{id}/rollback", tag = "changes", params(("id" = u64, Path)), request_body = Why, responses((status = 200, body = Changed), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn rollback(
    State(app): State<App>,
    At(id): At<u64>,
    Json(Why { reason }): Json<Why>,
) -> Result<Response, Failure> {
    // How much there is to undo only the transaction itself knows.
    let make = move |store: &mut Store, ()| {
        Ok(Changed { transaction: store.rollback(id, reason.as_deref())?.id })
    };
    let running = app.tasks.begin("rollback", |_| Ok((Cost::Whole, ())), make)?;
    outcome(&app, &running, true).await
}

/// What is to follow a prompt.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Edit {
    #[schema(min_length = 1)]
    prompt: String,
    #[schema(min_length = 1)]
    target: String,
    reason: Option<String>,
}

/// An edit that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct Edited {
    /// None if the memory said so already.
    transaction: Option<u64>,
    /// The document that holds the edit.
    document: Option<String>,
    /// How often the target had to be written.
    weight: i32,
}

/// Makes a text what follows a prompt.
#[utoipa::path(post, path = "/api/edit", tag = "changes", request_body = Edit, responses((status = 200, body = Edited), (status = 202, body = Task), (status = 409, body = ErrorBody)))]
pub(crate) async fn edit(
    State(app): State<App>,
    Json(asked): Json<Edit>,
) -> Result<Response, Failure> {
    let make = move |store: &mut Store, ()| {
        let done = store.edit(&asked.prompt, &asked.target, asked.reason.as_deref())?;
        let memo_store::Edited { transaction, document, weight } = done;
        Ok(Edited { transaction, document, weight })
    };
    // A few tokens, tried with one weight after the other.
    let running = app.tasks.begin("edit", |_| Ok((Cost::Tokens(0), ())), make)?;
    outcome(&app, &running, true).await
}

/// What is to be replaced.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Replace {
    #[schema(min_length = 1)]
    old: String,
    new: String,
    /// Only in this document.
    document: Option<String>,
    reason: Option<String>,
}

/// Text that was replaced.
#[derive(Serialize, ToSchema)]
pub(crate) struct Replaced {
    transaction: u64,
    documents: Vec<String>,
}

/// Replaces text in documents.
#[utoipa::path(post, path = "/api/replace", tag = "changes", request_body = Replace, responses((status = 200, body = Replaced), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn replace(
    State(app): State<App>,
    Json(asked): Json<Replace>,
) -> Result<Response, Failure> {
    let make = move |store: &mut Store, ()| {
        let Replace { old, new, document, reason } = &asked;
        let done = store.replace(old, new, document.as_deref(), reason.as_deref())?;
        let documents = done.ops.into_iter().map(|op| op.document).collect();
        Ok(Replaced { transaction: done.id, documents })
    };
    let running = app.tasks.begin("replace", |_| Ok((Cost::Whole, ())), make)?;
    outcome(&app, &running, true).await
}
