//! The tokenizer as a service, for evaluation harnesses that have none of their own.

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Json;
use crate::server::Chosen;
use serde::{Deserialize, Serialize};

/// A text to tokenize.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TokenizeRequest {
    /// The text.
    #[serde(alias = "text", alias = "content")]
    prompt: String,
}

/// The tokens of a text.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TokenizeResponse {
    /// Its tokens.
    tokens: Vec<u32>,
    /// How many.
    count: usize,
    /// How many a prompt may have.
    max_model_len: usize,
}

/// The tokens of a text. The name of the end token alone is that token.
#[cfg_attr(test, utoipa::path(post, path = "/tokenize", tag = "harness", request_body = TokenizeRequest, responses((status = 200, body = TokenizeResponse))))]
pub(crate) async fn tokenize(
    Chosen(app): Chosen,
    Json(request): Json<TokenizeRequest>,
) -> Result<axum::Json<TokenizeResponse>, ApiError> {
    let worker = App::clone(&app);
    let tokens = app.workers.run(move |_| {
        let tokenizer = worker.model.tokenizer();
        if request.prompt == tokenizer.eos_text() {
            return Ok(vec![tokenizer.eos()]);
        }
        Ok(tokenizer.encode(&request.prompt)?)
    });
    let tokens = tokens.await?;
    let max_model_len = app.config.limits.prompt;
    Ok(axum::Json(TokenizeResponse { count: tokens.len(), tokens, max_model_len }))
}

/// Tokens to decode.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct DetokenizeRequest {
    /// The tokens.
    tokens: Vec<u32>,
}

/// The text of tokens.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct DetokenizeResponse {
    /// Their text.
    prompt: String,
}

/// The text of tokens.
#[cfg_attr(test, utoipa::path(post, path = "/detokenize", tag = "harness", request_body = DetokenizeRequest, responses((status = 200, body = DetokenizeResponse))))]
pub(crate) async fn detokenize(
    Chosen(app): Chosen,
    Json(DetokenizeRequest { tokens }): Json<DetokenizeRequest>,
) -> Result<axum::Json<DetokenizeResponse>, ApiError> {
    let prompt = app.read(move |_, snapshot| {
        snapshot.config().memory.check_tokens(&tokens)?;
        Ok(snapshot.tokenizer().decode_lossy(&tokens))
    });
    Ok(axum::Json(DetokenizeResponse { prompt: prompt.await? }))
}

/// The tokenizer of the model.
#[derive(Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct TokenizerInfo {
    tokenizer_class: String,
    vocab_size: usize,
    eos_token: String,
    bos_token: Option<String>,
    pad_token: Option<&'static str>,
    chat_template: Option<&'static str>,
}

/// The tokenizer, and the name of its end token.
#[cfg_attr(test, utoipa::path(get, path = "/tokenizer_info", tag = "harness", responses((status = 200, body = TokenizerInfo))))]
pub(crate) async fn tokenizer_info(Chosen(app): Chosen) -> axum::Json<TokenizerInfo> {
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
