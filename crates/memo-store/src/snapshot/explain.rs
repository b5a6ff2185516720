//! Explanations: why the memory says something, slot by slot, and which documents it has that from.
//!
//! Sources are looked for in the ledger itself: the tokens of all live documents are searched for the longest end of
//! the context that is followed by the token. So a source is never wrong, and there is no index to scrub.

use super::{GeneralCandidate, ReadOptions, Snapshot};
use crate::error::Error;
use crate::knowledge::DerivationStep;
use crate::record::{DocumentRecord, Role, VersionRecord};
use memo::sparse::{Context, Memory};
use serde::Serialize;

/// Why a memory says what it says after a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The text whose continuation is explained.
    pub prompt: String,
    /// The most probable token, as text.
    pub prediction: String,
    /// The most probable tokens, the likeliest first.
    pub candidates: Vec<Candidate>,
}

/// A token that may follow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Candidate {
    /// The token.
    pub token: u32,
    /// Its text.
    pub text: String,
    /// Its probability.
    pub probability: f64,
    /// What each slot remembers of it.
    pub evidence: Vec<SlotEvidence>,
    /// What contexts say of it that are generalised by the lexicon, the longest of each level.
    pub general: Vec<GeneralCandidate>,
    /// Where it stands in live documents; nothing if the model is frozen and has no texts.
    pub sources: Vec<Source>,
    /// Why rules say it, if they do.
    pub derivation: Vec<DerivationStep>,
}

/// What one slot remembers of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SlotEvidence {
    /// What the slot's context is made of.
    pub unit: ContextUnit,
    /// How many of them.
    pub length: u32,
    /// Whether they are all that a document began with.
    pub from_start: bool,
    /// How often the token followed that context.
    pub count: i64,
    /// How often the context occurred at all.
    pub total: i64,
}

/// What a context is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ContextUnit {
    /// Tokens, exactly.
    Tokens,
    /// Words, whatever their case and what stands between them.
    Words,
    /// The token before the last one, whatever the last one is.
    Skip,
}

/// A place in a document where the end of the context is followed by the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Source {
    /// The document.
    pub document: String,
    /// Its version.
    pub version: u32,
    /// The token's position in the document.
    pub offset: u64,
    /// How many tokens before it are the end of the context.
    pub match_tokens: u64,
    /// The text around it.
    pub excerpt: Excerpt,
}

/// The text around a place, in reading order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Excerpt {
    /// What stands before the matching part.
    pub before: String,
    /// What is also the end of the context.
    #[serde(rename = "match")]
    pub matching: String,
    /// The token.
    pub token: String,
    /// What follows it.
    pub after: String,
}

/// The longest context that knew a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchedContext {
    /// The layer of its slot, from 1.
    pub layer: u32,
    /// Its tokens.
    pub context_tokens: u32,
}

impl MatchedContext {
    /// The longest context of tokens that knew a token, if any did.
    pub fn of(memory: &Memory, context: &[u32], token: u32) -> Result<Option<Self>, Error> {
        let evidence = memory.evidence(context)?.into_iter().enumerate();
        let knew = evidence.filter_map(|(i, slot)| match slot.context {
            Context::Tokens(context_tokens) if slot.successors.iter().any(|s| s.token == token) => {
                Some(MatchedContext { layer: i as u32 + 1, context_tokens })
            }
            _ => None,
        });
        Ok(knew.max_by_key(|context| context.context_tokens))
    }
}

/// The most sources that are named for one token.
const SOURCES: usize = 5;

/// Tokens of an excerpt on either side of what matches.
const AROUND: usize = 24;

impl Snapshot {
    /// Explains the `count` most probable continuations of a prompt.
    pub fn explain(
        &self,
        prompt: &str,
        count: usize,
        read: &ReadOptions,
    ) -> Result<Explanation, Error> {
        let context = self.tokenizer.encode(prompt)?;
        let explanation = self.explain_tokens(&context, count, read)?;
        // A tokenizer may not know every word of it.
        Ok(Explanation { prompt: prompt.to_owned(), ..explanation })
    }

    /// Explains the `count` most probable tokens after those of a context.
    pub fn explain_tokens(
        &self,
        context: &[u32],
        count: usize,
        read: &ReadOptions,
    ) -> Result<Explanation, Error> {
        read.check()?;
        let memory = self.memory()?;
        let top = self.distribution(context, read)?.top(count)?;
        let evidence = memory.evidence(context)?;
        // Switched off, a lexicon is no evidence.
        let general =
            if read.generalize > 0.0 { memory.general_evidence(context)? } else { Vec::new() };
        let prompt = self.tokenizer.decode_lossy(context);
        let mut candidates = Vec::new();
        for (token, probability) in top {
            let evidence = evidence.iter().filter_map(|slot| {
                let found = slot.successors.iter().find(|s| s.token == token)?;
                let (unit, length) = ContextUnit::of(slot.context)?;
                let from_start = slot.from_start;
                Some(SlotEvidence {
                    unit,
                    length,
                    from_start,
                    count: found.count,
                    total: slot.total,
                })
            });
            let mut evidence: Vec<SlotEvidence> = evidence.collect();
            // That it followed the token before the last one goes without saying where it followed both.
            if evidence.iter().any(|slot| slot.length > 1) {
                evidence.retain(|slot| slot.unit != ContextUnit::Skip);
            }
            let text = self.tokenizer.decode_lossy(&[token]);
            candidates.push(Candidate {
                token,
                derivation: self.why_next(&prompt, &text)?,
                text,
                probability,
                evidence,
                general: self.general_candidates(context, &general, token)?,
                sources: self.sources(context, token)?,
            });
        }
        let prediction = candidates.first().map_or_else(String::new, |c| c.text.clone());
        Ok(Explanation { prompt, prediction, candidates })
    }

    /// Where the longest end of a context is followed by a token, in live documents. The longest matches first.
    pub fn sources(&self, context: &[u32], token: u32) -> Result<Vec<Source>, Error> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let mut best: Vec<(u64, Source)> = Vec::new();
        for document in ledger.documents()? {
            let Some(version) = document.live() else { continue };
            let content = ledger.content(&document, version)?;
            let mut before = 0;
            for part in &content.parts {
                let mut found = matches(part, content.role, context, token, self.tokenizer.eos());
                // A source that cannot be among the best needs no excerpt.
                let last = best.get(SOURCES - 1).map(|(matching, _)| *matching);
                found.retain(|(_, matching)| last.is_none_or(|last| *matching > last));
                found.truncate(SOURCES);
                let sources = found.into_iter().map(|(at, matching)| {
                    let source = self.source(&document, version, part, before, at, matching);
                    (matching, source)
                });
                best.extend(sources);
                best.sort_by_key(|(matching, _)| std::cmp::Reverse(*matching));
                best.truncate(SOURCES);
                before += part.len() as u64;
            }
        }
        Ok(best.into_iter().map(|(_, source)| source).collect())
    }

    pub(super) fn source(
        &self,
        document: &DocumentRecord,
        version: &VersionRecord,
        part: &[u32],
        before: u64,
        at: usize,
        matching: u64,
    ) -> Source {
        let from = at - matching as usize;
        // The end of a part may be what follows.
        let next = (at + 1).min(part.len());
        let text = |tokens: &[u32]| self.tokenizer.decode_lossy(tokens);
        Source {
            document: document.id.clone(),
            version: version.number,
            offset: before + at as u64,
            match_tokens: matching,
            excerpt: Excerpt {
                before: text(&part[from.saturating_sub(AROUND)..from]),
                matching: text(&part[from..at]),
                token: text(&part[at..next]),
                after: text(&part[next..part.len().min(next + AROUND)]),
            },
        }
    }
}

/// The positions of a part at which a token follows the last token of a context, each with the number of tokens before it
/// that are the end of the context. The longest first.
fn matches(part: &[u32], role: Role, context: &[u32], token: u32, end: u32) -> Vec<(usize, u64)> {
    // Of an edit only the target is in the memory, without an end.
    let written = match role {
        Role::Text => 0..part.len() + 1,
        Role::Edit { prompt, .. } => prompt as usize..part.len(),
        Role::Graph | Role::Rules => 0..0,
    };
    let mut found: Vec<(usize, u64)> = Vec::new();
    for at in written {
        let here = part.get(at).copied().unwrap_or(end) == token;
        if !here || part[..at].last() != context.last() {
            continue;
        }
        let same = part[..at].iter().rev().zip(context.iter().rev());
        let matching = same.take_while(|(a, b)| a == b).count() as u64;
        found.push((at, matching));
    }
    found.sort_by_key(|(_, matching)| std::cmp::Reverse(*matching));
    found
}
