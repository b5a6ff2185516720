//! The base: what is expected before the last token is read. It is the prior and, if the memory keeps them, a part of what followed the
//! token before the last one, whatever came between: after "a red …" a noun, also if "red" was never followed by one.
//!
//! It is the shortest context of all, so the last token and longer contexts correct it like any other: where they know what follows they leave
//! it little, and where the last token is new, nearly everything.

use super::backoff::Interpolation;
use crate::sparse::prior::Prior;
use crate::sparse::seek::seek;
use crate::sparse::{Followers, Levels, Memory};
use std::sync::Arc;

/// Probabilities before the last token is read.
pub(super) struct Base<'m> {
    pub(super) prior: &'m Prior,
    skipped: Option<Skipped>,
    /// What the prior is multiplied by.
    pub(super) kept: f64,
}

/// What followed the token before the last one.
struct Skipped {
    followers: Arc<Followers>,
    own: Interpolation,
    /// The part of the probability that goes by it.
    weight: f64,
}

impl<'m> Base<'m> {
    /// Makes the base after contexts that were read; `weight` goes by what followed the token before the last one.
    pub(super) fn new(memory: &'m Memory, levels: &Levels, weight: f64) -> Self {
        let occurred = levels.skipped.as_ref().filter(|followers| followers.totals.total > 0);
        let skipped = occurred.map(|followers| {
            let own = Interpolation::new(&followers.totals);
            Skipped { followers: Arc::clone(followers), own, weight }
        });
        let kept = skipped.as_ref().map_or(1.0, |skipped| 1.0 - skipped.shared_out());
        Base { prior: memory.prior(), skipped, kept }
    }

    /// Returns the probability of a token; 0 outside the vocabulary.
    pub(super) fn p(&self, token: u32) -> f64 {
        self.of_gain(token, self.gain(token))
    }

    /// Returns the same for a token whose count after the token before the last one is worth so much, less what is taken off.
    #[inline(always)]
    pub(super) fn of_gain(&self, token: u32, gain: f64) -> f64 {
        self.share(gain) + self.kept * self.prior.p.get(token as usize).copied().unwrap_or(0.0)
    }

    /// Returns what such a token gets besides the prior.
    #[inline(always)]
    pub(super) fn share(&self, gain: f64) -> f64 {
        self.skipped.as_ref().map_or(0.0, |skipped| skipped.weight * skipped.own.of_gain(gain))
    }

    fn gain(&self, token: u32) -> f64 {
        self.skipped.as_ref().map_or(0.0, |skipped| {
            let Followers { list, gains, .. } = &*skipped.followers;
            let found = list.binary_search_by_key(&token, |&(token, _)| token);
            found.map_or(0.0, |at| gains[at])
        })
    }

    /// Returns a function of tokens, to be asked in their order, that returns their probabilities.
    pub(super) fn in_order(&self) -> impl FnMut(u32) -> f64 {
        let mut from = 0;
        move |token| {
            let gain = self.skipped.as_ref().and_then(|skipped| {
                let Followers { list, gains, .. } = &*skipped.followers;
                seek(list, &mut from, token).map(|at| gains[at])
            });
            self.of_gain(token, gain.unwrap_or(0.0))
        }
    }

    /// Returns the most that a token gets, or more.
    pub(super) fn most(&self) -> f64 {
        let skipped = self.skipped.as_ref();
        let skipped = skipped.map_or(0.0, |Skipped { followers, own, weight }| {
            weight * own.share(followers.most, 0)
        });
        skipped + self.kept * self.prior.p[self.prior.best as usize]
    }

    /// Returns the tokens that followed the token before the last one, in order, with what their counts are worth.
    pub(super) fn followers(&self) -> impl Iterator<Item = (u32, f64)> {
        self.skipped.iter().flat_map(|skipped| skipped.followers.all())
    }

    /// Returns the same tokens, the highest gains first.
    pub(super) fn ranked(&self) -> &[(u32, f64)] {
        self.skipped.as_ref().map_or(&[], |skipped| skipped.followers.ranked())
    }

    /// Returns what goes to all of these tokens, but for some that are in order.
    pub(super) fn shared_out_beside(&self, listed: &[(u32, f64)]) -> f64 {
        let Some(skipped) = &self.skipped else { return 0.0 };
        let Followers { list, gains, .. } = &*skipped.followers;
        let mut from = 0;
        let at = listed.iter().filter_map(|&(token, _)| seek(list, &mut from, token));
        let theirs: f64 = at.map(|at| self.share(gains[at])).sum();
        (skipped.shared_out() - theirs).max(0.0)
    }

    /// Returns what followed the token before the last one.
    pub(super) fn skipped(&self) -> Option<&Followers> {
        self.skipped.as_ref().map(|skipped| &*skipped.followers)
    }
}

impl Skipped {
    fn shared_out(&self) -> f64 {
        self.weight * (1.0 - self.own.rest)
    }
}
