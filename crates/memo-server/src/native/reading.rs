//! Reading the memory: completions token by token, texts tinted by what is known, explanations, and where text stands.

use crate::app::{App, Shared};
use crate::error::Failure;
use crate::extract::Json;
use crate::generate::{Ask, Finish, Look, Said, generate, read};
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use memo::readout::Sampling;
use memo_store::Spoke;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::time::Instant;
use tokio_stream::StreamExt;
use utoipa::ToSchema;

/// What is to be continued, and how.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Complete {
    prompt: String,
    /// The most tokens; 64 if nothing is said.
    max_tokens: Option<usize>,
    /// 0 takes the most probable token, 1 draws in proportion.
    #[schema(minimum = 0, maximum = 100)]
    #[serde(default)]
    temperature: f64,
    /// Draw only from this many of the most probable tokens; 0 is all.
    #[serde(default)]
    top_k: usize,
    /// Draw only from the most probable tokens that together have this probability.
    #[schema(minimum = 0, maximum = 1)]
    top_p: Option<f64>,
    #[serde(default)]
    seed: u64,
    /// Texts at which to stop.
    #[serde(default)]
    stop: Vec<String>,
    /// Whether to send tokens as they come: events `token`, and a last one `done`.
    #[serde(default)]
    stream: bool,
}

/// A token, and what the memory thought of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Token {
    token: u32,
    text: String,
    probability: f64,
    /// Whether it was the most probable one.
    best: bool,
    /// The layer, from 1, of the longest context that knew it.
    layer: Option<u32>,
    /// The tokens of that context.
    context_tokens: Option<u32>,
}

impl Token {
    fn new(said: Said) -> Self {
        let seen = said.seen.unwrap_or_default();
        Token {
            token: said.token,
            text: said.text,
            probability: libm::exp(seen.logprob),
            best: seen.top.first().is_some_and(|(best, _)| *best == said.token),
            layer: said.spoke.map(|spoke: Spoke| spoke.layer),
            context_tokens: said.spoke.map(|spoke| spoke.context_tokens),
        }
    }
}

/// A continuation.
#[derive(Serialize, ToSchema)]
pub(crate) struct Completed {
    completion: String,
    tokens: Vec<Token>,
    /// Whether the memory itself came to an end.
    ended: bool,
    tokens_per_second: f64,
}

/// The end of a stream.
#[derive(Serialize)]
struct Done {
    ended: bool,
    tokens: usize,
    tokens_per_second: f64,
}

fn asked(app: &Shared, asked: &Complete) -> Result<Ask, Failure> {
    let limits = &app.config.limits;
    let between = |name: &str, ok: bool, range: String| {
        if ok { Ok(()) } else { Err(Failure::field(name, format!("{name} must be {range}"))) }
    };
    let tokens = asked.max_tokens.unwrap_or(64);
    let top_p = asked.top_p.unwrap_or(1.0);
    between("max_tokens", tokens <= limits.tokens, format!("at most {}", limits.tokens))?;
    let warm = (0.0..=100.0).contains(&asked.temperature);
    between("temperature", warm, "between 0 and 100".to_owned())?;
    between("top_p", (0.0..=1.0).contains(&top_p), "between 0 and 1".to_owned())?;
    let prompt = app.model.tokenizer().encode(&asked.prompt)?;
    between("prompt", prompt.len() <= limits.prompt, format!("at most {} tokens", limits.prompt))?;
    Ok(Ask {
        prompt,
        tokens,
        choice: Sampling {
            temperature: asked.temperature,
            top_k: asked.top_k,
            top_p,
            seed: asked.seed,
            stop: Vec::new(),
        },
        stop: asked.stop.iter().filter(|stop| !stop.is_empty()).cloned().collect(),
        look: looking(app)?,
    })
}

/// A dense memory has no probabilities to look at.
fn looking(app: &Shared) -> Result<Look, Failure> {
    let sparse = app.model.read()?.memory().sparse().is_some();
    Ok(Look { top: sparse.then_some(1), spoke: sparse })
}

/// Continues a prompt, and says of each token how sure the memory is and which layer spoke.
#[utoipa::path(post, path = "/api/complete", tag = "reading", request_body = Complete, responses((status = 200, content((Completed = "application/json"), (Object = "text/event-stream")), description = "With `stream`, events `token`, and a last one `done` or `error`")))]
pub(crate) async fn complete(
    State(app): State<App>,
    Json(request): Json<Complete>,
) -> Result<Response, Failure> {
    let worker = App::clone(&app);
    if !request.stream {
        let done = app.desk.work(move |gone| {
            let ask = asked(&worker, &request)?;
            let start = Instant::now();
            let mut tokens = Vec::new();
            let (finish, made) = generate(&worker, &ask, gone, |said| {
                if !said.end {
                    tokens.push(Token::new(said));
                }
            })?;
            Ok(Completed {
                completion: tokens.iter().map(|token| token.text.as_str()).collect(),
                tokens,
                ended: finish == Finish::End,
                tokens_per_second: made as f64 / start.elapsed().as_secs_f64().max(1e-9),
            })
        });
        return Ok(axum::Json(done.await?).into_response());
    }
    let checking = App::clone(&app);
    let told = app.desk.tell(
        move || asked(&checking, &request),
        move |ask, teller| {
            let start = Instant::now();
            let gone = teller.gone();
            let made = generate(&worker, &ask, &gone, |said| {
                if !said.end {
                    teller.tell(event("token", &Token::new(said)));
                }
            });
            let last = match made {
                Ok((finish, tokens)) => {
                    let tokens_per_second = tokens as f64 / start.elapsed().as_secs_f64().max(1e-9);
                    event("done", &Done { ended: finish == Finish::End, tokens, tokens_per_second })
                }
                Err(failure) => event("error", &serde_json::json!({ "error": failure.detail })),
            };
            teller.tell(last);
        },
    );
    let events = told.await?.map(Ok::<Event, Infallible>);
    Ok(Sse::new(events).into_response())
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_default()
}

/// A text to be read.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Text {
    text: String,
}

/// A text's tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tinted {
    tokens: Vec<Token>,
}

/// How probable each token of a text was after those before it, and which layer knew it.
#[utoipa::path(post, path = "/api/read", tag = "reading", request_body = Text, responses((status = 200, body = Tinted)))]
pub(crate) async fn read_text(
    State(app): State<App>,
    Json(Text { text }): Json<Text>,
) -> Result<axum::Json<Tinted>, Failure> {
    /// Evidence is looked up slot by slot: a text that is read is a prompt, not a book.
    const MOST: usize = 4096;
    let worker = App::clone(&app);
    let tokens = app.desk.work(move |gone| {
        let tokenizer = worker.model.tokenizer();
        let tokens = tokenizer.encode(&text)?;
        if tokens.len() > MOST {
            return Err(Failure::field("text", format!("text must be at most {MOST} tokens")));
        }
        let mut stream = memo_text::StreamDecoder::new(tokenizer);
        let mut tinted = Vec::with_capacity(tokens.len());
        let read = read(&worker, &tokens, 1, gone)?;
        for (p, seen) in read.into_iter().enumerate().take_while(|_| !gone()) {
            let (token, text) = (tokens[p], stream.push(tokens[p]));
            let spoke = worker.model.read()?.spoke(&tokens[..p], token)?;
            tinted.push(Token::new(Said { token, text, end: false, seen: Some(seen), spoke }));
        }
        Ok(tinted)
    });
    Ok(axum::Json(Tinted { tokens: tokens.await? }))
}

/// What is to be explained.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Explain {
    prompt: String,
    /// How many candidates; 5 if nothing is said.
    candidates: Option<usize>,
}

/// Why a memory says what it says.
#[derive(Serialize, ToSchema)]
pub(crate) struct Explained {
    /// The most probable token, as text.
    prediction: String,
    candidates: Vec<Candidate>,
}

/// A token that may follow.
#[derive(Serialize, ToSchema)]
pub(crate) struct Candidate {
    token: u32,
    text: String,
    probability: f64,
    evidence: Vec<Evidence>,
    sources: Vec<Source>,
}

/// What one slot remembers of a token.
#[derive(Serialize, ToSchema)]
pub(crate) struct Evidence {
    layer: u32,
    head: u32,
    context_tokens: u32,
    /// How often the token followed, as far as the cells tell.
    count: f32,
    /// The standard deviation of that.
    noise: f32,
    /// How often the context occurred, exactly.
    total: i64,
}

/// Where it stands in a document.
#[derive(Serialize, ToSchema)]
pub(crate) struct Source {
    document: String,
    version: u32,
    /// Tokens before it in the document.
    offset: u64,
    /// How many tokens before it are the end of the prompt.
    match_tokens: u64,
    /// The matching part and the token, on one line.
    words: String,
    passage: Excerpt,
}

/// The text around a place, in reading order.
#[derive(Serialize, ToSchema)]
pub(crate) struct Excerpt {
    before: String,
    r#match: String,
    token: String,
    after: String,
}

/// Says why: the most probable continuations, what each layer and head remembers of them, and their sources.
#[utoipa::path(post, path = "/api/explain", tag = "reading", request_body = Explain, responses((status = 200, body = Explained)))]
pub(crate) async fn explain(
    State(app): State<App>,
    Json(Explain { prompt, candidates }): Json<Explain>,
) -> Result<axum::Json<Explained>, Failure> {
    /// Tokens shown on either side of a passage.
    const AROUND: usize = 24;
    let explained = app.read(move |_, view| {
        let why = view.explain(&prompt, candidates.unwrap_or(5).clamp(1, 50))?;
        let mut shown = Vec::new();
        for candidate in why.candidates {
            let mut sources = Vec::new();
            for origin in candidate.sources {
                let passage = view.passage(&origin, AROUND)?;
                let words = format!("{}{}", tail(&passage.matching, 80), passage.token);
                sources.push(Source {
                    words: words.trim().replace('\n', " ⏎ "),
                    passage: Excerpt {
                        before: passage.before,
                        r#match: passage.matching,
                        token: passage.token,
                        after: passage.after,
                    },
                    document: origin.document,
                    version: origin.version,
                    offset: origin.offset,
                    match_tokens: origin.match_tokens,
                });
            }
            let evidence = candidate.evidence.into_iter().map(|heard| Evidence {
                layer: heard.layer,
                head: heard.head,
                context_tokens: heard.context_tokens,
                count: heard.count,
                noise: heard.noise,
                total: heard.total,
            });
            shown.push(Candidate {
                token: candidate.token,
                text: candidate.text,
                probability: candidate.probability,
                evidence: evidence.collect(),
                sources,
            });
        }
        Ok(Explained { prediction: why.prediction, candidates: shown })
    });
    Ok(axum::Json(explained.await?))
}

/// The last characters of a text.
fn tail(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most - 1).map_or(0, |(at, _)| at);
    &text[start..]
}

/// Where a text stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    documents: Vec<FoundIn>,
    /// How often in all.
    count: usize,
}

/// Where a text stands in one document.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundIn {
    document: String,
    version: u32,
    live: bool,
    count: usize,
    /// Bytes of the document before each occurrence; the first thousand.
    offsets: Vec<u64>,
}

/// The documents that contain a text, and where.
#[utoipa::path(post, path = "/api/find", tag = "reading", request_body = Text, responses((status = 200, body = Found)))]
pub(crate) async fn find(
    State(app): State<App>,
    Json(Text { text }): Json<Text>,
) -> Result<axum::Json<Found>, Failure> {
    let found = app.read(move |_, view| Ok(view.find(&text)?)).await?;
    let documents: Vec<FoundIn> = found
        .into_iter()
        .map(|mut found| {
            let count = found.offsets.len();
            found.offsets.truncate(1000);
            let memo_store::Found { document, version, live, offsets } = found;
            FoundIn { document, version, live, count, offsets }
        })
        .collect();
    let count = documents.iter().map(|found| found.count).sum();
    Ok(axum::Json(Found { documents, count }))
}
