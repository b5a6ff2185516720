//! Graphs: files of facts, added, listed, and written for other programs.

use super::{Pagination, respond};
use crate::error::ApiError;
use crate::extract::{Json, Path};
use crate::model::Cost;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::{Documents, TaskHandle, TaskKind};
use axum::response::Response;
use memo_knowledge::{Graph, GraphFormat, GraphOptions};
use memo_store::{ContentKind, GraphStats, Store};
use serde::{Deserialize, Serialize};

/// Graphs.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct GraphList {
    graphs: Vec<GraphStats>,
    /// How many there are in all.
    total: usize,
}

/// Lists the live graphs.
#[cfg_attr(test, utoipa::path(get, path = "/api/graphs", operation_id = "list_graphs", tag = "knowledge", params(Pagination), responses((status = 200, body = GraphList))))]
pub(crate) async fn list(
    ChosenWith(app, pagination): ChosenWith<Pagination>,
) -> Result<axum::Json<GraphList>, ApiError> {
    let graphs = app.read(|_, snapshot| Ok(snapshot.graphs()?)).await?;
    let total = graphs.len();
    Ok(axum::Json(GraphList { graphs: pagination.apply(graphs.into_iter()), total }))
}

/// How a graph is written.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    /// The format: `turtle`, which is the default, `n-triples`, `n-quads`, `json-ld` or `table`.
    format: Option<String>,
}

/// A graph as a file has it.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ExportedGraph {
    document: String,
    /// The format's name.
    format: &'static str,
    /// The file.
    text: String,
}

/// A graph as a file for other programs.
#[cfg_attr(test, utoipa::path(get, path = "/api/graphs/{id}", operation_id = "export_graph", tag = "knowledge", params(("id" = String, Path), ExportQuery), responses((status = 200, body = ExportedGraph), (status = 404, body = crate::error::ErrorBody, description = "There is no such graph"), (status = 409, body = crate::error::ErrorBody, description = "It was forgotten"))))]
pub(crate) async fn export(
    ChosenWith(app, ExportQuery { format }): ChosenWith<ExportQuery>,
    Path(document): Path<String>,
) -> Result<axum::Json<ExportedGraph>, ApiError> {
    let format = format.as_deref().map_or(Ok(GraphFormat::Turtle), named)?;
    let exported = app.read(move |_, snapshot| {
        if snapshot.document(&document)?.kind != ContentKind::Graph {
            let message = format!("document {document:?} is no graph; /api/graphs lists graphs");
            return Err(ApiError::not_found(message));
        }
        let text = snapshot.export_graph(Some(&document), format)?;
        Ok(ExportedGraph { document, format: format.name(), text })
    });
    Ok(axum::Json(exported.await?))
}

/// A graph to add.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphRequest {
    /// The graph, as a file has it.
    #[cfg_attr(test, schema(min_length = 1))]
    text: String,
    /// Its format: `turtle`, `n-triples`, `n-quads`, `json-ld`, `rdf-xml` or `table` (subject, predicate and object with tabs or commas
    /// between them). Left out, the end of `id` says it, as in `cities.ttl`.
    format: Option<String>,
    /// The language of labels to call things by, as in `en`.
    language: Option<String>,
    /// Its name; without one it gets one from its content.
    #[cfg_attr(test, schema(min_length = 1))]
    id: Option<String>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Adds a graph, or a new version of one: its facts can be asked for, and what follows from them is known.
#[cfg_attr(test, utoipa::path(post, path = "/api/graphs", operation_id = "add_graph", tag = "knowledge", request_body = GraphRequest, responses((status = 200, body = memo_store::AddedGraph), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn add(
    Chosen(app): Chosen,
    Json(request): Json<GraphRequest>,
) -> Result<Response, ApiError> {
    let GraphRequest { text, format, language, id, reason, wait } = request;
    if text.trim().is_empty() {
        return Err(ApiError::invalid_field("text", "there is no graph to add"));
    }
    let format = match (format.as_deref(), id.as_deref().and_then(GraphFormat::of_name)) {
        (Some(name), _) => named(name)?,
        (None, Some(format)) => format,
        (None, None) => {
            let message = "`format` is needed where `id` does not end in one, as in `cities.ttl`";
            return Err(ApiError::invalid_field("format", message));
        }
    };
    let prepare = move |_: &TaskHandle| {
        let options = GraphOptions { language };
        let graph =
            Graph::read(text.as_bytes(), format, &options).map_err(|error| refused(&error))?;
        let documents = id.iter().cloned().collect::<Vec<_>>();
        let documents =
            if documents.is_empty() { Documents::Any } else { Documents::Named(documents) };
        // How much follows by rule only the change itself knows.
        Ok((Cost::Whole, documents, (graph, id)))
    };
    let change = move |store: &mut Store, (graph, id): (Graph, Option<String>)| {
        Ok(store.add_graph(&graph, id.as_deref(), reason.as_deref())?)
    };
    let task = app.tasks.spawn_prepared(TaskKind::Memorize, prepare, change)?;
    respond(&app, &task, wait).await
}

fn named(name: &str) -> Result<GraphFormat, ApiError> {
    let format: Result<GraphFormat, String> = name.parse();
    format.map_err(|one| ApiError::invalid_field("format", format!("format must be {one}")))
}

fn refused(error: &memo_knowledge::GraphError) -> ApiError {
    use memo_knowledge::GraphErrorKind::Language;
    let field = if matches!(error.kind, Language { .. }) { "language" } else { "text" };
    ApiError::invalid_field(field, error.to_string())
}
