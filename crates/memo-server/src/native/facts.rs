//! Facts: asked for from either end, stated and corrected.

use super::respond;
use crate::error::ApiError;
use crate::extract::Json;
use crate::model::Cost;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::TaskKind;
use axum::response::Response;
use memo_knowledge::{Triple, TriplePattern};
use memo_store::{Facts, Store};
use serde::Deserialize;

/// A pattern of facts: what is left out, or empty, is anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct FactPattern {
    /// What they are about.
    subject: Option<String>,
    /// What they say of it.
    predicate: Option<String>,
    /// What that is.
    object: Option<String>,
}

impl From<FactPattern> for TriplePattern {
    fn from(FactPattern { subject, predicate, object }: FactPattern) -> Self {
        let given = |name: Option<String>| name.filter(|name| !name.trim().is_empty());
        let (subject, predicate, object) = (given(subject), given(predicate), given(object));
        TriplePattern { subject, predicate, object }
    }
}

/// A question for facts.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct FactQuery {
    /// What they are about; left out, or empty, anything.
    subject: Option<String>,
    /// What they say of it; left out, or empty, anything.
    predicate: Option<String>,
    /// What that is; left out, or empty, anything.
    object: Option<String>,
    /// The most facts, 50 by default.
    limit: Option<usize>,
}

/// Facts that fit a pattern: those that graphs state, and those that follow by rule.
///
/// With a predicate and one of subject and object, the memory itself is asked, and `noise` says how sure it is; else the documents are.
/// Names are taken as they are written or, where there is none such, in any case.
#[cfg_attr(test, utoipa::path(get, path = "/api/facts", operation_id = "ask_facts", tag = "knowledge", params(FactQuery), responses((status = 200, body = Facts))))]
pub(crate) async fn ask(
    ChosenWith(app, FactQuery { subject, predicate, object, limit }): ChosenWith<FactQuery>,
) -> Result<axum::Json<Facts>, ApiError> {
    let pattern = FactPattern { subject, predicate, object }.into();
    let limit = limit.unwrap_or(50).clamp(1, 1000);
    let facts = app.read(move |_, snapshot| Ok(snapshot.ask(&pattern, limit)?));
    Ok(axum::Json(facts.await?))
}

/// A fact to state.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FactInput {
    #[cfg_attr(test, schema(min_length = 1))]
    subject: String,
    #[cfg_attr(test, schema(min_length = 1))]
    predicate: String,
    #[cfg_attr(test, schema(min_length = 1))]
    object: String,
}

/// Facts to state in one transaction.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct StateRequest {
    /// The facts, up to 1,000; more are a graph.
    #[cfg_attr(test, schema(min_items = 1, max_items = 1000))]
    facts: Vec<FactInput>,
    /// Kept with the transaction.
    reason: Option<String>,
    /// Whether to wait for the result; if not, or if it takes too long, the response is a task.
    wait: Option<bool>,
}

/// States facts: each is what is said of its subject and predicate from then on.
///
/// Graphs that say something else get a new version; a fact that none has a place for goes to the graph `facts`.
#[cfg_attr(test, utoipa::path(post, path = "/api/facts", operation_id = "state_facts", tag = "knowledge", request_body = StateRequest, responses((status = 200, body = memo_store::ChangeReport), (status = 202, body = crate::tasks::Task), (status = 409, body = crate::error::ErrorBody))))]
pub(crate) async fn state(
    Chosen(app): Chosen,
    Json(StateRequest { facts, reason, wait }): Json<StateRequest>,
) -> Result<Response, ApiError> {
    /// Every fact is looked for in every graph.
    const MAX_FACTS: usize = 1000;
    if facts.len() > MAX_FACTS {
        let message = format!("at most {MAX_FACTS} facts can be stated at once; add a graph");
        return Err(ApiError::invalid_field("facts", message));
    }
    let nameless = |FactInput { subject, predicate, object }: &FactInput| {
        [subject, predicate, object].into_iter().any(|name| name.trim().is_empty())
    };
    if facts.is_empty() || facts.iter().any(nameless) {
        let message = "each of `facts` needs a subject, a predicate and an object";
        return Err(ApiError::invalid_field("facts", message));
    }
    let facts = facts.into_iter().map(|FactInput { subject, predicate, object }| Triple {
        subject,
        predicate,
        object,
    });
    let facts: Vec<Triple> = facts.collect();
    // How much follows by rule only the change itself knows.
    let change = move |store: &mut Store| store.correct_facts(&facts, reason.as_deref());
    let task = app.tasks.spawn(TaskKind::Replace, Cost::Whole, change)?;
    respond(&app, &task, wait).await
}
