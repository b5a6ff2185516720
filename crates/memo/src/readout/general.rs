//! What a lexicon adds to a distribution: the next unit is expected by the classes of those before it.
//!
//! The probability of a symbol, a class or a token without one, is interpolated over the generalised contexts that occurred, like
//! that of a token over exact ones; before any context, a class is as probable as its units are frequent. A class shares its
//! probability out among the tokens that its units begin with, as often as they did.

use super::backoff::Interpolation;
use crate::sparse::{Error, GeneralLevels, Level, Members, Memory, Predicted};

/// The part of a distribution that one level of the lexicon says.
pub(super) struct General<'m> {
    /// Its part of the whole.
    weight: f64,
    members: &'m Members,
    vocabulary: u32,
    /// Symbols that followed contexts, in order, with what they get from these.
    listed: Vec<(u32, f64)>,
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
        let (mut listed, rest) = interpolated(read.levels());
        // Half of it by the classes of the units before, half by the last token as it is and its class.
        let of_class = read.levels().iter().take_while(|level| level.slot == first).count();
        let (shortest, rest_of_class) = interpolated(&read.levels()[..of_class]);
        let Predicted { list, rest: rest_of_token } = &*read.predicted;
        let rest = f64::midpoint(rest, rest_of_token * rest_of_class);
        listed.iter_mut().for_each(|(_, p)| *p /= 2.0);
        add(&mut listed, shortest.iter().map(|&(symbol, p)| (symbol, p * rest_of_token / 2.0)));
        add(&mut listed, list.iter().map(|&(symbol, p)| (symbol, p / 2.0)));
        let vocabulary = memory.settings().vocabulary;
        let members = memory.members(level)?;
        Ok(General { weight, members, vocabulary, listed, rest })
    }

    fn listed(&self, symbol: u32) -> Option<f64> {
        let found = self.listed.binary_search_by_key(&symbol, |&(symbol, _)| symbol).ok()?;
        Some(self.listed[found].1)
    }

    /// What a token gets, by itself and of its classes.
    pub(super) fn share(&self, token: u32) -> f64 {
        let Some(before) = self.members.before.get(token as usize) else { return 0.0 };
        let mut p = self.rest * before + self.listed(token).unwrap_or(0.0);
        for member in self.members.of_token(token) {
            p += self.listed(self.vocabulary + member.class).unwrap_or(0.0) * member.share;
        }
        self.weight * p
    }

    /// Adds what all tokens get, in the same order as one token alone, so that all ways to ask give the same bits.
    pub(super) fn add(&self, all: &mut [f64]) {
        let mut p: Vec<f64> = self.members.before.iter().map(|p| self.rest * p).collect();
        for &(symbol, own) in &self.listed {
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

    /// The most that a token can get, or more.
    pub(super) fn most(&self) -> f64 {
        let listed: f64 = self.listed.iter().map(|&(_, p)| p).sum();
        self.weight * (self.rest * self.members.highest + listed)
    }
}

/// Returns the symbols that followed contexts, in order, with what they get from these, and what is left to no context.
fn interpolated(levels: &[Level]) -> (Vec<(u32, f64)>, f64) {
    let mut listed: Vec<(u32, f64)> = Vec::new();
    // What all have is multiplied once, at the end.
    let mut rest = 1.0;
    for (i, level) in levels.iter().enumerate() {
        let own = Interpolation::new(&level.totals);
        rest *= own.rest;
        let share = |count: i64| own.share(count, 0) / rest;
        if i == 0 {
            listed.extend(level.list.iter().map(|&(symbol, count)| (symbol, share(count))));
            continue;
        }
        for &(symbol, count) in &level.list {
            // What followed a longer context followed the shorter one.
            if let Ok(at) = listed.binary_search_by_key(&symbol, |&(symbol, _)| symbol) {
                listed[at].1 += share(count);
            }
        }
    }
    listed.iter_mut().for_each(|(_, p)| *p *= rest);
    (listed, rest)
}

/// Adds to a list what symbols get, both in order.
fn add(listed: &mut Vec<(u32, f64)>, more: impl Iterator<Item = (u32, f64)>) {
    let known = listed.len();
    let mut at = 0;
    for (symbol, p) in more {
        while at < known && listed[at].0 < symbol {
            at += 1;
        }
        if at < known && listed[at].0 == symbol {
            listed[at].1 += p;
        } else {
            listed.push((symbol, p));
        }
    }
    // Two runs that are in order.
    listed.sort_by_key(|&(symbol, _)| symbol);
}
