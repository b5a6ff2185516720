//! Read-outs: how the scores of all slots become a probability for every next token.
//!
//! [`Sum`] is the paper's: add up the scores of all layers and take the largest. [`Backoff`] reads slots from the
//! shortest context to the longest, decides softly which successors are real, and lets each context correct the
//! shorter ones; [`score`] works with either.

mod backoff;
mod constants;
mod distribution;
mod followed;
mod score;
mod sum;

pub use self::backoff::{BACKOFF, Backoff, Tables};
pub use self::constants::{Cache, Constants, discounts};
pub use self::distribution::Distribution;
use self::followed::Followed;
pub use self::score::{
    best_all, best_at, map_distributions, map_distributions_all, score, score_at,
};
pub use self::sum::Sum;
use crate::superposed::keys::Blocks;
use crate::superposed::{Decoder, Error, Memory, Scores};

/// A way to turn a memory's evidence into a distribution.
pub trait ReadOut: Send + Sync {
    /// Returns the distribution of the token after a context: every probability is positive, and they sum to 1. It depends on the
    /// memory and the context alone.
    fn distribution<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Distribution<'m>, Error>;

    /// Returns the most probable next token. May stop reading once a long context has settled it.
    fn best(&self, memory: &Memory, context: &[u32], scratch: &mut Scratch) -> Result<u32, Error> {
        Ok(self.distribution(memory, context, scratch)?.best())
    }

    /// Returns how many of the last tokens of a context can matter.
    fn window(&self, memory: &Memory) -> usize {
        memory.settings().reach() + 1
    }
}

/// Buffers of a read-out, to be kept between queries; one a thread.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    decoder: Decoder,
    scores: Scores,
    blocks: Blocks,
    /// Σ s/σ² of the present group, one a token.
    gathered: Vec<f32>,
    /// Σ 1/σ² of the present group, one for each 64 tokens.
    precision: Vec<f32>,
    weights: Vec<f32>,
    biases: Vec<f32>,
    found: Vec<u32>,
    followed: Followed,
    now: Mixture,
    before: Mixture,
}

/// Probabilities as a multiple of the prior plus additions to few tokens.
#[derive(Clone, Debug, Default)]
struct Mixture {
    /// The multiple of the prior.
    rest: f64,
    /// Additions, one a token; all but those of `touched` are 0.
    added: Vec<f64>,
    touched: Vec<u32>,
}

impl Mixture {
    fn reset(&mut self, vocabulary: usize) {
        for &token in &self.touched {
            self.added[token as usize] = 0.0;
        }
        self.touched.clear();
        self.added.resize(vocabulary, 0.0);
        self.rest = 1.0;
    }

    fn copy(&mut self, other: &Mixture) {
        self.reset(other.added.len());
        self.rest = other.rest;
        self.touched.extend_from_slice(&other.touched);
        for &token in &other.touched {
            self.added[token as usize] = other.added[token as usize];
        }
    }

    fn scale(&mut self, factor: f64) {
        self.rest *= factor;
        for &token in &self.touched {
            self.added[token as usize] *= factor;
        }
    }

    fn add(&mut self, token: u32, p: f64) {
        let added = &mut self.added[token as usize];
        if *added == 0.0 && p > 0.0 {
            self.touched.push(token);
        }
        *added += p;
    }
}
