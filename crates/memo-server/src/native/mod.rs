//! MeMo's own API: documents, facts, rules, queries, changes, tasks, models and their state.

pub(crate) mod changes;
pub(crate) mod documents;
pub(crate) mod facts;
pub(crate) mod forgetting;
pub(crate) mod graphs;
pub(crate) mod inside;
pub(crate) mod lexicon;
pub(crate) mod models;
pub(crate) mod queries;
pub(crate) mod rules;
pub(crate) mod status;
pub(crate) mod tasks;

use crate::app::App;
use crate::error::ApiError;
use crate::tasks::TaskHandle;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memo_store::Transaction;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The part of a list to return.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct Pagination {
    /// The most entries, 50 by default.
    pub(crate) limit: Option<usize>,
    /// Entries to skip.
    #[serde(default)]
    pub(crate) offset: usize,
}

impl Pagination {
    /// The entries of a whole list.
    fn apply<T>(self, all: impl Iterator<Item = T>) -> Vec<T> {
        all.skip(self.offset).take(self.limit.unwrap_or(50).min(1000)).collect()
    }
}

/// How a change is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeOptions {
    /// Why, in the user's words; kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Transactions.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TransactionList {
    pub(crate) transactions: Vec<Transaction>,
    /// How many there are in all.
    total: usize,
}

/// Responds with the result of a task or, if that is not waited for or takes too long, with the task.
async fn respond(
    app: &App,
    task: &Arc<TaskHandle>,
    wait: Option<bool>,
) -> Result<Response, ApiError> {
    if wait.unwrap_or(true) {
        // Shortly before the time is over, so that there is still time to respond.
        let timeout = app.config.limits.time.mul_f64(0.9);
        if let Some(result) = task.wait(timeout).await {
            return result.map(|value| Json(value).into_response());
        }
    }
    Ok((StatusCode::ACCEPTED, Json(task.task())).into_response())
}
