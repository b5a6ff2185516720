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
    /// What generalised contexts say counts so much where the longest exact context that occurred has no tokens, one, two, and so on.
    pub general: [f64; 7],
    /// The same where a generalised context has more units without a class than the longest exact one has tokens: it is the
    /// more particular of the two.
    pub particular: f64,
}

impl Constants {
    /// The values that were measured best.
    pub const DEFAULT: Constants = Constants {
        quote: -1.0,
        window: 16,
        slip: 0.05,
        gain: [2.0, 2.0],
        words: [0.05, 0.5],
        general: [0.45, 0.54, 0.49, 0.41, 0.34, 0.23, 0.16],
        particular: 0.9,
    };

    /// What generalised contexts count beside exact ones.
    pub(super) fn general(&self, levels: &Levels) -> f64 {
        let exact = levels.tokens().last().map_or(usize::from(levels.first.total > 0), |l| l.span);
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
