//! The most probable token where generalised contexts say something, without a look at all that they say.
//!
//! A token gets something of exact contexts, something before any context, and something of each of its symbols: itself, and the classes
//! whose units it begins. Each of these is known from lists that are in order of what they can give at most. So tokens are weighed from the
//! heads of the lists on, until none that was not weighed can have more than the best: what the heads give together bounds it. This is
//! the threshold algorithm of Fagin, Lotem and Naor.
//!
//! A token's symbols share a bound: each is allowed a part of it, about as often as the token stands for it (`Member::most`), so that
//! what all of them give together is at most what one of them gives by its part.

use super::distribution::{Distribution, better};
use super::general::Heads;
use crate::sparse::Error;

/// More than adding up what a token gets rounds off.
pub(super) const ROUNDING: f64 = 1e-9;

/// Tokens of the vocabulary in whose time, when all are computed, one is weighed alone.
const EACH: usize = 64;

/// Tokens that are weighed in any case before all are computed.
const LEAST: usize = 16;

/// What tokens get of exact contexts at most, from the most on.
struct Exact<'d> {
    distribution: &'d Distribution<'d>,
    /// Tokens that followed longer contexts; the most probable is the last.
    listed: Vec<(u32, f64)>,
    /// Those that followed the last token.
    followers: &'d [(u32, f64)],
    /// Those that followed the token before it.
    skipped: &'d [(u32, f64)],
    /// How many were taken of those that are most probable before any context.
    taken: usize,
}

/// Where a token is taken from.
#[derive(Clone, Copy)]
enum From {
    Longer,
    Last,
    Skipped,
    Prior,
}

impl<'d> Exact<'d> {
    fn new(distribution: &'d Distribution<'d>) -> Self {
        let (listed, followers) = (distribution.longer().to_vec(), distribution.ranked_followers());
        let skipped = distribution.ranked_skipped();
        let mut exact = Exact { distribution, listed, followers, skipped, taken: 0 };
        exact.sift();
        exact
    }

    /// Moves the most probable of the tokens that followed longer contexts to the end.
    fn sift(&mut self) {
        let Some(last) = self.listed.len().checked_sub(1) else { return };
        let most = (0..).zip(&self.listed).fold((last, self.listed[last].1), |most, (i, next)| {
            if next.1 > most.1 { (i, next.1) } else { most }
        });
        self.listed.swap(most.0, last);
    }

    /// The most that a token gets that was not taken; where the most of that is from, and how much.
    fn most(&self) -> (f64, From, f64) {
        let listed = self.listed.last().map_or(0.0, |&(_, p)| p);
        let [gain, skipped] = [self.followers, self.skipped]
            .map(|ranked| ranked.first().map_or(0.0, |&(_, gain)| gain));
        let prior = self.distribution.nth_prior(self.taken);
        let [last, skipped, prior] = self.distribution.of_last(gain, skipped, prior);
        let others = last + skipped + prior;
        match (listed, last, prior) {
            _ if listed >= others => (listed, From::Longer, listed),
            _ if last >= prior && last >= skipped => (others, From::Last, last),
            _ if skipped >= prior => (others, From::Skipped, skipped),
            _ => (others, From::Prior, prior),
        }
    }

    /// Takes the next token of a list.
    fn take(&mut self, from: From) -> Option<u32> {
        match from {
            From::Longer => {
                let taken = self.listed.pop();
                self.sift();
                taken.map(|(token, _)| token)
            }
            From::Last => {
                let (&(token, _), rest) = self.followers.split_first()?;
                self.followers = rest;
                Some(token)
            }
            From::Skipped => {
                let (&(token, _), rest) = self.skipped.split_first()?;
                self.skipped = rest;
                Some(token)
            }
            From::Prior => {
                self.taken += 1;
                self.distribution.nth_prior(self.taken - 1)
            }
        }
    }
}

/// Returns the most probable token; of equals, the one with the lowest number.
pub(super) fn best(distribution: &Distribution<'_>) -> Result<u32, Error> {
    let general = distribution.general();
    let mut exact = Exact::new(distribution);
    let mut heads: Vec<Heads<'_>> = general.iter().map(|own| own.heads(general.len())).collect();
    let recent = distribution.most_recent();
    let most_weighed = LEAST + distribution.vocabulary() / EACH;
    let (mut best, mut weighed) = ((0, -1.0), Vec::with_capacity(LEAST));
    while weighed.len() < most_weighed {
        let (of_exact, from, most_exact) = exact.most();
        let before = heads.iter().fold(0.0, |sum, heads| sum + heads.before());
        let symbols = heads.iter().map(Heads::symbols).fold(0.0, f64::max);
        let beside = (of_exact + before + recent) * (1.0 + ROUNDING);
        if best.1 > beside + symbols * (1.0 + ROUNDING) {
            return Ok(best.0);
        }
        let mut weigh = |token: u32| {
            if !weighed.contains(&token) {
                weighed.push(token);
                best = better(best, (token, distribution.weigh(token)));
            }
            best.1
        };
        // The list that gives the most may bring the bound down the most.
        let most = (0..).zip(&heads).map(|(at, heads)| (at, heads.highest()));
        let (at, most) =
            most.fold((0, 0.0), |most, next| if next.1 > most.1 { next } else { most });
        if most > most_exact {
            heads[at].advance(beside, &mut weigh);
        } else {
            // Nothing is left that gives anything.
            let Some(token) = exact.take(from) else { break };
            weigh(token);
        }
    }
    Ok((0..).zip(distribution.dense()?).fold((0, -1.0), better).0)
}
