//! `/v1/completions`: prompts continued, with log-probabilities and echo.

use super::options::{Options, nth};
use super::respond::{CompletionJob, ResponseMode, respond};
use super::tokens::Logprobs;
use super::{StopReason, Usage};
use crate::app::AppState;
use crate::error::ApiError;
use crate::extract::Json;
use crate::generate::{check_prompt, check_total, encode_prompt, generate_with, score};
use crate::partner::{Beside, beside};
use crate::server::{Server, now};
use crate::workers::{Client, Seat};
use axum::extract::State;
use axum::response::Response;
use memo_store::{CompletionOptions, ReadOptions};
use memo_text::StreamDecoder;
use serde::{Deserialize, Serialize};

/// A prompt, or several: as text, or as tokens.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(
    untagged,
    expecting = "must be a text, a list of texts, a list of tokens, or a list of lists of tokens"
)]
pub(crate) enum Prompt {
    Text(String),
    Tokens(Vec<u32>),
    Texts(Vec<String>),
    TokenLists(Vec<Vec<u32>>),
}

/// Prompts to continue.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = CompletionRequest))]
pub(crate) struct Request {
    /// One prompt, or several.
    prompt: Option<Prompt>,
    /// Whether the prompt is part of the answer, with its log-probabilities if they are asked for.
    echo: Option<bool>,
    /// Log-probabilities: of each token, and of so many of the most probable ones, up to 20.
    #[cfg_attr(test, schema(maximum = 20))]
    logprobs: Option<usize>,
    #[serde(flatten)]
    options: Options,
}

/// Completions of all prompts.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = TextCompletion))]
pub(crate) struct Completion {
    id: String,
    object: &'static str,
    created: u64,
    model: String,
    choices: Vec<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// One completion.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[cfg_attr(test, schema(as = TextChoice))]
pub(crate) struct Choice {
    text: String,
    index: usize,
    logprobs: Option<Logprobs>,
    finish_reason: Option<StopReason>,
}

struct Job {
    prompts: Vec<Vec<u32>>,
    options: CompletionOptions,
    beside: Option<Beside>,
    echo: bool,
    n: usize,
}

/// The most completions of one request.
const MAX_COMPLETIONS: usize = 2048;

fn check(app: &AppState, request: Request) -> Result<Job, ApiError> {
    let Request { prompt, echo, logprobs, options } = request;
    if logprobs.is_some_and(|top| top > 20) {
        return Err(ApiError::invalid_field("logprobs", "logprobs must be between 0 and 20"));
    }
    let (limits, n) = (&app.config.limits, options.count());
    let beside = beside(app, options.mode, options.weight.clone())?;
    if beside.is_some() && echo == Some(true) && logprobs.is_some() {
        let message = "an echoed prompt has log-probabilities by the memory alone: ask with \"mode\": \"memory\"";
        return Err(ApiError::invalid_field("echo", message));
    }
    let beside = beside.map(|(partner, weight)| Beside { partner, weight, prompt: None });
    let mut options = options.check(limits, 16, logprobs)?;
    // Tokens are meant as they are.
    options.heal = !matches!(prompt, Some(Prompt::Tokens(_) | Prompt::TokenLists(_)));
    // Where the prompt itself is scored, what follows it is scored after it as it is given.
    options.find = options.heal && !(echo == Some(true) && logprobs.is_some());
    let encode = |text: String| encode_prompt(app, &text);
    let prompts: Vec<Vec<u32>> = match prompt {
        // As if a document began.
        None => vec![Vec::new()],
        Some(Prompt::Text(text)) => vec![encode(text)?],
        Some(Prompt::Texts(texts)) => texts.into_iter().map(encode).collect::<Result<_, _>>()?,
        Some(Prompt::Tokens(tokens)) => vec![tokens],
        Some(Prompt::TokenLists(lists)) => lists,
    };
    if prompts.is_empty() || prompts.len() * n > MAX_COMPLETIONS {
        let message = format!("there must be 1 to {MAX_COMPLETIONS} completions");
        return Err(ApiError::invalid_field("prompt", message));
    }
    check_total(prompts.len() * n, options.max_tokens, limits)?;
    for prompt in &prompts {
        check_prompt(prompt, limits.prompt)?;
        app.model.read()?.config().memory.check_tokens(prompt)?;
    }
    Ok(Job { prompts, options, beside, echo: echo.unwrap_or(false), n })
}

impl Job {
    /// The beginning of a response: the prompt, if it is echoed.
    fn begin(
        &self,
        app: &AppState,
        prompt: &[u32],
        seat: &mut Seat,
    ) -> Result<(String, Logprobs), ApiError> {
        let (mut text, mut logprobs) = (String::new(), Logprobs::default());
        if self.echo {
            let tokenizer = app.model.tokenizer();
            text = tokenizer.decode_lossy(prompt);
            if let Some(top) = self.options.top {
                let mut decoder = StreamDecoder::new(tokenizer);
                // What is scored is read without what it says itself.
                let scoring = ReadOptions { recent: 0.0, ..self.options.read };
                let scores = score(app, prompt, top, &scoring, seat)?;
                for (p, score) in scores.iter().enumerate() {
                    let piece = decoder.push(prompt[p]);
                    logprobs.push(tokenizer, prompt[p], &piece, (p > 0).then_some(score));
                }
            }
        }
        Ok((text, logprobs))
    }

    /// Each prompt as often as it is to be continued, until the request is cancelled.
    fn prompts(&self, client: Client) -> impl Iterator<Item = (usize, &[u32], CompletionOptions)> {
        let each = self.prompts.iter().flat_map(|prompt| (0..self.n).map(move |n| (prompt, n)));
        let each = each.take_while(move |_| !client.has_left()).enumerate();
        each.map(|(index, (prompt, n))| (index, prompt.as_slice(), nth(&self.options, n)))
    }

    fn usage(&self, generated: usize) -> Usage {
        Usage::new(self.prompts.iter().map(Vec::len).sum(), generated)
    }

    /// A completion, or a piece of one, with its log-probabilities if they were asked for.
    fn choice(
        &self,
        index: usize,
        text: String,
        logprobs: Logprobs,
        finish_reason: Option<StopReason>,
    ) -> Choice {
        Choice { text, index, logprobs: self.options.top.map(|_| logprobs), finish_reason }
    }
}

impl CompletionJob for Job {
    type Choice = Choice;

    fn complete(&self, app: &AppState, seat: &mut Seat) -> Result<(Vec<Choice>, Usage), ApiError> {
        let tokenizer = app.model.tokenizer();
        let (mut choices, mut generated, beside) = (Vec::new(), 0, self.beside.as_ref());
        let mut begun = Default::default();
        for (index, prompt, options) in self.prompts(seat.client()) {
            // What is echoed is the same for all completions of a prompt.
            if index % self.n == 0 {
                begun = self.begin(app, prompt, seat)?;
            }
            let (mut text, mut logprobs): (String, Logprobs) = begun.clone();
            let stream = generate_with(app, prompt, &options, beside, seat, |token| {
                text.push_str(&token.text);
                logprobs.push(tokenizer, token.token, &token.text, token.score.as_ref());
            })?;
            generated += stream.generated();
            choices.push(self.choice(index, text, logprobs, Some(StopReason::from(&stream))));
        }
        Ok((choices, self.usage(generated)))
    }

    fn stream(
        &self,
        app: &AppState,
        seat: &mut Seat,
        send: &mut dyn FnMut(Choice),
    ) -> Result<Usage, ApiError> {
        let tokenizer = app.model.tokenizer();
        let (mut generated, mut begun, beside) = (0, Default::default(), self.beside.as_ref());
        for (index, prompt, options) in self.prompts(seat.client()) {
            if index % self.n == 0 {
                begun = self.begin(app, prompt, seat)?;
            }
            let (text, logprobs): (String, Logprobs) = begun.clone();
            let mut chars = logprobs.chars();
            if self.echo {
                send(self.choice(index, text, logprobs, None));
            }
            let stream = generate_with(app, prompt, &options, beside, seat, |token| {
                let mut logprobs = Logprobs::after(chars);
                logprobs.push(tokenizer, token.token, &token.text, token.score.as_ref());
                chars = logprobs.chars();
                // A token without text of its own is sent only for its log-probability.
                if !token.text.is_empty() || token.score.is_some() {
                    send(self.choice(index, token.text, logprobs, None));
                }
            })?;
            generated += stream.generated();
            let reason = Some(StopReason::from(&stream));
            send(self.choice(index, String::new(), Logprobs::after(chars), reason));
        }
        Ok(self.usage(generated))
    }
}

/// Continues prompts.
#[cfg_attr(test, utoipa::path(post, path = "/v1/completions", tag = "OpenAI", request_body = Request, responses((status = 200, content((Completion = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events of the same shape and a last `[DONE]`"))))]
pub(crate) async fn completions(
    State(server): State<Server>,
    Json(request): Json<Request>,
) -> Result<Response, ApiError> {
    let mode = ResponseMode::from(&request.options);
    let app = server.models.find(request.options.model.as_deref()).await?;
    let (id, created, model) = (server.response_id("cmpl"), now(), app.name.clone());
    let response = move |choices, usage| Completion {
        id: id.clone(),
        object: "text_completion",
        created,
        model: model.clone(),
        choices,
        usage,
    };
    respond(&app, mode, move |app| check(app, request), response).await
}
