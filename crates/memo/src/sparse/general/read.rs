//! Reading what followed generalised contexts: symbols, which are tokens and, from the vocabulary on, classes.

use super::{GeneralContext, contexts, is_listed};
use crate::sparse::lists::Lists;
use crate::sparse::read::{Level, Levels, Reader};
use crate::sparse::seek::seek;
use crate::sparse::settings::GENERAL;
use crate::sparse::tables::TableKind;
use crate::sparse::{Error, Memory};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// What followed generalised contexts, by one level of the lexicon.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneralLevels {
    /// The contexts before the place that is read.
    contexts: [Option<GeneralContext>; GENERAL.len()],
    /// Shared with what is kept of contexts that come back.
    levels: Vec<Arc<Level>>,
    /// How many of the last tokens each of them sees.
    spans: Vec<usize>,
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
    /// Symbols by what a token can get of each, once somebody asks.
    pub(crate) ranked: OnceLock<Vec<(u32, f64)>>,
}

impl GeneralLevels {
    /// Returns the contexts that occurred, the shortest first.
    pub(crate) fn levels(&self) -> &[Arc<Level>] {
        &self.levels
    }

    /// Returns how many of the last tokens each of them sees.
    pub(crate) fn spans(&self) -> &[usize] {
        &self.spans
    }

    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.spans.clear();
        (self.literal, self.units) = (0, 0);
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

/// Returns what followed a context that is listed. What followed a shorter one is part of its key, since that follows from it.
fn list(
    memory: &Memory,
    lists: &mut Lists,
    (slot, hash): (usize, u64),
    shorter: Option<&Level>,
) -> Result<Arc<Level>, Error> {
    let make = || {
        let mut own = Level::of(slot, memory.weighing(slot, None));
        let table = memory.tables.table(TableKind::Successors);
        let mut from = 0;
        table.each_token(memory.keys.listed(slot, hash, 0), |symbol, count| {
            let most = shorter.map_or(i64::MAX, |Level { list, .. }| {
                seek(list, &mut from, symbol).map_or(0, |at| list[at].1)
            });
            own.push(symbol, count.min(most));
        })?;
        Ok(own)
    };
    // Single classes are few, and followed by many symbols.
    if shorter.is_none() {
        return lists.get(memory, (slot, hash), make);
    }
    if let Some(known) = lists.level(slot, hash) {
        return Ok(Arc::clone(known));
    }
    let own = Arc::new(make()?);
    lists.keep(memory, (slot, hash), own.list.len(), || Arc::clone(&own));
    Ok(own)
}

impl Predicted {
    /// Returns what a token, or the boundary, says of the symbol after it: the classes of what followed it.
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
            return Ok(Predicted { rest: 1.0, ..Predicted::default() });
        }
        let mut rest = 0.0;
        for (_, count) in &mut list {
            let off = weighing.off(*count);
            rest += off / worth;
            *count = (*count - off) / worth;
        }
        Ok(Predicted { list, rest, ranked: OnceLock::new() })
    }
}

impl Reader {
    /// Tells the generalised contexts that end at the place, and asks for what reading them begins with.
    pub(crate) fn ask_general(&mut self, memory: &Memory) {
        let Some((_, lexicon)) = memory.lexicon() else { return };
        let Reader { levels: Levels { general, .. }, place, .. } = self;
        general.resize_with(memory.settings().levels(), GeneralLevels::default);
        for (level, read) in general.iter_mut().enumerate() {
            read.contexts = contexts(lexicon, level, place.units());
            let first = memory.settings().members(level) + 1;
            let events = read.contexts.iter().enumerate().filter(|&(i, _)| !is_listed(i));
            let events = events.filter_map(|(i, context)| Some((first + i, (*context)?.hash)));
            let keys = events.map(|(slot, hash)| memory.keys.events(slot, hash));
            memory.tables.table(TableKind::Events).ask(keys);
        }
    }

    /// Reads what followed generalised contexts.
    pub(crate) fn read_general(&mut self, memory: &Memory, context: &[u32]) -> Result<(), Error> {
        if memory.lexicon().is_none() {
            return Ok(());
        }
        let Reader { levels: Levels { before, general, .. }, lists, .. } = self;
        for (level, read) in general.iter_mut().enumerate() {
            read.read(memory, level, *before, lists)?;
            read.spans.iter_mut().for_each(|span| *span = (*span).min(context.len()));
            if !read.levels.is_empty() {
                let make = || Predicted::new(memory, level, *before);
                read.predicted = lists.get(memory, (level, *before), make)?;
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
        before: u32,
        lists: &mut Lists,
    ) -> Result<(), Error> {
        self.clear();
        let members = memory.settings().members(level);
        for (i, found) in self.contexts.into_iter().enumerate() {
            let Some(GeneralContext { hash, literal, span }) = found else { continue };
            let slot = members + 1 + i;
            let shorter = self.levels.last().map(|shorter| &**shorter);
            let own = if is_listed(i) {
                list(memory, lists, (slot, hash), shorter)?
            } else {
                let mut own = Level::of(slot, memory.weighing(slot, None));
                let events = memory.tables.table(TableKind::Events);
                let candidates = match shorter {
                    Some(shorter) => Cow::Borrowed(&shorter.list),
                    // Its last units have no class, so that it ends as contexts of tokens do.
                    None => Cow::Owned(candidates(memory, level, before)?),
                };
                events.of_context(memory.keys.events(slot, hash), &candidates, |i, count| {
                    let (symbol, most) = candidates[i];
                    own.push(symbol, count.min(most));
                })?;
                Arc::new(own)
            };
            if own.list.is_empty() {
                break;
            }
            self.levels.push(own);
            self.spans.push(span);
            (self.literal, self.units) = (literal, GENERAL[i] as usize);
        }
        Ok(())
    }
}

/// Returns the symbols that followed the last token, in order; how often is not said.
fn candidates(memory: &Memory, level: usize, before: u32) -> Result<Vec<(u32, i64)>, Error> {
    let (members, vocabulary) = (memory.members(level)?, memory.settings().vocabulary);
    let mut symbols: Vec<(u32, i64)> = Vec::new();
    memory.each_successor(before, |token, count| {
        if count > 0 {
            symbols.push((token, i64::MAX));
            let of_token = members.of_token(token).iter();
            symbols.extend(of_token.map(|member| (vocabulary + member.class, i64::MAX)));
        }
    })?;
    symbols.sort_unstable();
    symbols.dedup();
    Ok(symbols)
}
