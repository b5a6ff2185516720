//! The paper's model, with its matrices open to be looked at.
//!
//! Everything takes many texts or contexts at a time; Python has the forms for one. A model is behind a lock, so that several
//! may read it at once. It is taken without the GIL, and not on the threads that do the work: whoever holds it may need them.

mod file;
mod options;
mod oracle;
mod single;
mod views;

pub(crate) use oracle::Oracle;
pub(crate) use single::SingleMemory;

use crate::convert::{Tokens, json, owned, slices, tokens};
use crate::error::Refusal;
use crate::threads;
use crate::work::{Watch, watched};
use memo::Prediction;
use memo::dense::{Change, Composer, DenseConfig, DenseMemo as Model, Notes};
use numpy::{PyArray1, PyReadonlyArray2};
use options::RecallOption;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use views::{Matrix, Values, matrix};

/// Contexts that are read at a time, so that Ctrl-C is heard.
const BATCH: usize = 256;

/// The paper's model in float32.
#[pyclass(frozen, module = "memo_lm._memo")]
pub(crate) struct DenseMemo {
    model: RwLock<Model>,
    threads: usize,
}

impl DenseMemo {
    fn of(model: Model, threads: usize) -> Self {
        DenseMemo { model: RwLock::new(model), threads }
    }

    fn reading(&self) -> RwLockReadGuard<'_, Model> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Model) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        let read = || {
            let model: &Model = &self.reading();
            threads::on(self.threads, || read(model))
        };
        Ok(py.detach(read)?)
    }

    /// Reads what may take long.
    fn read_watched<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        read: impl FnOnce(&Model, &Watch) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        watched(py, progress, |watch| {
            let model: &Model = &self.reading();
            threads::on(self.threads, || read(model, watch))
        })
    }

    /// Reads contexts, some at a time.
    fn read_all<T: Send>(
        &self,
        py: Python<'_>,
        contexts: &[Tokens<'_>],
        progress: Option<&Bound<'_, PyAny>>,
        read: impl Fn(&Model, &[&[u32]]) -> Result<Vec<T>, memo::Error> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let contexts = owned(contexts);
        let contexts = slices(&contexts);
        if contexts.len() <= BATCH {
            return self.read(py, |model| Ok(read(model, &contexts)?));
        }
        self.read_watched(py, progress, |model, watch| {
            let mut all = Vec::new();
            for (n, batch) in contexts.chunks(BATCH).enumerate() {
                watch.at("reading", n * BATCH, contexts.len())?;
                all.extend(read(model, batch)?);
            }
            Ok(all)
        })
    }

    fn change(
        &self,
        py: Python<'_>,
        texts: &[Tokens<'_>],
        change: Change,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let texts = owned(texts);
        let texts = slices(&texts);
        let whole = texts.iter().map(|text| text.len()).sum();
        let what = if change == Change::Memorize { "memorizing" } else { "forgetting" };
        watched(py, progress, |watch| {
            let model: &mut Model = &mut self.model.write().unwrap_or_else(PoisonError::into_inner);
            let mut progress = |done| watch.tell(what, done, whole);
            threads::on(self.threads, || {
                Ok(model.change_all(&texts, change, Some(&mut progress))?)
            })
        })
    }
}

#[pymethods]
impl DenseMemo {
    #[new]
    #[pyo3(signature = (vocab, dim, heads, layers, *, seed=0, codes="gaussian", composition="jlt",
        recall=RecallOption::Name("stored".to_owned()), distiller="memory", stride="token", edges="inside",
        update_rows=1024, threads=0, memory_limit=None),
        text_signature = "(vocab, dim, heads, layers, *, seed=0, codes='gaussian', composition='jlt', recall='stored', \
                          distiller='memory', stride='token', edges='inside', update_rows=1024, threads=0, \
                          memory_limit=None)")]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        vocab: usize,
        dim: usize,
        heads: usize,
        layers: usize,
        seed: u64,
        codes: &str,
        composition: &str,
        recall: RecallOption,
        distiller: &str,
        stride: &str,
        edges: &str,
        update_rows: usize,
        threads: usize,
        memory_limit: Option<u64>,
    ) -> PyResult<Self> {
        let shape = DenseConfig {
            seed,
            codes: options::codes(codes)?,
            update_rows,
            memory_limit: memory_limit.unwrap_or(u64::MAX),
            ..DenseConfig::new(vocab, dim, heads, layers)
        };
        let config = options::config(shape, composition, recall, distiller, stride, edges)?;
        let model = py.detach(|| threads::on(threads, || Ok(Model::new(config)?)))?;
        Ok(Self::of(model, threads))
    }

    /// Writes a safetensors file.
    #[pyo3(signature = (path, notes, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        notes: Notes,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        watched(py, progress, |watch| file::save(&self.reading(), &path, &notes, watch))
    }

    /// Reads a file; its notes come too.
    #[staticmethod]
    #[pyo3(signature = (path, threads=0, memory_limit=None, progress=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        threads: usize,
        memory_limit: Option<u64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, Notes)> {
        let (model, notes) = watched(py, progress, |watch| {
            threads::on(threads, || file::load(&path, memory_limit, watch))
        })?;
        Ok((Self::of(model, threads), notes))
    }

    /// The bytes of such a file.
    fn to_bytes<'py>(&self, py: Python<'py>, notes: Notes) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let written = py.detach(|| self.reading().write_safetensors(&notes, &mut bytes));
        written.map_err(Refusal::invalid)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    #[pyo3(signature = (data, threads=0))]
    fn from_bytes(py: Python<'_>, data: &[u8], threads: usize) -> PyResult<(Self, Notes)> {
        let (model, notes) = py.detach(|| threads::on(threads, || file::parse(data, None)))?;
        Ok((Self::of(model, threads), notes))
    }

    #[getter]
    fn config(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |model| json(model.config()))
    }

    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |model| Ok(model.parameters()))
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |model| Ok(model.bytes()))
    }

    #[getter]
    fn window(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |model| Ok(model.config().window()))
    }

    fn expected_recall(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, |model| Ok(model.expected_recall()))
    }

    #[pyo3(signature = (texts, progress=None))]
    fn memorize_all(
        &self,
        py: Python<'_>,
        texts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.change(py, &texts, Change::Memorize, progress)
    }

    #[pyo3(signature = (texts, completely=false, progress=None))]
    fn forget_all(
        &self,
        py: Python<'_>,
        texts: Vec<Tokens<'_>>,
        completely: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let change = if completely { Change::ForgetCompletely } else { Change::Forget };
        self.change(py, &texts, change, progress)
    }

    #[pyo3(signature = (contexts, progress=None))]
    fn weights_all<'py>(
        &self,
        py: Python<'py>,
        contexts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Matrix<'py>> {
        let weights = self.read_all(py, &contexts, progress, Model::weights_all)?;
        matrix(py, weights, self.read(py, |model| Ok(model.config().vocab))?)
    }

    #[pyo3(signature = (contexts, progress=None))]
    fn predict_all<'py>(
        &self,
        py: Python<'py>,
        contexts: Vec<Tokens<'_>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>)> {
        Ok(predictions(py, self.read_all(py, &contexts, progress, Model::predict_all)?))
    }

    #[pyo3(signature = (text, progress=None))]
    fn predict_along<'py>(
        &self,
        py: Python<'py>,
        text: Tokens<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>)> {
        let text = tokens(&text);
        let along = self.read_watched(py, progress, |model, watch| {
            let mut along = Vec::with_capacity(text.len());
            for batch in model.predict_in_batches(&text)? {
                along.extend(batch);
                watch.at("reading", along.len(), text.len())?;
            }
            Ok(along)
        })?;
        Ok(predictions(py, along))
    }

    /// The tokens that follow each prompt, up to `end`, which is not among them, or up to where nothing is remembered.
    #[pyo3(signature = (prompts, max_tokens, end=None, progress=None))]
    fn complete_all<'py>(
        &self,
        py: Python<'py>,
        prompts: Vec<Tokens<'_>>,
        max_tokens: usize,
        end: Option<u32>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
        let prompts = owned(&prompts);
        let done = self.read_watched(py, progress, |model, watch| {
            let mut texts = prompts.clone();
            let mut open: Vec<usize> = (0..texts.len()).collect();
            for step in 0..max_tokens {
                watch.at("completing", step, max_tokens)?;
                let contexts: Vec<&[u32]> = open.iter().map(|&n| &texts[n][..]).collect();
                let next = model.predict_all(&contexts)?;
                let goes_on = |next: &Prediction| next.weight > 0.0 && Some(next.token) != end;
                open = open
                    .into_iter()
                    .zip(next)
                    .filter(|(_, next)| goes_on(next))
                    .map(|(n, next)| {
                        texts[n].push(next.token);
                        n
                    })
                    .collect();
            }
            Ok(texts)
        })?;
        let new = done.iter().zip(&prompts).map(|(text, prompt)| &text[prompt.len()..]);
        Ok(new.map(|tokens| PyArray1::from_slice(py, tokens)).collect())
    }

    #[pyo3(signature = (context, top=5))]
    fn trace(&self, py: Python<'_>, context: Tokens<'_>, top: usize) -> PyResult<String> {
        let context = tokens(&context);
        self.read(py, |model| json(&model.trace(&context, top)?))
    }

    /// Rows of E. A view if they are stored, else they are made.
    #[pyo3(signature = (first=0, last=None))]
    fn codes<'py>(
        this: &Bound<'py, Self>,
        first: usize,
        last: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let (rows, dim) = this.get().read(this.py(), |model| {
            let DenseConfig { vocab, dim, .. } = *model.config();
            let last = last.unwrap_or(vocab);
            if first > last || last > vocab {
                return Err(Refusal::invalid(format!("rows {first} to {last} of {vocab}")));
            }
            let rows = if let Some(stored) = model.codes().stored() {
                Values::held(&stored[first * dim..last * dim])
            } else {
                let tokens: Vec<u32> = (first as u32..last as u32).collect();
                Values::Made(model.codes().rows(&tokens))
            };
            Ok((rows, dim))
        })?;
        rows.array(this.as_any(), dim, false)
    }

    /// W_V of a layer, from 1: (d/h, d).
    fn reduction<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Matrix<'py>> {
        let (matrix, width) = this.get().read(this.py(), |model| {
            let reduction = model.reduction(layer).ok_or_else(|| no_layer(model, layer))?;
            Ok((Values::of(reduction), reduction.input_dim()))
        })?;
        matrix.array(this.as_any(), width, false)
    }

    /// Prj of a layer, from 1: (d, h·d); None for the last layer, and where composition is not linear.
    fn projection<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Option<Matrix<'py>>> {
        let (matrix, width) = this.get().read(this.py(), |model| {
            model.reduction(layer).ok_or_else(|| no_layer(model, layer))?;
            let DenseConfig { heads, dim, .. } = *model.config();
            let matrix = match model.composer(layer) {
                Some(Composer::Gaussian(prj)) => Some(Values::held(prj.matrix())),
                Some(composer @ Composer::Fast(_)) => {
                    Some(Values::of_linear(heads * dim, |unit| composer.code(unit, heads)))
                }
                Some(Composer::Bind(_) | Composer::Product(_)) | None => None,
            };
            Ok((matrix, heads * dim))
        })?;
        matrix.map(|matrix| matrix.array(this.as_any(), width, false)).transpose()
    }

    /// C of a layer, from 1: a read-only view (d, d), rows are keys; it changes when the model does.
    fn memory<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Option<Matrix<'py>>> {
        let (cells, width) = this.get().read(this.py(), |model| {
            model.reduction(layer).ok_or_else(|| no_layer(model, layer))?;
            let cells = model.memory(layer).map(|memory| Values::held(memory.cells()));
            Ok((cells, model.config().dim))
        })?;
        // Rust has it value by value: the paper's C is its transpose.
        cells.map(|cells| cells.array(this.as_any(), width, true)).transpose()
    }

    fn set_memory(
        &self,
        py: Python<'_>,
        layer: usize,
        cells: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<()> {
        let shape = cells.as_array().shape().to_vec();
        // A copy, also because an array may show the very cells that are to be written.
        let cells: Vec<f32> = cells.as_array().t().iter().copied().collect();
        let set = || {
            let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
            if model.memory(layer).is_none() {
                return Err(no_layer(&model, layer));
            }
            let Some(memory) = model.memory_mut(layer) else { return Ok(()) };
            let (keys, values) = (memory.key_dim(), memory.value_dim());
            if shape != [keys, values] {
                let why = format!("an array of shape {shape:?}: C is ({keys}, {values})");
                return Err(Refusal::invalid(why));
            }
            if !cells.iter().all(|cell| cell.is_finite()) {
                return Err(Refusal::invalid("cells must be finite numbers"));
            }
            memory.set_cells(&cells);
            Ok(())
        };
        Ok(py.detach(set)?)
    }

    /// The code of h codes (h, d), as a layer's Prj or bind makes it.
    fn compose<'py>(
        &self,
        py: Python<'py>,
        layer: usize,
        codes: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let shape = codes.as_array().shape().to_vec();
        let codes: Vec<f32> = codes.as_array().iter().copied().collect();
        let code = self.read(py, |model| {
            let DenseConfig { heads, dim, .. } = *model.config();
            if shape != [heads, dim] {
                let why = format!("codes of shape {shape:?}: a block is ({heads}, {dim})");
                return Err(Refusal::invalid(why));
            }
            let composer = model.composer(layer).ok_or_else(|| no_layer(model, layer))?;
            Ok(composer.code(&codes, heads))
        })?;
        Ok(PyArray1::from_vec(py, code))
    }
}

fn no_layer(model: &Model, layer: usize) -> Refusal {
    let layers = model.config().layers;
    Refusal::invalid(format!("layer {layer} does not have this: layers are 1 to {layers}"))
}

/// Tokens and their weights, as arrays.
fn predictions(
    py: Python<'_>,
    predictions: Vec<Prediction>,
) -> (Bound<'_, PyArray1<u32>>, Bound<'_, PyArray1<f32>>) {
    let (tokens, weights) = predictions.into_iter().map(|next| (next.token, next.weight)).unzip();
    (PyArray1::from_vec(py, tokens), PyArray1::from_vec(py, weights))
}
