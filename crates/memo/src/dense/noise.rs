//! The noise that a model's load and dimension predict, and the recall that follows from it.
//!
//! Reading key I after m stored pairs adds to every weight the sum of m products (I·I')(y·t). A value's product with
//! another token's code has variance 1/d. A key's product with another key has 1/d from W_V, and more where the codes
//! that W_V maps are themselves only nearly orthogonal, with the same error in every pair of equal tokens: 1/h of a
//! code's own variance. A linear composition hands that on, layer after layer; bound codes start afresh.

use super::config::Composition;
use super::model::DenseMemo;
use super::single::SingleMemory;
use crate::capacity;

impl DenseMemo {
    /// The noise σ in the weights that a key of length 1 of layer `i` (from 0) reads from the last memory.
    pub(super) fn layer_noise(&self, i: usize) -> f64 {
        let layers = self.config().layers as f64;
        // Pairs of other layers were made by other transforms: their keys are unrelated to this one's.
        let crosstalk = (self.key_variance(i) + layers - 1.0) / layers;
        (self.memories.last.density().max(0.0) * crosstalk).sqrt()
    }

    /// The variance of the product of two keys of layer `i` for unrelated windows, times d.
    fn key_variance(&self, i: usize) -> f64 {
        let share = 1.0 / self.config().heads as f64;
        match self.config().composition {
            Composition::Jlt => (0..=i + 1).map(|k| share.powi(k as i32)).sum(),
            Composition::Bind => 1.0 + share,
        }
    }

    /// The share of memorized positions that the model should still predict, if texts repeat little and recall is
    /// computed: the linear law of the paper's Fig. 3 for this load and dimension. Stored recall does worse.
    ///
    /// ```
    /// use memo::dense::{DenseConfig, DenseMemo};
    /// let mut memo = DenseMemo::new(DenseConfig::authors(1000, 64, 2, 1))?;
    /// assert_eq!(memo.expected_recall(), 1.0);
    /// memo.memorize(&(0..1000).collect::<Vec<u32>>())?; // far too much for 64 × 64 cells
    /// assert!(memo.expected_recall() < 0.1);
    /// # Ok::<(), memo::Error>(())
    /// ```
    pub fn expected_recall(&self) -> f64 {
        let (layers, d) = (self.config().layers, self.config().dim as f64);
        // All layers' keys are read at once: noises add up in squares, signals as they are.
        let squares: f64 = (0..layers).map(|i| self.layer_noise(i).powi(2)).sum();
        let noise = squares.sqrt() / layers as f64;
        let mean = (0..layers).map(|i| self.key_variance(i)).sum::<f64>() / layers as f64;
        // Squared lengths of values and of keys vary by 2/d each, the latter averaged over the layers.
        let spread = (2.0 / d * (1.0 + mean / layers as f64)).sqrt();
        capacity::recall_with(noise, spread, self.config().vocab)
    }
}

impl SingleMemory {
    /// The share of memorized pairs that the memory should still return, if windows share few tokens: the linear law of
    /// the paper's Fig. 3 for this load and shape.
    pub fn expected_recall(&self) -> f64 {
        let config = self.config();
        let (d, key_dim) = (config.dim as f64, self.memory().key_dim() as f64);
        // As above: W_V's own variance, and that of the codes that it maps.
        let crosstalk = 1.0 + config.head_dim as f64 / d;
        let noise = self.memory().noise(crosstalk);
        let spread = (2.0 / d + 2.0 / key_dim * crosstalk).sqrt();
        capacity::recall_with(noise, spread, config.vocab)
    }
}
