//! Reading: how often each token followed the contexts that end at a position, from the shortest to the longest.
//!
//! The successors of the last token and of the last two are listed; a longer context can only have been followed by tokens
//! that followed the shorter one, so only these are looked up. Counts are exact but for contexts that share a hash, which in a
//! frozen memory are more.

use super::general::GeneralLevels;
use super::keys::{BOUNDARY, Keys};
use super::lists::{Followers, Lists};
use super::place::Place;
use super::seek::seek;
use super::settings::{Context, WORD_REACH};
use super::tables::TableKind;
use super::{Error, Memory, Weighing};
use crate::words::Words;
use std::sync::{Arc, OnceLock};

/// What one slot remembers of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The context, as far as there is text for it.
    pub context: Context,
    /// Whether it is all that a document began with.
    pub from_start: bool,
    /// How often it occurred before.
    pub total: i64,
    /// What followed, the most frequent first.
    pub successors: Vec<Successor>,
}

/// A token that followed a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The token.
    pub token: u32,
    /// How often.
    pub count: i64,
}

/// Totals of a context: how often it occurred, and what that is worth in running text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) total: i64,
    /// How many tokens followed.
    pub(crate) kinds: i64,
    /// How they count.
    pub(crate) weighing: Weighing,
    /// What they are worth in all, and what is taken off that.
    pub(crate) worth: f64,
    pub(crate) off: f64,
}

impl Totals {
    pub(super) fn new(weighing: Weighing) -> Self {
        Totals { weighing, ..Totals::default() }
    }

    /// Adds a count; returns what it is worth, less what is taken off.
    #[inline(always)]
    pub(super) fn add(&mut self, count: i64) -> f64 {
        self.total += count;
        self.kinds += 1;
        let worth = self.weighing.worth(count, 0);
        let off = self.weighing.off(worth);
        self.worth += worth;
        self.off += off;
        worth - off
    }

    /// Takes into account that some of what followed a token followed a longer context.
    fn part(&mut self, count: i64, longer: i64) {
        let (all, rest) = (self.weighing.worth(count, 0), self.weighing.worth(count, longer));
        self.worth += rest - all;
        self.off += self.weighing.off(rest) - self.weighing.off(all);
    }
}

/// What followed a context of several tokens or words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub(crate) slot: usize,
    /// How many of the last tokens it sees.
    pub(crate) span: usize,
    pub(crate) totals: Totals,
    /// Tokens and their counts, in order of the tokens.
    pub(crate) list: Vec<(u32, i64)>,
    /// How often each of them followed the last token, if the context is of two tokens.
    pub(crate) pairs: Vec<i64>,
    /// Symbols of a generalised context by what a token can get of each, once somebody asks.
    pub(crate) ranked: OnceLock<Vec<(u32, f64)>>,
}

impl Level {
    /// Returns how often a token followed.
    pub(crate) fn count(&self, token: u32) -> i64 {
        let found = self.list.binary_search_by_key(&token, |&(token, _)| token);
        found.map_or(0, |i| self.list[i].1)
    }

    /// Returns an empty level of a generalised context, which is the same wherever it stands.
    pub(super) fn of(slot: usize, weighing: Weighing) -> Self {
        Level { slot, totals: Totals::new(weighing), ..Level::default() }
    }

    fn begin(&mut self, slot: usize, span: usize, weighing: Weighing) {
        (self.slot, self.span) = (slot, span);
        self.totals = Totals::new(weighing);
        self.list.clear();
        self.pairs.clear();
    }

    /// Becomes what was read of the same context before.
    fn copy(&mut self, known: &Level) {
        self.totals = known.totals;
        self.list.extend_from_slice(&known.list);
        self.pairs.extend_from_slice(&known.pairs);
    }

    /// Counts white space at most as often as something else followed. A context of words sees none of it, so that each token of an
    /// indentation followed the same words.
    fn count_layout_once(&mut self, words: &Words) {
        let Level { totals, list, .. } = self;
        let text = list.iter().filter(|&&(token, _)| !words.is_blank(token));
        let most: i64 = text.map(|&(_, count)| count).sum();
        let is_more = |&(token, count): &(u32, i64)| count > most && words.is_blank(token);
        if most == 0 || !list.iter().any(is_more) {
            return;
        }
        *totals = Totals::new(totals.weighing);
        for entry in list {
            if is_more(entry) {
                entry.1 = most;
            }
            totals.add(entry.1);
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, token: u32, count: i64) {
        // More may have been forgotten than memorized.
        if count > 0 {
            self.totals.add(count);
            self.list.push((token, count));
        }
    }
}

/// What followed the contexts that end at one position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// The last token, or the boundary.
    pub(crate) before: u32,
    /// What followed it, and its totals beside the longer contexts.
    pub(crate) followers: Arc<Followers>,
    pub(crate) first: Totals,
    /// What followed the token before it, whatever that was followed by.
    pub(crate) skipped: Option<Arc<Followers>>,
    /// Whether all contexts of tokens that there is text for occurred.
    pub(crate) whole: bool,
    tokens: Vec<Level>,
    used_tokens: usize,
    words: Vec<Level>,
    used_words: usize,
    /// By level of the lexicon.
    pub(crate) general: Vec<GeneralLevels>,
}

impl Levels {
    /// Returns the contexts of two and more tokens that occurred, the shortest first.
    pub(crate) fn tokens(&self) -> &[Level] {
        &self.tokens[..self.used_tokens]
    }

    /// Returns the contexts of words that occurred, the shortest first.
    pub(crate) fn words(&self) -> &[Level] {
        &self.words[..self.used_words]
    }

    /// Has each context of tokens count what a longer one had too as one.
    fn tell_apart(&mut self) {
        let Levels { first, tokens, used_tokens, .. } = self;
        let tokens = &mut tokens[..*used_tokens];
        if let Some(level) = tokens.first() {
            for (&(_, longer), &count) in level.list.iter().zip(&level.pairs) {
                first.part(count, longer);
            }
        }
        tell_apart(tokens);
    }
}

/// Has each level count what the next had too as one.
fn tell_apart(levels: &mut [Level]) {
    for i in 1..levels.len() {
        let (shorter, longer) = levels.split_at_mut(i);
        let Level { totals, list, .. } = &mut shorter[i - 1];
        let mut from = 0;
        for &(token, count) in &longer[0].list {
            let all = seek(list, &mut from, token).map_or(0, |at| list[at].1);
            totals.part(all, count);
        }
    }
}

/// Reads contexts; keeps its buffers from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    hashes: Vec<u64>,
    pub(crate) levels: Levels,
    pub(super) lists: Lists,
    pub(super) place: Place,
}

/// Keeps the tokens of a list that `counts` has a count for, and the lower of both counts.
fn narrow(
    list: &mut Vec<(u32, i64)>,
    counts: impl FnOnce(&[(u32, i64)], &mut dyn FnMut(usize, i64)) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut kept = Vec::new();
    counts(list, &mut |i, count| {
        let (token, most) = list[i];
        if most.min(count) > 0 {
            kept.push((token, most.min(count)));
        }
    })?;
    *list = kept;
    Ok(())
}

/// Makes an empty level at the end of those in use.
fn next_level(levels: &mut Vec<Level>, used: usize, slot: usize, span: usize, weighing: Weighing) {
    if levels.len() == used {
        levels.push(Level::default());
    }
    levels[used].begin(slot, span, weighing);
}

impl Reader {
    /// Reads what followed a context, which is a view ([`Memory::view`]): it has no end token in it.
    pub(crate) fn read(&mut self, memory: &Memory, context: &[u32]) -> Result<(), Error> {
        self.place.follow(memory, context);
        self.ask_general(memory);
        self.read_tokens(memory, context)?;
        self.read_words(memory, context)?;
        self.read_general(memory, context)
    }

    /// Reads what followed contexts of tokens alone.
    pub(crate) fn read_tokens(&mut self, memory: &Memory, context: &[u32]) -> Result<(), Error> {
        let Reader { hashes, levels, lists, .. } = self;
        let settings = memory.settings();
        let before = context.last().copied().unwrap_or(BOUNDARY);
        lists.follow(memory);
        levels.before = before;
        levels.followers = lists.followers(memory, 0, before)?;
        levels.skipped = match (settings.skip_slot(), context) {
            (Some(slot), &[.., skipped, _]) => Some(lists.followers(memory, slot, skipped)?),
            _ => None,
        };
        levels.first = levels.followers.totals;
        levels.used_tokens = 0;
        levels.used_words = 0;
        levels.general.iter_mut().for_each(GeneralLevels::clear);
        memory.keys.suffixes(context, hashes);
        let successors = memory.tables.table(TableKind::Successors);
        let events = memory.tables.table(TableKind::Events);
        // A context that is longer than the text before it is all of that, from the boundary on.
        let hash = |len: u32| hashes[(len as usize).min(hashes.len()) - 1];
        let applies =
            |slot: usize| slot == 0 || (settings.tokens[slot - 1] as usize) <= context.len();
        let unlisted = (1..settings.tokens.len()).filter(|&slot| !settings.listed(slot));
        let unlisted = unlisted.take_while(|&slot| applies(slot));
        let unlisted = unlisted.map(|slot| memory.keys.events(slot, hash(settings.tokens[slot])));
        events.ask(unlisted.clone());
        let begins = memory.may_begin_with(context)?;
        let mut slot = 1;
        while levels.used_tokens == slot - 1 && slot < settings.tokens.len() && applies(slot) {
            if settings.listed(slot - 1) && !settings.listed(slot) {
                events.ask_more(unlisted.clone());
            }
            let hash = hash(settings.tokens[slot]);
            let span = (settings.tokens[slot] as usize).min(context.len());
            let first = context.len().checked_sub(settings.tokens[slot] as usize);
            let weighing = memory.weighing(slot, first.map(|first| context[first]));
            next_level(&mut levels.tokens, slot - 1, slot, span, weighing);
            let (shorter, longer) = levels.tokens.split_at_mut(slot - 1);
            let shorter = shorter.last().map_or(&levels.followers.list, |level| &level.list);
            let level = &mut longer[0];
            if first.is_none() && !begins {
                // No document begins so.
            } else if !settings.listed(slot) {
                events.of_context(memory.keys.events(slot, hash), shorter, |i, count| {
                    level.push(shorter[i].0, count.min(shorter[i].1));
                })?;
            } else if let Some(known) = lists.level(slot, hash) {
                level.copy(known);
            } else {
                // Only a shared hash can list a token that did not follow the shorter context.
                let mut from = 0;
                successors.each_token(memory.keys.listed(slot, hash, 0), |token, count| {
                    if let Some(at) = seek(shorter, &mut from, token) {
                        level.push(token, count.min(shorter[at].1));
                        if slot == 1 && count > 0 {
                            level.pairs.push(shorter[at].1);
                        }
                    }
                })?;
                lists.keep(memory, (slot, hash), level.list.len(), || Arc::new(level.clone()));
            }
            levels.used_tokens += usize::from(!level.list.is_empty());
            slot += 1;
        }
        levels.tell_apart();
        // That no document begins with a prompt says nothing.
        levels.whole =
            levels.used_tokens == slot - 1 || settings.tokens[slot - 1] as usize > context.len();
        Ok(())
    }

    fn read_words(&mut self, memory: &Memory, context: &[u32]) -> Result<(), Error> {
        let settings = memory.settings();
        let Some(words) = memory.words() else { return Ok(()) };
        let state = self.place.words();
        let Levels { words: levels, used_words, .. } = &mut self.levels;
        for (i, &len) in settings.words.iter().enumerate() {
            let Some(hash) = state.within(len as usize, WORD_REACH) else { break };
            let slot = settings.tokens.len() + i;
            let span = state.span(len as usize).unwrap_or(0).min(context.len());
            // White space, however much, sees no further back.
            let seen = &context[context.len() - span..];
            let blank = seen.iter().filter(|&&token| words.is_blank(token)).count();
            next_level(levels, i, slot, span - blank, memory.weighing(slot, None));
            if i == 0 {
                let cell = memory.keys.listed(slot, hash, 0);
                let table = memory.tables.table(TableKind::Successors);
                table.each_token(cell, |token, count| levels[0].push(token, count))?;
            } else {
                let events = memory.tables.table(TableKind::Events);
                let (shorter, longer) = levels.split_at_mut(i);
                let (list, level) = (&shorter[i - 1].list, &mut longer[0]);
                events.of_context(memory.keys.events(slot, hash), list, |i, count| {
                    level.push(list[i].0, count.min(list[i].1));
                })?;
            }
            if levels[i].list.is_empty() {
                break;
            }
            levels[i].count_layout_once(words);
            *used_words = i + 1;
        }
        tell_apart(&mut levels[..*used_words]);
        Ok(())
    }
}

/// How a token followed a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// How many tokens the longest part of the context has that it followed.
    pub(crate) span: usize,
    /// How many tokens the shortest part has that it followed once, if it followed any so.
    pub(crate) once: Option<usize>,
}

impl Reader {
    /// Returns how a token followed a context, which is a view; `None` if it never followed its last token. This looks up one
    /// token for each length of context, where [`Reader::read`] lists all that followed.
    pub(crate) fn known(
        &mut self,
        memory: &Memory,
        context: &[u32],
        token: u32,
    ) -> Result<Option<Known>, Error> {
        let before = context.last().copied().unwrap_or(BOUNDARY);
        let count = memory.followed(before, token)?;
        if count <= 0 {
            return Ok(None);
        }
        let span = context.len().min(1);
        let mut known = Known { span, once: (span > 0 && count == 1).then_some(1) };
        let (settings, hashes) = (memory.settings(), &mut self.hashes);
        memory.keys.suffixes(context, hashes);
        for slot in 1..settings.tokens.len() {
            if settings.tokens[slot - 1] as usize > context.len() {
                break;
            }
            let len = settings.tokens[slot] as usize;
            if len > context.len() && !memory.may_begin_with(context)? {
                break;
            }
            let hash = hashes[len.min(hashes.len()) - 1];
            let count = if settings.listed(slot) {
                let cell = memory.keys.listed(slot, hash, token);
                memory.tables.table(TableKind::Successors).get(cell)?
            } else {
                let cell = memory.keys.events(slot, hash).cell(token);
                memory.tables.table(TableKind::Events).get(cell)?
            };
            if count <= 0 {
                break;
            }
            known.span = len.min(context.len());
            // What a document begins with may stand elsewhere too.
            if count == 1 && known.once.is_none() && len <= context.len() {
                known.once = Some(len);
            }
        }
        Ok(Some(known))
    }

    /// Lists what followed the part of a context, which is a view, that a slot of several tokens has: nothing if that never occurred,
    /// or if the context is shorter. The same as [`Reader::read`] finds there, without what it finds elsewhere.
    pub(crate) fn list(
        &mut self,
        memory: &Memory,
        context: &[u32],
        slot: usize,
        list: &mut Vec<(u32, i64)>,
    ) -> Result<(), Error> {
        list.clear();
        if memory.settings().tokens[slot] as usize > context.len() {
            return Ok(());
        }
        memory.keys.suffixes(context, &mut self.hashes);
        self.list_slot(memory, context, slot, list)
    }

    /// Does the same for a context whose suffixes were hashed. One that is shorter is all of a document up to there.
    fn list_slot(
        &self,
        memory: &Memory,
        context: &[u32],
        slot: usize,
        list: &mut Vec<(u32, i64)>,
    ) -> Result<(), Error> {
        list.clear();
        let (settings, hashes) = (memory.settings(), &self.hashes);
        let Some(&before) = context.last() else { return Ok(()) };
        let Some(listed) = (1..=slot).rev().find(|&slot| settings.listed(slot)) else {
            return Ok(());
        };
        let hash = |slot: usize| hashes[(settings.tokens[slot] as usize).min(hashes.len()) - 1];
        let (cell, keys) = (
            |slot: usize| memory.keys.listed(slot, hash(slot), 0),
            |slot: usize| memory.keys.events(slot, hash(slot)),
        );
        let successors = memory.tables.table(TableKind::Successors);
        let events = memory.tables.table(TableKind::Events);
        let direct = if slot > listed { events.all_of_context(keys(slot))? } else { None };
        // The longest first: few of the tokens followed it. That they followed the shorter ones as well matters where contexts share keys.
        let mut longer = slot;
        if let Some(direct) = direct {
            *list = direct;
            longer -= 1;
            narrow(list, |list, take| {
                let tokens = list.iter().map(|&(token, _)| token);
                let mut i = 0;
                successors.of_tokens(cell(listed), tokens, |count| {
                    take(i, count);
                    i += 1;
                })
            })?;
        } else {
            successors.each_token(cell(listed), |token, count| {
                if count > 0 {
                    list.push((token, count));
                }
            })?;
        }
        for slot in (listed + 1..=longer).rev() {
            narrow(list, |list, take| events.of_context(keys(slot), list, take))?;
        }
        if memory.is_frozen() {
            let listed = (1..listed).map(|slot| (TableKind::Successors, cell(slot)));
            for (kind, cell) in listed.chain([(TableKind::Pairs, Keys::pair(before, 0))]) {
                let mut kept = Vec::with_capacity(list.len());
                let tokens = list.iter().map(|&(token, _)| token);
                memory.tables.table(kind).of_tokens(cell, tokens, |n| kept.push(n > 0))?;
                let mut kept = kept.into_iter();
                list.retain(|_| kept.next().unwrap_or(false));
            }
        }
        Ok(())
    }

    /// Returns how many tokens the longest part of a context, which is a view, has that occurred, if these are more than `known`;
    /// else `known`. No shorter part is read.
    pub(crate) fn longest(
        &mut self,
        memory: &Memory,
        context: &[u32],
        known: usize,
    ) -> Result<usize, Error> {
        let lens = &memory.settings().tokens;
        let applies = |&slot: &usize| lens[slot - 1] as usize <= context.len();
        let (mut longest, mut list) = (known, Vec::new());
        memory.keys.suffixes(context, &mut self.hashes);
        for slot in (1..lens.len()).take_while(applies) {
            let span = (lens[slot] as usize).min(context.len());
            if span < lens[slot] as usize && !memory.may_begin_with(context)? {
                break;
            }
            if span > longest {
                self.list_slot(memory, context, slot, &mut list)?;
                if list.is_empty() {
                    break;
                }
                longest = span;
            }
        }
        Ok(longest)
    }
}

impl Memory {
    /// Returns how many tokens the longest part of a context has that a token followed; 0 if none did.
    pub fn known(&self, context: &[u32], token: u32) -> Result<usize, Error> {
        let context = self.view(context)?;
        let known = Reader::default().known(self, context, token)?;
        Ok(known.map_or(0, |known| known.span))
    }

    /// Returns the tokens of a context after its last end token, because documents have no neighbours.
    pub(crate) fn view<'a>(&self, context: &'a [u32]) -> Result<&'a [u32], Error> {
        self.settings().check_tokens(context)?;
        let end = context.iter().rposition(|&token| token == self.settings().end);
        Ok(&context[end.map_or(0, |end| end + 1)..])
    }

    /// Returns how often a token followed another (or the boundary), exactly.
    pub(crate) fn followed(&self, before: u32, token: u32) -> Result<i64, Error> {
        self.tables.table(TableKind::Pairs).get(Keys::pair(before, token))
    }

    /// Returns whether all of a context is looked for where documents begin. In a frozen memory a key that is found by chance would make it
    /// a beginning, the more easily the more tokens are looked up, so there some document must begin with its first token, which is
    /// known exactly. (Edits write no such pair; what follows them is found without their beginning.)
    fn may_begin_with(&self, context: &[u32]) -> Result<bool, Error> {
        match context.first() {
            Some(&first) if self.is_frozen() => Ok(self.followed(BOUNDARY, first)? > 0),
            _ => Ok(true),
        }
    }

    /// Calls `take` with the successors of a token (or of the boundary), in order, and their counts.
    pub(crate) fn each_successor(
        &self,
        before: u32,
        take: impl FnMut(u32, i64),
    ) -> Result<(), Error> {
        self.tables.table(TableKind::Pairs).each_token(Keys::pair(before, 0), take)
    }

    /// Calls `take` with what followed a token, by a slot whose contexts are single ones: in order, with counts.
    pub(super) fn each_single(
        &self,
        slot: usize,
        before: u32,
        take: impl FnMut(u32, i64),
    ) -> Result<(), Error> {
        if slot == 0 {
            return self.each_successor(before, take);
        }
        let cell = self.keys.listed(slot, self.keys.single(before), 0);
        self.tables.table(TableKind::Successors).each_token(cell, take)
    }

    /// Returns what each slot remembers of a context, without those whose context never occurred.
    pub fn evidence(&self, context: &[u32]) -> Result<Vec<Evidence>, Error> {
        let mut reader = Reader::default();
        let context = self.view(context)?;
        let given = context.len() as u32;
        reader.read(self, context)?;
        let Levels { first, followers, .. } = &reader.levels;
        let list = followers.list.clone();
        let first = Level { slot: 0, span: 1, totals: *first, list, ..Level::default() };
        let skipped = reader.levels.skipped.as_ref().map(|followers| {
            let (slot, list) = (self.settings().slots() - 1, followers.list.clone());
            Level { slot, span: 2, totals: followers.totals, list, ..Level::default() }
        });
        let levels = [&first].into_iter().chain(reader.levels.tokens());
        let levels = levels.chain(reader.levels.words()).chain(&skipped);
        let evidence = levels.filter(|level| level.totals.total > 0).map(|level| {
            let mut successors: Vec<Successor> =
                level.list.iter().map(|&(token, count)| Successor { token, count }).collect();
            successors.sort_by(|a, b| b.count.cmp(&a.count).then(a.token.cmp(&b.token)));
            let (context, from_start) = match self.settings().context(level.slot) {
                Context::Tokens(len) if len > given => (Context::Tokens(given), true),
                context => (context, false),
            };
            Evidence { context, from_start, total: level.totals.total, successors }
        });
        Ok(evidence.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Lexicon;
    use crate::sparse::Settings;

    /// What a reader keeps must not be seen, whatever it read before and however the memory has changed.
    #[test]
    fn a_reader_reads_the_same_as_a_new_one() {
        let words = (0..1_000).map(|i| (format!("wörd{i}"), vec![Some(format!("class{}", i % 9))]));
        let lexicon = Arc::new(Lexicon::new(words).unwrap());
        let settings = Settings::new(1_000, 999, 7).unwrap().with_words();
        let settings = settings.with_lexicon(Some(&lexicon));
        let pieces = (0..1_000).map(|i| match i % 5 {
            0 => " ".to_owned(),
            1 => format!("'{i}"),
            2 => format!(" Wörd{i}"),
            _ => format!("{i}'"),
        });
        let words = Words::new(pieces).with_lexicon(lexicon);
        let mut memory = Memory::with_words(settings, Some(Arc::new(words))).unwrap();
        // Now and then many tokens that end with an apostrophe: whether that is part of a word is seen much later.
        let apart = |i: u32| if i % 60 < 10 { [3, 8, 13, 4] } else { [0, i, 0, i % 7] };
        let text: Vec<u32> = (1..900).flat_map(apart).collect();
        memory.memorize(&text).unwrap();
        let mut kept = Reader::default();
        for round in 0..3 {
            for p in (1usize..400).chain(1..400) {
                let mut new = Reader::default();
                // As generation does it: only the last tokens of a long text.
                let context = &text[p.saturating_sub(90)..p];
                kept.read(&memory, context).unwrap();
                new.read(&memory, context).unwrap();
                let (a, b) = (&kept.levels, &new.levels);
                let all = |levels: &Levels| {
                    let tokens = levels.tokens().iter().chain(levels.words());
                    let tokens = tokens.map(|l| (l.totals, l.list.clone(), l.pairs.clone()));
                    let general = levels.general.iter().flat_map(|general| {
                        let lists = general.levels().iter().map(|l| (l.totals, l.list.clone()));
                        lists.zip(general.spans().to_vec())
                    });
                    let general: Vec<_> = general.collect();
                    (levels.first, levels.followers.most, tokens.collect::<Vec<_>>(), general)
                };
                assert_eq!(all(a), all(b), "{round} {p}");
            }
            // More is forgotten than was memorized, in the end.
            memory.forget(&text[..600]).unwrap();
        }
    }

    /// What is looked up alone is what reading all finds.
    #[test]
    fn looking_up_finds_what_reading_finds() {
        let mut memory = Memory::new(Settings::new(40, 39, 7).unwrap()).unwrap();
        let text: Vec<u32> = (0..900u32).map(|i| (i * i + i / 7) % 13).collect();
        memory.memorize(&text).unwrap();
        let (mut reader, mut other) = (Reader::default(), Reader::default());
        let mut list = Vec::new();
        for p in (1usize..200).chain(700..800) {
            let context = &text[p.saturating_sub(80)..p];
            reader.read_tokens(&memory, context).unwrap();
            let levels = &reader.levels;
            for slot in 1..memory.settings().tokens.len() {
                other.list(&memory, context, slot, &mut list).unwrap();
                let whole = memory.settings().tokens[slot] as usize <= context.len();
                let level = levels.tokens().iter().find(|level| whole && level.slot == slot);
                assert_eq!(list, level.map_or(&[][..], |level| &level.list), "{p} {slot}");
            }
            let span = levels.tokens().last().map_or(0, |level| level.span);
            for known in [0, 3, 7, 8, 30] {
                assert_eq!(other.longest(&memory, context, known).unwrap(), known.max(span), "{p}");
            }
            for token in 0..13 {
                let known = other.known(&memory, context, token).unwrap();
                let knowing = levels.tokens().iter().rev().find(|level| level.count(token) > 0);
                let pair = memory.followed(context[context.len() - 1], token).unwrap() > 0;
                let span = knowing.map_or(usize::from(pair), |level| level.span);
                assert_eq!(known.map_or(0, |known| known.span), span, "{p} {token}");
            }
        }
    }
}
