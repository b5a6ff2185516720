//! The constants of the back-off read-out, all of them, with what each is for.
//!
//! Measured on three texts and checked on others (docs/engine.md). None of them is part of a memory's state. They say what is a quote. How
//! counts of running text are smoothed follows from the counts of the memory; its few bounds stand in `sparse::smoothing`.

use crate::sparse::Levels;

/// The constants of [`super::Backoff`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Log-odds, before anything is read, that a text is a quote of what is memorized.
    pub quote: f64,
    /// How many of the last tokens tell whether a text is a quote.
    pub window: usize,
    /// What a quote leaves to chance.
    pub slip: f64,
    /// The most that one token can speak for a quote, and against it, in log-odds.
    pub gain: [f64; 2],
    /// How probable a quote is where contexts of two words, or of more, see further back than any of tokens.
    pub words: [f64; 2],
    /// How much of what is expected before the last token is read goes by what followed the token before it.
    pub skip: f64,
    /// What generalised contexts say counts so much where the longest exact context that occurred has no tokens, one, two, and so on.
    pub general: [f64; 7],
    /// The same where a generalised context has more units without a class than the longest exact one has tokens: it is the
    /// more particular of the two.
    pub particular: f64,
    /// What the context memory expects, and how much that counts.
    pub recent: Recency,
}

/// The constants of the context memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recency {
    /// How many of the last tokens it has.
    pub window: usize,
    /// Half of what it expects before any context goes by this many of them, the nearest; half by all.
    pub near: usize,
    /// What is taken off the count of a successor.
    pub off: f64,
    /// Log-odds that it knows better than the memory where none of the last tokens stands in it with a successor, one, two, or three.
    pub matched: [f64; 4],
    /// What the log-odds add that a rare token, which the memory would not expect even once among so many, has stood there before: names
    /// that come back will go on to.
    pub again: f64,
    /// What each token of the longest exact context in the memory adds, up to `most_exact`.
    pub exact: f64,
    /// See `exact`.
    pub most_exact: usize,
}

impl Constants {
    /// The values that were measured best.
    pub const DEFAULT: Constants = Constants {
        quote: -1.0,
        window: 16,
        slip: 0.05,
        gain: [2.0, 2.0],
        words: [0.05, 0.5],
        skip: 0.2,
        general: [0.45, 0.54, 0.49, 0.41, 0.34, 0.23, 0.16],
        particular: 0.9,
        recent: Recency {
            window: 2000,
            near: 200,
            off: 0.7,
            matched: [-2.07, -1.2, -0.57, 0.01],
            again: 0.75,
            exact: -0.22,
            most_exact: 12,
        },
    };

    /// What generalised contexts count beside exact ones.
    pub(super) fn general(&self, levels: &Levels) -> f64 {
        let exact = levels.exact();
        if levels.general.iter().any(|general| general.literal > exact) {
            return self.particular;
        }
        self.general[exact.min(self.general.len() - 1)]
    }
}

impl Default for Constants {
    fn default() -> Self {
        Constants::DEFAULT
    }
}
