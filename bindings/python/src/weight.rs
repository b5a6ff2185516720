//! How much a memory counts beside a neural model: the library's rule, for arrays of positions.

use memo::readout::{Auto, Confidence, Known};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// The constants of the rule, by name.
type Constants = [(&'static str, f64); 9];

/// The constants of `weight="auto"`, in the order in which `weights` takes them.
#[pyfunction]
pub(crate) fn auto() -> Constants {
    let Auto { offset, matched, times, kinds, quote, familiarity, memory, model, agreed } =
        Auto::default();
    [
        ("offset", offset),
        ("matched", matched),
        ("times", times),
        ("kinds", kinds),
        ("quote", quote),
        ("familiarity", familiarity),
        ("memory", memory),
        ("model", model),
        ("agreed", agreed),
    ]
}

/// The memory's weight at each position, by a rule with these constants.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // What is known at a position, an array each.
pub(crate) fn weights<'py>(
    py: Python<'py>,
    constants: [f64; 9],
    matched: PyReadonlyArray1<'py, u32>,
    times: PyReadonlyArray1<'py, i64>,
    kinds: PyReadonlyArray1<'py, i64>,
    quote: PyReadonlyArray1<'py, f64>,
    familiarity: PyReadonlyArray1<'py, f64>,
    memory: PyReadonlyArray1<'py, f64>,
    model: PyReadonlyArray1<'py, f64>,
    agreed: PyReadonlyArray1<'py, f64>,
) -> Bound<'py, PyArray1<f64>> {
    let rule = {
        let [offset, matched, times, kinds, quote, familiarity, memory, model, agreed] = constants;
        Auto { offset, matched, times, kinds, quote, familiarity, memory, model, agreed }
    };
    let (matched, times, kinds) = (matched.as_array(), times.as_array(), kinds.as_array());
    let (quote, familiarity) = (quote.as_array(), familiarity.as_array());
    let (memory, model, agreed) = (memory.as_array(), model.as_array(), agreed.as_array());
    let confidences = matched.iter().zip(times).zip(kinds).zip(quote).zip(familiarity).map(
        |((((&matched, &times), &kinds), &quote), &familiarity)| Confidence {
            matched: matched as usize,
            times,
            kinds,
            quote,
            familiarity,
        },
    );
    let known = confidences.zip(memory).zip(model).zip(agreed);
    let known = known.map(|(((confidence, &memory), &model), &agreed)| Known {
        confidence,
        memory,
        model,
        agreed,
    });
    PyArray1::from_iter(py, known.map(|known| rule.weight(&known)))
}
