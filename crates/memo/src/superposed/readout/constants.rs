//! The constants of the back-off read-out, all of them, with what each is for.
//!
//! Measured on WikiText-2 and checked on other texts (docs/engine.md). None of them is part of a memory's state.

/// The constants of [`super::Backoff`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Rounds of peeling and transforming where a context has more than one successor.
    pub rounds: usize,
    /// Candidates whose log-odds are below this are dropped.
    pub least_odds: f64,
    /// Log-odds from which the long contexts alone settle the best token.
    pub sure: f64,
    /// A single occurrence joins the group before it if that context was at least this long: two long blocks that
    /// occurred once each before the same position occurred at the same place.
    pub joint: u32,
    /// The prompt cache, if any: tokens of the prompt are expected again.
    pub cache: Option<Cache>,
}

/// The prompt cache, which has no state but the prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// Its weight in the prior.
    pub share: f64,
    /// How many of the last tokens it looks at.
    pub window: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Cache { share: 0.3, window: 400 }
    }
}

impl Constants {
    /// The values that were measured best.
    pub const DEFAULT: Constants =
        Constants { rounds: 2, least_odds: -6.0, sure: 7.0, joint: 8, cache: None };
}

impl Default for Constants {
    fn default() -> Self {
        Constants::DEFAULT
    }
}

/// Returns the Kneser–Ney discounts of a slot: what is taken off a successor seen once, twice, and more often, to be given to
/// those never seen. The longer a context, the less is left to chance: from 8 tokens on, recall matters and little
/// is taken off.
pub fn discounts(skip: u32, len: u32) -> [f64; 3] {
    match (skip, len) {
        (0, 1) => [0.84, 1.27, 1.94],
        (0, 2) => [0.91, 1.65, 2.6],
        (0, 3..=5) => [0.95, 1.45, 2.45],
        (0, 6..=11) => [0.35, 0.5, 0.6],
        (0, _) => [0.1, 0.15, 0.2],
        (_, 1..=5) => [0.97, 1.5, 2.5],
        (_, 6..=11) => [0.6, 0.7, 0.8],
        (_, _) => [0.15, 0.2, 0.3],
    }
}
