//! Options of the dense engine, as Python names them.

use crate::error::Refusal;
use memo::codes::CodeKind;
use memo::dense::{Composition, DenseConfig, Distiller, Edges, Recall, Stride};
use pyo3::prelude::*;

/// Where recall takes inner codes from: a name, or the share of the stored one.
#[derive(FromPyObject)]
pub(super) enum RecallOption {
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

pub(super) fn codes(name: &str) -> Result<CodeKind, Refusal> {
    let kinds = [("gaussian", CodeKind::Gaussian), ("hadamard", CodeKind::Hadamard)];
    one_of("codes", name, &kinds)
}

/// A configuration with the options that the oracle has too.
pub(super) fn config(
    shape: DenseConfig,
    composition: &str,
    recall: RecallOption,
    distiller: &str,
    stride: &str,
    edges: &str,
) -> Result<DenseConfig, Refusal> {
    let compositions =
        [("jlt", Composition::Jlt), ("bind", Composition::Bind), ("product", Composition::Product)];
    let recalls = [("stored", Recall::Stored), ("computed", Recall::Computed)];
    let distillers = [
        ("memory", Distiller::Memory),
        ("unclamped", Distiller::Unclamped),
        ("exact", Distiller::Exact),
        ("off", Distiller::Off),
    ];
    let strides = [("token", Stride::Token), ("block", Stride::Block)];
    Ok(DenseConfig {
        composition: one_of("composition", composition, &compositions)?,
        recall: match recall {
            RecallOption::Share(share) => Recall::Blend(share),
            RecallOption::Name(name) => one_of("recall", &name, &recalls)?,
        },
        distiller: one_of("distiller", distiller, &distillers)?,
        stride: one_of("stride", stride, &strides)?,
        edges: one_of("edges", edges, &[("inside", Edges::Inside), ("padded", Edges::Padded)])?,
        ..shape
    })
}
