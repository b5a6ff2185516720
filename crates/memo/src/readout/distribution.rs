//! A distribution over the vocabulary, kept as what each part of the memory adds to it: cheap to make, whatever the vocabulary.

use super::backoff::Interpolation;
use super::base::Base;
use super::best::best;
use super::general::General;
use super::recent::Recent;
use crate::sparse::prior::Prior;
use crate::sparse::seek::seek;
use crate::sparse::{Error, Followers, Level, Levels, Memory};
use std::borrow::Cow;
use std::sync::Arc;

/// Returns how often a token followed a context that may be missing.
pub(super) fn followed(level: Option<&Level>, token: u32) -> i64 {
    level.map_or(0, |level| level.count(token))
}

/// Returns the more probable of two tokens; of equals, the one with the lower number.
pub(super) fn better(a: (u32, f64), b: (u32, f64)) -> (u32, f64) {
    if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a }
}

/// Probabilities of the next token.
pub struct Distribution<'m> {
    memory: &'m Memory,
    /// The last token, what followed it, and what that gets.
    before: u32,
    followers: Arc<Followers>,
    first: Interpolation,
    /// What is expected before that.
    base: Base<'m>,
    /// What is left to the last token's successors and the base.
    rest: f64,
    /// Tokens that followed longer contexts, in order, with all that they get of exact contexts.
    listed: Vec<(u32, f64)>,
    /// What generalised contexts say, by level of the lexicon.
    general: Vec<General<'m>>,
    /// What the text itself says.
    recent: Option<Recent>,
}

impl<'m> Distribution<'m> {
    /// Makes the distribution after contexts that were read; `quote` goes to what followed the longest of them, and of the rest a part
    /// to what generalised contexts say, and to what the text itself does.
    pub(super) fn new(
        memory: &'m Memory,
        levels: &Levels,
        quote: f64,
        generalized: f64,
        recent: Option<Recent>,
        base: Base<'m>,
    ) -> Result<Self, Error> {
        let first = Interpolation::new(&levels.first);
        let after_last =
            |base: f64, count: i64, longer: i64| first.share(count, longer) + first.rest * base;
        let words = levels.further_words();
        let mut listed: Vec<(u32, f64)> = Vec::new();
        if let Some(level) = levels.tokens().first() {
            let mut base = base.in_order();
            let with_pairs = level.list.iter().zip(&level.pairs);
            listed.extend(
                with_pairs.map(|(&(token, longer), &count)| {
                    (token, after_last(base(token), count, longer))
                }),
            );
        }
        if let Some(level) = words.first() {
            let known = listed.len();
            for &(token, _) in &level.list {
                if listed[..known].binary_search_by_key(&token, |&(token, _)| token).is_err() {
                    let count = memory.followed(levels.before, token)?;
                    listed.push((token, after_last(base.p(token), count, 0)));
                }
            }
            listed.sort_unstable_by_key(|&(token, _)| token);
        }
        // What all have is multiplied once, at the end.
        let mut rest = 1.0;
        let mut add = |list: &[(u32, i64)], rest: f64, share: &mut dyn FnMut(u32, i64) -> f64| {
            let mut from = 0;
            for &(token, count) in list {
                if let Some(at) = seek(&listed, &mut from, token) {
                    listed[at].1 += share(token, count) / rest;
                }
            }
        };
        for chain in [levels.tokens(), words] {
            for (i, level) in chain.iter().enumerate() {
                let own = Interpolation::new(&level.totals);
                let next: &[(u32, i64)] = chain.get(i + 1).map_or(&[], |next| &next.list);
                rest *= own.rest;
                let mut from = 0;
                add(&level.list, rest, &mut |token, count| {
                    let longer = seek(next, &mut from, token).map_or(0, |at| next[at].1);
                    own.share(count, longer)
                });
            }
        }
        let known = levels.general.iter().filter(|general| !general.levels().is_empty()).count();
        let quote = if levels.longest().is_some() { quote } else { 0.0 };
        let elsewhere = 1.0 - recent.as_ref().map_or(0.0, |recent| recent.weight);
        rest *= (1.0 - generalized) * elsewhere;
        let mut general = Vec::new();
        for (i, read) in levels.general.iter().enumerate().filter(|_| generalized > 0.0) {
            if !read.levels().is_empty() {
                let weight = elsewhere * (1.0 - quote) * generalized / known as f64;
                general.push(General::new(memory, i, read, weight)?);
            }
        }
        if let Some(level) = levels.longest() {
            rest *= 1.0 - quote;
            let each = quote / level.totals.total as f64;
            add(&level.list, rest, &mut |_, count| count as f64 * each);
        }
        for (_, p) in &mut listed {
            *p *= rest;
        }
        let recent = recent.map(|recent| recent.beside(quote));
        let (before, followers) = (levels.before, Arc::clone(&levels.followers));
        Ok(Distribution { memory, before, followers, first, base, rest, listed, general, recent })
    }

    /// What a token gets in all, of which `exact` from exact contexts.
    fn whole(&self, token: u32, exact: f64) -> f64 {
        let p = self.general.iter().fold(exact, |p, general| p + general.share(token));
        self.recent.as_ref().map_or(p, |recent| p + recent.share(token))
    }

    /// What generalised contexts share out, and what the text itself does.
    pub(super) fn beside(&self) -> (f64, f64) {
        let general = self.general.iter().fold(0.0, |sum, general| sum + general.weight());
        (general, self.recent.as_ref().map_or(0.0, |recent| recent.weight))
    }

    /// What a token gets of both.
    pub(super) fn beside_of(&self, token: u32) -> (f64, f64) {
        let general = self.general.iter().fold(0.0, |sum, general| sum + general.share(token));
        (general, self.recent.as_ref().map_or(0.0, |recent| recent.share(token)))
    }

    /// What each token of the text itself gets of that, in order.
    fn recent(&self) -> Vec<(u32, f64)> {
        self.recent.as_ref().map_or_else(Vec::new, Recent::all)
    }

    /// The probability of a token that followed the last one so often, and no longer context.
    fn unlisted(&self, token: u32, count: i64) -> f64 {
        self.of_follower(self.base.p(token), self.first.share(count, 0))
    }

    /// The tokens that followed the last one, in order, with what each gets for that.
    pub(super) fn followers(&self) -> impl Iterator<Item = (u32, f64)> {
        self.followers.all().map(|(token, gain)| (token, self.first.of_gain(gain)))
    }

    /// The probability of a token that had so much before the last token was read, gets so much for having followed that, and
    /// followed no longer context.
    fn of_follower(&self, base: f64, gets: f64) -> f64 {
        self.rest * (gets + self.first.rest * base)
    }

    /// What the most frequent successor of the last token would get with the most that is expected before it, of what is left to these.
    fn highest(&self) -> f64 {
        self.first.share(self.followers.most, 0) + self.first.rest * self.base.most()
    }

    /// The tokens that followed the last token or the one before it, in order, with the probability of one that followed no longer context.
    fn singles(&self) -> impl Iterator<Item = (u32, f64)> {
        let (mut last, mut skipped) =
            (self.followers().peekable(), self.base.followers().peekable());
        std::iter::from_fn(move || {
            let tokens = [last.peek(), skipped.peek()].map(|next| next.map(|&(token, _)| token));
            let token = tokens.into_iter().flatten().min()?;
            let gets = last.next_if(|next| next.0 == token).map_or(0.0, |next| next.1);
            let gain = skipped.next_if(|next| next.0 == token).map_or(0.0, |next| next.1);
            Some((token, self.of_follower(self.base.of_gain(token, gain), gets)))
        })
    }

    /// Returns the probability of one token; 0 outside the vocabulary.
    pub fn probability(&self, token: u32) -> Result<f64, Error> {
        let exact = match self.listed.binary_search_by_key(&token, |&(token, _)| token) {
            Ok(i) => self.listed[i].1,
            Err(_) => self.unlisted(token, self.memory.followed(self.before, token)?),
        };
        Ok(self.whole(token, exact))
    }

    /// Returns the most probable token; of equals, the one with the lowest number.
    pub fn best(&self) -> Result<u32, Error> {
        if !self.general.is_empty() {
            return best(self);
        }
        let recent = |token: u32| self.recent.as_ref().map_or(0.0, |recent| recent.share(token));
        let listed = self.listed.iter().map(|&(token, exact)| (token, exact + recent(token)));
        let mut best = listed.fold((0, -1.0), better);
        // No other token can have more than the most frequent successor with the most that is expected before.
        if best.1 > self.rest * self.highest() + self.recent.as_ref().map_or(0.0, Recent::most) {
            return Ok(best.0);
        }
        let mut consider = |token: u32, p: f64| {
            let next = (token, p + recent(token));
            let listed = || self.listed.binary_search_by_key(&token, |&(token, _)| token).is_ok();
            if better(best, next) == next && !listed() {
                best = next;
            }
            best.1
        };
        let mut base = self.base.in_order();
        for (token, gets) in self.followers() {
            consider(token, self.of_follower(base(token), gets));
        }
        let recent = self.recent().into_iter().map(|(token, _)| token);
        let mut highest = -1.0;
        for token in recent.chain([self.base.prior.best]) {
            let count = self.memory.followed(self.before, token)?;
            highest = consider(token, self.unlisted(token, count));
        }
        // What followed the token before the last one alone, from the highest gain on, until none can have more.
        for &(token, gain) in self.base.ranked() {
            let most = self.base.of_gain(self.base.prior.best, gain);
            if highest > self.of_follower(most, 0.0) {
                break;
            }
            highest = consider(token, self.weigh_exact(token));
        }
        Ok(best.0)
    }

    /// Returns the probability of a token from what was read alone.
    pub(super) fn weigh(&self, token: u32) -> f64 {
        self.whole(token, self.weigh_exact(token))
    }

    /// Returns what a token gets of exact contexts from what was read alone.
    fn weigh_exact(&self, token: u32) -> f64 {
        let listed = self.listed.binary_search_by_key(&token, |&(token, _)| token);
        listed.map_or_else(
            |_| {
                let Followers { list, gains, .. } = &*self.followers;
                let found = list.binary_search_by_key(&token, |&(token, _)| token);
                let gets = found.map_or(0.0, |at| self.first.of_gain(gains[at]));
                self.of_follower(self.base.p(token), gets)
            },
            |i| self.listed[i].1,
        )
    }

    /// What generalised contexts say, by level of the lexicon.
    pub(super) fn general(&self) -> &[General<'m>] {
        &self.general
    }

    /// Tokens that followed longer contexts, with what they get of exact ones.
    pub(super) fn longer(&self) -> &[(u32, f64)] {
        &self.listed
    }

    /// The last token's successors by what their counts are worth, the highest first.
    pub(super) fn ranked_followers(&self) -> &[(u32, f64)] {
        self.followers.ranked()
    }

    /// The successors of the token before the last one, likewise.
    pub(super) fn ranked_skipped(&self) -> &[(u32, f64)] {
        self.base.ranked()
    }

    /// The token that is the nth by what tokens get before any context. Their order is made only if more than the first is asked for.
    pub(super) fn nth_prior(&self, n: usize) -> Option<u32> {
        let prior = self.base.prior;
        if n == 0 { Some(prior.best) } else { prior.order().get(n).copied() }
    }

    /// What a token gets that followed no longer context: for a count after the last one that is worth so much, for one after the
    /// token before it, and with the prior of a token.
    pub(super) fn of_last(&self, gain: f64, skipped: f64, prior: Option<u32>) -> [f64; 3] {
        let prior = prior.map_or(0.0, |token| self.base.of_gain(token, 0.0));
        let before = [self.base.share(skipped), prior].map(|p| self.rest * self.first.rest * p);
        [self.rest * self.first.of_gain(gain), before[0], before[1]]
    }

    /// The most that a token gets of the text itself.
    pub(super) fn most_recent(&self) -> f64 {
        self.recent.as_ref().map_or(0.0, Recent::most)
    }

    /// The number of tokens.
    pub(super) fn vocabulary(&self) -> usize {
        self.memory.settings().vocabulary as usize
    }

    /// Returns all probabilities, by token.
    pub fn dense(&self) -> Result<Vec<f64>, Error> {
        // In the same order as one token alone, so that all ways to ask give the same bits. Lists are gone through one by one, as there
        // is room for all tokens: side by side they take several times as long.
        let mut p: Vec<f64> = self.base.prior.p.iter().map(|p| self.base.kept * p).collect();
        for (token, gain) in self.base.followers() {
            if let Some(p) = p.get_mut(token as usize) {
                *p = self.base.of_gain(token, gain);
            }
        }
        let single = |(token, gets): (u32, f64)| {
            p.get(token as usize).map(|&base| (token, self.of_follower(base, gets)))
        };
        let singles: Vec<(u32, f64)> = self.followers().filter_map(single).collect();
        p.iter_mut().for_each(|p| *p = self.of_follower(*p, 0.0));
        for (token, single) in singles {
            p[token as usize] = single;
        }
        for &(token, listed) in &self.listed {
            p[token as usize] = listed;
        }
        self.general.iter().for_each(|general| general.add(&mut p));
        self.recent().into_iter().for_each(|(token, more)| p[token as usize] += more);
        Ok(p)
    }

    /// Returns the tokens that followed longer contexts, or stand in the text itself, with their probabilities, in order.
    fn listed(&self) -> Result<Cow<'_, [(u32, f64)]>, Error> {
        let recent = self.recent();
        if recent.is_empty() {
            return Ok(Cow::Borrowed(&*self.listed));
        }
        let own = |token: u32| self.listed.binary_search_by_key(&token, |&(token, _)| token);
        let mut listed = self.listed.clone();
        for (token, more) in recent {
            if let Ok(at) = own(token) {
                listed[at].1 += more;
            } else {
                let count = self.memory.followed(self.before, token)?;
                listed.push((token, self.unlisted(token, count) + more));
            }
        }
        // Two runs that are in order.
        listed.sort_by_key(|&(token, _)| token);
        Ok(Cow::Owned(listed))
    }

    /// Returns the tokens that followed the last one or the one before it, and are none of those `listed`, with their probabilities,
    /// in order.
    fn followed(&self, listed: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut from = 0;
        self.singles().filter(|&(token, _)| seek(listed, &mut from, token).is_none()).collect()
    }

    /// Returns all probabilities in three parts: tokens that followed longer contexts or stand in the text itself; others that
    /// followed the last token or the one before it; and what the prior of any other is multiplied by. With generalised contexts, all tokens have a probability of their own.
    pub(super) fn parts(&self) -> Result<Parts<'_>, Error> {
        let (listed, followed, rest) = if self.general.is_empty() {
            let listed = self.listed()?;
            let followed = self.followed(&listed);
            (listed, followed, [self.rest, self.first.rest, self.base.kept])
        } else {
            (Cow::Owned((0..).zip(self.dense()?).collect()), Vec::new(), [0.0; 3])
        };
        Ok(Parts { prior: self.base.prior, listed, followed, rest })
    }

    /// Returns the same without going through what followed single tokens; `None` where tokens get something of generalised
    /// contexts or of the text itself.
    pub(super) fn split(&self) -> Option<Split<'_>> {
        if !self.general.is_empty() || self.recent.is_some() {
            return None;
        }
        let Base { prior, kept, .. } = self.base;
        let listed = self.listed.iter().fold(0.0, |sum, &(token, _)| sum + prior.p[token as usize]);
        let left = self.rest * self.first.rest;
        Some(Split {
            prior,
            listed: &self.listed,
            followers: &self.followers,
            skipped: self.base.skipped(),
            by_prior: left * kept * (1.0 - listed).max(0.0),
            by_skipped: left * self.base.shared_out_beside(&self.listed),
            most: self.rest * self.highest(),
        })
    }

    /// Returns the `k` most probable tokens, best first; of equals, the one with the lowest number.
    pub fn top(&self, k: usize) -> Result<Vec<(u32, f64)>, Error> {
        Ok(self.parts()?.top(k))
    }
}

/// A distribution whose tokens that followed single ones, and no longer context, are not gone through.
pub(super) struct Split<'d> {
    pub(super) prior: &'d Prior,
    /// Tokens that followed longer contexts, in order, with their probabilities.
    pub(super) listed: &'d [(u32, f64)],
    /// What followed the last token, and the one before it.
    pub(super) followers: &'d Followers,
    pub(super) skipped: Option<&'d Followers>,
    /// What all others get by the prior together, and by what followed the token before the last one.
    pub(super) by_prior: f64,
    pub(super) by_skipped: f64,
    /// The most that one of them gets, or more.
    pub(super) most: f64,
}

/// The parts of a distribution.
pub(super) struct Parts<'d> {
    pub(super) prior: &'d Prior,
    pub(super) listed: Cow<'d, [(u32, f64)]>,
    pub(super) followed: Vec<(u32, f64)>,
    /// What the prior of any other token is multiplied by, from the last to the first.
    pub(super) rest: [f64; 3],
}

impl Parts<'_> {
    /// Returns the highest probability of the prior.
    pub(super) fn highest(&self) -> f64 {
        self.prior.p[self.prior.best as usize]
    }

    /// Returns what the prior of a token without a probability of its own is multiplied by.
    pub(super) fn factor(&self) -> f64 {
        self.rest[0] * self.rest[1] * self.rest[2]
    }

    /// Returns the `k` most probable tokens, best first; of equals, the one with the lowest number.
    pub(super) fn top(&self, k: usize) -> Vec<(u32, f64)> {
        // Others are in the order of their prior.
        let others = self.prior.order().iter().filter(|&&token| !self.has(token)).take(k);
        let others = others.map(|&token| {
            // In the same order as one token alone, so that all ways to ask give the same bits.
            let base = self.rest[2] * self.prior.p[token as usize];
            (token, self.rest[0] * (self.rest[1] * base))
        });
        let mut p: Vec<(u32, f64)> =
            self.listed.iter().chain(&self.followed).copied().chain(others).collect();
        let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if k < p.len() {
            p.select_nth_unstable_by(k, order);
            p.truncate(k);
        }
        p.sort_unstable_by(order);
        p
    }

    /// Returns whether a token has a probability of its own.
    pub(super) fn has(&self, token: u32) -> bool {
        let among =
            |list: &[(u32, f64)]| list.binary_search_by_key(&token, |&(token, _)| token).is_ok();
        among(&self.listed) || among(&self.followed)
    }
}
