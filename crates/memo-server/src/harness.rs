//! What evaluation harnesses ask a server for, so that they need no tokenizer of their own.

use crate::app::App;
use crate::error::Failure;
use crate::extract::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
pub(crate) struct Tokenize {
    /// The text.
    #[serde(alias = "text", alias = "content")]
    prompt: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Tokenized {
    /// Its tokens.
    tokens: Vec<u32>,
    /// How many.
    count: usize,
    /// How many a prompt may have.
    max_model_len: usize,
}

/// The tokens of a text. The name of the end token alone is that token.
#[utoipa::path(post, path = "/tokenize", tag = "harness", request_body = Tokenize, responses((status = 200, body = Tokenized)))]
pub(crate) async fn tokenize(
    State(app): State<App>,
    Json(asked): Json<Tokenize>,
) -> Result<axum::Json<Tokenized>, Failure> {
    let worker = App::clone(&app);
    let tokens = app.desk.work(move |_| {
        let tokenizer = worker.model.tokenizer();
        if asked.prompt == tokenizer.eos_text() {
            return Ok(vec![tokenizer.eos()]);
        }
        Ok(tokenizer.encode(&asked.prompt)?)
    });
    let tokens = tokens.await?;
    let max_model_len = app.config.limits.prompt;
    Ok(axum::Json(Tokenized { count: tokens.len(), tokens, max_model_len }))
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct Detokenize {
    /// The tokens.
    tokens: Vec<u32>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Detokenized {
    /// Their text.
    prompt: String,
}

/// The text of tokens.
#[utoipa::path(post, path = "/detokenize", tag = "harness", request_body = Detokenize, responses((status = 200, body = Detokenized)))]
pub(crate) async fn detokenize(
    State(app): State<App>,
    Json(asked): Json<Detokenize>,
) -> Result<axum::Json<Detokenized>, Failure> {
    let worker = App::clone(&app);
    let prompt = app.desk.work(move |_| {
        let tokenizer = worker.model.tokenizer();
        known(&asked.tokens, tokenizer.vocab_size())?;
        Ok(tokenizer.decode_lossy(&asked.tokens))
    });
    Ok(axum::Json(Detokenized { prompt: prompt.await? }))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TokenizerInfo {
    tokenizer_class: String,
    vocab_size: usize,
    eos_token: String,
    bos_token: Option<String>,
    pad_token: Option<&'static str>,
    chat_template: Option<&'static str>,
}

/// What the tokenizer is, and how its end token is called.
#[utoipa::path(get, path = "/tokenizer_info", tag = "harness", responses((status = 200, body = TokenizerInfo)))]
pub(crate) async fn tokenizer_info(State(app): State<App>) -> axum::Json<TokenizerInfo> {
    let tokenizer = app.model.tokenizer();
    axum::Json(TokenizerInfo {
        tokenizer_class: tokenizer.name().to_owned(),
        vocab_size: tokenizer.vocab_size(),
        eos_token: tokenizer.eos_text().to_owned(),
        bos_token: Some(tokenizer.eos_text().to_owned()),
        pad_token: None,
        chat_template: None,
    })
}

/// Refuses tokens that are none.
pub(crate) fn known(tokens: &[u32], vocabulary: usize) -> Result<(), Failure> {
    match tokens.iter().find(|&&token| token as usize >= vocabulary) {
        Some(token) => {
            let message = format!("token {token} is outside the vocabulary of {vocabulary}");
            Err(Failure::bad(message))
        }
        None => Ok(()),
    }
}
