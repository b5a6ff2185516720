//! What every MeMo can do, whichever engine is inside.

use crate::error::Error;

/// The token that a memory returns with the largest weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The token.
    pub token: u32,
    /// Its weight: about the number of stored windows, of every length, that match and are followed by it.
    pub weight: f32,
}

/// A language model that memorizes texts, says what follows a context, and forgets.
///
/// ```
/// use memo::dense::{DenseConfig, DenseMemo};
/// use memo::oracle::Oracle;
/// use memo::LanguageMemory;
///
/// fn recites(model: &mut dyn LanguageMemory, text: &[u32]) -> Result<bool, memo::Error> {
///     model.memorize(text)?;
///     let (next, context) = text.split_last().expect("a text");
///     Ok(model.predict(context)?.token == *next)
/// }
/// let config = DenseConfig::new(50, 512, 2, 2);
/// assert!(recites(&mut Oracle::new(&config)?, &[4, 8, 15, 16, 23, 42])?);
/// assert!(recites(&mut DenseMemo::new(config)?, &[4, 8, 15, 16, 23, 42])?);
/// # Ok::<(), memo::Error>(())
/// ```
pub trait LanguageMemory {
    /// The number of tokens that it knows.
    fn vocab(&self) -> usize;

    /// Memorizes a text.
    fn memorize(&mut self, text: &[u32]) -> Result<(), Error>;

    /// Forgets a text that was memorized.
    fn forget(&mut self, text: &[u32]) -> Result<(), Error>;

    /// The weight of every token as the successor of a context.
    fn weights(&self, context: &[u32]) -> Result<Vec<f32>, Error>;

    /// The token with the largest weight, the lowest id among equals.
    fn predict(&self, context: &[u32]) -> Result<Prediction, Error> {
        let mut best = Prediction { token: 0, weight: f32::NEG_INFINITY };
        for (token, weight) in self.weights(context)?.into_iter().enumerate() {
            if weight > best.weight {
                best = Prediction { token: token as u32, weight };
            }
        }
        Ok(best)
    }
}
