//! Matrices of a model as numpy's arrays.

// Arrays of Python that show memory of Rust: each says why it may.
#![allow(unsafe_code)]

use memo::transform::Transform;
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

pub(super) type Matrix<'py> = Bound<'py, PyArray2<f32>>;

/// The values of a matrix: those that a model holds, or new ones.
pub(super) enum Values {
    Held { first: *const f32, len: usize },
    Made(Vec<f32>),
}

// SAFETY: an address may go to another thread; it is read by `array` alone, which has the model.
unsafe impl Send for Values {}

impl Values {
    /// Values that a model holds. Their vector must never be resized or replaced while the model lives: cells are written
    /// in place, and codes and projections never change.
    pub(super) fn held(values: &[f32]) -> Self {
        Values::Held { first: values.as_ptr(), len: values.len() }
    }

    /// The matrix of a transform: what it makes of each unit vector, side by side.
    pub(super) fn of(transform: &dyn Transform) -> Self {
        match transform.stored() {
            Some(stored) => Self::held(stored),
            None => Self::of_linear(transform.input_dim(), |unit| transform.apply(unit)),
        }
    }

    /// The same of any linear map.
    pub(super) fn of_linear(from: usize, map: impl Fn(&[f32]) -> Vec<f32>) -> Self {
        let mut unit = vec![0.0; from];
        let mut matrix = Vec::new();
        for k in 0..from {
            unit[k] = 1.0;
            let column = map(&unit);
            matrix.resize(column.len() * from, 0.0);
            for (row, value) in column.into_iter().enumerate() {
                matrix[row * from + k] = value;
            }
            unit[k] = 0.0;
        }
        Values::Made(matrix)
    }

    /// Rows of `width` values as an array. Values that `owner` holds are shown, and cannot be changed through the array.
    pub(super) fn array<'py>(
        self,
        owner: &Bound<'py, PyAny>,
        width: usize,
        transposed: bool,
    ) -> PyResult<Matrix<'py>> {
        let (first, len) = match self {
            Values::Made(values) => return matrix(owner.py(), values, width),
            Values::Held { first, len } => (first, len),
        };
        // SAFETY: so many values belong to the owner, who is alive here, and their vector is never resized or replaced.
        let rows = unsafe { ArrayView2::from_shape_ptr((len / width.max(1), width), first) };
        let rows = if transposed { rows.reversed_axes() } else { rows };
        // SAFETY: as above, and the array keeps the owner alive. Writing through it is forbidden below.
        let array = unsafe { PyArray2::borrow_from_array(&rows, owner.clone()) };
        array.call_method1("setflags", (false,))?;
        Ok(array)
    }
}

/// An array of its own.
pub(super) fn matrix(py: Python<'_>, values: Vec<f32>, width: usize) -> PyResult<Matrix<'_>> {
    let rows = values.len() / width.max(1);
    PyArray1::from_vec(py, values).reshape([rows, width])
}
