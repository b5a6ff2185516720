//! A distribution taken apart, to be drawn: which blocks of a prompt the memory has seen, what each says, and what that adds to the
//! probability of each candidate.

use super::{ContextUnit, ReadOptions, Snapshot};
use crate::error::Error;
use memo::readout::Scratch;
use memo::sparse::Context;
use serde::Serialize;

/// What a memory says after a prompt, and the parts that it is the sum of. Of all probability, contexts share out their `weight`, and
/// `prior`, `quote`, `general` and `recent` the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Breakdown {
    /// The last tokens of the prompt, as many as contexts can see.
    pub tokens: Vec<PromptToken>,
    /// Whether these are all: then a document may begin with them.
    pub whole: bool,
    /// The contexts that there is text for, the shortest first: those of tokens, then those of words that occurred.
    pub contexts: Vec<ContextBreakdown>,
    /// What is shared out as tokens are before any context.
    pub prior: f64,
    /// What is shared out by what followed the longest context, because the prompt is probably a quote.
    pub quote: f64,
    /// What contexts share out that are generalised by the lexicon.
    pub general: f64,
    /// What the text itself shares out.
    pub recent: f64,
    /// The most probable tokens, the likeliest first.
    pub candidates: Vec<CandidateShares>,
}

/// A token of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PromptToken {
    /// The token.
    pub token: u32,
    /// Its text.
    pub text: String,
}

/// What a context says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ContextBreakdown {
    /// What it is made of.
    pub unit: ContextUnit,
    /// How many of them.
    pub length: u32,
    /// How many of the last tokens of the prompt it sees.
    pub span: u32,
    /// Whether they are all that a document began with.
    pub from_start: bool,
    /// How often it occurred; 0 if it never did.
    pub total: i64,
    /// How many different tokens followed it.
    pub kinds: i64,
    /// What followed it most often, up to five tokens; none of a context of words that sees no further than one of tokens.
    pub successors: Vec<CountedToken>,
    /// How much of all probability it shares out.
    pub weight: f64,
}

/// A token that followed a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CountedToken {
    /// The token.
    pub token: u32,
    /// Its text; empty for the end of a document.
    pub text: String,
    /// How often.
    pub count: i64,
}

/// A token that may follow, and the terms that its probability is the sum of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CandidateShares {
    /// The token.
    pub token: u32,
    /// Its text; empty for the end of a document.
    pub text: String,
    /// Its probability.
    pub probability: f64,
    /// What it gets before any context.
    pub prior: f64,
    /// What each context adds, in their order.
    pub contexts: Vec<f64>,
    /// What it gets because it followed the longest context, which is probably quoted.
    pub quote: f64,
    /// What generalised contexts add.
    pub general: f64,
    /// What the text itself adds.
    pub recent: f64,
}

/// How full the memory is, and how noisy, slot by slot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemoryFill {
    /// Rows of each slot's matrix that contexts are hashed to.
    pub rows: u64,
    /// The slots of tokens and words, the shortest first.
    pub slots: Vec<SlotStats>,
}

/// How full the matrix of a slot is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SlotStats {
    /// What the slot's contexts are made of.
    pub unit: ContextUnit,
    /// How many of them.
    pub length: u32,
    /// The table that holds the matrix: `pairs`, `successors` or `events`.
    pub table: String,
    /// Rows in use: different contexts or, in `events`, contexts with the token after them. None if the model is frozen, which does
    /// not keep which slot a row is of.
    pub rows: Option<u64>,
    /// Cells that are not zero.
    pub cells: Option<u64>,
    /// Whether rows and cells were counted; those of a large memory are estimated from a part of it.
    pub exact: bool,
    /// The probability that a context that never occurred is found all the same, because it shares a row with one that did.
    pub false_match: f64,
}

/// Tokens that followed a context that are shown.
const SUCCESSORS: usize = 5;

impl Snapshot {
    /// Takes apart what the memory says after a prompt, for its `count` most probable continuations.
    pub fn breakdown(
        &self,
        prompt: &str,
        count: usize,
        read: &ReadOptions,
    ) -> Result<Breakdown, Error> {
        self.breakdown_tokens(&self.tokenizer.encode(prompt)?, count, read)
    }

    /// Takes apart what the memory says after tokens, for the `count` most probable next ones.
    pub fn breakdown_tokens(
        &self,
        prompt: &[u32],
        count: usize,
        read: &ReadOptions,
    ) -> Result<Breakdown, Error> {
        read.check()?;
        let memory = self.memory()?;
        let made = read.readout().breakdown(memory, prompt, &mut Scratch::default())?;
        let text = |token: u32| self.tokenizer.decode_lossy(&[token]);
        let mut contexts = Vec::with_capacity(made.contexts.len());
        for (at, reading) in made.contexts.iter().enumerate() {
            let Some((unit, length)) = ContextUnit::of(reading.context) else { continue };
            let successors = made.successors(at, SUCCESSORS).into_iter().map(|successor| {
                let token = successor.token;
                CountedToken { token, text: text(token), count: successor.count }
            });
            contexts.push(ContextBreakdown {
                unit,
                length,
                span: reading.span as u32,
                from_start: reading.from_start,
                total: reading.total,
                kinds: reading.kinds,
                successors: successors.collect(),
                weight: reading.weight,
            });
        }
        let mut candidates = Vec::new();
        for (token, probability) in made.distribution().top(count)? {
            let shares = made.shares(token);
            candidates.push(CandidateShares {
                token,
                text: text(token),
                probability,
                prior: shares.prior,
                contexts: shares.contexts,
                quote: shares.quote,
                general: shares.general,
                recent: shares.recent,
            });
        }
        let seen = &prompt[prompt.len().saturating_sub(memory.settings().reach())..];
        Ok(Breakdown {
            tokens: seen.iter().map(|&token| PromptToken { token, text: text(token) }).collect(),
            whole: seen.len() == prompt.len(),
            contexts,
            prior: made.prior,
            quote: made.quote,
            general: made.general,
            recent: made.recent,
            candidates,
        })
    }

    /// How full the memory is, and how noisy, slot by slot.
    pub fn fill(&self) -> Result<MemoryFill, Error> {
        let slots = self.memory()?.fill()?.into_iter().filter_map(|slot| {
            let (unit, length) = ContextUnit::of(slot.context)?;
            Some(SlotStats {
                unit,
                length,
                table: slot.table.name().to_owned(),
                rows: slot.used.map(|used| used.rows),
                cells: slot.used.map(|used| used.cells),
                exact: slot.used.is_some_and(|used| used.exact),
                false_match: slot.false_match,
            })
        });
        Ok(MemoryFill { rows: memo::sparse::SLOT_ROWS, slots: slots.collect() })
    }
}

impl ContextUnit {
    /// What a context is made of, and how many of them; `None` of one that is generalised.
    pub(super) fn of(context: Context) -> Option<(Self, u32)> {
        match context {
            Context::Tokens(length) => Some((ContextUnit::Tokens, length)),
            Context::Words(length) => Some((ContextUnit::Words, length)),
            Context::Skip => Some((ContextUnit::Skip, 1)),
            Context::Classes { .. } => None,
        }
    }
}
