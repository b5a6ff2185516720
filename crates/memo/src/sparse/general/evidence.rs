//! Evidence of generalised contexts, for those who ask why: what occurred, and where.

use super::{General, Generalizer, contexts};
use crate::sparse::read::Reader;
use crate::sparse::settings::{GENERAL, WORD_REACH};
use crate::sparse::{Error, Memory};
use crate::words::UnitState;

/// What followed a context: a token, or a unit of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// A token, which begins no unit that has a class.
    Token(u32),
    /// A class of the lexicon.
    Class(u32),
}

/// What one level of the lexicon remembers of a generalised context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneralEvidence {
    /// The level.
    pub level: usize,
    /// How many units the context has.
    pub units: usize,
    /// How many of these have no class, and are the same as in the text.
    pub literal: usize,
    /// The tokens that it sees.
    pub tokens: usize,
    /// How often it occurred.
    pub total: i64,
    /// What followed, in order.
    pub successors: Vec<(Symbol, i64)>,
}

impl Memory {
    /// Returns what generalised contexts remember of a context, level by level, the shortest first.
    pub fn general_evidence(&self, context: &[u32]) -> Result<Vec<GeneralEvidence>, Error> {
        let Some((words, lexicon)) = self.lexicon() else { return Ok(Vec::new()) };
        let (mut reader, context) = (Reader::default(), self.view(context)?);
        reader.read(self, context)?;
        let settings = self.settings();
        let state = UnitState::before(words, context, context.len(), WORD_REACH);
        let mut evidence = Vec::new();
        for (level, read) in reader.levels.general.iter().enumerate() {
            let found = contexts(lexicon, level, &state);
            for (own, &tokens) in read.levels().iter().zip(read.spans()) {
                let i = own.slot - settings.members(level) - 1;
                let mut successors: Vec<(Symbol, i64)> = Vec::new();
                for &(symbol, count) in &own.list {
                    let symbol = match symbol.checked_sub(settings.vocabulary) {
                        Some(class) => Symbol::Class(class % lexicon.classes(level) as u32),
                        None => Symbol::Token(symbol),
                    };
                    // A class counts in both cases.
                    match successors.iter_mut().find(|(other, _)| *other == symbol) {
                        Some((_, counted)) => *counted += count,
                        None => successors.push((symbol, count)),
                    }
                }
                evidence.push(GeneralEvidence {
                    level,
                    units: GENERAL[i] as usize,
                    literal: found[i].map_or(0, |context| context.literal),
                    tokens,
                    total: own.totals.total,
                    successors,
                });
            }
        }
        Ok(evidence)
    }

    /// Returns the classes of the units that a token was seen to begin, on a level of the lexicon.
    pub fn classes_begun(&self, level: usize, token: u32) -> Result<Vec<u32>, Error> {
        if level >= self.settings().levels() {
            return Ok(Vec::new());
        }
        let classes = self.settings().expected(level) / 2;
        let members = self.members(level)?.of_token(token).iter();
        let mut begun: Vec<u32> = members.map(|member| member.class % classes).collect();
        begun.sort_unstable();
        begun.dedup();
        Ok(begun)
    }

    /// Returns the positions of a document that have what evidence of a context says: the same generalised context before them,
    /// and the symbol after it.
    pub fn general_places(
        &self,
        context: &[u32],
        evidence: &GeneralEvidence,
        symbol: Symbol,
        document: &[u32],
    ) -> Result<Vec<usize>, Error> {
        let Some((words, lexicon)) = self.lexicon() else { return Ok(Vec::new()) };
        let context = self.view(context)?;
        let state = UnitState::before(words, context, context.len(), WORD_REACH);
        let i = GENERAL.iter().position(|&units| units as usize == evidence.units);
        let wanted = i.and_then(|i| contexts(lexicon, evidence.level, &state)[i]);
        let (Some(i), Some(wanted)) = (i, wanted) else { return Ok(Vec::new()) };
        let mut general = Generalizer::new(words, lexicon, document, 0);
        let mut places = Vec::new();
        for place in 0..=document.len() {
            let General { contexts, class } = general.general(evidence.level);
            let next = document.get(place).copied().unwrap_or(self.settings().end);
            let classes = lexicon.classes(evidence.level) as u32;
            let here = class.map_or(Symbol::Token(next), |class| Symbol::Class(class % classes));
            if here == symbol && contexts[i].is_some_and(|found| found.hash == wanted.hash) {
                places.push(place);
            }
            general.advance();
        }
        Ok(places)
    }
}
