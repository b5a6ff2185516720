//! The correlation matrix memory: `C = Σ k·vᵀ` (paper, section 2).
//!
//! A pair is stored by adding the outer product of its key and value, forgotten by subtracting it, and a value is
//! read by multiplying its key with C. What other pairs add to that is noise: each contributes the product of two
//! nearly orthogonal vectors, so reading a key of length 1 after m pairs of length 1 returns scores with noise
//! σ ≈ √(m / cells). That is why capacity follows the number of cells, and the matrix's shape only as far as codes of few
//! dimensions have lengths and products that spread (docs/experiments/capacity.md: up to a fifth).

use crate::kernels::{Mat, add_scaled, dot, multiply_add, product};
use rayon::prelude::*;

/// A rectangular memory of f32 cells, from keys of one dimension to values of another.
///
/// ```
/// use memo::codes::{CodeKind, TokenCodes};
/// use memo::dense::CorrelationMemory;
/// let codes = TokenCodes::new(CodeKind::Gaussian, 100, 1024, 1)?;
/// let mut memory = CorrelationMemory::new(1024, 1024);
/// memory.add(&codes.code(1), &codes.code(2), 1.0); // 1 → 2
/// memory.add(&codes.code(3), &codes.code(4), 1.0); // 3 → 4
/// assert_eq!(codes.best(&memory.read(&codes.code(1)))[0].0, 2);
/// memory.add(&codes.code(1), &codes.code(2), -1.0); // forget it
/// assert!(codes.count(&memory.read(&codes.code(1)), 2).abs() < 0.1);
/// # Ok::<(), memo::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CorrelationMemory {
    key_dim: usize,
    value_dim: usize,
    /// Row v holds what every key dimension adds to value dimension v: reading a key is one dot product per row.
    cells: Vec<f32>,
    load: f64,
}

impl CorrelationMemory {
    /// An empty memory.
    ///
    /// # Panics
    /// If a dimension is 0 or the cells would not fit in memory.
    pub fn new(key_dim: usize, value_dim: usize) -> Self {
        assert!(key_dim > 0 && value_dim > 0, "a memory of {key_dim} × {value_dim} cells");
        let cells = key_dim.checked_mul(value_dim).expect("a memory that fits");
        CorrelationMemory { key_dim, value_dim, cells: vec![0.0; cells], load: 0.0 }
    }

    /// The dimension of keys.
    pub fn key_dim(&self) -> usize {
        self.key_dim
    }

    /// The dimension of values.
    pub fn value_dim(&self) -> usize {
        self.value_dim
    }

    /// The number of cells: the paper's parameters.
    pub fn parameters(&self) -> usize {
        self.cells.len()
    }

    /// Cell (key dimension, value dimension) of C.
    pub fn cell(&self, key: usize, value: usize) -> f32 {
        self.cells[value * self.key_dim + key]
    }

    /// The cells, value dimension by value dimension: the transpose of the paper's C, row-major.
    pub fn cells(&self) -> &[f32] {
        &self.cells
    }

    /// Adds `weight` times the pair (key, value); a negative weight subtracts it.
    ///
    /// # Panics
    /// If the key or value has the wrong dimension.
    pub fn add(&mut self, key: &[f32], value: &[f32], weight: f32) {
        assert_eq!((key.len(), value.len()), (self.key_dim, self.value_dim));
        self.cells.par_chunks_exact_mut(self.key_dim).with_min_len(16).zip(value).for_each(
            |(row, v)| {
                add_scaled(row, weight * v, key);
            },
        );
        self.load += f64::from(weight);
    }

    /// Adds `weight` times every pair of a batch, given as rows: the paper's `C + weight·K·Vᵀ` as one matrix product.
    ///
    /// # Panics
    /// If keys and values have the wrong dimensions or differ in number.
    pub fn add_batch(&mut self, keys: &[f32], values: &[f32], weight: f32) {
        let pairs = keys.len() / self.key_dim;
        self.add_rows(keys, values, weight);
        self.add_load(f64::from(weight) * pairs as f64);
    }

    /// The same for rows that are not single pairs, whose load the caller adds.
    pub(super) fn add_rows(&mut self, keys: &[f32], values: &[f32], weight: f32) {
        let rows = keys.len() / self.key_dim;
        let values = Mat::new(values, rows, self.value_dim).transposed();
        let keys = Mat::new(keys, rows, self.key_dim);
        multiply_add(&mut self.cells, true, weight, values, keys);
    }

    /// Counts pairs that were added otherwise.
    pub(super) fn add_load(&mut self, load: f64) {
        self.load += load;
    }

    /// Adds every pair of a batch with a weight of its own: `C + K·diag(weights)·Vᵀ`. Pairs of weight 0 cost nothing.
    ///
    /// # Panics
    /// If keys, values and weights differ in number or have the wrong dimensions.
    pub fn add_weighted(&mut self, keys: &[f32], values: &[f32], weights: &[f32]) {
        assert_eq!(keys.len(), weights.len() * self.key_dim);
        assert_eq!(values.len(), weights.len() * self.value_dim);
        let rows = keys.chunks_exact(self.key_dim).zip(values.chunks_exact(self.value_dim));
        let (mut kept_keys, mut kept_values) = (Vec::new(), Vec::new());
        for ((key, value), &weight) in rows.zip(weights).filter(|(_, weight)| **weight != 0.0) {
            kept_keys.extend(key.iter().map(|k| k * weight));
            kept_values.extend_from_slice(value);
        }
        self.add_rows(&kept_keys, &kept_values, 1.0);
        self.add_load(weights.iter().map(|w| f64::from(*w)).sum());
    }

    /// The value that a key returns: `kᵀ·C`.
    ///
    /// # Panics
    /// If the key has the wrong dimension.
    pub fn read(&self, key: &[f32]) -> Vec<f32> {
        assert_eq!(key.len(), self.key_dim);
        self.read_batch(key)
    }

    /// The values that keys return, row by row: `K·C`.
    pub fn read_batch(&self, keys: &[f32]) -> Vec<f32> {
        let rows = keys.len() / self.key_dim;
        let mut values = vec![0.0; rows * self.value_dim];
        let cells = Mat::new(&self.cells, self.value_dim, self.key_dim);
        product(&mut values, false, Mat::new(keys, rows, self.key_dim), cells);
        values
    }

    /// The key that leads to a value: `C·v`. Its product with a key tells how strongly that key returns the value.
    ///
    /// # Panics
    /// If the value has the wrong dimension.
    pub fn read_back(&self, value: &[f32]) -> Vec<f32> {
        assert_eq!(value.len(), self.value_dim);
        let mut key = vec![0.0; self.key_dim];
        let cells = Mat::new(&self.cells, self.value_dim, self.key_dim);
        multiply_add(&mut key, false, 1.0, Mat::new(value, 1, self.value_dim), cells);
        key
    }

    /// How many pairs are stored: the sum of all weights.
    pub fn load(&self) -> f64 {
        self.load
    }

    /// Pairs per cell.
    pub fn density(&self) -> f64 {
        self.load / self.parameters() as f64
    }

    /// The Frobenius norm ‖C‖.
    pub fn norm(&self) -> f64 {
        // Collected first, so that the sum does not depend on how threads share the rows.
        let squares: Vec<f64> =
            self.cells.par_chunks(self.key_dim).map(|r| f64::from(dot(r, r))).collect();
        squares.iter().sum::<f64>().sqrt()
    }

    /// The noise σ expected in the scores that a key of squared length `key_norm2` returns, from the load and the
    /// number of cells: √(key_norm2 · load / cells).
    pub fn noise(&self, key_norm2: f64) -> f64 {
        (key_norm2 * self.density().max(0.0)).sqrt()
    }

    /// Takes other cells, value dimension by value dimension, and another load, in place.
    pub(super) fn fill(&mut self, cells: impl Iterator<Item = f32>, load: f64) {
        self.cells.iter_mut().zip(cells).for_each(|(cell, value)| *cell = value);
        self.load = load;
    }

    /// Puts other cells in place of these, value dimension by value dimension. The load stays what it was.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn set_cells(&mut self, cells: &[f32]) {
        self.cells.copy_from_slice(cells);
    }

    /// The cells, for an update that knows their structure.
    pub(super) fn cells_mut(&mut self) -> &mut [f32] {
        &mut self.cells
    }
}
