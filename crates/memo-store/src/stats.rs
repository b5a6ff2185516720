//! How large a model is, how full, and how well it should recall.

use crate::error::Error;
use crate::memorize::current;
use crate::model::Sizes;
use crate::view::View;
use memo::sparse::{Memory, PARAMETERS_PER_TOKEN, Size};
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// Below this many cells a token a memory begins to lose what it was given.
const LEAST: u64 = 60;

/// A model in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// The engine: `sparse` or `dense`.
    pub engine: String,
    /// The tokenizer's name.
    pub tokenizer: String,
    /// Heads of a layer.
    pub heads: usize,
    /// Layers.
    pub layers: usize,
    /// Cells.
    pub parameters: u64,
    /// Bytes held in all.
    pub bytes: u64,
    /// Bytes of cells.
    pub cell_bytes: u64,
    /// Bytes of tables, which grow with the text, or of codes.
    pub table_bytes: u64,
    /// Live documents.
    pub documents: usize,
    /// Their tokens.
    pub tokens: u64,
    /// Cells for each token.
    pub parameters_per_token: Option<f64>,
    /// Bytes for each token.
    pub bytes_per_token: Option<f64>,
    /// Tokens over those that fit at 92 cells each.
    pub load: Option<f64>,
    /// The deviation of a count read from all long contexts together.
    pub noise: Option<f64>,
    /// The share of tokens that should be recalled.
    pub predicted_recall: Option<f64>,
}

impl View {
    /// The model in figures.
    pub fn stats(&self) -> Result<Stats, Error> {
        let (mut documents, mut tokens) = (0, 0);
        for document in self.ledger.documents()? {
            if document.place.is_some_and(|place| place.live) {
                documents += 1;
                tokens += current(&document).map_or(0, |version| version.tokens);
            }
        }
        let (heads, layers, parameters, cell_bytes, table_bytes) = sizes(self);
        let fill = self.memory.sparse().map(|memory| Fill::of(memory, 0));
        let each = |whole: u64| (tokens > 0).then(|| whole as f64 / tokens as f64);
        Ok(Stats {
            engine: self.model.engine.clone(),
            tokenizer: self.model.tokenizer.clone(),
            heads,
            layers,
            parameters,
            bytes: cell_bytes + table_bytes,
            cell_bytes,
            table_bytes,
            documents,
            tokens,
            parameters_per_token: each(parameters),
            bytes_per_token: each(cell_bytes + table_bytes),
            load: fill.map(|fill| fill.load),
            noise: fill.map(|fill| fill.noise),
            predicted_recall: fill.map(|fill| fill.recall),
        })
    }
}

/// A memory that would hold more than it can recall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overfull {
    /// How full it would be; 1 is full.
    pub load: f64,
    /// The share of tokens that it would recall.
    pub recall: f64,
    /// Bytes of cells that would be enough.
    pub needed: u64,
}

impl Display for Overfull {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (load, recall) = (100.0 * self.load, 100.0 * self.recall);
        write!(f, "would be {load:.0} % full and recall about {recall:.1} % of its tokens")
    }
}

impl View {
    /// What is wrong with memorizing so many tokens more, if anything.
    pub fn overfull(&self, tokens: u64) -> Option<Overfull> {
        let memory = self.memory.sparse()?;
        let whole = memory.positions().max(0) as u64 + tokens;
        if memory.settings().parameters() / whole.max(1) >= LEAST {
            return None;
        }
        let Fill { load, recall, .. } = Fill::of(memory, tokens);
        Some(Overfull { load, recall, needed: fitting(whole).parameters() })
    }
}

/// Heads, layers, cells, and bytes of cells and of all else.
fn sizes(view: &View) -> (usize, usize, u64, u64, u64) {
    match (&view.model.memory, view.memory.sparse(), view.memory.dense()) {
        (Sizes::Sparse(settings), Some(memory), _) => {
            let held = memory.usage();
            let longest = settings.slots.iter().map(|slot| slot.len).max().unwrap_or(1);
            let layers = longest.ilog(settings.heads) as usize + 1;
            let cells = (held.cells + held.wide) as u64;
            let heads = settings.heads as usize;
            (heads, layers, settings.parameters(), cells, held.tables as u64)
        }
        (Sizes::Dense(config), _, Some(memory)) => {
            let parameters = memory.parameters() as u64;
            let codes = (memory.bytes() as u64).saturating_sub(parameters * 4);
            (config.heads, config.layers, parameters, parameters * 4, codes)
        }
        _ => (0, 0, 0, 0, 0),
    }
}

/// A size for this many tokens, with room for as many again, or for three million.
pub fn fitting(tokens: u64) -> Size {
    Size::Parameters(((tokens + tokens.min(3_000_000)) * PARAMETERS_PER_TOKEN).max(1 << 22))
}

/// How full a sparse memory is, and what that does.
#[derive(Clone, Copy)]
pub struct Fill {
    /// Tokens over those that fit at 92 cells each.
    pub load: f64,
    /// The deviation of a count read from all long contexts together.
    pub noise: f64,
    /// The share of tokens that should be recalled.
    pub recall: f64,
}

/// Tokens that short contexts leave as candidates for a long one to choose from. An estimate: it gives .985, .9995 and
/// 1.0000 where .9857, .9987 and .9997 were measured on real text, at 40, 60 and 80 cells a token (docs/engine.md).
const CANDIDATES: f64 = 100.0;

impl Fill {
    /// How full a memory is, or would be with some tokens more.
    pub fn of(memory: &Memory, more: u64) -> Self {
        let tokens = memory.positions().max(0) as f64 + more as f64;
        let settings = memory.settings();
        let long = settings.slots.iter().filter(|slot| slot.len >= 4);
        let cells: u64 = long.map(|slot| slot.rows * u64::from(slot.width)).sum();
        let noise = (tokens / (cells.max(1) as f64)).sqrt();
        let load = tokens * PARAMETERS_PER_TOKEN as f64 / settings.parameters() as f64;
        // One right score of 1 against the largest of many that are noise alone.
        let wrong =
            if noise > 0.0 { upper_tail(1.0 / (noise * std::f64::consts::SQRT_2)) } else { 0.0 };
        Fill { load, noise, recall: (1.0 - wrong).powf(CANDIDATES) }
    }
}

/// The probability that a normal deviate exceeds z (Abramowitz and Stegun 26.2.17; error below 10⁻⁷).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_normal_one() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.158_655), (2.0, 0.022_750), (4.0, 3.167e-5)] {
            assert!((upper_tail(z) - p).abs() < 1e-6, "{z}");
        }
    }
}
