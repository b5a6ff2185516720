//! How large a model is, how full, and how well it should recall.

use super::Snapshot;
use crate::error::Error;
use memo::sparse::{Memory, PARAMETERS_PER_TOKEN, Size};
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// Below this many cells a token a memory begins to lose what it was given.
const LEAST: u64 = 60;

/// A model in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stats {
    /// The tokenizer's name.
    pub tokenizer: String,
    /// Bits a cell, if the model is frozen.
    pub frozen: Option<u32>,
    /// Heads of a layer.
    pub heads: u32,
    /// Layers.
    pub layers: u32,
    /// Cells.
    pub parameters: u64,
    /// Bytes of memory in all.
    pub bytes: u64,
    /// Bytes of cells.
    pub cell_bytes: u64,
    /// Bytes of tables, which grow with the text.
    pub table_bytes: u64,
    /// Live documents; none if the model is frozen, and so has no documents.
    pub documents: Option<u64>,
    /// Tokens that are memorized.
    pub tokens: u64,
    /// Cells for each token.
    pub parameters_per_token: Option<f64>,
    /// Bytes for each token.
    pub bytes_per_token: Option<f64>,
    /// Tokens over those that fit at 92 cells each; 1 is full.
    pub load: f64,
    /// The deviation of a count read from all long contexts together.
    pub noise: f64,
    /// The share of tokens that should be recalled.
    pub predicted_recall: f64,
    /// The last transaction.
    pub transaction: u64,
}

impl Snapshot {
    /// The model in figures.
    pub fn stats(&self) -> Result<Stats, Error> {
        let memory = self.memory()?;
        let settings = memory.settings();
        let (documents, tokens) = if let Some(ledger) = &self.ledger {
            let documents = ledger.documents()?;
            let live = documents.iter().filter_map(|document| document.live());
            let tokens: Vec<u64> = live.map(|version| version.tokens).collect();
            (Some(tokens.len() as u64), tokens.iter().sum())
        } else {
            let ends = memory.unigrams()[settings.end as usize];
            (None, (memory.positions() - ends).max(0) as u64)
        };
        let usage = memory.usage();
        let (cell_bytes, table_bytes) = ((usage.cells + usage.wide) as u64, usage.tables as u64);
        let longest = settings.slots.iter().map(|slot| slot.len).max().unwrap_or(1);
        let MemoryLoad { load, noise, recall } = MemoryLoad::of(memory, 0);
        let each = |total: u64| (tokens > 0).then(|| total as f64 / tokens as f64);
        Ok(Stats {
            tokenizer: self.config.tokenizer.clone(),
            frozen: self.config.frozen,
            heads: settings.heads,
            layers: longest.ilog(settings.heads) + 1,
            parameters: settings.parameters(),
            bytes: cell_bytes + table_bytes,
            cell_bytes,
            table_bytes,
            documents,
            tokens,
            parameters_per_token: each(settings.parameters()),
            bytes_per_token: each(cell_bytes + table_bytes),
            load,
            noise,
            predicted_recall: recall,
            transaction: self.transaction,
        })
    }

    /// How full the memory is; 1 is full.
    pub fn load(&self) -> Result<f64, Error> {
        Ok(MemoryLoad::of(self.memory()?, 0).load)
    }

    /// The load that so many tokens more would make, if it is too high to recall all of them.
    pub fn overload(&self, tokens: u64) -> Result<Option<Overload>, Error> {
        let memory = self.memory()?;
        let total = memory.positions().max(0) as u64 + tokens;
        if memory.settings().parameters() / total.max(1) >= LEAST {
            return Ok(None);
        }
        let MemoryLoad { load, recall, .. } = MemoryLoad::of(memory, tokens);
        Ok(Some(Overload { load, recall, needed: fitting_size(total).parameters() }))
    }
}

/// A memory that would hold more than it can recall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// How full it would be; 1 is full.
    pub load: f64,
    /// The share of tokens that it would recall.
    pub recall: f64,
    /// Bytes of cells that would be enough.
    pub needed: u64,
}

impl Display for Overload {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (load, recall) = (100.0 * self.load, 100.0 * self.recall);
        write!(f, "would be {load:.0} % full and recall about {recall:.1} % of its tokens")
    }
}

/// The size for this many tokens, with room for as many again, or for three million.
pub fn fitting_size(tokens: u64) -> Size {
    Size::Parameters(((tokens + tokens.min(3_000_000)) * PARAMETERS_PER_TOKEN).max(1 << 22))
}

/// How full a memory is, and what that does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryLoad {
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

impl MemoryLoad {
    /// The load of a memory, or what it would be with some tokens more.
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
        MemoryLoad { load, noise, recall: (1.0 - wrong).powf(CANDIDATES) }
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
