//! The read-out: how what slots remember becomes a probability for every next token.
//!
//! [`Backoff`] goes from the shortest context to the longest and lets each correct the shorter ones; then it weighs whether the
//! text so far is being quoted. [`BACKOFF`] is the one to use. [`score`] and [`Generator`] work with it; [`Breakdown`] says what each
//! context added, and [`Mixture`] puts it beside a neural model.

mod ahead;
mod align;
mod backoff;
mod base;
mod best;
mod breakdown;
mod confidence;
mod constants;
mod distribution;
mod draw;
mod general;
mod generate;
mod matching;
mod mixture;
mod penalty;
mod recent;
mod repair;
mod respell;
mod score;
mod trust;
mod weight;

pub use self::backoff::{BACKOFF, Backoff, Scratch};
pub use self::breakdown::{Breakdown, BreakdownShares, ContextReading};
pub use self::confidence::Confidence;
pub use self::constants::{Constants, Recency};
pub use self::distribution::Distribution;
pub use self::generate::{Choice, Generation, Generator, Sampling};
pub use self::matching::Matching;
pub use self::mixture::{Mixture, ModelTop, NotATop, Shares, Vocabularies};
pub use self::repair::Repair;
pub use self::score::{
    best_all, best_at, map_confidences, map_distributions, map_distributions_all, score, score_at,
};
pub use self::weight::{Auto, Known, Weight};
