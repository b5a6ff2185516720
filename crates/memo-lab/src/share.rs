//! Proportions that were counted on a sample, with confidence intervals.

use serde::{Deserialize, Serialize};
use std::ops::Add;

/// The number of successes among trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The number of successes.
    pub right: u64,
    /// The number of trials.
    pub tried: u64,
}

impl Share {
    /// Compares answers with the expected ones.
    pub fn of(
        answers: impl IntoIterator<Item = u32>,
        wanted: impl IntoIterator<Item = u32>,
    ) -> Self {
        let pairs = answers.into_iter().zip(wanted);
        pairs.fold(Share::default(), |share, (answer, wanted)| Share {
            right: share.right + u64::from(answer == wanted),
            tried: share.tried + 1,
        })
    }

    /// The share itself; 0 if nothing was tried.
    pub fn value(self) -> f64 {
        self.right as f64 / self.tried.max(1) as f64
    }

    /// The interval that covers the true share with 95 % confidence (Wilson's).
    pub fn interval(self) -> (f64, f64) {
        if self.tried == 0 {
            return (0.0, 1.0);
        }
        let (n, p, z) = (self.tried as f64, self.value(), 1.959_964);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

/// Both samples taken together.
impl Add for Share {
    type Output = Share;

    fn add(self, other: Share) -> Share {
        Share { right: self.right + other.right, tried: self.tried + other.tried }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilson_s() {
        let share = Share::of([1, 2, 3, 4, 5, 6, 7, 8, 9, 0], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0]);
        assert_eq!(share, Share { right: 9, tried: 10 });
        // From the formula worked by hand: 0.596 to 0.982.
        let (low, high) = share.interval();
        assert!((low - 0.5958).abs() < 1e-3 && (high - 0.9821).abs() < 1e-3, "{low} {high}");
        let all = Share { right: 10, tried: 10 } + share;
        assert_eq!(all, Share { right: 19, tried: 20 });
    }
}
