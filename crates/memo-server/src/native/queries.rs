//! Queries of the memory: completions token by token, scores of texts, explanations, where a text stands, and what is closest to it.

use crate::app::{App, AppState};
use crate::error::{ApiError, ErrorBody};
use crate::extract::Json;
use crate::generate::{check_prompt, checked, encode_prompt, generate_with, score};
use crate::partner::{Beside, Mode, PartnerExplanation, WeightField, beside};
use crate::server::{Chosen, ChosenWith};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use memo::readout::Sampling;
use memo_store::{
    ClosestPassages, Completion, CompletionOptions, CompletionStream, CompletionToken,
    ContinuedPrompt, Explanation, FindOptions, FinishReason, MatchedContext, Passage, PromptMatch,
    ReadOptions, Stretch, TextMatches, fresh_seed,
};
use memo_text::StreamDecoder;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::time::Instant;
use tokio_stream::StreamExt;

/// A prompt to continue, and how.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteRequest {
    prompt: String,
    /// The most tokens to generate, 64 by default.
    max_tokens: Option<usize>,
    /// 0 takes the most probable token, 1 draws in proportion.
    #[cfg_attr(test, schema(minimum = 0, maximum = 100))]
    #[serde(default)]
    temperature: f64,
    /// Draw only from this many of the most probable tokens; 0 is all.
    #[serde(default)]
    top_k: usize,
    /// Draw only from the most probable tokens that together have this probability.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    top_p: Option<f64>,
    /// What the log-probability of a token falls by each time that it was generated already; a negative one makes it rise.
    #[cfg_attr(test, schema(minimum = -2, maximum = 2))]
    #[serde(default)]
    frequency_penalty: f64,
    /// What it falls by once the token was generated.
    #[cfg_attr(test, schema(minimum = -2, maximum = 2))]
    #[serde(default)]
    presence_penalty: f64,
    /// The same seed draws the same text; without one it is another each time, and the answer names it.
    seed: Option<u64>,
    /// Up to 16 texts at which to stop.
    #[serde(default)]
    stop: Vec<String>,
    /// Whether to go on where the memory does not know how.
    #[serde(default)]
    guess: bool,
    /// How much contexts that the lexicon generalises count: from 0, not at all, to 1, which is the default.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    generalize: Option<f64>,
    /// Who answers, where there is a partner: the memory, the model, or both, which is the default.
    mode: Option<Mode>,
    /// How much the memory counts beside its partner: `auto`, which is the default, or a number from 0 to 1.
    weight: Option<WeightField>,
    /// Whether to say where the completion stands in the documents, stretch by stretch.
    #[serde(default)]
    sources: bool,
    /// Whether to send tokens as they come: events `token`, and a last one `done`.
    #[serde(default)]
    stream: bool,
}

impl CompleteRequest {
    /// The tokens of the prompt, the options, and the partner that is wanted.
    fn check(self, app: &AppState) -> Result<CheckedRequest, ApiError> {
        let beside = beside(app, self.mode, self.weight)?;
        let beside = beside.map(|(partner, weight)| Beside { partner, weight, prompt: None });
        let (limits, default) = (&app.config.limits, CompletionOptions::default());
        let options = CompletionOptions {
            max_tokens: self.max_tokens.unwrap_or(default.max_tokens.min(limits.tokens)),
            sampling: Sampling {
                temperature: self.temperature,
                top_k: self.top_k,
                top_p: self.top_p.unwrap_or(default.sampling.top_p),
                frequency_penalty: self.frequency_penalty,
                presence_penalty: self.presence_penalty,
                seed: self.seed.unwrap_or_else(fresh_seed),
                ..default.sampling
            },
            stop: self.stop,
            top: Some(0),
            contexts: true,
            heal: true,
            find: true,
            guess: self.guess,
            read: reading(self.generalize, Some(1.0)),
        };
        let options = checked(options, limits)?;
        Ok((encode_prompt(app, &self.prompt)?, options, beside))
    }
}

/// A prompt, and how to continue it.
type CheckedRequest = (Vec<u32>, CompletionOptions, Option<Beside>);

/// The end of a stream of tokens.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct CompletionEnd {
    /// Why it ended.
    finish_reason: FinishReason,
    /// How many tokens were generated.
    tokens: usize,
    /// How fast they came.
    tokens_per_second: f64,
    /// The seed of the draws, which draws the same again; none if nothing was drawn.
    seed: Option<u64>,
    /// How the prompt was found in the memory.
    matched: Option<PromptMatch>,
    /// What was continued, if that is not the prompt as it was typed.
    continued: Option<ContinuedPrompt>,
    /// Where its stretches stand in the documents, if that was asked for.
    sources: Option<Vec<Stretch>>,
    /// The passages that share the most with the prompt, if the memory does not know it.
    closest: Option<Vec<Passage>>,
}

/// Continues a prompt, with the probability of each token and the longest context that knew it.
#[cfg_attr(test, utoipa::path(post, path = "/api/complete", tag = "reading", request_body = CompleteRequest, responses((status = 200, content((Completion = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events `token`, and a last one `done` or `error`"))))]
pub(crate) async fn complete(
    Chosen(app): Chosen,
    Json(request): Json<CompleteRequest>,
) -> Result<Response, ApiError> {
    let worker = App::clone(&app);
    if !request.stream {
        let completion = app.workers.run(move |seat| {
            let sources = request.sources;
            let (prompt, options, beside) = request.check(&worker)?;
            let start = Instant::now();
            let mut tokens = Vec::new();
            let receive = |token: CompletionToken| tokens.extend((!token.end).then_some(token));
            let stream = generate_with(&worker, &prompt, &options, beside.as_ref(), seat, receive)?;
            completion(&worker, &stream, tokens, start, sources)
        });
        return Ok(axum::Json(completion.await?).into_response());
    }
    let (checking, sources) = (App::clone(&app), request.sources);
    let events = app.workers.stream(
        move || request.check(&checking),
        move |(prompt, options, beside), seat, sender| {
            let start = Instant::now();
            let mut tokens = Vec::new();
            let stream =
                generate_with(&worker, &prompt, &options, beside.as_ref(), seat, |token| {
                    if !token.end {
                        sender.send(event("token", &token));
                        tokens.push(token);
                    }
                });
            let last = stream.and_then(|stream| {
                let completion = completion(&worker, &stream, tokens, start, sources)?;
                Ok(CompletionEnd {
                    finish_reason: completion.finish_reason,
                    tokens: stream.generated(),
                    tokens_per_second: completion.tokens_per_second,
                    seed: completion.seed,
                    matched: completion.matched,
                    continued: completion.continued,
                    sources: completion.sources,
                    closest: completion.closest,
                })
            });
            sender.send(match last {
                Ok(end) => event("done", &end),
                Err(error) => event("error", &ErrorBody { error: error.detail }),
            });
        },
    );
    let events = events.await?.map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}

/// What came of a completion, with its sources if they are wanted, and what is closest to a prompt that is not known.
pub(crate) fn completion(
    app: &AppState,
    stream: &CompletionStream,
    tokens: Vec<CompletionToken>,
    start: Instant,
    sources: bool,
) -> Result<Completion, ApiError> {
    let mut completion = stream.completion(tokens, start);
    if sources {
        app.model.read()?.add_sources(stream.continued(), &mut completion)?;
    }
    if completion.is_guess() {
        // All texts are read, which may take long: a snapshot lets changes have their turn.
        app.model.snapshot()?.add_closest(stream.continued(), &mut completion)?;
    }
    Ok(completion)
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_default()
}

/// A text to look up.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct TextRequest {
    text: String,
    /// How much contexts that the lexicon generalises count: from 0, not at all, to 1, which is the default.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    generalize: Option<f64>,
}

/// How a request has the memory read.
pub(crate) fn reading(generalize: Option<f64>, recent: Option<f64>) -> ReadOptions {
    let ReadOptions { generalize: all, recent: none } = ReadOptions::default();
    ReadOptions { generalize: generalize.unwrap_or(all), recent: recent.unwrap_or(none) }
}

/// The tokens of a text.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TokenList {
    tokens: Vec<CompletionToken>,
}

/// The probability of each token of a text after those before it, and the longest context that knew it.
#[cfg_attr(test, utoipa::path(post, path = "/api/read", tag = "reading", request_body = TextRequest, responses((status = 200, body = TokenList))))]
pub(crate) async fn read_text(
    Chosen(app): Chosen,
    Json(TextRequest { text, generalize }): Json<TextRequest>,
) -> Result<axum::Json<TokenList>, ApiError> {
    /// Evidence is looked up slot by slot, so the text may be as long as a prompt, but not as a book.
    const MAX_TOKENS: usize = 4096;
    let worker = App::clone(&app);
    let tokens = app.workers.run(move |seat| {
        let tokenizer = worker.model.tokenizer();
        let ids = tokenizer.encode(&text)?;
        if ids.len() > MAX_TOKENS {
            let message = format!("text must be at most {MAX_TOKENS} tokens");
            return Err(ApiError::invalid_field("text", message));
        }
        let read = reading(generalize, None);
        read.check()?;
        let mut decoder = StreamDecoder::new(tokenizer);
        let mut tokens = Vec::with_capacity(ids.len());
        let scores = score(&worker, &ids, 0, &read, seat)?;
        let client = seat.client();
        for (p, score) in scores.into_iter().enumerate().take_while(|_| !client.has_left()) {
            seat.pause();
            let snapshot = worker.model.read()?;
            let context = MatchedContext::of(snapshot.memory()?, &ids[..p], ids[p])?;
            let text = decoder.push(ids[p]);
            tokens.push(CompletionToken::new(ids[p], text, Some(score), context));
        }
        Ok(tokens)
    });
    Ok(axum::Json(TokenList { tokens: tokens.await? }))
}

/// A text, or its tokens.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "must be a text or a list of tokens")]
pub(crate) enum TextOrTokens {
    Text(String),
    Tokens(Vec<u32>),
}

/// A prompt whose continuation is to be explained.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// A text, or tokens. A token of a completion is explained by the tokens before it; where the completion has `continued`, these
    /// begin with its `tokens`.
    prompt: TextOrTokens,
    /// The number of candidates, 5 by default.
    candidates: Option<usize>,
    /// Whether a partner's candidates are shown too, where there is one: not in mode `memory`.
    mode: Option<Mode>,
    /// How much the memory counts beside its partner: `auto`, which is the default, or a number from 0 to 1.
    weight: Option<WeightField>,
    /// How much contexts that the lexicon generalises count: from 0, not at all, to 1, which is the default.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    generalize: Option<f64>,
    /// How much counts what the prompt itself says before: from 0, which is the default, to 1, as in completions that guess or draw.
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    recent: Option<f64>,
}

/// Why a memory says what it says, and what its partner says there.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ExplanationBeside {
    #[serde(flatten)]
    explanation: Explanation,
    /// What the partner says, and both together; none without a partner.
    partner: Option<PartnerExplanation>,
}

/// Explains the most probable continuations: how often each followed every context that the memory sees, and their sources. With a
/// partner, its own candidates stand beside them.
#[cfg_attr(test, utoipa::path(post, path = "/api/explain", tag = "reading", request_body = ExplainRequest, responses((status = 200, body = ExplanationBeside))))]
pub(crate) async fn explain(
    Chosen(app): Chosen,
    Json(ExplainRequest { prompt, candidates, mode, weight, generalize, recent }): Json<
        ExplainRequest,
    >,
) -> Result<axum::Json<ExplanationBeside>, ApiError> {
    let count = candidates.unwrap_or(5).clamp(1, 50);
    let read = reading(generalize, recent);
    let worker = App::clone(&app);
    let explanation = app.workers.run(move |seat| {
        let tokens = match &prompt {
            TextOrTokens::Text(text) => encode_prompt(&worker, text)?,
            TextOrTokens::Tokens(tokens) => {
                check_prompt(tokens, worker.config.limits.prompt)?;
                worker.model.read()?.config().memory.check_tokens(tokens)?;
                tokens.clone()
            }
        };
        let partner = match beside(&worker, mode, weight)? {
            None => None,
            Some((partner, weight)) => {
                let model = seat.wait_for(|| partner.ask(&tokens))?;
                let snapshot = worker.model.read()?;
                Some(partner.explain(&snapshot, &tokens, &model, weight, &read, count)?)
            }
        };
        let mut explanation = worker.model.read()?.explain_tokens(&tokens, count, &read)?;
        if let TextOrTokens::Text(text) = prompt {
            explanation.prompt = text;
        }
        Ok(ExplanationBeside { explanation, partner })
    });
    Ok(axum::Json(explanation.await?))
}

/// A text to find, and how.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FindRequest {
    text: String,
    /// Whether `Owl` finds `owl`.
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after that of a match, up to 100.
    #[cfg_attr(test, schema(maximum = 100))]
    #[serde(default)]
    context: usize,
}

/// The documents that contain a text, and where.
#[cfg_attr(test, utoipa::path(post, path = "/api/find", tag = "reading", request_body = FindRequest, responses((status = 200, body = TextMatches))))]
pub(crate) async fn find(
    Chosen(app): Chosen,
    Json(FindRequest { text, ignore_case, context }): Json<FindRequest>,
) -> Result<axum::Json<TextMatches>, ApiError> {
    /// So that an answer stays small: a thousand matches of a document are shown, each with its lines.
    const MAX_CONTEXT: usize = 100;
    if context > MAX_CONTEXT {
        let message = format!("context must be at most {MAX_CONTEXT} lines");
        return Err(ApiError::invalid_field("context", message));
    }
    let options = FindOptions { ignore_case, context };
    let found = app.read(move |_, snapshot| Ok(snapshot.find_with(&text, &options)?));
    Ok(axum::Json(found.await?))
}

/// A text, and how many passages to look for.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(crate) struct ClosestQuery {
    /// The text.
    text: String,
    /// The most passages, 5 by default.
    limit: Option<usize>,
}

/// The passages of live documents that share the rarest words with a text.
#[cfg_attr(test, utoipa::path(get, path = "/api/closest", tag = "reading", params(ClosestQuery), responses((status = 200, body = ClosestPassages))))]
pub(crate) async fn closest(
    ChosenWith(app, ClosestQuery { text, limit }): ChosenWith<ClosestQuery>,
) -> Result<axum::Json<ClosestPassages>, ApiError> {
    let limit = limit.unwrap_or(5).clamp(1, 1000);
    let closest = app.read(move |_, snapshot| Ok(snapshot.closest(&text, limit)?));
    Ok(axum::Json(closest.await?))
}
