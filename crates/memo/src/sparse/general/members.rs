//! Members: which tokens the units of each class begin with, derived from the memory's counts.

use super::class_hash;
use crate::sparse::keys::Keys;
use crate::sparse::tables::{TableKind, Tables};
use crate::sparse::{Error, Settings};

/// The members of the classes of a level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// How probable each token is before any context, by the classes that its units have; and the highest of these.
    pub(crate) before: Vec<f64>,
    pub(crate) highest: f64,
    /// The members of each class, those with the largest share first, and where each class begins, with one past the last.
    by_class: Vec<Member>,
    classes: Vec<u32>,
    /// The same by token, and by class.
    by_token: Vec<Member>,
    tokens: Vec<u32>,
    /// The most classes that a token has.
    pub(crate) most_classes: usize,
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
}

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
                    by_class.push(Member { class, token, share, begins });
                }
            })?;
            let of_class = &mut by_class[first..];
            let total: f64 = of_class.iter().map(|member| member.share).sum();
            of_class.iter_mut().for_each(|member| member.share /= total);
            of_class.sort_by(|a, b| b.share.total_cmp(&a.share));
        }
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
        let highest = before.iter().copied().fold(0.0, f64::max);
        let classes = starts(classes as usize, by_class.iter().map(|member| member.class));
        let tokens = starts(n as usize, by_token.iter().map(|member| member.token));
        let most_classes = tokens.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let most_classes = most_classes as usize;
        Ok(Members { before, highest, by_class, classes, by_token, tokens, most_classes })
    }

    /// Returns the classes whose units a token begins, in order.
    pub(crate) fn of_token(&self, token: u32) -> &[Member] {
        of(&self.by_token, &self.tokens, token)
    }

    /// Returns the tokens that units of a class begin with, the most frequent first.
    pub(crate) fn of_class(&self, class: u32) -> &[Member] {
        of(&self.by_class, &self.classes, class)
    }
}
