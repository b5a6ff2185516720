//! Forgetting, with previews and receipts, and its proof.

use super::facts::FactPattern;
use super::{ChangeOptions, respond};
use crate::error::ApiError;
use crate::extract::{Json, Path};
use crate::server::{Chosen, ChosenWith};
use crate::tasks::TaskKind;
use axum::response::{IntoResponse, Response};
use memo_store::{
    DocumentFilter, ForgetPreview, Observer, Receipt, Selection, Snapshot, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to forget: documents, a text wherever it stands, facts of graphs, or the documents that fit all of `labels`, `glob`
/// and `older_than` that are given.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetRequest {
    document: Option<String>,
    documents: Option<Vec<String>>,
    text: Option<String>,
    /// Facts, taken out of every graph that states them; what follows from them goes too.
    facts: Option<FactPattern>,
    /// Labels that a document has.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// A glob of its id: `*` and `?` stay within a name, `**` stands for any number of folders.
    glob: Option<String>,
    /// How long ago it was memorized at least, as in `90d`: `s`, `min`, `h`, `d`, `w` or `y`.
    older_than: Option<String>,
    /// Whether to say what would go, and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// A receipt or, of a dry run, a preview.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged)]
#[allow(dead_code, reason = "it is only described: a receipt comes from its task")]
pub(crate) enum ForgetResponse {
    Receipt(Receipt),
    Preview(ForgetPreview),
}

impl ForgetRequest {
    fn selection(self) -> Result<Selection, ApiError> {
        let ForgetRequest { document, documents, text, facts, labels, glob, older_than, .. } = self;
        if text.as_ref().is_some_and(String::is_empty) {
            return Err(ApiError::invalid_field("text", "there is no text to forget"));
        }
        let before = older_than.as_deref().map(Timestamp::ago).transpose()?;
        let filter = DocumentFilter { labels, glob, before };
        let filter = (filter != DocumentFilter::default()).then_some(filter);
        let given = [
            document.map(|id| Selection::Documents(vec![id])),
            documents.map(Selection::Documents),
            text.map(Selection::Text),
            facts.map(|pattern| Selection::Facts(pattern.into())),
            filter.map(Selection::Filter),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(what), None) => Ok(what),
            _ => Err(ApiError::bad_request(
                "give one of `document`, `documents`, `text` and `facts`, or any of `labels`, `glob` and `older_than`",
            )),
        }
    }
}

/// Forgets documents, a text or facts for good, and says what that reached; or says what would go.
#[cfg_attr(test, utoipa::path(post, path = "/api/forget", tag = "forgetting", request_body = ForgetRequest, responses((status = 200, body = ForgetResponse), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody), (status = 507, body = crate::error::ErrorBody, description = "The disk has no room for it"))))]
pub(crate) async fn forget(
    Chosen(app): Chosen,
    Json(mut request): Json<ForgetRequest>,
) -> Result<Response, ApiError> {
    let (dry_run, wait) = (request.dry_run, request.wait);
    let reason = request.reason.take();
    let what = request.selection()?;
    if dry_run {
        let preview = app.read(move |_, snapshot| Ok(snapshot.preview_forget(&what)?)).await?;
        return Ok(axum::Json(preview).into_response());
    }
    respond(&app, &app.tasks.spawn_forget(what, reason)?, wait).await
}

/// Forgets a document for good.
#[cfg_attr(test, utoipa::path(delete, path = "/api/documents/{id}", tag = "forgetting", params(("id" = String, Path), ChangeOptions), responses((status = 200, body = Receipt), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody), (status = 409, body = crate::error::ErrorBody), (status = 507, body = crate::error::ErrorBody))))]
pub(crate) async fn forget_document(
    ChosenWith(app, ChangeOptions { reason, wait }): ChosenWith<ChangeOptions>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let request = ForgetRequest { document: Some(id), reason, wait, ..ForgetRequest::default() };
    forget(Chosen(app), Json(request)).await
}

/// Documents whose forgetting is to be proved.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ProveRequest {
    /// Documents to forget in a copy of the memory; without any, the memory is compared as it is.
    #[serde(default)]
    without: Vec<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Proves that forgetting leaves nothing, and changes nothing: a copy of the memory that forgets the documents must have the digest of
/// one that never saw them.
#[cfg_attr(test, utoipa::path(post, path = "/api/prove", tag = "forgetting", request_body = ProveRequest, responses((status = 200, body = memo_store::Proof), (status = 202, body = crate::tasks::Task), (status = 404, body = crate::error::ErrorBody))))]
pub(crate) async fn prove(
    Chosen(app): Chosen,
    Json(ProveRequest { without, wait }): Json<ProveRequest>,
) -> Result<Response, ApiError> {
    let read = move |snapshot: &Snapshot, observer: &Observer| {
        let ids: Vec<&str> = without.iter().map(String::as_str).collect();
        snapshot.prove(&ids, observer)
    };
    respond(&app, &app.tasks.spawn_read(TaskKind::Prove, read)?, wait).await
}
