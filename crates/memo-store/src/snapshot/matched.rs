//! How a prompt is known: whether it stands in the memory as it is, nearly, only its end, or not at all.

use super::healing::Healing;
use crate::error::Error;
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::Memory;
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

/// A prompt's match, and the tokens to go on from if that are others.
pub(super) struct Found {
    pub(super) matched: PromptMatch,
    pub(super) context: Option<Vec<u32>>,
    /// Text of a word that was only begun, which the completion owes.
    pub(super) owed: String,
    /// What was read last: of a verbatim prompt, its end.
    pub(super) scratch: Scratch,
}

impl Found {
    /// Whether a prompt is better known in this form than in another.
    pub(super) fn is_better_than(&self, other: &Found) -> bool {
        let rank = |found: &Found| {
            let kind = match found.matched.kind {
                MatchKind::Verbatim => 3,
                MatchKind::Near => 2,
                MatchKind::General => 1,
                MatchKind::None => 0,
            };
            (kind, found.matched.tokens)
        };
        rank(self) > rank(other)
    }

    /// Looks for a prompt in the memory, whose end may be chosen again.
    pub(super) fn new(
        memory: &Memory,
        tokenizer: &Tokenizer,
        prompt: &[u32],
        healing: Option<&Healing>,
    ) -> Result<Self, Error> {
        let of = prompt.len();
        let found = |kind, tokens, context, differs: Option<(String, String)>| {
            let (typed, remembered) = differs.unzip();
            let matched = PromptMatch { kind, tokens, of, typed, remembered };
            Found { matched, context, owed: String::new(), scratch: Scratch::default() }
        };
        let mut scratch = Scratch::default();
        let matching = BACKOFF.matching(memory, prompt, &mut scratch)?;
        let quote = matching.is_quote();
        if quote && matching.is_settled() {
            let found = found(MatchKind::Verbatim, matching.run(), None, None);
            return Ok(Found { scratch, ..found });
        }
        if let Some(healed) =
            healing.map(|healing| healing.healed(memory, tokenizer)).transpose()?.flatten()
        {
            let matching = BACKOFF.matching(memory, &healed, &mut scratch)?;
            if healed.len() > 1 && matching.is_quote() && matching.is_settled() {
                return Ok(found(MatchKind::Verbatim, matching.run(), None, None));
            }
        }
        if let Some(repair) = BACKOFF.repair(memory, prompt, &matching, &mut scratch)? {
            let (typed, remembered) = repair.differ;
            let text = |tokens: &[u32]| tokenizer.decode_lossy(tokens).trim().to_owned();
            let differs = (text(&prompt[typed]), text(&repair.context[remembered]));
            let differs = (differs.0 != differs.1).then_some(differs);
            let owed = repair.begun.map_or_else(String::new, |(word, letters)| {
                text(&repair.context[word]).chars().skip(letters).collect()
            });
            let found = found(MatchKind::Near, repair.run, Some(repair.context), differs);
            return Ok(Found { owed, ..found });
        }
        let kind = match matching.run() {
            _ if quote => MatchKind::Verbatim,
            2.. => MatchKind::General,
            _ => MatchKind::None,
        };
        Ok(found(kind, matching.run(), None, None))
    }
}
