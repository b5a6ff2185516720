//! A distribution over the vocabulary: the memory's prior, scaled, plus what contexts added to a few tokens.

use super::Mixture;
use crate::superposed::prior::Prior;

/// Probabilities of the next token. Cheap to make, whatever the vocabulary.
#[derive(Clone, Debug)]
pub struct Distribution<'m> {
    prior: &'m Prior,
    rest: f64,
    /// In no particular order, each token once.
    added: Vec<(u32, f64)>,
}

impl<'m> Distribution<'m> {
    pub(super) fn new(prior: &'m Prior, mixture: &Mixture) -> Self {
        let added = mixture.touched.iter().map(|&token| (token, mixture.added[token as usize]));
        Distribution { prior, rest: mixture.rest, added: added.collect() }
    }

    /// Returns the probability of one token; 0 outside the vocabulary.
    pub fn probability(&self, token: u32) -> f64 {
        let added = self.added.iter().find(|&&(other, _)| other == token);
        let prior = self.prior.p.get(token as usize).copied().unwrap_or(0.0);
        self.rest * prior + added.map_or(0.0, |&(_, p)| p)
    }

    /// Returns the most probable token; of equals, the one with the lowest number.
    pub fn best(&self) -> u32 {
        let first = (self.prior.best, self.probability(self.prior.best));
        let candidates =
            self.added.iter().map(|&(t, p)| (t, self.rest * self.prior.p[t as usize] + p));
        let better = |a: (u32, f64), b: (u32, f64)| b.1 > a.1 || (b.1 == a.1 && b.0 < a.0);
        candidates.fold(first, |best, next| if better(best, next) { next } else { best }).0
    }

    /// Returns all probabilities, by token.
    pub fn dense(&self) -> Vec<f64> {
        let mut p: Vec<f64> = self.prior.p.iter().map(|p| self.rest * p).collect();
        for &(token, added) in &self.added {
            p[token as usize] += added;
        }
        p
    }

    /// Returns the `k` most probable tokens, best first.
    pub fn top(&self, k: usize) -> Vec<(u32, f64)> {
        let mut p: Vec<(u32, f64)> =
            self.dense().into_iter().enumerate().map(|(t, p)| (t as u32, p)).collect();
        let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if k < p.len() {
            p.select_nth_unstable_by(k, order);
            p.truncate(k);
        }
        p.sort_unstable_by(order);
        p
    }
}
