//! `/v1/completions`.

use super::options::Options;
use super::respond::{How, Work, respond};
use super::tokens::Logprobs;
use super::{Usage, is_served};
use crate::app::{App, Shared, now};
use crate::desk::Gone;
use crate::error::{ErrorBody, Failure};
use crate::extract::Json;
use crate::generate::{Ask, Said, generate, read};
use crate::harness::known;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A prompt, or several: as text, or as tokens.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Prompt {
    Text(String),
    Tokens(Vec<u32>),
    Texts(Vec<String>),
    TokenLists(Vec<Vec<u32>>),
}

/// What is asked for.
#[derive(Deserialize, ToSchema)]
#[schema(as = CompletionRequest)]
pub(crate) struct Request {
    /// What is to be continued.
    prompt: Option<Prompt>,
    /// Whether the prompt is part of the answer, with its log-probabilities if they are asked for.
    echo: Option<bool>,
    /// Log-probabilities: of each token, and of so many of the most probable ones, up to 20.
    #[schema(maximum = 20)]
    logprobs: Option<usize>,
    #[serde(flatten)]
    options: Options,
}

/// Completions of all prompts.
#[derive(Serialize, ToSchema)]
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
#[derive(Serialize, ToSchema)]
#[schema(as = CompletionChoice)]
pub(crate) struct Choice {
    text: String,
    index: usize,
    logprobs: Option<Logprobs>,
    /// `stop` at the end of the text or at a given stop, `length` if it was long enough.
    finish_reason: Option<&'static str>,
}

/// What is to be done, checked.
struct Job {
    prompts: Vec<Vec<u32>>,
    ask: Ask,
    echo: bool,
    logprobs: bool,
    n: usize,
}

/// The most completions of one request.
const MOST: usize = 2048;

fn job(app: &Shared, request: Request) -> Result<Job, Failure> {
    let Request { prompt, echo, logprobs, options } = request;
    let limits = &app.config.limits;
    let mut ask = options.ask(limits, 16)?;
    if logprobs.is_some_and(|top| top > 20) {
        return Err(Failure::field("logprobs", "logprobs must be between 0 and 20"));
    }
    ask.look.top = logprobs;
    let tokenizer = app.model.tokenizer();
    let encode = |text: String| {
        if text.len() / 64 > limits.prompt {
            return Err(too_long(limits.prompt));
        }
        Ok(tokenizer.encode(&text)?)
    };
    let prompts: Vec<Vec<u32>> = match prompt {
        // As if a document began.
        None => vec![Vec::new()],
        Some(Prompt::Text(text)) => vec![encode(text)?],
        Some(Prompt::Texts(texts)) => texts.into_iter().map(encode).collect::<Result<_, _>>()?,
        Some(Prompt::Tokens(tokens)) => vec![tokens],
        Some(Prompt::TokenLists(lists)) => lists,
    };
    let n = options.n.unwrap_or(1);
    if prompts.is_empty() || prompts.len() * n > MOST {
        return Err(Failure::field("prompt", format!("there must be 1 to {MOST} completions")));
    }
    for prompt in &prompts {
        known(prompt, tokenizer.vocab_size())?;
        if prompt.len() > limits.prompt {
            return Err(too_long(limits.prompt));
        }
    }
    Ok(Job { prompts, ask, echo: echo.unwrap_or(false), logprobs: logprobs.is_some(), n })
}

pub(super) fn too_long(most: usize) -> Failure {
    let message = format!("a prompt may have at most {most} tokens");
    Failure::field("prompt", message).coded("context_length_exceeded")
}

impl Job {
    /// How the n-th completion of a prompt is to be made.
    fn ask(&self, prompt: &[u32], n: usize) -> Ask {
        let mut ask = Ask { prompt: prompt.to_vec(), ..self.ask.clone() };
        ask.choice.seed = ask.choice.seed.wrapping_add(n as u64);
        ask
    }

    /// What the answer begins with.
    fn begin(
        &self,
        app: &Shared,
        prompt: &[u32],
        gone: &Gone<'_>,
    ) -> Result<(String, Logprobs), Failure> {
        let (mut text, mut logprobs) = (String::new(), Logprobs::default());
        if self.echo {
            let tokenizer = app.model.tokenizer();
            text = tokenizer.decode_lossy(prompt);
            if let Some(top) = self.ask.look.top {
                let mut stream = memo_text::StreamDecoder::new(tokenizer);
                for (p, seen) in read(app, prompt, top, gone)?.iter().enumerate() {
                    let piece = stream.push(prompt[p]);
                    logprobs.push(tokenizer, prompt[p], &piece, (p > 0).then_some(seen));
                }
            }
        }
        Ok((text, logprobs))
    }

    /// Each prompt as often as it is asked for, as long as someone waits.
    fn prompts(&self, gone: &Gone<'_>) -> impl Iterator<Item = (usize, &Vec<u32>, usize)> {
        let each = self.prompts.iter().flat_map(|prompt| (0..self.n).map(move |n| (prompt, n)));
        each.take_while(|_| !gone()).enumerate().map(|(index, (prompt, n))| (index, prompt, n))
    }

    fn prompt_tokens(&self) -> usize {
        self.prompts.iter().map(Vec::len).sum()
    }
}

impl Work for Job {
    type Choice = Choice;

    fn complete(&self, app: &Shared, gone: &Gone<'_>) -> Result<(Vec<Choice>, Usage), Failure> {
        let tokenizer = app.model.tokenizer();
        let (mut choices, mut made) = (Vec::new(), 0);
        for (index, prompt, n) in self.prompts(gone) {
            let (mut text, mut logprobs) = self.begin(app, prompt, gone)?;
            let (finish, tokens) = generate(app, &self.ask(prompt, n), gone, |said| {
                text.push_str(&said.text);
                logprobs.push(tokenizer, said.token, &said.text, said.seen.as_ref());
            })?;
            made += tokens;
            let finish_reason = Some(finish.name());
            let logprobs = self.logprobs.then_some(logprobs);
            choices.push(Choice { text, index, logprobs, finish_reason });
        }
        Ok((choices, Usage::new(self.prompt_tokens(), made)))
    }

    fn stream(
        &self,
        app: &Shared,
        gone: &Gone<'_>,
        tell: &mut dyn FnMut(Choice),
    ) -> Result<Usage, Failure> {
        let tokenizer = app.model.tokenizer();
        let mut made = 0;
        for (index, prompt, n) in self.prompts(gone) {
            let (text, logprobs) = self.begin(app, prompt, gone)?;
            let mut chars = logprobs.chars();
            let piece = |text, logprobs: Logprobs, finish_reason| Choice {
                text,
                index,
                logprobs: self.logprobs.then_some(logprobs),
                finish_reason,
            };
            if self.echo {
                tell(piece(text, logprobs, None));
            }
            let (finish, tokens) = generate(app, &self.ask(prompt, n), gone, |said: Said| {
                let mut logprobs = Logprobs::after(chars);
                logprobs.push(tokenizer, said.token, &said.text, said.seen.as_ref());
                chars = logprobs.chars();
                // What has nothing to show yet is told only if more was asked for.
                if !said.text.is_empty() || self.logprobs {
                    tell(piece(said.text, logprobs, None));
                }
            })?;
            made += tokens;
            tell(piece(String::new(), Logprobs::after(chars), Some(finish.name())));
        }
        Ok(Usage::new(self.prompt_tokens(), made))
    }
}

/// Continues prompts.
#[utoipa::path(post, path = "/v1/completions", tag = "OpenAI", request_body = Request, responses((status = 200, content((Completion = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events of the same shape and a last `[DONE]`"), (status = 404, body = ErrorBody)))]
pub(crate) async fn completions(
    State(app): State<App>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    is_served(&app, &request.options.model)?;
    let how = How::of(&request.options);
    let (id, created) = (app.answer_id("cmpl"), now());
    let model = app.config.name.clone();
    let answer = move |choices, usage| Completion {
        id: id.clone(),
        object: "text_completion",
        created,
        model: model.clone(),
        choices,
        usage,
    };
    respond(&app, how, move |app| job(app, request), answer).await
}
