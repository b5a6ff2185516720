//! Rules: listed, tried before they are added, added; and why something follows by them.

use super::{Pagination, respond};
use crate::app::App;
use crate::error::ApiError;
use crate::extract::Json;
use crate::model::Cost;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::{Documents, TaskHandle, TaskKind};
use axum::response::Response;
use memo_knowledge::Rules;
use memo_store::{DerivationStep, Observer, Rule, RulesPreview, Store};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Rules of all documents.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct RuleList {
    rules: Vec<Rule>,
    /// How many there are in all.
    total: usize,
}

/// Lists the rules, with how much follows by each.
#[cfg_attr(test, utoipa::path(get, path = "/api/rules", operation_id = "list_rules", tag = "knowledge", params(Pagination), responses((status = 200, body = RuleList))))]
pub(crate) async fn list(
    ChosenWith(app, pagination): ChosenWith<Pagination>,
) -> Result<axum::Json<RuleList>, ApiError> {
    let rules = app.read(|_, snapshot| Ok(snapshot.rules()?)).await?;
    let total = rules.len();
    Ok(axum::Json(RuleList { rules: pagination.apply(rules.into_iter()), total }))
}

/// Rules to add.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesRequest {
    /// The name of the document that holds them; where it is there already, it gets a new version.
    #[cfg_attr(test, schema(min_length = 1))]
    id: String,
    /// The rules, in TOML, at most 1 MiB.
    #[cfg_attr(test, schema(min_length = 1))]
    text: String,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// Adds rules, or a new version of them: what follows is known at once.
#[cfg_attr(test, utoipa::path(post, path = "/api/rules", operation_id = "add_rules", tag = "knowledge", request_body = RulesRequest, responses((status = 200, body = memo_store::AddedRules), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn add(
    Chosen(app): Chosen,
    Json(RulesRequest { id, text, reason, wait }): Json<RulesRequest>,
) -> Result<Response, ApiError> {
    check_size(&text)?;
    if id.is_empty() {
        return Err(ApiError::invalid_field("id", "id must not be empty"));
    }
    let prepare = move |_: &TaskHandle| {
        check(&text, &id)?;
        // How much follows only the change itself knows.
        Ok((Cost::Whole, Documents::Named(vec![id.clone()]), (id, text)))
    };
    let change = move |store: &mut Store, (id, text): (String, String)| {
        Ok(store.add_rules(&id, &text, reason.as_deref())?)
    };
    let task = app.tasks.spawn_prepared(TaskKind::Memorize, prepare, change)?;
    respond(&app, &task, wait).await
}

/// Rules to try.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesPreviewRequest {
    /// The name of the document that would hold them, `rules` by default; where it is there already, they would replace it.
    id: Option<String>,
    /// The rules, in TOML, at most 1 MiB.
    #[cfg_attr(test, schema(min_length = 1))]
    text: String,
    /// The most new texts and facts to show, 10 by default.
    examples: Option<usize>,
}

/// What would follow from rules. Nothing changes.
#[cfg_attr(test, utoipa::path(post, path = "/api/rules/preview", operation_id = "preview_rules", tag = "knowledge", request_body = RulesPreviewRequest, responses((status = 200, body = RulesPreview))))]
pub(crate) async fn preview(
    Chosen(app): Chosen,
    Json(RulesPreviewRequest { id, text, examples }): Json<RulesPreviewRequest>,
) -> Result<axum::Json<RulesPreview>, ApiError> {
    check_size(&text)?;
    let id = id.unwrap_or_else(|| "rules".to_owned());
    let examples = examples.unwrap_or(10).min(1000);
    let worker = App::clone(&app);
    let preview = app.workers.run(move |seat| {
        check(&text, &id)?;
        let client = seat.client();
        let observer = Observer::new(move |_| {
            if client.has_left() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // All texts may be read, which may take long: a snapshot lets changes have their turn.
        Ok(worker.model.snapshot()?.preview_rules(&id, &text, examples, &observer)?)
    });
    Ok(axum::Json(preview.await?))
}

/// Refuses a text that is none, or too long, before it is given to a task.
fn check_size(text: &str) -> Result<(), ApiError> {
    /// Rules are written by people.
    const MAX_BYTES: usize = 1 << 20;
    if text.trim().is_empty() {
        return Err(ApiError::invalid_field("text", "there is no rule in this text"));
    }
    if text.len() > MAX_BYTES {
        let message = format!("text must be at most {MAX_BYTES} bytes");
        return Err(ApiError::invalid_field("text", message));
    }
    Ok(())
}

/// Refuses what is no rules before anything waits for it, and says in which line.
fn check(text: &str, id: &str) -> Result<(), ApiError> {
    let refused =
        |error: memo_knowledge::RulesError| ApiError::invalid_field("text", error.to_string());
    if Rules::parse(text, id).map_err(refused)?.is_empty() {
        return Err(ApiError::invalid_field("text", "there is no rule in this text"));
    }
    Ok(())
}

/// A statement whose reason is asked for.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyQuery {
    /// A text that rules say, or its beginning; or a fact, as in `Ada | born in | London`.
    statement: String,
}

/// Why a statement is known.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Derivation {
    /// Its steps, what was asked for first; none if no rule and no graph says it.
    steps: Vec<DerivationStep>,
}

/// Why something follows: rules, sentences and facts, step by step.
#[cfg_attr(test, utoipa::path(get, path = "/api/why", operation_id = "why", tag = "knowledge", params(WhyQuery), responses((status = 200, body = Derivation))))]
pub(crate) async fn why(
    ChosenWith(app, WhyQuery { statement }): ChosenWith<WhyQuery>,
) -> Result<axum::Json<Derivation>, ApiError> {
    let steps = app.read(move |_, snapshot| Ok(snapshot.why(&statement)?)).await?;
    Ok(axum::Json(Derivation { steps }))
}
