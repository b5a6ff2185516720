//! Generation and scoring for all APIs, a slice of some milliseconds at a time: a slice is made from one state of the memory, and then
//! others have their turn, readers and changes.

use crate::app::AppState;
use crate::config::Limits;
use crate::error::{ApiError, ErrorCode};
use crate::partner::{Beside, generate_beside};
use crate::workers::Seat;
use memo::readout::Scratch;
use memo_store::{CompletionOptions, CompletionStream, CompletionToken, ReadOptions, TokenScore};

/// Tokens that are scored at once by each processor while nobody else works.
const SCORED_ALONE: usize = 64;

/// The most stop texts of a completion.
const MAX_STOPS: usize = 16;

/// Options that are valid and within the server's limits. Empty stop texts, which some clients send, are left out.
pub(crate) fn checked(
    mut options: CompletionOptions,
    limits: &Limits,
) -> Result<CompletionOptions, ApiError> {
    if options.max_tokens > limits.tokens {
        let message = format!("max_tokens must be between 0 and {}", limits.tokens);
        return Err(ApiError::invalid_field("max_tokens", message));
    }
    if options.stop.len() > MAX_STOPS {
        let message = format!("stop must be at most {MAX_STOPS} texts");
        return Err(ApiError::invalid_field("stop", message));
    }
    options.stop.retain(|stop| !stop.is_empty());
    options.check()?;
    Ok(options)
}

/// The tokens of a prompt that is not too long.
pub(crate) fn encode_prompt(app: &AppState, text: &str) -> Result<Vec<u32>, ApiError> {
    let limit = app.config.limits.prompt;
    // Hardly a token is longer than 64 bytes: a text that is certainly too long is not even encoded.
    if text.len() / 64 > limit {
        return Err(too_long(limit));
    }
    let tokens = app.model.tokenizer().encode(text)?;
    check_prompt(&tokens, limit)?;
    Ok(tokens)
}

/// Refuses a prompt that is too long.
pub(crate) fn check_prompt(tokens: &[u32], limit: usize) -> Result<(), ApiError> {
    if tokens.len() > limit { Err(too_long(limit)) } else { Ok(()) }
}

fn too_long(limit: usize) -> ApiError {
    let message = format!("prompt must be at most {limit} tokens");
    ApiError::invalid_field("prompt", message).with_code(ErrorCode::ContextLengthExceeded)
}

/// Refuses completions that are too much for one request.
pub(crate) fn check_total(
    completions: usize,
    max_tokens: usize,
    limits: &Limits,
) -> Result<(), ApiError> {
    let most = limits.total.max(limits.tokens);
    if completions.saturating_mul(max_tokens) <= most {
        return Ok(());
    }
    let message = format!(
        "{completions} completions of {max_tokens} tokens are too much for one request, which may ask for {most} tokens; \
         ask for fewer or shorter ones, or in several requests"
    );
    Err(ApiError::invalid_field("max_tokens", message))
}

/// Generates what follows a prompt, by the memory or with its partner, and hands each token to `receive`. The stream that is
/// returned has ended.
pub(crate) fn generate_with(
    app: &AppState,
    prompt: &[u32],
    options: &CompletionOptions,
    beside: Option<&Beside>,
    seat: &mut Seat,
    receive: impl FnMut(CompletionToken),
) -> Result<CompletionStream, ApiError> {
    match beside {
        Some(beside) => generate_beside(app, prompt, options, beside, seat, receive),
        None => generate(app, prompt, options, seat, receive),
    }
}

/// The same by the memory alone.
pub(crate) fn generate(
    app: &AppState,
    prompt: &[u32],
    options: &CompletionOptions,
    seat: &mut Seat,
    mut receive: impl FnMut(CompletionToken),
) -> Result<CompletionStream, ApiError> {
    let mut stream = CompletionStream::new(app.model.tokenizer(), prompt, options)?;
    let mut ended = false;
    while !ended {
        seat.pause();
        if seat.is_cancelled() {
            stream.cancel();
        }
        let snapshot = app.model.read()?;
        let memory = snapshot.memory()?;
        loop {
            match stream.choose(memory)? {
                Some(choice) => stream.accept(choice),
                None => ended = true,
            }
            while let Some(token) = stream.take_ready() {
                receive(token);
            }
            if ended || seat.is_due() {
                break;
            }
        }
    }
    app.metrics.generated.inc_by(stream.generated() as u64);
    Ok(stream)
}

/// The score of each token of a text after those before it; of fewer, if the request is cancelled.
pub(crate) fn score(
    app: &AppState,
    text: &[u32],
    top: usize,
    read: &ReadOptions,
    seat: &mut Seat,
) -> Result<Vec<TokenScore>, ApiError> {
    let mut scores = Vec::with_capacity(text.len());
    let alone = SCORED_ALONE * std::thread::available_parallelism().map_or(1, usize::from);
    let (readout, mut scratch) = (read.readout(), Scratch::default());
    app.model.read()?.config().memory.check_tokens(text)?;
    while scores.len() < text.len() {
        seat.pause();
        if seat.is_cancelled() {
            break;
        }
        let snapshot = app.model.read()?;
        if !seat.is_shared() {
            let slice = scores.len()..(scores.len() + alone).min(text.len());
            scores.extend(snapshot.token_scores(text, slice, top, read)?);
            continue;
        }
        // One after the other on this thread: what was read for a token is most of what the next one needs, also in the next slice.
        let memory = snapshot.memory()?;
        let window = readout.window(memory);
        for at in scores.len()..text.len() {
            let context = &text[at.saturating_sub(window)..at];
            let distribution = readout.distribution(memory, context, &mut scratch)?;
            scores.push(TokenScore::new(&distribution, text[at], top)?);
            if seat.is_due() {
                break;
            }
        }
    }
    app.metrics.scored.inc_by(scores.len() as u64);
    Ok(scores)
}
