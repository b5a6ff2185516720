//! Forgetting, with receipts, and its proof.

use super::{Why, outcome};
use crate::app::App;
use crate::error::{ErrorBody, Failure};
use crate::extract::{Asked, At, Json};
use crate::model::Cost;
use crate::tasks::Task;
use axum::extract::State;
use axum::response::Response;
use memo_store::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is to be forgotten: documents, or a text wherever it stands.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct Forget {
    document: Option<String>,
    documents: Option<Vec<String>>,
    text: Option<String>,
    reason: Option<String>,
}

/// What a forget did, and what it could not reach.
#[derive(Serialize, ToSchema)]
pub(crate) struct Receipt {
    documents: Vec<String>,
    /// Tokens that left the memory.
    tokens: u64,
    transaction: u64,
    /// The digest of the memory afterwards.
    digest_after: String,
    /// All that is left of what was forgotten.
    forgotten: Vec<Forgotten>,
    /// Live documents that share a passage with it; they still know that.
    shared: Vec<String>,
    /// Copies made earlier, which still contain it.
    copies: Vec<Copied>,
    subtracting_seconds: f64,
    scrubbing_seconds: f64,
}

/// All that is left of a forgotten text.
#[derive(Serialize, ToSchema)]
pub(crate) struct Forgotten {
    document: String,
    version: u32,
    /// Of its tokens, under the model's secret key.
    digest: String,
}

/// A copy that was made earlier.
#[derive(Serialize, ToSchema)]
pub(crate) struct Copied {
    /// `backup`, `merged`, `frozen` or `exported`.
    kind: String,
    path: String,
    time: String,
}

impl From<memo_store::Receipt> for Receipt {
    fn from(receipt: memo_store::Receipt) -> Self {
        let forgotten = receipt.forgotten.into_iter();
        let copies = receipt.copies.into_iter();
        Receipt {
            documents: receipt.documents,
            tokens: receipt.tokens,
            transaction: receipt.transaction,
            digest_after: receipt.digest_after.to_string(),
            forgotten: forgotten
                .map(|f| Forgotten { document: f.document, version: f.version, digest: f.digest })
                .collect(),
            shared: receipt.shared,
            copies: copies
                .map(|copy| Copied {
                    kind: format!("{:?}", copy.kind).to_lowercase(),
                    path: copy.path,
                    time: memo_store::utc(copy.time),
                })
                .collect(),
            subtracting_seconds: receipt.subtracting.as_secs_f64(),
            scrubbing_seconds: receipt.scrubbing.as_secs_f64(),
        }
    }
}

fn forget_now(store: &mut Store, asked: &Forget) -> Result<memo_store::Receipt, Failure> {
    let reason = asked.reason.as_deref();
    Ok(match (&asked.document, &asked.documents, &asked.text) {
        (Some(id), None, None) => store.forget_document(id, reason)?,
        (None, Some(ids), None) => {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            store.forget_documents(&ids, reason)?
        }
        (None, None, Some(text)) => store.forget_text(text, reason)?,
        _ => return Err(Failure::bad("give one of `document`, `documents` and `text`")),
    })
}

/// Forgets documents or a text for good, and says what that reached.
#[utoipa::path(post, path = "/api/forget", tag = "forgetting", request_body = Forget, responses((status = 200, body = Receipt), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn forget(
    State(app): State<App>,
    Json(asked): Json<Forget>,
) -> Result<Response, Failure> {
    let make = move |store: &mut Store, ()| Ok(Receipt::from(forget_now(store, &asked)?));
    outcome(&app, &app.tasks.begin("forget", |_| Ok((Cost::Whole, ())), make)?, true).await
}

/// Forgets a document for good.
#[utoipa::path(delete, path = "/api/documents/{id}", tag = "forgetting", params(("id" = String, Path), Why), responses((status = 200, body = Receipt), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn forget_document(
    State(app): State<App>,
    At(id): At<String>,
    Asked(Why { reason }): Asked<Why>,
) -> Result<Response, Failure> {
    let asked = Forget { document: Some(id), documents: None, text: None, reason };
    forget(State(app), Json(asked)).await
}

/// What is to be forgotten and proved.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct Prove {
    document: String,
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the answer is a task.
    wait: Option<bool>,
}

/// A forget, and a memory that never saw the document, made from what remains.
#[derive(Serialize, ToSchema)]
pub(crate) struct Proof {
    receipt: Receipt,
    digest_before: String,
    digest_after: String,
    /// The digest of the memory that never saw it.
    digest_never_saw: String,
    equal: bool,
}

/// Forgets a document, and proves it: the digest must be that of a memory which never saw it.
#[utoipa::path(post, path = "/api/prove", tag = "forgetting", request_body = Prove, responses((status = 200, body = Proof), (status = 202, body = Task), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn prove(
    State(app): State<App>,
    Json(asked): Json<Prove>,
) -> Result<Response, Failure> {
    let wait = asked.wait.unwrap_or(true);
    let make = move |store: &mut Store, ()| {
        let digest_before = store.digest()?.to_string();
        // First what may fail or be cancelled: until then nothing has changed.
        let never_saw = store.digest_without(&asked.document)?;
        let receipt = store.forget_document(&asked.document, asked.reason.as_deref())?;
        let after = receipt.digest_after;
        Ok(Proof {
            receipt: receipt.into(),
            digest_before,
            digest_after: after.to_string(),
            digest_never_saw: never_saw.to_string(),
            equal: after == never_saw,
        })
    };
    outcome(&app, &app.tasks.begin("prove", |_| Ok((Cost::Whole, ())), make)?, wait).await
}
