//! MeMo's own API: documents, reading, changes, tasks, and the model in figures.

pub(crate) mod changes;
pub(crate) mod documents;
pub(crate) mod facts;
pub(crate) mod forgetting;
pub(crate) mod reading;
pub(crate) mod tasks;

use crate::app::App;
use crate::error::Failure;
use crate::tasks::{Running, Task};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Which rows of a list.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Rows {
    /// At most so many; 50 if nothing is said.
    limit: Option<usize>,
    /// After so many.
    #[serde(default)]
    offset: usize,
}

impl Rows {
    /// The rows of a whole list.
    fn of<T>(self, all: impl Iterator<Item = T>) -> Vec<T> {
        all.skip(self.offset).take(self.limit.unwrap_or(50).min(1000)).collect()
    }
}

/// Why a change is made.
#[derive(Clone, Debug, Default, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Why {
    /// In the user's words; kept with the transaction.
    reason: Option<String>,
}

/// Answers with what came of a task, or, if that is not waited for or takes too long, with the task.
async fn outcome(app: &App, running: &Arc<Running>, wait: bool) -> Result<Response, Failure> {
    if wait {
        // Shortly before the time is over, so that an answer can still be given.
        let most = app.config.limits.time.mul_f64(0.9);
        if let Some(result) = running.outcome(most).await {
            return result.map(|value| Json(value).into_response());
        }
    }
    let task: Task = running.now();
    Ok((StatusCode::ACCEPTED, Json(task)).into_response())
}
