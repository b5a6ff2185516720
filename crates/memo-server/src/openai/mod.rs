//! OpenAI's API: models, completions, chat completions, responses.

pub(crate) mod chat;
pub(crate) mod completions;
mod options;
mod respond;
pub(crate) mod responses;
mod tokens;

use crate::error::ApiError;
use crate::extract::Path;
use crate::server::{Server, ServerState};
use axum::Json;
use axum::extract::State;
use memo_store::{CompletionStream, FinishReason};
use serde::Serialize;

/// A model that is served.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Model {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
    max_model_len: usize,
}

/// Models that are served.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Models {
    object: &'static str,
    data: Vec<Model>,
}

/// The tokens of a request and its response.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Usage {
    prompt_tokens: usize,
    completion_tokens: usize,
    total_tokens: usize,
}

impl Usage {
    fn new(prompt_tokens: usize, completion_tokens: usize) -> Self {
        let total_tokens = prompt_tokens + completion_tokens;
        Usage { prompt_tokens, completion_tokens, total_tokens }
    }
}

/// Why a completion ended, in OpenAI's terms.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum StopReason {
    /// At the end of the document or at a stop text.
    Stop,
    /// It is as long as it may be.
    Length,
}

impl From<&CompletionStream> for StopReason {
    fn from(stream: &CompletionStream) -> Self {
        match stream.finish_reason() {
            Some(
                FinishReason::End | FinishReason::Stop | FinishReason::Unknown | FinishReason::Loop,
            ) => StopReason::Stop,
            _ => StopReason::Length,
        }
    }
}

fn describe(server: &ServerState, name: String) -> Model {
    Model {
        id: name,
        object: "model",
        created: server.created,
        owned_by: "memo",
        max_model_len: server.config.limits.prompt,
    }
}

/// The models that are served.
#[cfg_attr(test, utoipa::path(get, path = "/v1/models", tag = "OpenAI", responses((status = 200, body = Models))))]
pub(crate) async fn models(State(server): State<Server>) -> Result<Json<Models>, ApiError> {
    let models = server.models.list().await?;
    let data = models.into_iter().map(|(name, _)| describe(&server, name)).collect();
    Ok(Json(Models { object: "list", data }))
}

/// A model that is served; a server of one has it by any name, as in completions.
#[cfg_attr(test, utoipa::path(get, path = "/v1/models/{model}", tag = "OpenAI", params(("model" = String, Path, description = "Its name")), responses((status = 200, body = Model), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn model(
    State(server): State<Server>,
    Path(name): Path<String>,
) -> Result<Json<Model>, ApiError> {
    let name = server.models.check(&name).await?;
    Ok(Json(describe(&server, name)))
}
