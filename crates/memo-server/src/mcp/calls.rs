//! What the tools do: arguments in, results out, over the same queue of changes and the same turns as all other requests.

use super::answer::Access;
use super::{arguments, tools};
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use crate::extract::Path;
use crate::generate::{checked, encode_prompt, generate_with};
use crate::model::Cost;
use crate::native::queries::{completion, reading};
use crate::native::{Pagination, changes, documents, status};
use crate::partner::{Beside, Mode, beside};
use crate::problem;
use crate::server::{Chosen, ChosenWith};
use crate::tasks::{Documents, TaskHandle, TaskKind};
use axum::http::StatusCode;
use memo_store::{
    CompletionOptions, CompletionToken, DocumentFilter, ForgetPreview, Passage, Receipt,
    SOURCE_LABEL, Selection, Store, Together,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Passages that were found.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct Recalled {
    /// The passages, the closest first.
    passages: Vec<RecalledPassage>,
}

/// A passage, and where its document comes from.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct RecalledPassage {
    #[serde(flatten)]
    passage: Passage,
    /// The document's labels; `source` says where it comes from.
    labels: BTreeMap<String, String>,
}

/// What a forget did or, of a dry run, would do.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct Forgotten {
    /// Whether nothing has changed.
    dry_run: bool,
    /// What would go, of a dry run.
    preview: Option<ForgetPreview>,
    /// What was forgotten, and the digest of the memory afterwards.
    receipt: Option<Receipt>,
}

/// Calls a tool.
pub(super) async fn call(
    app: &App,
    access: Access,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Value, ApiError> {
    let Some(known) = tools::all().iter().find(|known| known.name == tool) else {
        return Err(ApiError::not_found(format!("there is no tool {tool:?}")));
    };
    if tools::permission(known) > access.permission {
        let error = ApiError::new(StatusCode::FORBIDDEN, "this key may read, but not change");
        return Err(error.with_code(ErrorCode::ReadOnlyKey));
    }
    match tool {
        "remember" => remember(app, access, read(arguments)?).await,
        "recall" => recall(app, read(arguments)?).await,
        "complete" => complete(app, read(arguments)?).await,
        "explain" => explain(app, read(arguments)?).await,
        "forget" => forget(app, access, read(arguments)?).await,
        "correct" => correct(app, access, read(arguments)?).await,
        "history" => history(app, read(arguments)?).await,
        "undo" => undo(app, access, read(arguments)?).await,
        _ => {
            let arguments::Nothing {} = read(arguments)?;
            json(&status::stats(Chosen(App::clone(app))).await?.0)
        }
    }
}

/// Reads arguments; what is wrong with them is said in words.
fn read<A: DeserializeOwned>(arguments: Map<String, Value>) -> Result<A, ApiError> {
    problem::parse(Value::Object(arguments).to_string().as_bytes())
}

fn json(result: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(result).map_err(|_| ApiError::internal())
}

/// Waits for a change.
async fn done(access: Access, task: &Arc<TaskHandle>) -> Result<Value, ApiError> {
    task.wait(access.patience).await.unwrap_or_else(|| {
        let message = "the change takes longer than a request may, and goes on; `history` shows it once it is done";
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, message))
    })
}

async fn remember(
    app: &App,
    access: Access,
    arguments::Remember { text, source, mut labels, reason }: arguments::Remember,
) -> Result<Value, ApiError> {
    labels.extend(source.map(|source| (SOURCE_LABEL.to_owned(), source)));
    let (reader, metrics) = (App::clone(app), Arc::clone(&app.metrics));
    let prepare = move |_: &TaskHandle| {
        // A text that is too long is refused in its turn, without being read.
        let tokens = match text.len() {
            0..=0xF_FFFF => reader.model.tokenizer().encode(&text)?.len() as u64,
            _ => 0,
        };
        Ok((Cost::Tokens(tokens), Documents::Named(Vec::new()), text))
    };
    let change = move |store: &mut Together<'_>, text: String| {
        let report = store.remember(&text, labels, reason.as_deref())?;
        metrics.memorized.inc_by(report.tokens);
        Ok(report)
    };
    done(access, &app.tasks.spawn_memorize(prepare, change)?).await
}

async fn recall(
    app: &App,
    arguments::Recall { text, limit }: arguments::Recall,
) -> Result<Value, ApiError> {
    let limit = limit.unwrap_or(5).clamp(1, 100);
    let recalled = app.read(move |_, snapshot| {
        let closest = snapshot.closest(&text, limit)?.passages.into_iter();
        let passages = closest.map(|passage| {
            let labels = snapshot.document(&passage.document)?.labels;
            Ok(RecalledPassage { passage, labels })
        });
        Ok(Recalled { passages: passages.collect::<Result<_, ApiError>>()? })
    });
    json(&recalled.await?)
}

async fn complete(
    app: &App,
    arguments::Complete { prompt, max_tokens, mode }: arguments::Complete,
) -> Result<Value, ApiError> {
    let worker = App::clone(app);
    let completion = app.workers.run(move |seat| {
        let options = CompletionOptions::greedy(max_tokens.unwrap_or(64).clamp(1, 4096));
        let options = checked(options, &worker.config.limits)?;
        let prompt = encode_prompt(&worker, &prompt)?;
        // An agent asks what is remembered; a neural model's words it gets if it wants them.
        let beside = beside(&worker, Some(mode.unwrap_or(Mode::Memory)), None)?;
        let beside = beside.map(|(partner, weight)| Beside { partner, weight, prompt: None });
        let start = Instant::now();
        let mut tokens = Vec::new();
        let receive = |token: CompletionToken| tokens.extend((!token.end).then_some(token));
        let beside = beside.as_ref();
        let stream = generate_with(&worker, &prompt, &options, beside, seat, receive)?;
        let mut completion = completion(&worker, &stream, tokens, start, true)?;
        // For programs that draw them; an agent reads the text.
        completion.tokens.clear();
        Ok(completion)
    });
    json(&completion.await?)
}

async fn explain(
    app: &App,
    arguments::Explain { prompt, candidates }: arguments::Explain,
) -> Result<Value, ApiError> {
    let count = candidates.unwrap_or(3).clamp(1, 50);
    let explained =
        app.read(move |_, snapshot| Ok(snapshot.explain(&prompt, count, &reading(None, None))?));
    json(&explained.await?)
}

async fn forget(
    app: &App,
    access: Access,
    arguments: arguments::Forget,
) -> Result<Value, ApiError> {
    let arguments::Forget { ids, source, mut labels, text, dry_run, reason } = arguments;
    labels.extend(source.map(|source| (SOURCE_LABEL.to_owned(), source)));
    let given = [
        (!ids.is_empty()).then_some(Selection::Documents(ids)),
        (!labels.is_empty())
            .then(|| Selection::Filter(DocumentFilter { labels, ..DocumentFilter::default() })),
        text.map(Selection::Text),
    ];
    let mut given = given.into_iter().flatten();
    let (Some(what), None) = (given.next(), given.next()) else {
        let message = "give `ids`, or `text`, or any of `source` and `labels`, and no two of these";
        return Err(ApiError::bad_request(message));
    };
    if dry_run {
        let preview = app.read(move |_, snapshot| Ok(snapshot.preview_forget(&what)?)).await?;
        return json(&Forgotten { dry_run, preview: Some(preview), receipt: None });
    }
    let receipt = done(access, &app.tasks.spawn_forget(what, reason)?).await?;
    let mut forgotten = json(&Forgotten { dry_run, preview: None, receipt: None })?;
    forgotten["receipt"] = receipt;
    Ok(forgotten)
}

async fn correct(
    app: &App,
    access: Access,
    arguments::Correct { prompt, target, reason }: arguments::Correct,
) -> Result<Value, ApiError> {
    let change = move |store: &mut Store| store.edit_passage(&prompt, &target, reason.as_deref());
    done(access, &app.tasks.spawn(TaskKind::Edit, Cost::Tokens(0), change)?).await
}

async fn history(
    app: &App,
    arguments::History { id, limit }: arguments::History,
) -> Result<Value, ApiError> {
    let app = App::clone(app);
    let limit = limit.unwrap_or(20).clamp(1, 1000);
    let Some(id) = id else {
        let pagination = Pagination { limit: Some(limit), offset: 0 };
        return json(&changes::log(ChosenWith(app, pagination)).await?.0);
    };
    let mut list = documents::history(Chosen(app), Path(id)).await?.0;
    list.transactions.reverse();
    list.transactions.truncate(limit);
    json(&list)
}

async fn undo(
    app: &App,
    access: Access,
    arguments::Undo { transaction, reason }: arguments::Undo,
) -> Result<Value, ApiError> {
    let change = move |store: &mut Store| store.rollback(transaction, reason.as_deref());
    done(access, &app.tasks.spawn(TaskKind::Rollback, Cost::Whole, change)?).await
}
