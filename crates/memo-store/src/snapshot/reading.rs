//! How a memory is read: what every question may say besides its text.

use crate::error::Error;
use memo::readout::{BACKOFF, Backoff};

/// How a memory is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// How much contexts that are generalised by the lexicon count: from 0, not at all, to 1, as much as was measured best. A model
    /// without a lexicon has none.
    pub generalize: f64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { generalize: 1.0 }
    }
}

impl ReadOptions {
    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<(), Error> {
        if (0.0..=1.0).contains(&self.generalize) {
            return Ok(());
        }
        Err(Error::Option { name: "generalize", expected: "between 0 and 1".into() })
    }

    /// The read-out that does it.
    pub fn readout(&self) -> Backoff {
        Backoff { generalize: self.generalize, ..BACKOFF.clone() }
    }
}
