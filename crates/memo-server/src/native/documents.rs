//! Documents: memorized, listed, shown, retired and restored.

use super::changes::{Changed, Transaction};
use super::{Rows, Why, outcome};
use crate::app::App;
use crate::error::{ErrorBody, Failure};
use crate::extract::{Asked, At, Json};
use crate::model::Cost;
use crate::tasks::{Running, Task};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use memo_store::{Document, NewDocument, Role, Store, Version};
use memo_text::{Content, Corpus, CorpusDocument, CorpusOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Instant;
use utoipa::{IntoParams, ToSchema};

/// A document in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Row {
    id: String,
    /// `live`, `retired`, `forgotten`, or `rolled back`.
    state: &'static str,
    /// The version that counts.
    version: Option<u32>,
    /// How many versions there are.
    versions: usize,
    /// Tokens of the version that counts.
    tokens: u64,
    labels: BTreeMap<String, String>,
    /// When that version came, in UTC.
    time: String,
    /// `text` or `edit`.
    kind: &'static str,
}

/// Documents.
#[derive(Serialize, ToSchema)]
pub(crate) struct Listed {
    documents: Vec<Row>,
    /// How many there are in all.
    total: usize,
}

/// Which documents.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Part of an id or a label.
    search: Option<String>,
    /// Only in this state.
    state: Option<String>,
    /// At most so many; 50 if nothing is said.
    limit: Option<usize>,
    /// After so many.
    #[serde(default)]
    offset: usize,
}

fn kind(version: Option<&Version>) -> &'static str {
    match version.map(|version| version.role) {
        Some(Role::Edit { .. }) => "edit",
        _ => "text",
    }
}

fn row(document: Document) -> Row {
    let current = document.place.map(|place| place.version);
    let version = document.versions.iter().find(|v| Some(v.number) == current);
    Row {
        state: document.state(),
        version: current,
        versions: document.versions.len(),
        tokens: version.map_or(0, |version| version.tokens),
        time: version.map_or_else(String::new, |version| memo_store::utc(version.time)),
        kind: kind(version.or_else(|| document.versions.last())),
        labels: document.labels,
        id: document.id,
    }
}

/// Lists documents, the newest first.
#[utoipa::path(get, path = "/api/documents", tag = "documents", params(Which), responses((status = 200, body = Listed)))]
pub(crate) async fn list(
    State(app): State<App>,
    Asked(which): Asked<Which>,
) -> Result<axum::Json<Listed>, Failure> {
    let Which { search, state, limit, offset } = which;
    let found = app.read(move |_, view| {
        let search = search.unwrap_or_default().to_lowercase();
        let mut documents = view.documents()?;
        documents.retain(|document| {
            let has = |text: &str| text.to_lowercase().contains(&search);
            let labels = document.labels.iter();
            state.as_ref().is_none_or(|state| state.is_empty() || state == document.state())
                && (has(&document.id) || labels.clone().any(|(k, v)| has(k) || has(v)))
        });
        let newest =
            |document: &Document| document.versions.last().map(|version| version.transaction);
        documents.sort_by(|a, b| newest(b).cmp(&newest(a)).then_with(|| a.id.cmp(&b.id)));
        let total = documents.len();
        let rows = Rows { limit, offset }.of(documents.into_iter());
        Ok(Listed { documents: rows.into_iter().map(row).collect(), total })
    });
    Ok(axum::Json(found.await?))
}

/// A document.
#[derive(Serialize, ToSchema)]
pub(crate) struct Shown {
    id: String,
    /// `live`, `retired`, `forgotten`, or `rolled back`.
    state: &'static str,
    /// The version that counts.
    version: Option<u32>,
    labels: BTreeMap<String, String>,
    versions: Vec<ShownVersion>,
    /// The text of the version that was asked for, or of the one that counts.
    text: Option<String>,
}

/// One version of a document.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShownVersion {
    number: u32,
    time: String,
    tokens: u64,
    /// The transaction that brought it.
    transaction: u64,
    /// `text` or `edit`.
    kind: &'static str,
    /// The transaction that scrubbed it, if one did.
    forgotten: Option<u64>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichVersion {
    /// The version whose text is given.
    version: Option<u32>,
}

/// Shows a document.
#[utoipa::path(get, path = "/api/documents/{id}", tag = "documents", params(("id" = String, Path), WhichVersion), responses((status = 200, body = Shown), (status = 404, body = ErrorBody)))]
pub(crate) async fn show(
    State(app): State<App>,
    At(id): At<String>,
    Asked(which): Asked<WhichVersion>,
) -> Result<axum::Json<Shown>, Failure> {
    let shown = app.read(move |_, view| {
        let document = view.document(&id)?;
        let current = document.place.map(|place| place.version);
        let text = match which.version.or(current) {
            None => None,
            Some(number) => match document.versions.iter().find(|v| v.number == number) {
                None => {
                    let message = format!("document {id:?} has no version {number}");
                    return Err(Failure::missing(message));
                }
                Some(version) if version.forgotten.is_some() => None,
                Some(_) => Some(view.text(&id, Some(number))?),
            },
        };
        let versions = document.versions.iter().map(|version| ShownVersion {
            number: version.number,
            time: memo_store::utc(version.time),
            tokens: version.tokens,
            transaction: version.transaction,
            kind: kind(Some(version)),
            forgotten: version.forgotten,
        });
        Ok(Shown {
            state: document.state(),
            version: current,
            versions: versions.collect(),
            labels: document.labels,
            id: document.id,
            text,
        })
    });
    Ok(axum::Json(shown.await?))
}

/// Transactions of one document.
#[derive(Serialize, ToSchema)]
pub(crate) struct History {
    transactions: Vec<Transaction>,
}

/// The transactions that changed a document.
#[utoipa::path(get, path = "/api/documents/{id}/history", tag = "documents", params(("id" = String, Path)), responses((status = 200, body = History), (status = 404, body = ErrorBody)))]
pub(crate) async fn history(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<axum::Json<History>, Failure> {
    let found = app.read(move |_, view| Ok(view.trace(&id)?)).await?;
    Ok(axum::Json(History { transactions: found.into_iter().map(Transaction::from).collect() }))
}

/// A text to memorize.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct New {
    #[schema(min_length = 1)]
    text: String,
    /// Its name; without one it gets one from its content.
    id: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// One text, or several, to memorize in one transaction.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct Memorize {
    #[schema(min_length = 1)]
    text: Option<String>,
    id: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// Several texts, in place of one.
    documents: Option<Vec<New>>,
    #[serde(flatten)]
    how: How,
}

/// How a change is made.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct How {
    /// Kept with the transaction.
    reason: Option<String>,
    /// Even if the memory would be too full to recall everything.
    #[serde(default)]
    force: bool,
    /// Whether to wait for the result; if not, or if it takes too long, the answer is a task.
    #[serde(default = "yes")]
    wait: bool,
}

fn yes() -> bool {
    true
}

/// What was memorized.
#[derive(Serialize, ToSchema)]
pub(crate) struct Memorized {
    documents: usize,
    tokens: u64,
    seconds: f64,
    tokens_per_second: f64,
    /// None if nothing had to change.
    transaction: Option<u64>,
    added: Vec<String>,
    updated: Vec<String>,
    unchanged: Vec<String>,
}

/// Memorizes texts.
#[utoipa::path(post, path = "/api/documents", tag = "documents", request_body = Memorize, responses((status = 200, body = Memorized), (status = 202, body = Task), (status = 409, body = ErrorBody, description = "They would not fit")))]
pub(crate) async fn memorize(
    State(app): State<App>,
    Json(asked): Json<Memorize>,
) -> Result<Response, Failure> {
    let Memorize { text, id, labels, documents, how } = asked;
    let new = match (text, documents) {
        (Some(text), None) => vec![New { text, id, labels }],
        (None, Some(documents)) => documents,
        _ => return Err(Failure::bad("give either `text` or `documents`")),
    };
    let new = new.into_iter().map(|New { text, id, labels }| Incoming {
        content: Content::Text(text),
        id,
        labels,
    });
    bring(&app, new.collect(), how).await
}

/// What a file is called, and how it is brought in.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Uploaded {
    /// Its name. Of a name that ends in `.jsonl` or `.ndjson`, every line is a document.
    id: Option<String>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Even if the memory would be too full to recall everything.
    #[serde(default)]
    force: bool,
    /// Whether to wait for the result; if not, or if it takes too long, the answer is a task.
    #[serde(default = "yes")]
    wait: bool,
}

/// Memorizes a file, read as `memo memorize` reads it.
#[utoipa::path(post, path = "/api/upload", tag = "documents", params(Uploaded), request_body(content = String, content_type = "application/octet-stream", description = "The file: text in UTF-8, or any bytes if the tokenizer is `bytes`"), responses((status = 200, body = Memorized), (status = 202, body = Task), (status = 409, body = ErrorBody)))]
pub(crate) async fn upload(
    State(app): State<App>,
    Asked(Uploaded { id, reason, force, wait }): Asked<Uploaded>,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Response, Failure> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if given != Some("application/octet-stream") {
        let message = "an upload needs `Content-Type: application/octet-stream`";
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let encoding = app.model.tokenizer().encoding();
    let options = CorpusOptions { encoding, ..CorpusOptions::default() };
    let named = id.is_some();
    let name = id.as_deref().unwrap_or("the file");
    let documents = Corpus::from_read(Cursor::new(body?), name, options).documents()?;
    let new = documents.into_iter().map(|CorpusDocument { id, content, labels, .. }| Incoming {
        content,
        id: named.then_some(id),
        labels,
    });
    bring(&app, new.collect(), How { reason, force, wait }).await
}

/// A document that comes in.
struct Incoming {
    content: Content,
    id: Option<String>,
    labels: BTreeMap<String, String>,
}

async fn bring(app: &App, new: Vec<Incoming>, how: How) -> Result<Response, Failure> {
    if new.is_empty() || new.iter().any(|new| new.content.as_bytes().is_empty()) {
        return Err(Failure::field("text", "there is no text to memorize"));
    }
    let How { reason, force, wait } = how;
    let (reader, metrics) = (App::clone(app), std::sync::Arc::clone(&app.metrics));
    let prepare = move |task: &Running| {
        let whole: u64 = new.iter().map(|new| new.content.as_bytes().len() as u64).sum();
        let (mut documents, mut tokens, mut read) = (Vec::new(), 0, 0);
        for Incoming { content, id, labels } in new {
            task.say("reading", read, whole);
            if task.is_cancelled() {
                return Err(memo_store::Error::Stopped.into());
            }
            read += content.as_bytes().len() as u64;
            let encoded = reader.model.tokenizer().encode_bytes(content.as_bytes())?;
            tokens += encoded.len() as u64;
            let mut document = NewDocument::tokens(encoded);
            document = id.into_iter().fold(document, NewDocument::with_id);
            let labelled = |document: NewDocument, (k, v)| document.with_label(k, v);
            documents.push(labels.into_iter().fold(document, labelled));
        }
        Ok((Cost::Tokens(tokens), (documents, tokens)))
    };
    let make = move |store: &mut Store, (documents, tokens): (Vec<NewDocument>, u64)| {
        if let Some(over) = store.overfull(tokens).filter(|_| !force) {
            let message = format!(
                "the memory {over}; make it larger (`/api/rebuild` with {} MiB), or say `force`",
                over.needed >> 20
            );
            return Err(Failure::new(StatusCode::CONFLICT, message).coded("full"));
        }
        let start = Instant::now();
        let count = documents.len();
        let done = store.memorize(documents, reason.as_deref())?;
        metrics.memorized.inc_by(done.tokens);
        let seconds = start.elapsed().as_secs_f64();
        Ok(Memorized {
            documents: count,
            tokens: done.tokens,
            seconds,
            tokens_per_second: done.tokens as f64 / seconds.max(1e-9),
            transaction: done.transaction,
            added: done.added,
            updated: done.updated,
            unchanged: done.unchanged,
        })
    };
    let running = app.tasks.begin("memorize", prepare, make)?;
    outcome(app, &running, wait).await
}

/// Takes a document out of the memory, and keeps it.
#[utoipa::path(post, path = "/api/documents/{id}/retire", tag = "documents", params(("id" = String, Path)), request_body = Why, responses((status = 200, body = Changed), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn retire(
    State(app): State<App>,
    At(id): At<String>,
    Json(Why { reason }): Json<Why>,
) -> Result<Response, Failure> {
    move_document(&app, "retire", id, move |store, id| store.retire(id, reason.as_deref())).await
}

/// Brings a retired document back.
#[utoipa::path(post, path = "/api/documents/{id}/restore", tag = "documents", params(("id" = String, Path)), request_body = Why, responses((status = 200, body = Changed), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn restore(
    State(app): State<App>,
    At(id): At<String>,
    Json(Why { reason }): Json<Why>,
) -> Result<Response, Failure> {
    move_document(&app, "restore", id, move |store, id| store.restore(id, reason.as_deref())).await
}

async fn move_document(
    app: &App,
    kind: &'static str,
    id: String,
    make: impl FnOnce(&mut Store, &str) -> Result<memo_store::Transaction, memo_store::Error>
    + Send
    + 'static,
) -> Result<Response, Failure> {
    let reader = App::clone(app);
    let prepare = move |_: &Running| {
        let document = reader.model.read()?.document(&id)?;
        let current = document.place.map(|place| place.version);
        let version = document.versions.iter().find(|v| Some(v.number) == current);
        Ok((Cost::Tokens(version.map_or(0, |version| version.tokens)), id))
    };
    let make =
        move |store: &mut Store, id: String| Ok(Changed { transaction: make(store, &id)?.id });
    outcome(app, &app.tasks.begin(kind, prepare, make)?, true).await
}
