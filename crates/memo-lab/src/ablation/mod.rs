//! What each part is worth: from the paper's dense memory to exact counts, one change at a time, at equal bytes.

mod model;
mod page;
mod texts;

use self::model::measure;
use self::texts::Text;
use crate::{Error, Lab, Page, Setting, Share, inputs, seconds};
use memo_text::TokenizerSpec;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A change; each step has all changes of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Dense,
    SparseKeys,
    ByteCells,
    Bound,
    Buckets,
    Backoff,
    Pairs,
    Totals,
    Exact,
}

impl Step {
    const ALL: [Step; 9] = [
        Step::Dense,
        Step::SparseKeys,
        Step::ByteCells,
        Step::Bound,
        Step::Buckets,
        Step::Backoff,
        Step::Pairs,
        Step::Totals,
        Step::Exact,
    ];

    fn name(self) -> &'static str {
        match self {
            Step::Dense => "dense codes",
            Step::SparseKeys => "sparse keys",
            Step::ByteCells => "cells of a byte",
            Step::Bound => "bound values",
            Step::Buckets => "buckets",
            Step::Backoff => "back-off",
            Step::Pairs => "pair table",
            Step::Totals => "totals",
            Step::Exact => "exact counts",
        }
    }
}

/// A step, on a text, within the bytes of a dense memory of dimension d.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    text: usize,
    name: String,
    dim: usize,
    step: Step,
}

impl Setting for Point {
    fn key(&self) -> String {
        let Point { text, name, dim, step } = self;
        format!("{} {name}, d = {dim}, {}", text + 1, step.name())
    }

    fn cost(&self) -> f64 {
        let size = (self.dim as f64 / 1024.0).powf(1.6);
        if self.step == Step::Dense { 5.0 * size } else { 1.0 }
    }
}

/// The result; none if the tables alone take more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    /// Bytes of everything that the step reads.
    bytes: u64,
    /// Whether that is within the limit.
    fits: bool,
    recall: Share,
    /// Perplexity of what was held out, where the read-out has probabilities.
    perplexity: Option<f64>,
}

/// Bytes of a dense memory of d×d cells.
fn limit(dim: usize) -> u64 {
    4 * (dim * dim) as u64
}

/// Runs the experiment on random texts, and on some files.
pub fn run(lab: &Lab<'_>, paths: &[PathBuf], tokenizer: &TokenizerSpec) -> Result<Page, Error> {
    let options = lab.options();
    let mut texts = Text::random(options);
    let mut contents = Vec::new();
    for path in paths {
        let content = inputs::read(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        texts.push(Text::of_file(name, &content, tokenizer, options)?);
        contents.push(content);
    }
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let dims: &[usize] = if options.quick { &[1024] } else { &[512, 1024, 2048] };
    let mut points = Vec::new();
    for (text, Text { name, .. }) in texts.iter().enumerate() {
        for &dim in dims {
            points.extend(Step::ALL.map(|step| Point { text, name: name.clone(), dim, step }));
        }
    }
    let inputs = if contents.is_empty() { String::new() } else { inputs::fingerprint(&contents) };
    let measured = lab.measure("ablation", &inputs, &points, |point| {
        measure(&texts[point.text], point.dim, point.step, options.seed)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let found: Vec<(Point, Found)> =
        points.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&texts, &found, provenance))
}
