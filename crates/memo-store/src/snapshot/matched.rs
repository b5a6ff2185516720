//! How a prompt is known: whether it stands in the memory as it is, nearly, only its end, or not at all.

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
