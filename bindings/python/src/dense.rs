//! The paper's model, with its matrices open to be looked at.

// Arrays of Python that show memory of Rust: each says why it may.
#![allow(unsafe_code)]

use crate::convert::{Tokens, json, tokens};
use crate::error::Refusal;
use memo::codes::CodeKind;
use memo::dense::{
    Composer, Composition, DenseConfig, DenseMemo as Model, Distiller, Edges, Recall, Stride,
};
use memo::transform::Transform;
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

type Matrix<'py> = Bound<'py, PyArray2<f32>>;

/// The paper's model in float32.
#[pyclass(module = "memo_lm._memo")]
pub(crate) struct DenseMemo {
    model: Model,
}

/// Where recall takes inner codes from: a name, or the share of the stored one.
#[derive(FromPyObject)]
enum RecallOption {
    Share(f32),
    Name(String),
}

/// One of some names.
fn one_of<T: Copy>(what: &str, name: &str, values: &[(&str, T)]) -> Result<T, Refusal> {
    let found = values.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
        Refusal::invalid(format!("{what} {name:?}: choose {}", known.join(" or ")))
    })
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
        let recall = match recall {
            RecallOption::Share(share) => Recall::Blend(share),
            RecallOption::Name(name) => one_of(
                "recall",
                &name,
                &[("stored", Recall::Stored), ("computed", Recall::Computed)],
            )?,
        };
        let kinds = [("gaussian", CodeKind::Gaussian), ("hadamard", CodeKind::Hadamard)];
        let compositions = [("jlt", Composition::Jlt), ("bind", Composition::Bind)];
        let distillers =
            [("memory", Distiller::Memory), ("exact", Distiller::Exact), ("off", Distiller::Off)];
        let config = DenseConfig {
            seed,
            codes: one_of("codes", codes, &kinds)?,
            composition: one_of("composition", composition, &compositions)?,
            recall,
            distiller: one_of("distiller", distiller, &distillers)?,
            stride: one_of(
                "stride",
                stride,
                &[("token", Stride::Token), ("block", Stride::Block)],
            )?,
            edges: one_of("edges", edges, &[("inside", Edges::Inside), ("padded", Edges::Padded)])?,
            update_rows,
            threads,
            memory_limit: memory_limit.unwrap_or(u64::MAX),
            ..DenseConfig::new(vocab, dim, heads, layers)
        };
        let model = py.detach(|| Model::new(config)).map_err(Refusal::from)?;
        Ok(DenseMemo { model })
    }

    #[getter]
    fn config(&self) -> PyResult<String> {
        Ok(json(self.model.config())?)
    }

    #[getter]
    fn parameters(&self) -> usize {
        self.model.parameters()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.model.bytes()
    }

    #[getter]
    fn window(&self) -> usize {
        self.model.config().window()
    }

    fn memorize(&mut self, py: Python<'_>, text: Tokens<'_>) -> PyResult<()> {
        let text = tokens(&text);
        Ok(py.detach(|| self.model.memorize(&text)).map_err(Refusal::from)?)
    }

    fn memorize_all(&mut self, py: Python<'_>, texts: Vec<Tokens<'_>>) -> PyResult<()> {
        let texts: Vec<Vec<u32>> = texts.iter().map(tokens).collect();
        let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        Ok(py.detach(|| self.model.memorize_all(&texts)).map_err(Refusal::from)?)
    }

    #[pyo3(signature = (text, completely=false))]
    fn forget(&mut self, py: Python<'_>, text: Tokens<'_>, completely: bool) -> PyResult<()> {
        let text = tokens(&text);
        let model = &mut self.model;
        let forgotten = py.detach(|| {
            if completely { model.forget_completely(&text) } else { model.forget(&text) }
        });
        Ok(forgotten.map_err(Refusal::from)?)
    }

    fn weights<'py>(
        &self,
        py: Python<'py>,
        context: Tokens<'_>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let context = tokens(&context);
        let weights = py.detach(|| self.model.weights(&context)).map_err(Refusal::from)?;
        Ok(PyArray1::from_vec(py, weights))
    }

    fn predict(&self, py: Python<'_>, context: Tokens<'_>) -> PyResult<(u32, f32)> {
        let context = tokens(&context);
        let next = py.detach(|| self.model.predict(&context)).map_err(Refusal::from)?;
        Ok((next.token, next.weight))
    }

    fn predict_along<'py>(
        &self,
        py: Python<'py>,
        text: Tokens<'_>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>)> {
        let text = tokens(&text);
        let along = py.detach(|| self.model.predict_along(&text)).map_err(Refusal::from)?;
        let (tokens, weights) = along.into_iter().map(|next| (next.token, next.weight)).unzip();
        Ok((PyArray1::from_vec(py, tokens), PyArray1::from_vec(py, weights)))
    }

    #[pyo3(signature = (context, top=5))]
    fn trace(&self, py: Python<'_>, context: Tokens<'_>, top: usize) -> PyResult<String> {
        let context = tokens(&context);
        let trace = py.detach(|| self.model.trace(&context, top)).map_err(Refusal::from)?;
        Ok(json(&trace)?)
    }

    /// Rows of E. A view if they are stored, else they are made.
    #[pyo3(signature = (first=0, last=None))]
    fn codes<'py>(
        this: &Bound<'py, Self>,
        first: usize,
        last: Option<usize>,
    ) -> PyResult<Matrix<'py>> {
        let me = this.borrow();
        let (vocab, dim) = (me.model.config().vocab, me.model.config().dim);
        let last = last.unwrap_or(vocab);
        if first > last || last > vocab {
            let why = format!("rows {first} to {last} of {vocab}");
            return Err(Refusal::invalid(why).into());
        }
        if let Some(stored) = me.model.codes().stored() {
            return view(this, &stored[first * dim..last * dim], dim, false);
        }
        let rows: Vec<u32> = (first as u32..last as u32).collect();
        matrix(this.py(), me.model.codes().rows(&rows), dim)
    }

    /// W_V of a layer, from 1: (d/h, d).
    fn reduction<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Matrix<'py>> {
        let me = this.borrow();
        let reduction = me.model.reduction(layer).ok_or_else(|| no_layer(&me.model, layer))?;
        match reduction.stored() {
            Some(stored) => view(this, stored, reduction.input_dim(), false),
            None => matrix(this.py(), columns(reduction), reduction.input_dim()),
        }
    }

    /// Prj of a layer, from 1: (d, h·d); None for the last layer, and where composition is not linear.
    fn projection<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Option<Matrix<'py>>> {
        let me = this.borrow();
        if me.model.reduction(layer).is_none() {
            return Err(no_layer(&me.model, layer).into());
        }
        let width = me.model.config().heads * me.model.config().dim;
        Ok(match me.model.composer(layer) {
            Some(Composer::Gaussian(prj)) => Some(view(this, prj.matrix(), width, false)?),
            Some(composer @ Composer::Fast(_)) => {
                Some(matrix(this.py(), composed(&me.model, composer), width)?)
            }
            Some(Composer::Bind(_)) | None => None,
        })
    }

    /// C of a layer, from 1: a read-only view (d, d), rows are keys; it changes when the model does.
    fn memory<'py>(this: &Bound<'py, Self>, layer: usize) -> PyResult<Option<Matrix<'py>>> {
        let me = this.borrow();
        if me.model.reduction(layer).is_none() {
            return Err(no_layer(&me.model, layer).into());
        }
        let Some(memory) = me.model.memory(layer) else { return Ok(None) };
        // Rust has it value by value: the paper's C is its transpose.
        view(this, memory.cells(), memory.key_dim(), true).map(Some)
    }

    fn set_memory(&mut self, layer: usize, cells: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let cells = cells.as_array();
        let Some(memory) = self.model.memory_mut(layer) else {
            return Err(no_layer(&self.model, layer).into());
        };
        let (keys, values) = (memory.key_dim(), memory.value_dim());
        if cells.shape() != [keys, values] {
            let why = format!("an array of shape {:?}: C is ({keys}, {values})", cells.shape());
            return Err(Refusal::invalid(why).into());
        }
        let cells: Vec<f32> = cells.t().iter().copied().collect();
        memory.set_cells(&cells);
        Ok(())
    }

    /// The code of h codes (h, d), as a layer's Prj or bind makes it.
    fn compose<'py>(
        &self,
        py: Python<'py>,
        layer: usize,
        codes: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (h, d) = (self.model.config().heads, self.model.config().dim);
        let codes = codes.as_array();
        if codes.shape() != [h, d] {
            let why = format!("codes of shape {:?}: a block is ({h}, {d})", codes.shape());
            return Err(Refusal::invalid(why).into());
        }
        let composer = self.model.composer(layer).ok_or_else(|| no_layer(&self.model, layer))?;
        let codes: Vec<f32> = codes.iter().copied().collect();
        Ok(PyArray1::from_vec(py, composer.code(&codes, h)))
    }
}

fn no_layer(model: &Model, layer: usize) -> Refusal {
    let layers = model.config().layers;
    Refusal::invalid(format!("layer {layer} does not have this: layers are 1 to {layers}"))
}

/// The matrix of a transform: what it makes of each unit vector, side by side.
fn columns(transform: &dyn Transform) -> Vec<f32> {
    let (from, to) = (transform.input_dim(), transform.output_dim());
    let mut unit = vec![0.0; from];
    let mut matrix = vec![0.0; from * to];
    for k in 0..from {
        unit[k] = 1.0;
        for (row, value) in transform.apply(&unit).into_iter().enumerate() {
            matrix[row * from + k] = value;
        }
        unit[k] = 0.0;
    }
    matrix
}

/// The same of a composition.
fn composed(model: &Model, composer: &Composer) -> Vec<f32> {
    let (h, d) = (model.config().heads, model.config().dim);
    let mut units = vec![0.0; h * d];
    let mut matrix = vec![0.0; h * d * d];
    for k in 0..h * d {
        units[k] = 1.0;
        for (row, value) in composer.code(&units, h).into_iter().enumerate() {
            matrix[row * h * d + k] = value;
        }
        units[k] = 0.0;
    }
    matrix
}

/// An array of its own.
fn matrix(py: Python<'_>, values: Vec<f32>, width: usize) -> PyResult<Matrix<'_>> {
    let rows = values.len() / width.max(1);
    PyArray1::from_vec(py, values).reshape([rows, width])
}

/// An array that shows values of a model, and cannot change them.
fn view<'py>(
    owner: &Bound<'py, DenseMemo>,
    values: &[f32],
    width: usize,
    transposed: bool,
) -> PyResult<Matrix<'py>> {
    let rows = ArrayView2::from_shape((values.len() / width.max(1), width), values)
        .map_err(Refusal::invalid)?;
    let rows = if transposed { rows.reversed_axes() } else { rows };
    // SAFETY: the values belong to the owner, which the array keeps alive; their vector is never resized or replaced
    // (`set_cells` writes in place), and writing through the array is forbidden below.
    let array = unsafe { PyArray2::borrow_from_array(&rows, owner.clone().into_any()) };
    array.call_method1("setflags", (false,))?;
    Ok(array)
}
