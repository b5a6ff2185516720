//! Documents: memorized, listed, shown, retired and restored.

use super::{ChangeOptions, Pagination, TransactionList, respond};
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Json, Path};
use crate::model::Cost;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::{Documents, TaskHandle, TaskKind};
use crate::workers::Seat;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use memo_store::{
    ChangeReport, Document, DocumentState, DocumentText, NewDocument, Progress, Store, Together,
    Unit,
};
use memo_text::{Content, Corpus, CorpusDocument, CorpusOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

/// Documents.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct DocumentList {
    documents: Vec<Document>,
    /// How many there are in all.
    total: usize,
}

/// The documents to list.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentQuery {
    /// Part of an id or a label.
    search: Option<String>,
    /// Only documents in this state.
    state: Option<DocumentState>,
    /// The most entries, 50 by default.
    limit: Option<usize>,
    /// Entries to skip.
    #[serde(default)]
    offset: usize,
}

/// Lists documents, the newest first.
#[cfg_attr(test, utoipa::path(get, path = "/api/documents", tag = "documents", params(DocumentQuery), responses((status = 200, body = DocumentList))))]
pub(crate) async fn list(
    ChosenWith(app, DocumentQuery { search, state, limit, offset }): ChosenWith<DocumentQuery>,
) -> Result<axum::Json<DocumentList>, ApiError> {
    let list = app.read(move |_, snapshot| {
        let search = search.unwrap_or_default().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&search);
        let mut documents = snapshot.documents()?;
        documents.retain(|document| {
            state.is_none_or(|state| state == document.state)
                && (has(&document.id) || document.labels.iter().any(|(k, v)| has(k) || has(v)))
        });
        let newest =
            |document: &Document| document.versions.last().map(|version| version.transaction);
        documents.sort_by(|a, b| newest(b).cmp(&newest(a)).then_with(|| a.id.cmp(&b.id)));
        let total = documents.len();
        let documents = Pagination { limit, offset }.apply(documents.into_iter());
        Ok(DocumentList { documents, total })
    });
    Ok(axum::Json(list.await?))
}

/// The version to show.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionQuery {
    /// The version whose text is given.
    version: Option<u32>,
}

/// Shows a document.
#[cfg_attr(test, utoipa::path(get, path = "/api/documents/{id}", tag = "documents", params(("id" = String, Path), VersionQuery), responses((status = 200, body = DocumentText), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn show(
    ChosenWith(app, VersionQuery { version }): ChosenWith<VersionQuery>,
    Path(id): Path<String>,
) -> Result<axum::Json<DocumentText>, ApiError> {
    let shown = app.read(move |_, snapshot| {
        if let Some(number) = version
            && !snapshot.document(&id)?.versions.iter().any(|version| version.number == number)
        {
            let message = format!("document {id:?} has no version {number}");
            return Err(ApiError::not_found(message));
        }
        Ok(snapshot.show(&id, version)?)
    });
    Ok(axum::Json(shown.await?))
}

/// The transactions that changed a document.
#[cfg_attr(test, utoipa::path(get, path = "/api/documents/{id}/history", tag = "documents", params(("id" = String, Path)), responses((status = 200, body = TransactionList), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn history(
    Chosen(app): Chosen,
    Path(id): Path<String>,
) -> Result<axum::Json<TransactionList>, ApiError> {
    let transactions = app.read(move |_, snapshot| Ok(snapshot.history(&id)?)).await?;
    Ok(axum::Json(TransactionList { total: transactions.len(), transactions }))
}

/// A text to memorize.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentInput {
    #[cfg_attr(test, schema(min_length = 1))]
    text: String,
    /// Its name; without one it gets one from its content.
    id: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// One text, or several, to memorize in one transaction.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorizeRequest {
    #[cfg_attr(test, schema(min_length = 1))]
    text: Option<String>,
    id: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// Several texts, in place of one.
    documents: Option<Vec<DocumentInput>>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Memorizes texts.
#[cfg_attr(test, utoipa::path(post, path = "/api/documents", tag = "documents", request_body = MemorizeRequest, responses((status = 200, body = memo_store::MemorizeReport), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody, description = "They would not fit"))))]
pub(crate) async fn memorize(
    Chosen(app): Chosen,
    Json(request): Json<MemorizeRequest>,
) -> Result<Response, ApiError> {
    let MemorizeRequest { text, id, labels, documents, reason, wait } = request;
    let documents = match (text, documents) {
        (Some(text), None) => vec![DocumentInput { text, id, labels }],
        (None, Some(documents)) => documents,
        _ => return Err(ApiError::bad_request("give either `text` or `documents`")),
    };
    let documents = documents.into_iter().map(|DocumentInput { text, id, labels }| {
        DocumentContent { content: Content::Text(text), id, labels }
    });
    memorize_documents(&app, documents.collect(), ChangeOptions { reason, wait }).await
}

/// The name of a file, and how it is memorized.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadQuery {
    /// Its name. Of a name that ends in `.jsonl` or `.ndjson`, every line is a document; of
    /// `.html` and `.docx` the text is read.
    id: Option<String>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Memorizes a file, read as `memo memorize` reads it.
#[cfg_attr(test, utoipa::path(post, path = "/api/upload", tag = "documents", params(UploadQuery), request_body(content = String, content_type = "application/octet-stream", description = "The file: text in UTF-8, a page of HTML or a Word document by the end of its name, or any bytes if the tokenizer is `bytes`"), responses((status = 200, body = memo_store::MemorizeReport), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn upload(
    ChosenWith(app, UploadQuery { id, reason, wait }): ChosenWith<UploadQuery>,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Response, ApiError> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if given != Some("application/octet-stream") {
        let message = "an upload needs `Content-Type: application/octet-stream`";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let encoding = app.model.tokenizer().encoding();
    // What an archive unpacks to may not be larger than what could be sent as it is.
    let max_bytes = app.config.limits.body as u64;
    let options = CorpusOptions { encoding, max_bytes, ..CorpusOptions::default() };
    let (named, name) = (id.is_some(), id.unwrap_or_else(|| "the file".to_owned()));
    let body = Cursor::new(body?);
    let read = move |_: &mut Seat| Ok(Corpus::from_read(body, &name, options).documents()?);
    let documents = app.workers.run(read).await?.into_iter();
    let documents = documents.map(|CorpusDocument { id, content, labels, .. }| DocumentContent {
        content,
        id: named.then_some(id),
        labels,
    });
    memorize_documents(&app, documents.collect(), ChangeOptions { reason, wait }).await
}

/// A document that is to be memorized.
struct DocumentContent {
    content: Content,
    id: Option<String>,
    labels: BTreeMap<String, String>,
}

async fn memorize_documents(
    app: &App,
    inputs: Vec<DocumentContent>,
    ChangeOptions { reason, wait }: ChangeOptions,
) -> Result<Response, ApiError> {
    if inputs.is_empty() || inputs.iter().any(|input| input.content.as_bytes().is_empty()) {
        return Err(ApiError::invalid_field("text", "there is no text to memorize"));
    }
    let (reader, metrics) = (App::clone(app), Arc::clone(&app.metrics));
    let prepare = move |task: &TaskHandle| {
        let named: Option<Vec<String>> = inputs.iter().map(|input| input.id.clone()).collect();
        let total: u64 = inputs.iter().map(|input| input.content.as_bytes().len() as u64).sum();
        let (mut documents, mut tokens, mut done) = (Vec::new(), 0, 0);
        for DocumentContent { content, id, labels } in inputs {
            task.report(Progress { stage: "reading", done, total, unit: Unit::Bytes });
            task.check()?;
            done += content.as_bytes().len() as u64;
            let encoded = reader.model.tokenizer().encode_bytes(content.as_bytes())?;
            tokens += encoded.len() as u64;
            let mut document = NewDocument::tokens(encoded);
            document = id.into_iter().fold(document, NewDocument::with_id);
            let labelled = |document: NewDocument, (k, v)| document.with_label(k, v);
            documents.push(labels.into_iter().fold(document, labelled));
        }
        Ok((Cost::Tokens(tokens), named.map_or(Documents::Any, Documents::Named), documents))
    };
    let change = move |store: &mut Together<'_>, documents: Vec<NewDocument>| {
        let report = store.memorize(documents, reason.as_deref())?;
        metrics.memorized.inc_by(report.tokens);
        Ok(report)
    };
    respond(app, &app.tasks.spawn_memorize(prepare, change)?, wait).await
}

/// Takes a document out of the memory, and keeps it.
#[cfg_attr(test, utoipa::path(post, path = "/api/documents/{id}/retire", tag = "documents", params(("id" = String, Path)), request_body = ChangeOptions, responses((status = 200, body = ChangeReport), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn retire(
    Chosen(app): Chosen,
    Path(id): Path<String>,
    Json(ChangeOptions { reason, wait }): Json<ChangeOptions>,
) -> Result<Response, ApiError> {
    let change = move |store: &mut Store, id: &str| store.retire(id, reason.as_deref());
    change_document(&app, TaskKind::Retire, id, wait, change).await
}

/// Brings a retired document back.
#[cfg_attr(test, utoipa::path(post, path = "/api/documents/{id}/restore", tag = "documents", params(("id" = String, Path)), request_body = ChangeOptions, responses((status = 200, body = ChangeReport), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn restore(
    Chosen(app): Chosen,
    Path(id): Path<String>,
    Json(ChangeOptions { reason, wait }): Json<ChangeOptions>,
) -> Result<Response, ApiError> {
    let change = move |store: &mut Store, id: &str| store.restore(id, reason.as_deref());
    change_document(&app, TaskKind::Restore, id, wait, change).await
}

async fn change_document(
    app: &App,
    kind: TaskKind,
    id: String,
    wait: Option<bool>,
    change: impl FnOnce(&mut Store, &str) -> Result<ChangeReport, memo_store::Error> + Send + 'static,
) -> Result<Response, ApiError> {
    let reader = App::clone(app);
    let prepare = move |_: &TaskHandle| {
        let tokens = reader.model.read()?.document(&id)?.tokens;
        Ok((Cost::Tokens(tokens), Documents::Named(vec![id.clone()]), id))
    };
    let change = move |store: &mut Store, id: String| Ok(change(store, &id)?);
    respond(app, &app.tasks.spawn_prepared(kind, prepare, change)?, wait).await
}
