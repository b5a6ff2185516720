//! Reading what followed generalised contexts: symbols, which are tokens and, from the vocabulary on, classes.

use super::{GeneralContext, contexts, is_listed};
use crate::sparse::read::{Level, Levels, Reader, next_level};
use crate::sparse::settings::{GENERAL, WORD_REACH};
use crate::sparse::tables::TableKind;
use crate::sparse::{Error, Memory};
use crate::words::UnitState;
use std::collections::HashMap;
use std::sync::Arc;

/// What followed generalised contexts, by one level of the lexicon.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneralLevels {
    levels: Vec<Level>,
    used: usize,
    /// How many units of the longest context that occurred have no class, and how many it has.
    pub(crate) literal: usize,
    pub(crate) units: usize,
    /// What the last token, as it is, says of symbols.
    pub(crate) predicted: Arc<Predicted>,
}

/// What one token says of the symbol after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predicted {
    /// Symbols in order, with their probabilities.
    pub(crate) list: Vec<(u32, f64)>,
    /// What is left to the classes of contexts.
    pub(crate) rest: f64,
}

/// What tokens that were read before say, in one state of a memory, by level of the lexicon: few tokens come back often, and
/// have many successors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predictions {
    stamp: u64,
    known: Vec<HashMap<u32, Arc<Predicted>>>,
}

/// Tokens whose predictions are kept at once, by level.
const MOST_KNOWN: usize = 1 << 14;

impl GeneralLevels {
    /// Returns the contexts that occurred, the shortest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels[..self.used]
    }

    pub(crate) fn clear(&mut self) {
        (self.used, self.literal, self.units) = (0, 0, 0);
    }

    /// Returns how many units without a class the longest context has, if it was followed by a token or by a unit of a class that
    /// it begins; else 0.
    pub(crate) fn knows(&self, memory: &Memory, level: usize, token: u32) -> Result<usize, Error> {
        let Some(longest) = self.levels().last() else { return Ok(0) };
        let vocabulary = memory.settings().vocabulary;
        let mut of_token = memory.members(level)?.of_token(token).iter();
        let knows = longest.count(token) > 0
            || of_token.any(|member| longest.count(vocabulary + member.class) > 0);
        Ok(if knows { self.literal } else { 0 })
    }
}

impl Predictions {
    /// Returns what a token, or the boundary, says of the symbol after it: the classes of what followed it.
    fn of(&mut self, memory: &Memory, level: usize, before: u32) -> Result<Arc<Predicted>, Error> {
        if self.stamp != memory.stamp() {
            (self.stamp, self.known) = (memory.stamp(), Vec::new());
        }
        self.known.resize_with(memory.settings().levels(), HashMap::new);
        if let Some(known) = self.known[level].get(&before) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(Predicted::new(memory, level, before)?);
        // What is fetched of a memory that is elsewhere may be more next time.
        if memory.tables.table(TableKind::Pairs).fetched.is_none() {
            if self.known[level].len() == MOST_KNOWN {
                self.known[level].clear();
            }
            self.known[level].insert(before, Arc::clone(&made));
        }
        Ok(made)
    }
}

impl Predicted {
    fn new(memory: &Memory, level: usize, before: u32) -> Result<Self, Error> {
        let (members, vocabulary) = (memory.members(level)?, memory.settings().vocabulary);
        let mut list: Vec<(u32, f64)> = Vec::new();
        memory.each_successor(before, |token, count| {
            if count <= 0 {
                return;
            }
            let (count, mut own) = (count as f64, 1.0);
            for member in members.of_token(token) {
                own -= member.begins;
                list.push((vocabulary + member.class, count * member.begins));
            }
            if own > f64::EPSILON {
                list.push((token, count * own));
            }
        })?;
        // Stable, so that what is added up is in the order of tokens.
        list.sort_by_key(|&(symbol, _)| symbol);
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let weighing = memory.weighing(memory.settings().members(level) + 1, None);
        let worth: f64 = list.iter().map(|&(_, count)| count).sum();
        if worth <= 0.0 {
            return Ok(Predicted { list: Vec::new(), rest: 1.0 });
        }
        let mut rest = 0.0;
        for (_, count) in &mut list {
            let off = weighing.off(*count);
            rest += off / worth;
            *count = (*count - off) / worth;
        }
        Ok(Predicted { list, rest })
    }
}

impl Reader {
    /// Reads what followed generalised contexts.
    pub(crate) fn read_general(&mut self, memory: &Memory, context: &[u32]) -> Result<(), Error> {
        let Some((words, lexicon)) = memory.lexicon() else { return Ok(()) };
        let state = UnitState::before(words, context, context.len(), WORD_REACH);
        let Reader { levels: Levels { before, general, .. }, predictions, .. } = self;
        general.resize_with(memory.settings().levels(), GeneralLevels::default);
        for (level, read) in general.iter_mut().enumerate() {
            let contexts = contexts(lexicon, level, &state);
            read.read(memory, level, contexts, *before, context.len())?;
            if read.used > 0 {
                read.predicted = predictions.of(memory, level, *before)?;
            }
        }
        Ok(())
    }
}

impl GeneralLevels {
    fn read(
        &mut self,
        memory: &Memory,
        level: usize,
        contexts: [Option<GeneralContext>; GENERAL.len()],
        before: u32,
        given: usize,
    ) -> Result<(), Error> {
        self.clear();
        let members = memory.settings().members(level);
        for (i, found) in contexts.into_iter().enumerate() {
            let Some(GeneralContext { hash, literal, span }) = found else { continue };
            let slot = members + 1 + i;
            let weighing = memory.weighing(slot, None);
            next_level(&mut self.levels, self.used, slot, span.min(given), weighing);
            let (shorter, longer) = self.levels.split_at_mut(self.used);
            let (shorter, own) = (shorter.last(), &mut longer[0]);
            if is_listed(i) {
                let table = memory.tables.table(TableKind::Successors);
                table.each_token(memory.keys.listed(slot, hash, 0), |symbol, count| {
                    let most = shorter.map_or(i64::MAX, |shorter| shorter.count(symbol));
                    own.push(symbol, count.min(most));
                })?;
            } else {
                let events = memory.tables.table(TableKind::Events);
                let mut look = |symbol: u32, most: i64| -> Result<(), Error> {
                    let count = events.get(memory.keys.event(slot, hash, symbol))?;
                    own.push(symbol, count.min(most));
                    Ok(())
                };
                if let Some(shorter) = shorter {
                    let mut list = shorter.list.iter();
                    list.try_for_each(|&(symbol, most)| look(symbol, most))?;
                } else {
                    // Its last units have no class, so that it ends as contexts of tokens do.
                    let candidates = candidates(memory, level, before)?;
                    candidates.into_iter().try_for_each(|symbol| look(symbol, i64::MAX))?;
                }
            }
            if own.list.is_empty() {
                break;
            }
            (self.used, self.literal, self.units) = (self.used + 1, literal, GENERAL[i] as usize);
        }
        Ok(())
    }
}

/// Returns the symbols that followed the last token, in order.
fn candidates(memory: &Memory, level: usize, before: u32) -> Result<Vec<u32>, Error> {
    let (members, vocabulary) = (memory.members(level)?, memory.settings().vocabulary);
    let mut symbols: Vec<u32> = Vec::new();
    memory.each_successor(before, |token, count| {
        if count > 0 {
            symbols.push(token);
            let of_token = members.of_token(token).iter();
            symbols.extend(of_token.map(|member| vocabulary + member.class));
        }
    })?;
    symbols.sort_unstable();
    symbols.dedup();
    Ok(symbols)
}
