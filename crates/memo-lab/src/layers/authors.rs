//! The authors' own curves.

use super::Curve;
use crate::{Error, columns};
use std::collections::HashMap;
use std::path::Path;

/// Recall by d, layers, decoys and iteration.
#[derive(Default)]
pub(super) struct Authors(HashMap<[usize; 4], f64>);

impl Authors {
    /// Reads a CSV with the columns dim, layers, decoys, iteration, initial and current. Runs of the same setting are
    /// averaged, as are the first and the current batch.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let names = ["dim", "layers", "decoys", "iteration", "initial", "current"];
        let mut sums: HashMap<[usize; 4], (f64, f64)> = HashMap::new();
        for [dim, layers, decoys, iteration, initial, current] in columns::read(path, names)? {
            let key = [dim, layers, decoys, iteration].map(|x| x as usize);
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + f64::midpoint(initial, current), sum.1 + 1.0);
        }
        Ok(Authors(sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()))
    }

    /// Their recall where they have one, iterations counted from 0.
    pub(super) fn recall(&self, curve: &Curve, iteration: usize) -> Option<f64> {
        self.0.get(&[curve.dim, curve.layers, curve.decoys, iteration]).copied()
    }
}
