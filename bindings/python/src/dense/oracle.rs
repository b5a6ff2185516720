//! The oracle: the dense engine without noise.

use super::options::{RecallOption, config};
use super::views::{Matrix, matrix};
use crate::convert::{Tokens, owned, tokens};
use crate::error::Refusal;
use memo::Error;
use memo::dense::DenseConfig;
use memo::oracle::Oracle as Model;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::sync::{PoisonError, RwLock};

/// The same model without vectors: exact counts.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct Oracle {
    model: RwLock<Model>,
    vocab: usize,
    layers: usize,
}

impl Oracle {
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Model) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let read = || read(&self.model.read().unwrap_or_else(PoisonError::into_inner));
        Ok(py.detach(read).map_err(Refusal::from)?)
    }

    /// Changes something for each text; the tokens of all must have been checked.
    fn change(
        &self,
        py: Python<'_>,
        texts: &[Tokens<'_>],
        change: impl Fn(&mut Model, &[u32]) -> Result<(), Error> + Send + Sync,
    ) -> PyResult<()> {
        let texts = owned(texts);
        let change = || {
            let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
            texts.iter().try_for_each(|text| change(&mut model, text))
        };
        Ok(py.detach(change).map_err(Refusal::from)?)
    }
}

#[pymethods]
impl Oracle {
    #[new]
    #[pyo3(signature = (vocab, heads, layers, *, composition="jlt", recall=RecallOption::Name("stored".to_owned()),
        distiller="memory", stride="token", edges="inside"),
        text_signature = "(vocab, heads, layers, *, composition='jlt', recall='stored', distiller='memory', \
                          stride='token', edges='inside')")]
    #[allow(clippy::too_many_arguments)]
    fn new(
        vocab: usize,
        heads: usize,
        layers: usize,
        composition: &str,
        recall: RecallOption,
        distiller: &str,
        stride: &str,
        edges: &str,
    ) -> PyResult<Self> {
        // There are no codes, so that any dimension will do.
        let shape = DenseConfig::new(vocab, heads.max(1), heads, layers);
        let config = config(shape, composition, recall, distiller, stride, edges)?;
        let model = RwLock::new(Model::new(&config).map_err(Refusal::from)?);
        Ok(Oracle { model, vocab, layers })
    }

    fn memorize_all(&self, py: Python<'_>, texts: Vec<Tokens<'_>>) -> PyResult<()> {
        self.change(py, &texts, Model::memorize)
    }

    #[pyo3(signature = (texts, completely=false))]
    fn forget_all(&self, py: Python<'_>, texts: Vec<Tokens<'_>>, completely: bool) -> PyResult<()> {
        let forget = if completely { Model::forget_completely } else { Model::forget };
        self.change(py, &texts, forget)
    }

    fn weights_all<'py>(
        &self,
        py: Python<'py>,
        contexts: Vec<Tokens<'_>>,
    ) -> PyResult<Matrix<'py>> {
        let contexts = owned(&contexts);
        let weights = self.read(py, |model| {
            let each = contexts.iter().map(|context| model.weights(context));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        })?;
        matrix(py, weights, self.vocab)
    }

    /// What one layer, from 1, gives to every token.
    fn layer_weights<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
        layer: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if !(1..=self.layers).contains(&layer) {
            let why = format!("there is no layer {layer}: layers are 1 to {}", self.layers);
            return Err(Refusal::invalid(why).into());
        }
        let context = tokens(&context);
        let found = self.read(py, |model| model.layer_weights(&context, layer))?;
        let mut weights = vec![0.0; self.vocab];
        for (token, weight) in found {
            weights[token as usize] = weight;
        }
        Ok(PyArray1::from_vec(py, weights))
    }
}
