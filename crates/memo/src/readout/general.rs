//! What a lexicon adds to a distribution: the next unit is expected by the classes of those before it.
//!
//! The probability of a symbol, a class or a token without one, is interpolated over the generalised contexts that occurred, like
//! that of a token over exact ones; before any context, a class is as probable as its units are frequent. A class shares its
//! probability out among the tokens that its units begin with, as often as they did.

use super::backoff::Interpolation;
use crate::sparse::seek::seek;
use crate::sparse::{Error, GeneralLevels, Level, Members, Memory, Predicted};
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
    pub(super) fn all(&self) -> Vec<(u32, f64)> {
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
        self.share_of(token, |symbol| self.of(symbol))
    }

    /// The same, from [`General::all`].
    pub(super) fn share_in(&self, all: &[(u32, f64)], token: u32) -> f64 {
        self.share_of(token, |symbol| {
            let found = all.binary_search_by_key(&symbol, |&(symbol, _)| symbol);
            found.map_or(0.0, |at| all[at].1)
        })
    }

    fn share_of(&self, token: u32, of: impl Fn(u32) -> f64) -> f64 {
        let Some(before) = self.members.before.get(token as usize) else { return 0.0 };
        let mut p = self.rest * before + of(token);
        for member in self.members.of_token(token) {
            p += of(self.vocabulary + member.class) * member.share;
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

    /// The most that a token gets whatever its symbols, and how many symbols it can have: itself, and its classes.
    pub(super) fn base(&self) -> (f64, usize) {
        (self.weight * self.rest * self.members.highest, 1 + self.members.most_classes)
    }

    /// The most that a token gets of one symbol; `all` is [`General::all`].
    pub(super) fn most(&self, all: &[(u32, f64)]) -> f64 {
        let most = |&(symbol, own): &(u32, f64)| match symbol.checked_sub(self.vocabulary) {
            None => own,
            Some(class) => {
                own * self.members.of_class(class).first().map_or(0.0, |member| member.share)
            }
        };
        self.weight * all.iter().map(most).fold(0.0, f64::max)
    }

    /// Calls `take` with tokens, among them all that get so much of one symbol as `take` returned last, and so much at first;
    /// `all` is [`General::all`].
    pub(super) fn each_with(
        &self,
        all: &[(u32, f64)],
        mut enough: f64,
        take: &mut dyn FnMut(u32) -> f64,
    ) {
        for &(symbol, own) in all {
            let own = self.weight * own;
            if own < enough {
                continue;
            }
            let Some(class) = symbol.checked_sub(self.vocabulary) else {
                enough = take(symbol);
                continue;
            };
            for member in self.members.of_class(class) {
                if own * member.share < enough {
                    break;
                }
                enough = take(member.token);
            }
        }
    }
}
