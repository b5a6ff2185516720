//! `/v1/chat/completions`: messages joined by a plain template, and continued.

use super::completions::too_long;
use super::options::Options;
use super::respond::{How, Work, respond};
use super::tokens::ChatLogprobs;
use super::{Usage, is_served};
use crate::app::{App, Shared, now};
use crate::desk::Gone;
use crate::error::{ErrorBody, Failure};
use crate::extract::Json;
use crate::generate::{Ask, Said, generate};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is asked for.
#[derive(Deserialize, ToSchema)]
#[schema(as = ChatRequest)]
pub(crate) struct Request {
    /// What was said so far. The template is plain: contents, each on a line of its own, without roles, because a memory
    /// knows texts and not conversations. So the answer is what follows the last message.
    #[schema(min_items = 1)]
    messages: Vec<Message>,
    /// The most tokens to generate; another name for `max_tokens`.
    max_completion_tokens: Option<usize>,
    /// Whether to give log-probabilities.
    logprobs: Option<bool>,
    /// Of so many of the most probable tokens, up to 20.
    #[schema(maximum = 20)]
    top_logprobs: Option<usize>,
    #[serde(flatten)]
    options: Options,
}

/// Something that was said.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Message {
    /// Who said it; of no consequence.
    #[serde(rename = "role")]
    _role: String,
    content: Option<Content>,
}

/// The content of a message.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a content.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Part {
    r#type: String,
    text: Option<String>,
}

/// Chat completions.
#[derive(Serialize, ToSchema)]
#[schema(as = ChatCompletion)]
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
#[derive(Default, Serialize, ToSchema)]
#[schema(as = ChatChoice)]
pub(crate) struct Choice {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Answer>,
    logprobs: Option<ChatLogprobs>,
    finish_reason: Option<&'static str>,
}

/// What was answered.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

struct Job {
    ask: Ask,
    n: usize,
    logprobs: bool,
}

/// The template.
fn joined(messages: Vec<Message>) -> Result<String, Failure> {
    let mut texts = Vec::new();
    for message in messages {
        match message.content {
            None => {}
            Some(Content::Text(text)) => texts.push(text),
            Some(Content::Parts(parts)) => {
                let mut whole = String::new();
                for part in parts {
                    match part.text {
                        Some(text) if part.r#type == "text" => whole.push_str(&text),
                        _ => {
                            let message =
                                format!("content of type {:?} is not supported here", part.r#type);
                            return Err(Failure::field("messages", message));
                        }
                    }
                }
                texts.push(whole);
            }
        }
    }
    Ok(texts.join("\n"))
}

fn job(app: &Shared, request: Request) -> Result<Job, Failure> {
    let Request { messages, max_completion_tokens, logprobs, top_logprobs, mut options } = request;
    let limits = &app.config.limits;
    options.max_tokens = max_completion_tokens.or(options.max_tokens);
    let mut ask = options.ask(limits, 256)?;
    if messages.is_empty() {
        return Err(Failure::field("messages", "there must be at least one message"));
    }
    let logprobs = logprobs.unwrap_or(false);
    if top_logprobs.is_some_and(|top| top > 20 || !logprobs) {
        let message = "top_logprobs must be between 0 and 20, and needs logprobs";
        return Err(Failure::field("top_logprobs", message));
    }
    ask.look.top = logprobs.then(|| top_logprobs.unwrap_or(0));
    let prompt = joined(messages)?;
    if prompt.len() / 64 > limits.prompt {
        return Err(too_long(limits.prompt));
    }
    ask.prompt = app.model.tokenizer().encode(&prompt)?;
    if ask.prompt.len() > limits.prompt {
        return Err(too_long(limits.prompt));
    }
    Ok(Job { ask, n: options.n.unwrap_or(1), logprobs })
}

impl Job {
    fn ask(&self, n: usize) -> Ask {
        let mut ask = self.ask.clone();
        ask.choice.seed = ask.choice.seed.wrapping_add(n as u64);
        ask
    }
}

impl Work for Job {
    type Choice = Choice;

    fn complete(&self, app: &Shared, gone: &Gone<'_>) -> Result<(Vec<Choice>, Usage), Failure> {
        let (mut choices, mut made) = (Vec::new(), 0);
        for index in (0..self.n).take_while(|_| !gone()) {
            let (mut text, mut logprobs) = (String::new(), ChatLogprobs::default());
            let (finish, tokens) = generate(app, &self.ask(index), gone, |said| {
                text.push_str(&said.text);
                logprobs.push(app.model.tokenizer(), &said);
            })?;
            made += tokens;
            choices.push(Choice {
                index,
                message: Some(Answer { role: Some("assistant"), content: Some(text) }),
                logprobs: self.logprobs.then_some(logprobs),
                finish_reason: Some(finish.name()),
                ..Choice::default()
            });
        }
        Ok((choices, Usage::new(self.ask.prompt.len(), made)))
    }

    fn stream(
        &self,
        app: &Shared,
        gone: &Gone<'_>,
        tell: &mut dyn FnMut(Choice),
    ) -> Result<Usage, Failure> {
        let mut made = 0;
        for index in (0..self.n).take_while(|_| !gone()) {
            let delta = |role, content| Some(Answer { role, content });
            let first = delta(Some("assistant"), Some(String::new()));
            tell(Choice { index, delta: first, ..Choice::default() });
            let (finish, tokens) = generate(app, &self.ask(index), gone, |said: Said| {
                let mut logprobs = ChatLogprobs::default();
                logprobs.push(app.model.tokenizer(), &said);
                let logprobs = self.logprobs.then_some(logprobs);
                let delta = delta(None, Some(said.text));
                tell(Choice { index, delta, logprobs, ..Choice::default() });
            })?;
            made += tokens;
            tell(Choice {
                index,
                delta: Some(Answer::default()),
                finish_reason: Some(finish.name()),
                ..Choice::default()
            });
        }
        Ok(Usage::new(self.ask.prompt.len(), made))
    }
}

/// Continues a conversation.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "OpenAI", request_body = Request, responses((status = 200, content((Completion = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events with `delta` in place of `message`, and a last `[DONE]`"), (status = 404, body = ErrorBody)))]
pub(crate) async fn chat(
    State(app): State<App>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    is_served(&app, &request.options.model)?;
    let how = How::of(&request.options);
    let (id, created) = (app.answer_id("chatcmpl"), now());
    let model = app.config.name.clone();
    let answer = move |choices, usage| Completion {
        id: id.clone(),
        object: if how.streams { "chat.completion.chunk" } else { "chat.completion" },
        created,
        model: model.clone(),
        choices,
        usage,
    };
    respond(&app, how, move |app| job(app, request), answer).await
}
