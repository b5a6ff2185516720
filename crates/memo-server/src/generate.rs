//! Generation and scoring for all APIs. The model is held for some hundred tokens at a time: these are made from one state
//! of the memory, and a change does not wait long for its turn.

use crate::app::AppState;
use crate::config::Limits;
use crate::error::{ApiError, ErrorCode};
use crate::workers::Cancelled;
use memo_store::{CompletionOptions, CompletionStream, CompletionToken, ReadOptions, TokenScore};

/// Tokens that are generated or scored before a change gets its turn.
const SLICE: usize = 256;

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

/// Generates what follows a prompt, and hands each token to `receive`. The stream that is returned has ended.
pub(crate) fn generate(
    app: &AppState,
    prompt: &[u32],
    options: &CompletionOptions,
    cancelled: &Cancelled<'_>,
    mut receive: impl FnMut(CompletionToken),
) -> Result<CompletionStream, ApiError> {
    let mut stream = CompletionStream::new(app.model.tokenizer(), prompt, options)?;
    let mut snapshot = app.model.read()?;
    loop {
        while let Some(token) = stream.take_ready() {
            receive(token);
        }
        if cancelled() {
            stream.cancel();
        }
        if stream.generated() > 0 && stream.generated() % SLICE == 0 {
            drop(snapshot);
            snapshot = app.model.read()?;
        }
        match stream.choose(snapshot.memory()?)? {
            Some(choice) => stream.accept(choice),
            None => break,
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
    cancelled: &Cancelled<'_>,
) -> Result<Vec<TokenScore>, ApiError> {
    let mut scores = Vec::with_capacity(text.len());
    for start in (0..text.len()).step_by(SLICE).take_while(|_| !cancelled()) {
        let slice = start..(start + SLICE).min(text.len());
        scores.extend(app.model.read()?.token_scores(text, slice, top, read)?);
    }
    app.metrics.scored.inc_by(scores.len() as u64);
    Ok(scores)
}
