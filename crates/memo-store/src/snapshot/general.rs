//! What a lexicon had to do with a token: the context as it was generalised, and where its like stands.

use super::{Snapshot, Source};
use crate::error::Error;
use memo::sparse::{GeneralEvidence, Symbol};
use memo::words::{each_unit, unit_hash};
use serde::Serialize;

/// What a generalised context says of a token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GeneralCandidate {
    /// The level of the lexicon.
    pub level: usize,
    /// The context, unit by unit.
    pub context: Vec<GeneralUnit>,
    /// The class of the unit that the token begins, if what followed was counted as that.
    pub class: Option<String>,
    /// How often that class, or the token, followed the context.
    pub count: i64,
    /// How often the context occurred.
    pub total: i64,
    /// Places in live documents that the context is generalised from; nothing if the model is frozen and has no texts.
    pub sources: Vec<GeneralSource>,
}

/// A unit of a generalised context: a word, or a run of symbols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GeneralUnit {
    /// Its text in the prompt.
    pub text: String,
    /// The class that it counts as, if it has one.
    pub class: Option<String>,
}

/// A place that a generalised context matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GeneralSource {
    /// The units of the prompt that are others there, as they are in the prompt and as they are there: Fiat as Volvo.
    pub differences: Vec<[String; 2]>,
    /// The place.
    pub place: Source,
}

/// Places that are named for one context.
const SOURCES: usize = 3;

impl Snapshot {
    /// The longest context of each level that knew a token.
    pub(super) fn general_candidates(
        &self,
        context: &[u32],
        evidence: &[GeneralEvidence],
        token: u32,
    ) -> Result<Vec<GeneralCandidate>, Error> {
        let (memory, Some(lexicon)) = (self.memory()?, self.lexicon()) else {
            return Ok(Vec::new());
        };
        let mut candidates: Vec<GeneralCandidate> = Vec::new();
        for found in evidence.iter().rev() {
            if candidates.iter().any(|candidate| candidate.level == found.level) {
                continue;
            }
            let classes = memory.classes_begun(found.level, token)?;
            let of_token = |symbol: &Symbol| match symbol {
                Symbol::Token(other) => *other == token,
                Symbol::Class(class) => classes.contains(class),
            };
            let successor = found.successors.iter().filter(|(symbol, _)| of_token(symbol));
            let Some(&(symbol, count)) = successor.max_by_key(|(_, count)| *count) else {
                continue;
            };
            let prompt = self.units(context, found.tokens, found.units);
            let class_of = |text: &String| {
                let class = lexicon.class(found.level, unit_hash(text)?)?;
                Some(lexicon.name(found.level, class).to_owned())
            };
            candidates.push(GeneralCandidate {
                level: found.level,
                class: match symbol {
                    Symbol::Class(class) => Some(lexicon.name(found.level, class).to_owned()),
                    Symbol::Token(_) => None,
                },
                count,
                total: found.total,
                sources: self.general_sources(context, found, symbol, &prompt)?,
                context: prompt
                    .into_iter()
                    .map(|text| GeneralUnit { class: class_of(&text), text })
                    .collect(),
            });
        }
        candidates.reverse();
        Ok(candidates)
    }

    /// The last units of some tokens, as text.
    fn units(&self, tokens: &[u32], seen: usize, units: usize) -> Vec<String> {
        let text = self.tokenizer.decode_lossy(&tokens[tokens.len().saturating_sub(seen)..]);
        let mut all: Vec<String> = Vec::new();
        each_unit(text.as_bytes(), |_, place| {
            all.push(text.get(place).unwrap_or_default().to_owned());
        });
        all.split_off(all.len().saturating_sub(units))
    }

    /// Where a generalised context stands in live documents, followed by the same.
    fn general_sources(
        &self,
        context: &[u32],
        evidence: &GeneralEvidence,
        symbol: Symbol,
        prompt: &[String],
    ) -> Result<Vec<GeneralSource>, Error> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let memory = self.memory()?;
        let mut sources = Vec::new();
        for document in ledger.documents()? {
            let Some(version) = document.live().filter(|version| version.is_text()) else {
                continue;
            };
            let content = ledger.content(&document, version)?;
            let mut before = 0;
            for part in &content.parts {
                for at in memory.general_places(context, evidence, symbol, part)? {
                    if sources.len() == SOURCES {
                        return Ok(sources);
                    }
                    let seen = at.min(evidence.tokens + 4 * evidence.units);
                    let there = self.units(&part[..at], seen, evidence.units);
                    let pairs = prompt.iter().zip(&there);
                    let differ =
                        pairs.filter(|(ours, theirs)| unit_hash(ours) != unit_hash(theirs));
                    let differences = differ.map(|(a, b)| [a.clone(), b.clone()]).collect();
                    let shared = part[..at].iter().rev().zip(context.iter().rev());
                    let matching = shared.take_while(|(a, b)| a == b).count() as u64;
                    let place = self.source(&document, version, part, before, at, matching);
                    sources.push(GeneralSource { differences, place });
                }
                before += part.len() as u64;
            }
        }
        Ok(sources)
    }
}
