//! The noise that a model's load and dimension predict, and the recall that follows from it.
//!
//! Reading key I after m stored pairs adds to the weight of every token t the sum of m products (I·I')(y·t).
//!
//! With Hadamard codes and fast transforms each factor has variance 1/d, so that σ² = m/d²: they are parts of
//! rotations, which keep the sum of all squared products. Gaussian matrices add to that. W_V maps codes that are
//! themselves only nearly orthogonal, and their errors come on top of its own: 1/h of a code's variance, handed on
//! from layer to layer by a linear composition, while bound codes start afresh. And the pairs whose value is t itself
//! contribute fully, as many as 1/n of all, in addition to what the others let through.

use super::config::Composition;
use super::model::DenseMemo;
use super::single::SingleMemory;
use crate::capacity::Reading;
use crate::codes::CodeKind;

impl DenseMemo {
    /// The noise σ in the weights that a key of length 1 of layer `i` (from 0) reads from the last memory.
    pub(super) fn layer_noise(&self, i: usize) -> f64 {
        let config = self.config();
        let layers = config.layers as f64;
        // Pairs of other layers were made by other transforms: their keys are unrelated to this one's.
        let keys = (self.key_variance(i) + layers - 1.0) / layers;
        let values = value_variance(config.codes, config.dim, config.vocab);
        (self.memories.last.density().max(0.0) * keys * values).sqrt()
    }

    /// The variance of the product of two keys of layer `i` for unrelated windows, times d.
    fn key_variance(&self, i: usize) -> f64 {
        let share = 1.0 / self.config().heads as f64;
        match (self.config().codes, self.config().composition) {
            (CodeKind::Hadamard, _) => 1.0,
            (CodeKind::Gaussian, Composition::Jlt) => {
                (0..=i + 1).map(|k| share.powi(k as i32)).sum()
            }
            (CodeKind::Gaussian, Composition::Bind | Composition::Product) => 1.0 + share,
        }
    }

    /// What reading the model looks like at this load, in units of a full match's weight, if texts repeat little and
    /// recall is computed.
    pub fn reading(&self) -> Reading {
        let (config, layers) = (self.config(), self.config().layers as f64);
        // All layers' keys are read at once: noises add up in squares, signals as they are.
        let squares: f64 = (0..config.layers).map(|i| self.layer_noise(i).powi(2)).sum();
        let keys = (0..config.layers).map(|i| self.key_variance(i)).sum::<f64>() / layers;
        reading(config.codes, config.dim, squares.sqrt() / layers, keys / layers, config.vocab)
    }

    /// The share of memorized positions that the model should still predict, if texts repeat little, are much longer
    /// than a window, and recall is computed: the linear law of the paper's Fig. 3 for this load and dimension. With several layers it is a few
    /// points optimistic; stored recall does worse.
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
        self.reading().recall()
    }
}

impl SingleMemory {
    /// What reading the memory looks like at this load, in units of a full match's weight, if windows share few tokens.
    pub fn reading(&self) -> Reading {
        let config = self.config();
        let keys = match config.codes {
            CodeKind::Gaussian if !self.own_symbols => {
                1.0 + config.head_dim as f64 / config.dim as f64
            }
            _ => 1.0,
        };
        let values = value_variance(config.codes, config.dim, config.vocab);
        let noise = self.memory().noise(keys * values);
        // Keys of another dimension than d vary by 2 over that.
        let lengths = keys * config.dim as f64 / self.memory().key_dim() as f64;
        reading(config.codes, config.dim, noise, lengths, config.vocab)
    }

    /// The share of memorized pairs that the memory should still return: the linear law of the paper's Fig. 3 for this
    /// load and shape.
    pub fn expected_recall(&self) -> f64 {
        self.reading().recall()
    }
}

/// The mean variance of the product of a stored value with a token's code, times d.
fn value_variance(codes: CodeKind, dim: usize, vocab: usize) -> f64 {
    match codes {
        CodeKind::Gaussian => 1.0 + dim as f64 / vocab as f64,
        CodeKind::Hadamard => 1.0,
    }
}

/// A reading with this noise and with what random lengths do: `keys` times 2/d is the variance of a key's squared
/// length; Gaussian values vary by 2/d too, and tokens' codes in their lengths by half of the root of that.
fn reading(codes: CodeKind, dim: usize, noise: f64, keys: f64, vocab: usize) -> Reading {
    let (values, rivals) = match codes {
        CodeKind::Gaussian => (1.0, 0.5),
        CodeKind::Hadamard => (0.0, 0.0),
    };
    let per_length = 2.0 / dim as f64;
    Reading {
        noise,
        spread: (per_length * (values + keys)).sqrt(),
        unevenness: rivals * per_length.sqrt(),
        vocab,
    }
}
