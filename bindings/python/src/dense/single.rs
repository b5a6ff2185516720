//! The model of a single memory.

use super::options::codes;
use super::predictions;
use super::views::{Matrix, Values, matrix};
use crate::convert::{Tokens, owned, slices, tokens};
use crate::error::Refusal;
use crate::threads;
use memo::Error;
use memo::dense::{SingleConfig, SingleMemory as Model};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::{PoisonError, RwLock};

/// A single memory, from windows of h tokens to the token that follows. Windows come one after the other.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct SingleMemory {
    model: RwLock<Model>,
}

impl SingleMemory {
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Model) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let read = || {
            let model: &Model = &self.model.read().unwrap_or_else(PoisonError::into_inner);
            threads::on(0, || Ok(read(model)?))
        };
        Ok(py.detach(read)?)
    }

    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Model) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let change = || {
            let model: &mut Model = &mut self.model.write().unwrap_or_else(PoisonError::into_inner);
            threads::on(0, || Ok(change(model)?))
        };
        Ok(py.detach(change)?)
    }
}

#[pymethods]
impl SingleMemory {
    #[new]
    #[pyo3(signature = (vocab, dim, heads, *, head_dim=None, codes="gaussian", seed=0, symbols=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        vocab: usize,
        dim: usize,
        heads: usize,
        head_dim: Option<usize>,
        codes: &str,
        seed: u64,
        symbols: Option<PyReadonlyArray2<'_, f32>>,
    ) -> PyResult<Self> {
        let codes = self::codes(codes)?;
        let config = if let Some(head_dim) = head_dim {
            SingleConfig { vocab, heads, head_dim, dim, codes, seed }
        } else {
            let square = SingleConfig::new(vocab, dim, heads).map_err(Refusal::from)?;
            SingleConfig { codes, seed, ..square }
        };
        let symbols: Option<Vec<f32>> =
            symbols.map(|symbols| symbols.as_array().iter().copied().collect());
        let make = || {
            threads::on(0, || {
                Ok(match symbols {
                    Some(symbols) => Model::with_symbols(config, symbols)?,
                    None => Model::new(config)?,
                })
            })
        };
        Ok(SingleMemory { model: RwLock::new(py.detach(make)?) })
    }

    fn memorize_all(&self, py: Python<'_>, texts: Vec<Tokens<'_>>) -> PyResult<()> {
        let texts = owned(&texts);
        self.change(py, |model| model.memorize_all(&slices(&texts)))
    }

    fn forget_all(&self, py: Python<'_>, texts: Vec<Tokens<'_>>) -> PyResult<()> {
        let texts = owned(&texts);
        self.change(py, |model| model.forget_all(&slices(&texts)))
    }

    fn memorize_pairs(
        &self,
        py: Python<'_>,
        windows: Tokens<'_>,
        next: Tokens<'_>,
    ) -> PyResult<()> {
        let (windows, next) = (tokens(&windows), tokens(&next));
        self.change(py, |model| model.memorize_pairs(&windows, &next))
    }

    fn forget_pairs(&self, py: Python<'_>, windows: Tokens<'_>, next: Tokens<'_>) -> PyResult<()> {
        let (windows, next) = (tokens(&windows), tokens(&next));
        self.change(py, |model| model.forget_pairs(&windows, &next))
    }

    fn weights_all<'py>(&self, py: Python<'py>, windows: Tokens<'_>) -> PyResult<Matrix<'py>> {
        let windows = tokens(&windows);
        let (weights, vocab) =
            self.read(py, |model| Ok((model.weights_pairs(&windows)?, model.config().vocab)))?;
        matrix(py, weights, vocab)
    }

    fn predict_all<'py>(
        &self,
        py: Python<'py>,
        windows: Tokens<'_>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>)> {
        let windows = tokens(&windows);
        Ok(predictions(py, self.read(py, |model| model.predict_pairs(&windows))?))
    }

    fn expected_recall(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, |model| Ok(model.expected_recall()))
    }

    /// C: a read-only view (h·d_h, d), rows are keys; it changes when the model does.
    fn memory<'py>(this: &Bound<'py, Self>) -> PyResult<Matrix<'py>> {
        let (cells, width) = this.get().read(this.py(), |model| {
            Ok((Values::held(model.memory().cells()), model.memory().key_dim()))
        })?;
        // Rust has it value by value: the paper's C is its transpose.
        cells.array(this.as_any(), width, true)
    }
}
