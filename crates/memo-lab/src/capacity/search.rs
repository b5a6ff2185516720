//! The paper's stopping rule, and a search for the batch where it stops that does not try every batch.
//!
//! Batches of pairs are stored one after the other until the mean recall of the first and the current batch is no longer
//! above 0.9. Recall falls as the memory fills, so the last good batch can be found by halving an interval: go where
//! theory expects it, store or take away batches until one number is known to be good and a larger one not.

use crate::{Error, Share};

/// Pairs in a batch.
pub(super) const BATCH: usize = 1000;

/// The recall that must be exceeded.
const ENOUGH: f64 = 0.9;

/// A memory that can be filled and emptied batch by batch.
pub(super) trait Trial {
    /// Stores or takes away batches until just the first `batches` are stored.
    fn fill(&mut self, batches: usize) -> Result<(), Error>;

    /// Recall of the first batch and of the one that was stored last.
    fn recall(&self) -> Result<Share, Error>;
}

/// Where the rule stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Batches stored when recall was first not enough.
    pub(super) batches: usize,
    /// Recall there.
    pub(super) recall: Share,
}

/// Finds the first number of batches whose recall is not enough, to one batch in `1/tolerance` of them.
pub(super) fn search(trial: &mut impl Trial, guess: f64, tolerance: f64) -> Result<Stop, Error> {
    let mut good = 0;
    let mut bad: Option<Stop> = None;
    // A little below the guess, so that memories that shrink are the exception.
    let mut next = ((guess * 0.95) as usize).max(1);
    loop {
        trial.fill(next)?;
        let recall = trial.recall()?;
        if recall.value() > ENOUGH {
            good = next;
        } else {
            bad = Some(Stop { batches: next, recall });
        }
        next = match bad {
            None => (good + 1).max((good as f64 * 1.12) as usize),
            Some(stop) => {
                let apart = stop.batches - good;
                if apart <= 1 || (apart as f64) < tolerance * stop.batches as f64 {
                    return Ok(stop);
                }
                // While nothing good is known, not far down: half of a memory is costly to take away.
                let low = if good == 0 { stop.batches * 3 / 4 } else { good };
                usize::midpoint(low, stop.batches).clamp(good + 1, stop.batches - 1)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory whose recall is known.
    struct Known<'a> {
        recalls: &'a [u64],
        stored: usize,
        tried: std::cell::Cell<usize>,
    }

    impl Trial for Known<'_> {
        fn fill(&mut self, batches: usize) -> Result<(), Error> {
            self.stored = batches;
            Ok(())
        }

        fn recall(&self) -> Result<Share, Error> {
            self.tried.set(self.tried.get() + 1);
            let right = self.recalls.get(self.stored - 1).copied().unwrap_or(0);
            Ok(Share { right, tried: 1000 })
        }
    }

    #[test]
    fn halving_finds_the_batch_that_trying_every_one_finds() {
        for stop in [1usize, 2, 3, 7, 50, 333] {
            let recalls: Vec<u64> = (1..=400).map(|b| if b < stop { 901 } else { 900 }).collect();
            let every = recalls.iter().position(|recall| *recall <= 900).unwrap() + 1;
            for guess in [0.3, 5.0, 40.0, 300.0, 390.0] {
                let tried = std::cell::Cell::new(0);
                let mut known = Known { recalls: &recalls, stored: 0, tried };
                let found = search(&mut known, guess, 0.0).unwrap();
                assert_eq!(found.batches, every, "guess {guess}");
                assert!(
                    known.tried.get() <= 60,
                    "{} trials from {guess} to {stop}",
                    known.tried.get()
                );
            }
        }
    }
}
