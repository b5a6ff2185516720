//! `/v1/responses` in its plain form: a text or messages are continued. There are no tools, and nothing is kept between two requests.

use super::chat::{Content, conversation, text_of};
use super::options::Options;
use crate::app::AppState;
use crate::error::{ApiError, ErrorDetail};
use crate::extract::Json;
use crate::generate::generate_with;
use crate::partner::{Beside, Message, beside};
use crate::server::{Server, now};
use crate::workers::Seat;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use memo_store::{CompletionOptions, CompletionStream, FinishReason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use tokio_stream::StreamExt;

/// Tokens of a response that does not say how many.
const MAX_OUTPUT: usize = 256;

/// A text or messages to continue.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ResponseRequest))]
pub(crate) struct Request {
    /// A text, or messages, read as `/v1/chat/completions` reads them.
    input: Input,
    /// A text that goes before the input, on a line of its own; for a partner, a message of the system.
    instructions: Option<String>,
    /// The most tokens to generate, 256 by default.
    max_output_tokens: Option<usize>,
    #[serde(flatten)]
    options: Options,
}

/// What is to be continued.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "must be a text or a list of messages")]
#[cfg_attr(test, schema(as = ResponseInput))]
pub(crate) enum Input {
    Text(String),
    Items(Vec<Item>),
}

/// A message.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ResponseInputItem))]
pub(crate) struct Item {
    /// `message`, if it is said.
    r#type: Option<String>,
    /// Its author, for a partner's template: `user` unless it is said.
    role: Option<String>,
    content: Option<Content>,
    /// Whatever else it has. That it is collected keeps a list from being taken for a message.
    #[serde(flatten)]
    #[cfg_attr(test, schema(ignore))]
    _other: Map<String, Value>,
}

/// Fields that ask for what a memory has not, beside those of all completions.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("previous_response_id", "nothing is kept between two requests; send all messages"),
    ("conversation", "nothing is kept between two requests; send all messages"),
    ("background", "a response is made while its request waits"),
    ("store", "no response is kept"),
    ("prompt", "there are no stored prompts"),
    ("include", "a response has nothing else to include"),
];

/// A response.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = ResponseObject))]
pub(crate) struct ResponseBody {
    id: String,
    object: &'static str,
    created_at: u64,
    /// `in_progress`, `completed`, or `incomplete` if it is as long as it may be.
    status: &'static str,
    #[cfg_attr(test, schema(value_type = Option<ErrorDetail>))]
    error: Option<ErrorDetail>,
    incomplete_details: Option<Incomplete>,
    instructions: Option<String>,
    max_output_tokens: Option<usize>,
    model: String,
    /// One message with one text.
    #[cfg_attr(test, schema(value_type = Vec<Object>))]
    output: Vec<Value>,
    parallel_tool_calls: bool,
    previous_response_id: Option<String>,
    store: bool,
    temperature: f64,
    top_p: f64,
    #[cfg_attr(test, schema(value_type = Object))]
    text: Value,
    tool_choice: &'static str,
    #[cfg_attr(test, schema(value_type = Vec<Object>))]
    tools: Vec<Value>,
    truncation: &'static str,
    usage: Option<ResponseUsage>,
    #[cfg_attr(test, schema(value_type = Object))]
    metadata: Map<String, Value>,
}

/// Why a response is not complete.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct Incomplete {
    reason: &'static str,
}

/// The tokens of a response.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ResponseUsage {
    input_tokens: usize,
    #[cfg_attr(test, schema(value_type = Object))]
    input_tokens_details: CachedTokens,
    output_tokens: usize,
    #[cfg_attr(test, schema(value_type = Object))]
    output_tokens_details: ReasoningTokens,
    total_tokens: usize,
}

#[derive(Clone, Copy, Default, Serialize)]
struct CachedTokens {
    cached_tokens: usize,
}

#[derive(Clone, Copy, Default, Serialize)]
struct ReasoningTokens {
    reasoning_tokens: usize,
}

struct Job {
    prompt: Vec<u32>,
    options: CompletionOptions,
    beside: Option<Beside>,
}

impl Request {
    fn check(self, app: &AppState) -> Result<Job, ApiError> {
        let Request { input, instructions, max_output_tokens, mut options } = self;
        let given = |name: &str| match options.rest.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Array(list)) => !list.is_empty(),
            Some(_) => true,
        };
        if let Some((name, why)) = UNSUPPORTED.into_iter().find(|(name, _)| given(name)) {
            return Err(ApiError::invalid_field(name, format!("{name} is not supported: {why}")));
        }
        let format = options.rest.get("text").and_then(|text| text.get("format"));
        if format.is_some_and(|format| format.get("type").is_none_or(|kind| kind != "text")) {
            return Err(ApiError::invalid_field(
                "text",
                "a response is plain text, of no other format",
            ));
        }
        if options.count() != 1 {
            return Err(ApiError::invalid_field("n", "a response is one: n must be 1"));
        }
        options.max_tokens = max_output_tokens.or(options.max_tokens);
        let beside = beside(app, options.mode, options.weight.clone())?;
        let options = options.check(&app.config.limits, MAX_OUTPUT, None)?;
        let message = |role: &str, content| Message { role: role.to_owned(), content };
        let instructions = instructions.map(|text| message("system", text));
        let mut messages: Vec<Message> = instructions.into_iter().collect();
        match input {
            Input::Text(text) => messages.push(message("user", text)),
            Input::Items(items) if items.is_empty() => {
                return Err(ApiError::invalid_field("input", "there must be at least one message"));
            }
            Input::Items(items) => {
                for Item { r#type, role, content, .. } in items {
                    if let Some(other) = r#type.filter(|kind| kind != "message") {
                        let message = format!("input of type {other:?} is not supported here");
                        return Err(ApiError::invalid_field("input", message));
                    }
                    if let Some(content) = content {
                        let role = role.as_deref().unwrap_or("user");
                        messages.push(message(role, text_of("input", content)?));
                    }
                }
            }
        }
        let (prompt, beside) = conversation(app, &messages, beside)?;
        Ok(Job { prompt, options, beside })
    }

    /// The response as it begins.
    fn begin(&self, id: String, model: String) -> ResponseBody {
        let metadata = match self.options.rest.get("metadata") {
            Some(Value::Object(metadata)) => metadata.clone(),
            _ => Map::new(),
        };
        ResponseBody {
            id,
            object: "response",
            created_at: now(),
            status: "in_progress",
            error: None,
            incomplete_details: None,
            instructions: self.instructions.clone(),
            max_output_tokens: self.max_output_tokens,
            model,
            output: Vec::new(),
            parallel_tool_calls: false,
            previous_response_id: None,
            store: false,
            temperature: self.options.temperature.unwrap_or(0.0),
            top_p: self.options.top_p.unwrap_or(1.0),
            text: json!({"format": {"type": "text"}}),
            tool_choice: "auto",
            tools: Vec::new(),
            truncation: "disabled",
            usage: None,
            metadata,
        }
    }
}

impl Job {
    /// Makes the text, and hands pieces of it to `receive`.
    fn make(
        &self,
        app: &AppState,
        seat: &mut Seat,
        mut receive: impl FnMut(&str),
    ) -> Result<(String, CompletionStream), ApiError> {
        let mut text = String::new();
        let beside = self.beside.as_ref();
        let stream = generate_with(app, &self.prompt, &self.options, beside, seat, |token| {
            if !token.text.is_empty() {
                receive(&token.text);
                text.push_str(&token.text);
            }
        })?;
        Ok((text, stream))
    }
}

impl ResponseBody {
    /// The id of its one message.
    fn message_id(&self) -> String {
        format!("msg-{}", self.id)
    }

    fn message(&self, status: &str, content: &[Value]) -> Value {
        let id = self.message_id();
        json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": content})
    }

    /// The response as it ends.
    fn end(mut self, job: &Job, text: &str, stream: &CompletionStream) -> Self {
        let is_whole = stream.finish_reason() != Some(FinishReason::Length);
        self.status = if is_whole { "completed" } else { "incomplete" };
        self.incomplete_details = (!is_whole).then_some(Incomplete { reason: "max_output_tokens" });
        self.output = vec![self.message(self.status, &[part(text)])];
        let (input_tokens, output_tokens) = (job.prompt.len(), stream.generated());
        self.usage = Some(ResponseUsage {
            input_tokens,
            input_tokens_details: CachedTokens::default(),
            output_tokens,
            output_tokens_details: ReasoningTokens::default(),
            total_tokens: input_tokens + output_tokens,
        });
        self
    }
}

/// The text of a message.
fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

/// Numbers and names events.
struct Events<S> {
    send: S,
    number: u64,
}

impl<S: FnMut(Event)> Events<S> {
    fn send(&mut self, kind: &str, mut data: Value) {
        data["type"] = kind.into();
        data["sequence_number"] = self.number.into();
        self.number += 1;
        (self.send)(Event::default().event(kind).json_data(data).unwrap_or_default());
    }

    /// Sends a response as it comes about.
    fn stream(
        &mut self,
        response: &ResponseBody,
        make: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(String, ResponseBody), ApiError>,
    ) {
        let item = response.message_id();
        let at = |name: &str, value: Value| {
            let mut data = json!({"item_id": item, "output_index": 0, "content_index": 0});
            data[name] = value;
            data
        };
        let text_at = |name: &str, text: &str| {
            let mut data = at(name, text.into());
            data["logprobs"] = json!([]);
            data
        };
        for kind in ["response.created", "response.in_progress"] {
            self.send(kind, json!({"response": response}));
        }
        let message = response.message("in_progress", &[]);
        self.send("response.output_item.added", json!({"output_index": 0, "item": message}));
        self.send("response.content_part.added", at("part", part("")));
        let made = make(&mut |delta| {
            self.send("response.output_text.delta", text_at("delta", delta));
        });
        let (text, response) = match made {
            Ok(made) => made,
            Err(error) => {
                let error = serde_json::to_value(error.detail).unwrap_or_default();
                return self.send("error", error);
            }
        };
        self.send("response.output_text.done", text_at("text", &text));
        self.send("response.content_part.done", at("part", part(&text)));
        let item = response.output.first().cloned();
        self.send("response.output_item.done", json!({"output_index": 0, "item": item}));
        self.send(&format!("response.{}", response.status), json!({"response": response}));
    }
}

/// Continues a text or messages.
#[cfg_attr(test, utoipa::path(post, path = "/v1/responses", tag = "OpenAI", request_body = Request, responses((status = 200, content((ResponseBody = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events `response.created`, `response.output_text.delta` and the like, and a last `response.completed` or `response.incomplete`"))))]
pub(crate) async fn responses(
    State(server): State<Server>,
    Json(request): Json<Request>,
) -> Result<Response, ApiError> {
    let app = server.models.find(request.options.model.as_deref()).await?;
    let response = request.begin(server.response_id("resp"), app.name.clone());
    let worker = app.clone();
    if !request.options.stream.unwrap_or(false) {
        let done = app.workers.run(move |seat| {
            let job = request.check(&worker)?;
            let (text, stream) = job.make(&worker, seat, |_| {})?;
            Ok(response.end(&job, &text, &stream))
        });
        return Ok(axum::Json(done.await?).into_response());
    }
    let checking = app.clone();
    let events = app.workers.stream(
        move || request.check(&checking),
        move |job, seat, sender| {
            let mut events = Events { send: |event| sender.send(event), number: 0 };
            events.stream(&response, |receive| {
                let (text, stream) = job.make(&worker, seat, receive)?;
                let response = response.clone().end(&job, &text, &stream);
                Ok((text, response))
            });
        },
    );
    let events = events.await?.map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}
