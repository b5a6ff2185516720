//! `/v1/chat/completions`: messages joined by a plain template, and continued.

use super::options::{Options, nth};
use super::respond::{CompletionJob, ResponseMode, respond};
use super::tokens::ChatLogprobs;
use super::{StopReason, Usage};
use crate::app::AppState;
use crate::error::ApiError;
use crate::extract::Json;
use crate::generate::{check_total, encode_prompt, generate_with};
use crate::partner::{self, Beside, Partner, beside};
use crate::server::{Server, now};
use crate::workers::Seat;
use axum::extract::State;
use axum::response::Response;
use memo::readout::Weight;
use memo_store::CompletionOptions;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A conversation to continue.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ChatRequest))]
pub(crate) struct Request {
    /// The messages so far. The template is plain: contents, each on a line of its own, without roles, because a memory
    /// knows texts and not conversations. So the answer is what follows the last message. A partner reads them by its own
    /// template, and the answer is then a line of its own for the memory too.
    #[cfg_attr(test, schema(min_items = 1))]
    messages: Vec<Message>,
    /// The most tokens to generate; another name for `max_tokens`.
    max_completion_tokens: Option<usize>,
    /// Whether to give log-probabilities.
    logprobs: Option<bool>,
    /// Of so many of the most probable tokens, up to 20.
    #[cfg_attr(test, schema(maximum = 20))]
    top_logprobs: Option<usize>,
    #[serde(flatten)]
    options: Options,
}

/// A message.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Message {
    /// Its author, for a partner's template; of no consequence for the memory.
    role: String,
    content: Option<Content>,
}

/// The content of a message.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "must have messages whose content is a text or a list of parts")]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a content.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Part {
    r#type: String,
    text: Option<String>,
}

/// Chat completions.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ChatCompletion))]
pub(crate) struct Completion {
    id: String,
    object: &'static str,
    created: u64,
    model: String,
    choices: Vec<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// One answer, or a piece of it.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ChatChoice))]
pub(crate) struct Choice {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Answer>,
    logprobs: Option<ChatLogprobs>,
    finish_reason: Option<StopReason>,
}

/// The message of an answer.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

struct Job {
    prompt: Vec<u32>,
    options: CompletionOptions,
    beside: Option<Beside>,
    n: usize,
}

/// The tokens of a conversation as the memory reads it, by the plain template, and as a partner does, by its own. The answer
/// beside a partner is a line of its own. A partner that fails may leave it to the memory alone.
pub(super) fn conversation(
    app: &AppState,
    messages: &[partner::Message],
    beside: Option<(Arc<Partner>, Weight)>,
) -> Result<(Vec<u32>, Option<Beside>), ApiError> {
    let texts: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    let mut text = texts.join("\n");
    let mut read = None;
    if let Some((partner, weight)) = beside {
        match partner.chat(messages) {
            Ok(prompt) => {
                text.push('\n');
                read = Some(Beside { partner, weight, prompt: Some(prompt) });
            }
            Err(error) if partner.note_failure(app, &error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((encode_prompt(app, &text)?, read))
}

/// The text of a content, which is in a field.
pub(super) fn text_of(field: &str, content: Content) -> Result<String, ApiError> {
    let parts = match content {
        Content::Text(text) => return Ok(text),
        Content::Parts(parts) => parts,
    };
    let mut whole = String::new();
    for Part { r#type, text } in parts {
        let is_text = ["text", "input_text", "output_text"].contains(&&*r#type);
        let Some(text) = text.filter(|_| is_text) else {
            let message = format!("content of type {type:?} is not supported here");
            return Err(ApiError::invalid_field(field, message));
        };
        whole.push_str(&text);
    }
    Ok(whole)
}

fn check(app: &AppState, request: Request) -> Result<Job, ApiError> {
    let Request { messages, max_completion_tokens, logprobs, top_logprobs, mut options } = request;
    options.max_tokens = max_completion_tokens.or(options.max_tokens);
    if messages.is_empty() {
        return Err(ApiError::invalid_field("messages", "there must be at least one message"));
    }
    let logprobs = logprobs.unwrap_or(false);
    if top_logprobs.is_some_and(|top| top > 20 || !logprobs) {
        let message = "top_logprobs must be between 0 and 20, and needs logprobs";
        return Err(ApiError::invalid_field("top_logprobs", message));
    }
    let top = logprobs.then(|| top_logprobs.unwrap_or(0));
    let n = options.count();
    let limits = &app.config.limits;
    let beside = beside(app, options.mode, options.weight.clone())?;
    let options = options.check(limits, 256, top)?;
    check_total(n, options.max_tokens, limits)?;
    let mut contents = Vec::new();
    for Message { role, content } in messages {
        if let Some(content) = content {
            let content = text_of("messages", content)?;
            contents.push(partner::Message { role, content });
        }
    }
    let (prompt, beside) = conversation(app, &contents, beside)?;
    Ok(Job { prompt, options, beside, n })
}

impl Job {
    /// Log-probabilities, if they were asked for.
    fn logprobs(&self, logprobs: ChatLogprobs) -> Option<ChatLogprobs> {
        self.options.top.map(|_| logprobs)
    }
}

impl CompletionJob for Job {
    type Choice = Choice;

    fn complete(&self, app: &AppState, seat: &mut Seat) -> Result<(Vec<Choice>, Usage), ApiError> {
        let (mut choices, mut generated, beside) = (Vec::new(), 0, self.beside.as_ref());
        let client = seat.client();
        for index in (0..self.n).take_while(|_| !client.has_left()) {
            let (mut text, mut logprobs) = (String::new(), ChatLogprobs::default());
            let options = nth(&self.options, index);
            let stream = generate_with(app, &self.prompt, &options, beside, seat, |token| {
                text.push_str(&token.text);
                logprobs.push(app.model.tokenizer(), &token);
            })?;
            generated += stream.generated();
            choices.push(Choice {
                index,
                message: Some(Answer { role: Some("assistant"), content: Some(text) }),
                logprobs: self.logprobs(logprobs),
                finish_reason: Some(StopReason::from(&stream)),
                ..Choice::default()
            });
        }
        Ok((choices, Usage::new(self.prompt.len(), generated)))
    }

    fn stream(
        &self,
        app: &AppState,
        seat: &mut Seat,
        send: &mut dyn FnMut(Choice),
    ) -> Result<Usage, ApiError> {
        let (mut generated, beside) = (0, self.beside.as_ref());
        let client = seat.client();
        for index in (0..self.n).take_while(|_| !client.has_left()) {
            let delta = |role, content| Some(Answer { role, content });
            let first = delta(Some("assistant"), Some(String::new()));
            send(Choice { index, delta: first, ..Choice::default() });
            let options = nth(&self.options, index);
            let stream = generate_with(app, &self.prompt, &options, beside, seat, |token| {
                let mut logprobs = ChatLogprobs::default();
                logprobs.push(app.model.tokenizer(), &token);
                let (logprobs, delta) = (self.logprobs(logprobs), delta(None, Some(token.text)));
                send(Choice { index, delta, logprobs, ..Choice::default() });
            })?;
            generated += stream.generated();
            send(Choice {
                index,
                delta: Some(Answer::default()),
                finish_reason: Some(StopReason::from(&stream)),
                ..Choice::default()
            });
        }
        Ok(Usage::new(self.prompt.len(), generated))
    }
}

/// Continues a conversation.
#[cfg_attr(test, utoipa::path(post, path = "/v1/chat/completions", tag = "OpenAI", request_body = Request, responses((status = 200, content((Completion = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events with `delta` in place of `message`, and a last `[DONE]`"))))]
pub(crate) async fn chat(
    State(server): State<Server>,
    Json(request): Json<Request>,
) -> Result<Response, ApiError> {
    let mode = ResponseMode::from(&request.options);
    let app = server.models.find(request.options.model.as_deref()).await?;
    let (id, created, model) = (server.response_id("chatcmpl"), now(), app.name.clone());
    let response = move |choices, usage| Completion {
        id: id.clone(),
        object: if mode.stream { "chat.completion.chunk" } else { "chat.completion" },
        created,
        model: model.clone(),
        choices,
        usage,
    };
    respond(&app, mode, move |app| check(app, request), response).await
}
