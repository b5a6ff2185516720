//! The models of a server: listed, and made.

use crate::config::Permission;
use crate::error::ApiError;
use crate::extract::{Json, NoParameters, Query};
use crate::guard::Granted;
use crate::server::Server;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

/// A model of the server.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ServedModel {
    /// Its name: what `model` is in requests.
    name: String,
    /// Whether it is open. Others are opened when they are asked for.
    open: bool,
}

/// The models of the server.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ServedModels {
    models: Vec<ServedModel>,
    /// Whether new ones can be made.
    can_create: bool,
    /// What the request's key allows: to read, or to change too.
    permission: Permission,
}

/// The models of the server, by their names.
#[cfg_attr(test, utoipa::path(get, path = "/api/models", operation_id = "list_models", tag = "models", responses((status = 200, body = ServedModels))))]
pub(crate) async fn list(
    State(server): State<Server>,
    Query(NoParameters {}): Query<NoParameters>,
    Extension(Granted { permission, .. }): Extension<Granted>,
) -> Result<axum::Json<ServedModels>, ApiError> {
    let models = server.models.list().await?;
    let models = models.into_iter().map(|(name, open)| ServedModel { name, open }).collect();
    let can_create = server.models.can_create();
    Ok(axum::Json(ServedModels { models, can_create, permission }))
}

/// A model to make.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NewModelRequest {
    /// Its name: up to 64 letters, digits, `-`, `_` and `.`.
    #[cfg_attr(test, schema(min_length = 1, max_length = 64))]
    name: String,
}

/// Makes a new, empty model, if the server has a folder of models.
#[cfg_attr(test, utoipa::path(post, path = "/api/models", operation_id = "create_model", tag = "models", request_body = NewModelRequest, responses((status = 201, body = ServedModel), (status = 409, body = crate::error::ErrorBody, description = "There is one of this name, or the server makes none"))))]
pub(crate) async fn create(
    State(server): State<Server>,
    Query(NoParameters {}): Query<NoParameters>,
    Json(NewModelRequest { name }): Json<NewModelRequest>,
) -> Result<(StatusCode, axum::Json<ServedModel>), ApiError> {
    let app = server.models.create(name).await?;
    let model = ServedModel { name: app.name.clone(), open: true };
    Ok((StatusCode::CREATED, axum::Json(model)))
}
