//! What a lexicon adds to a distribution: the next unit is expected by the classes of those before it.
//!
//! The probability of a symbol, a class or a token without one, is interpolated over the generalised contexts that occurred, like
//! that of a token over exact ones; before any context, a class is as probable as its units are frequent. A class shares its
//! probability out among the tokens that its units begin with, as often as they did.

use super::backoff::Interpolation;
use super::best::ROUNDING;
use crate::sparse::GENERAL;
use crate::sparse::seek::seek;
use crate::sparse::{Error, GeneralLevels, Level, Members, Memory, Predicted, ranked};
use std::sync::Arc;

/// The part of a distribution that one level of the lexicon says. What a symbol gets is computed when it is asked for: the probability
/// of one token needs few of them.
pub(super) struct General<'m> {
    /// Its part of the whole.
    weight: f64,
    members: &'m Members,
    vocabulary: u32,
    /// Contexts that occurred, the shortest first, with their share and what they and the shorter ones leave.
    levels: Vec<(Arc<Level>, Interpolation, f64)>,
    /// Whether the first of them is the class of the last unit.
    of_class: bool,
    /// What the last token, as it is, says of symbols.
    predicted: Arc<Predicted>,
    /// What is left to tokens as they are before any context.
    rest: f64,
}

impl<'m> General<'m> {
    pub(super) fn new(
        memory: &'m Memory,
        level: usize,
        read: &GeneralLevels,
        weight: f64,
    ) -> Result<Self, Error> {
        let first = memory.settings().members(level) + 1;
        let mut left = 1.0;
        let levels = read.levels().iter().map(|level| {
            let own = Interpolation::new(&level.totals);
            left *= own.rest;
            (Arc::clone(level), own, left)
        });
        let levels: Vec<(Arc<Level>, Interpolation, f64)> = levels.collect();
        // Half of it by the classes of the units before, half by the last token as it is and its class.
        let of_class = levels.first().is_some_and(|(level, ..)| level.slot == first);
        let predicted = Arc::clone(&read.predicted);
        let rest_of_class = if of_class { levels[0].2 } else { 1.0 };
        let rest = f64::midpoint(left, predicted.rest * rest_of_class);
        let vocabulary = memory.settings().vocabulary;
        let members = memory.members(level)?;
        Ok(General { weight, members, vocabulary, levels, of_class, predicted, rest })
    }

    /// What a symbol gets that followed the shortest context so often, and what the last token says of it. `longer` returns how often it
    /// followed another one.
    #[inline]
    fn gets(
        &self,
        count: i64,
        predicted: f64,
        mut longer: impl FnMut(usize, &[(u32, i64)]) -> i64,
    ) -> f64 {
        let Some(((_, first, rest), others)) = self.levels.split_first().filter(|_| count > 0)
        else {
            return predicted / 2.0;
        };
        let of_first = first.share(count, 0) / rest;
        // What all have is multiplied once, at the end. What followed a longer context followed the shorter one.
        let (mut p, mut left) = (of_first, *rest);
        let mut followed = true;
        for (i, (level, own, rest)) in others.iter().enumerate() {
            left = *rest;
            let count = if followed { longer(i, &level.list) } else { 0 };
            followed = count > 0;
            if followed {
                p += own.share(count, 0) / rest;
            }
        }
        p = p * left / 2.0;
        if self.of_class {
            p += of_first * rest * self.predicted.rest / 2.0;
        }
        p + predicted / 2.0
    }

    /// What a symbol gets.
    fn of(&self, symbol: u32) -> f64 {
        let count = |list: &[(u32, i64)]| {
            let found = list.binary_search_by_key(&symbol, |&(symbol, _)| symbol);
            found.map_or(0, |at| list[at].1)
        };
        let first = self.levels.first().map_or(0, |(level, ..)| count(&level.list));
        let list = &self.predicted.list;
        let found = list.binary_search_by_key(&symbol, |&(symbol, _)| symbol);
        self.gets(first, found.map_or(0.0, |at| list[at].1), |_, list| count(list))
    }

    /// All symbols that followed contexts or the last token, in order, with what they get.
    fn all(&self) -> Vec<(u32, f64)> {
        let first: &[(u32, i64)] = self.levels.first().map_or(&[], |(level, ..)| &level.list);
        let (mut a, mut b) = (first.iter().peekable(), self.predicted.list.iter().peekable());
        let mut all = Vec::with_capacity(first.len() + self.predicted.list.len());
        let mut from = vec![0; self.levels.len()];
        loop {
            let next = [a.peek().map(|next| next.0), b.peek().map(|next| next.0)];
            let Some(symbol) = next.into_iter().flatten().min() else { return all };
            let count = a.next_if(|next| next.0 == symbol).map_or(0, |next| next.1);
            let predicted = b.next_if(|next| next.0 == symbol).map_or(0.0, |next| next.1);
            let longer = |i: usize, list: &[(u32, i64)]| {
                seek(list, &mut from[i], symbol).map_or(0, |at| list[at].1)
            };
            all.push((symbol, self.gets(count, predicted, longer)));
        }
    }

    /// Its part of the whole.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// What a token gets, by itself and of its classes.
    pub(super) fn share(&self, token: u32) -> f64 {
        let Some(before) = self.members.before.get(token as usize) else { return 0.0 };
        let mut p = self.rest * before + self.of(token);
        for member in self.members.of_token(token) {
            p += self.of(self.vocabulary + member.class) * member.share;
        }
        self.weight * p
    }

    /// Adds what all tokens get, in the same order as one token alone, so that all ways to ask give the same bits.
    pub(super) fn add(&self, all: &mut [f64]) {
        let mut p: Vec<f64> = self.members.before.iter().map(|p| self.rest * p).collect();
        for (symbol, own) in self.all() {
            if let Some(p) = p.get_mut(symbol as usize) {
                *p += own;
                continue;
            }
            for member in self.members.of_class(symbol - self.vocabulary) {
                p[member.token as usize] += own * member.share;
            }
        }
        all.iter_mut().zip(p).for_each(|(all, p)| *all += self.weight * p);
    }

    /// What tokens get at most, from the most on; `among` is how many levels of the lexicon say something.
    pub(super) fn heads(&self, among: usize) -> Heads<'_> {
        let Predicted { list, ranked: known, rest, .. } = &*self.predicted;
        let most = |symbol: u32| self.members.most(symbol);
        let of_predicted = known
            .get_or_init(|| ranked(list.iter().map(|&(symbol, p)| (symbol, p * most(symbol)))));
        let left = self.levels.last().map_or(1.0, |(_, _, left)| *left);
        let mut lists = [(0.5, &**of_predicted); 1 + GENERAL.len()];
        for (i, (level, own, of_level)) in self.levels.iter().enumerate() {
            let list = level.list.iter();
            let of_level = left / of_level + if i == 0 && self.of_class { *rest } else { 0.0 };
            let gets = |&(symbol, count): &(u32, i64)| (symbol, own.share(count, 0) * most(symbol));
            let known = level.ranked.get_or_init(|| ranked(list.map(gets)));
            lists[i + 1] = (of_level / 2.0, &**known);
        }
        lists[1 + self.levels.len()..].fill((0.0, &[]));
        let (all, before) = (self.weight * among as f64, &*self.members.most_frequent);
        Heads { general: self, all, before, lists, seen: Vec::new() }
    }
}

/// What tokens get that were not weighed yet, in several lists, each in order of what a token can get.
pub(super) struct Heads<'d> {
    general: &'d General<'d>,
    /// What symbols are multiplied by.
    all: f64,
    /// Tokens by what they get before any context.
    before: &'d [u32],
    /// Symbols by what a token can get of each, and what that is multiplied by.
    lists: [(f64, &'d [(u32, f64)]); 1 + GENERAL.len()],
    seen: Vec<u32>,
}

impl Heads<'_> {
    /// The most that a token gets before any context.
    pub(super) fn before(&self) -> f64 {
        let General { weight, members, rest, .. } = self.general;
        let before = &members.before;
        // Of those that are not in the order, none gets more than the last of it.
        let token = self.before.first().or(members.most_frequent.last());
        weight * rest * token.map_or(0.0, |&token| before[token as usize])
    }

    /// What each list of symbols can give.
    fn each(&self) -> impl Iterator<Item = f64> {
        let head = |list: &[(u32, f64)]| list.first().map_or(0.0, |&(_, gets)| gets);
        self.lists.iter().map(move |&(times, list)| self.all * (times * head(list)))
    }

    /// The most that a token gets none of whose symbols was looked at.
    pub(super) fn symbols(&self) -> f64 {
        self.each().sum()
    }

    /// The most that one list gives which is not at its end.
    pub(super) fn highest(&self) -> f64 {
        let before = if self.before.is_empty() { 0.0 } else { self.before() };
        self.each().fold(before, f64::max)
    }

    /// Takes what gives the most, and has all tokens weighed that may be the best by it, with as much as `beside` from elsewhere.
    /// `weigh` returns the probability of the best so far.
    pub(super) fn advance(&mut self, beside: f64, weigh: &mut dyn FnMut(u32) -> f64) {
        let each = (0..).zip(self.each());
        let (at, most) =
            each.fold((0, 0.0), |most, next| if next.1 > most.1 { next } else { most });
        if let Some((&token, rest)) = self.before.split_first().filter(|_| self.before() > most) {
            self.before = rest;
            weigh(token);
            return;
        }
        let Some((&(symbol, _), rest)) = self.lists[at].1.split_first() else { return };
        self.lists[at].1 = rest;
        if self.seen.contains(&symbol) {
            return;
        }
        self.seen.push(symbol);
        let Some(class) = symbol.checked_sub(self.general.vocabulary) else {
            weigh(symbol);
            return;
        };
        let own = self.all * self.general.of(symbol) * (1.0 + ROUNDING);
        let mut best = 0.0;
        for member in self.general.members.of_class(class) {
            if own * member.most + beside < best {
                break;
            }
            best = weigh(member.token);
        }
    }
}
