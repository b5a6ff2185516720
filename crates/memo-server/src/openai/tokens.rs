//! Tokens as OpenAI's API names them.

use memo_store::{CompletionToken, TokenScore};
use memo_text::Tokenizer;
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The name of a token: its text, or its bytes where they are not text, so that no two tokens have the same name.
pub(super) fn name(tokenizer: &Tokenizer, token: u32) -> String {
    if token == tokenizer.eos() {
        return tokenizer.eos_text().to_owned();
    }
    let bytes = tokenizer.token_bytes(token).unwrap_or_default();
    match std::str::from_utf8(&bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            bytes.iter().fold("bytes:".to_owned(), |name, byte| format!("{name}\\x{byte:02x}"))
        }
    }
}

/// Log-probabilities of a completion.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct Logprobs {
    tokens: Vec<String>,
    /// The log-probability of each token after those before it; the first of a prompt has none.
    token_logprobs: Vec<Option<f64>>,
    /// The most probable tokens at each position, with their log-probabilities.
    #[cfg_attr(test, schema(value_type = Vec<Object>))]
    top_logprobs: Vec<Option<Map<String, Value>>>,
    /// Where each token begins, in characters of the text.
    text_offset: Vec<usize>,
    #[serde(skip)]
    chars: usize,
}

impl Logprobs {
    /// Log-probabilities of text that begins after some characters.
    pub(super) fn after(chars: usize) -> Self {
        Logprobs { chars, ..Logprobs::default() }
    }

    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    pub(super) fn push(
        &mut self,
        tokenizer: &Tokenizer,
        token: u32,
        text: &str,
        score: Option<&TokenScore>,
    ) {
        self.tokens.push(name(tokenizer, token));
        self.token_logprobs.push(score.map(|score| score.logprob));
        self.top_logprobs.push(score.map(|score| {
            let number = |p: f64| Number::from_f64(p).map_or(Value::Null, Value::Number);
            score.top.iter().map(|&(token, p)| (name(tokenizer, token), number(p))).collect()
        }));
        self.text_offset.push(self.chars);
        self.chars += text.chars().count();
    }
}

/// Log-probabilities of a chat completion.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(super) struct ChatLogprobs {
    content: Vec<ChatToken>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
struct ChatToken {
    token: String,
    logprob: f64,
    bytes: Vec<u8>,
    top_logprobs: Vec<ChatCandidate>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
struct ChatCandidate {
    token: String,
    logprob: f64,
    bytes: Vec<u8>,
}

impl ChatLogprobs {
    pub(super) fn push(&mut self, tokenizer: &Tokenizer, token: &CompletionToken) {
        let Some(score) = token.score.as_ref().filter(|_| !token.end) else { return };
        let bytes = |token| tokenizer.token_bytes(token).unwrap_or_default().into_owned();
        let top = score.top.iter().map(|&(token, logprob)| ChatCandidate {
            token: name(tokenizer, token),
            logprob,
            bytes: bytes(token),
        });
        self.content.push(ChatToken {
            token: name(tokenizer, token.token),
            logprob: score.logprob,
            bytes: bytes(token.token),
            top_logprobs: top.collect(),
        });
    }
}
