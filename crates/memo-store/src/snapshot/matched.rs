//! How a prompt is known: whether it stands in the memory as it is, nearly, only its end, or not at all; and what was continued in its place.

use memo_text::Tokenizer;
use serde::Serialize;

/// How a prompt was found in the memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PromptMatch {
    /// In what way.
    pub kind: MatchKind,
    /// How many of the prompt's last tokens stand together in the memory.
    pub tokens: usize,
    /// The prompt's tokens.
    pub of: usize,
    /// Where the prompt differs from what the memory has: what was typed.
    pub typed: Option<String>,
    /// What the memory has in its place.
    pub remembered: Option<String>,
}

/// A prompt as it was continued, where that is not as it was typed: put right as the memory has it, or without the word that it ends
/// in, which the memory then says whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ContinuedPrompt {
    /// The text after which the completion's first token was chosen: what explains the completion explains what follows this.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<u32>,
    /// That first token, as it stands in the memory. The completion shows it without what was typed of it already, and after the
    /// rest of a word that was only begun.
    pub next: String,
}

impl ContinuedPrompt {
    /// A prompt that was continued by a token; `end` says that the token is no text.
    pub(super) fn new(tokenizer: &Tokenizer, tokens: &[u32], next: u32, end: bool) -> Self {
        let text = tokenizer.decode_lossy(tokens);
        let with_next = tokenizer.decode_lossy(&[tokens, &[next]].concat());
        let next = match with_next.strip_prefix(&text) {
            _ if end => String::new(),
            Some(next) => next.to_owned(),
            // A character of which the prompt has some bytes and the token others.
            None => tokenizer.decode_lossy(&[next]),
        };
        ContinuedPrompt { text, tokens: tokens.to_vec(), next }
    }
}

impl PromptMatch {
    /// Whether all of the prompt stands together in the memory.
    pub(super) fn is_whole(&self) -> bool {
        self.tokens >= self.of
    }
}

/// In what way a prompt is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum MatchKind {
    /// It stands in the memory as it is, all of it or its last eight tokens at least.
    Verbatim,
    /// It does but for its case and layout, or for a word or two.
    Near,
    /// Only its last few tokens do, so that what follows is a guess.
    General,
    /// The memory does not know it.
    None,
}

impl MatchKind {
    /// How much is known, to be compared.
    pub(super) fn rank(self) -> u32 {
        match self {
            MatchKind::Verbatim => 3,
            MatchKind::Near => 2,
            MatchKind::General => 1,
            MatchKind::None => 0,
        }
    }
}
