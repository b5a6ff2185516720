//! How a memory is read: what every question may say besides its text.

use crate::error::Error;
use memo::readout::{BACKOFF, Backoff};

/// How a memory is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// How much contexts that are generalised by the lexicon count: from 0, not at all, to 1, as much as was measured best. A model
    /// without a lexicon has none.
    pub generalize: f64,
    /// How much the context memory counts, which expects the names and phrases of the text itself again: from 0, not at all, to 1, as
    /// much as was measured best.
    pub recent: f64,
}

impl Default for ReadOptions {
    /// What the memory knows, and nothing else.
    fn default() -> Self {
        ReadOptions { generalize: 1.0, recent: 0.0 }
    }
}

impl ReadOptions {
    /// How a memory is read to continue a prompt: with what the prompt says.
    pub fn completing() -> Self {
        ReadOptions { recent: 1.0, ..ReadOptions::default() }
    }

    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<(), Error> {
        for (name, value) in [("generalize", self.generalize), ("recent", self.recent)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::Option { name, expected: "between 0 and 1".into() });
            }
        }
        Ok(())
    }

    /// The read-out that does it.
    pub fn readout(&self) -> Backoff {
        Backoff { generalize: self.generalize, recent: self.recent, ..BACKOFF.clone() }
    }
}
