//! What an agent asks of a model, and the answer: the same in this process and from another one that shares the model.

use super::{calls, resources, tools};
use crate::advice;
use crate::app::App;
use crate::config::Permission;
use crate::error::ApiError;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Request {
    /// A call of a tool.
    Call { tool: String, arguments: Map<String, Value> },
    /// The documents from `offset` on, as resources.
    List { offset: usize },
    /// A document, as a resource.
    Read { uri: String },
}

impl Request {
    /// Whether asking twice does no more than asking once: what to do if nobody knows whether it was answered.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Request::Call { tool, .. } => tools::is_repeatable(tool),
            Request::List { .. } | Request::Read { .. } => true,
        }
    }
}

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reply {
    Result(Value),
    /// Nothing has changed.
    Refused(Refusal),
    /// Another process has the model, or will; nothing has changed.
    Moved,
}

/// Why something was not done, and what to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// Whether there is no such thing as was asked for.
    pub(crate) not_found: bool,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), not_found: false }
    }

    pub(crate) fn internal() -> Self {
        ApiError::internal().into()
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        let not_found = error.status == StatusCode::NOT_FOUND;
        Refusal { not_found, ..Refusal::new(advice::for_agents(error.detail.message())) }
    }
}

/// What a client may do, and how long it waits for a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) permission: Permission,
    pub(crate) patience: Duration,
}

/// Answers from the model of this process.
pub(crate) async fn answer(app: &App, access: Access, request: Request) -> Reply {
    let answered = match request {
        Request::Call { tool, arguments } => calls::call(app, access, &tool, arguments).await,
        Request::List { offset } => resources::list(app, offset).await,
        Request::Read { uri } => resources::read(app, uri).await,
    };
    match answered {
        Ok(value) => Reply::Result(value),
        // What fails because the model is being closed can be asked of who has it next.
        Err(_) if app.closing.load(Ordering::Acquire) => Reply::Moved,
        Err(error) => Reply::Refused(error.into()),
    }
}
