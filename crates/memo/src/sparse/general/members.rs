//! Members: which tokens the units of each class begin with, derived from the memory's counts.

use super::class_hash;
use crate::sparse::keys::Keys;
use crate::sparse::lists::ranked;
use crate::sparse::tables::{TableKind, Tables};
use crate::sparse::{Error, Settings};

/// The members of the classes of a level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// How probable each token is before any context, by the classes that its units have.
    pub(crate) before: Vec<f64>,
    /// The tokens that are most probable before any context, the first first.
    pub(crate) most_frequent: Vec<u32>,
    /// The members of each class, those that can get the most of it first, and where each class begins, with one past the last.
    by_class: Vec<Member>,
    classes: Vec<u32>,
    /// The same by token, and by class.
    by_token: Vec<Member>,
    tokens: Vec<u32>,
    /// What each token's part of itself as a symbol is allowed: see [`Member::most`].
    most_of_itself: Vec<f64>,
}

/// A token that begins units of a class, in one case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) class: u32,
    pub(crate) token: u32,
    /// The part of the class's units that it begins.
    pub(crate) share: f64,
    /// The part of the token's occurrences that begin such a unit.
    pub(crate) begins: f64,
    /// Its share, by the part that this class is allowed of all that the token gets of its symbols. These parts are one
    /// together, so a token gets no more of all its symbols than the most that one of them has times this.
    pub(crate) most: f64,
}

/// Tokens whose order before any context is kept.
const MOST_FREQUENT: usize = 256;

/// The least part of a token's occurrences that a symbol of it is taken to have.
const LEAST_PART: f64 = 0.05;

/// Returns where each number begins among some that are in order, with one past the last.
fn starts(numbers: usize, all: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0; numbers + 1];
    all.for_each(|number| starts[number as usize + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    starts
}

fn of<'a>(members: &'a [Member], starts: &[u32], number: u32) -> &'a [Member] {
    match starts.get(number as usize..number as usize + 2) {
        Some(&[start, end]) => &members[start as usize..end as usize],
        _ => &[],
    }
}

impl Members {
    /// Reads the members of a level's classes; `prior` is how probable tokens are before any context otherwise.
    pub(crate) fn new(
        settings: &Settings,
        keys: &Keys,
        tables: &Tables,
        prior: &[f64],
        level: usize,
    ) -> Result<Self, Error> {
        let classes = settings.expected(level);
        let (slot, n) = (settings.members(level), settings.vocabulary);
        let table = tables.table(TableKind::Successors);
        let mut by_class: Vec<Member> = Vec::new();
        for class in 0..classes {
            let first = by_class.len();
            table.each_token(keys.listed(slot, class_hash(class), 0), |token, count| {
                if count > 0 && token < n {
                    let occurred = tables.unigrams[token as usize].max(count) as f64;
                    let (share, begins) = (count as f64, count as f64 / occurred);
                    by_class.push(Member { class, token, share, begins, most: 0.0 });
                }
            })?;
            let of_class = &mut by_class[first..];
            let total: f64 = of_class.iter().map(|member| member.share).sum();
            of_class.iter_mut().for_each(|member| member.share /= total);
        }
        let mut itself = vec![1.0; n as usize];
        by_class.iter().for_each(|member| itself[member.token as usize] -= member.begins);
        let mut parts: Vec<f64> = itself.iter().map(|part| part.max(LEAST_PART)).collect();
        let part = |member: &Member| member.begins.max(LEAST_PART);
        by_class.iter().for_each(|member| parts[member.token as usize] += part(member));
        for member in &mut by_class {
            member.most = member.share * parts[member.token as usize] / part(member);
        }
        by_class.chunk_by_mut(|a, b| a.class == b.class).for_each(|of_class| {
            of_class.sort_unstable_by(|a, b| b.most.total_cmp(&a.most));
        });
        let itself = itself.into_iter().zip(parts);
        let most_of_itself = itself.map(|(part, all)| all / part.max(LEAST_PART)).collect();
        let mut by_token = by_class.clone();
        by_token.sort_by_key(|member| member.token);
        let mut before: Vec<f64> = prior.to_vec();
        let positions: f64 = tables.unigrams.iter().map(|&count| count.max(0) as f64).sum();
        let mut others = 1.0;
        let begun = |member: &Member| {
            member.begins * tables.unigrams[member.token as usize].max(0) as f64
                / positions.max(1.0)
        };
        by_token.iter().for_each(|member| others -= begun(member));
        before.iter_mut().for_each(|p| *p *= others.max(0.0));
        by_token.iter().for_each(|member| before[member.token as usize] += begun(member));
        let mut by_before: Vec<(u32, f64)> = (0..).zip(before.iter().copied()).collect();
        if by_before.len() > MOST_FREQUENT {
            by_before.select_nth_unstable_by(MOST_FREQUENT, |a, b| b.1.total_cmp(&a.1));
            by_before.truncate(MOST_FREQUENT);
        }
        let most_frequent = ranked(by_before.into_iter()).into_iter().map(|(token, _)| token);
        let most_frequent = most_frequent.collect();
        let classes = starts(classes as usize, by_class.iter().map(|member| member.class));
        let tokens = starts(n as usize, by_token.iter().map(|member| member.token));
        Ok(Members { before, most_frequent, by_class, classes, by_token, tokens, most_of_itself })
    }

    /// Returns the classes whose units a token begins, in order.
    pub(crate) fn of_token(&self, token: u32) -> &[Member] {
        of(&self.by_token, &self.tokens, token)
    }

    /// Returns what a token gets of a symbol that is probable for sure, at most, by the part that this symbol is allowed.
    pub(crate) fn most(&self, symbol: u32) -> f64 {
        match (symbol as usize).checked_sub(self.most_of_itself.len()) {
            None => self.most_of_itself[symbol as usize],
            Some(class) => self.of_class(class as u32).first().map_or(0.0, |member| member.most),
        }
    }

    /// Returns the tokens that units of a class begin with, those that can get the most of it first.
    pub(crate) fn of_class(&self, class: u32) -> &[Member] {
        of(&self.by_class, &self.classes, class)
    }
}
