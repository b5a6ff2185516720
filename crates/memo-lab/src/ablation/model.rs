//! The memory of each step, as large as the limit allows with everything that its read-out looks at.

use super::{Found, Step, Text, limit};
use crate::{Error, Share};
use memo::codes::CodeKind;
use memo::dense::{DenseConfig, DenseMemo};
use memo::superposed::readout::{Backoff, ReadOut, Scratch, Sum, Tables, score};
use memo::superposed::{Memory, MemoryUsage, Settings, Slot, Span};
use memo::{readout, sparse};
use rayon::prelude::*;

/// Two heads and four layers: windows of 2, 4, 8 and 16 tokens, in every step.
const HEADS: usize = 2;
const LAYERS: usize = 4;

/// The fewest cells of a memory that is worth asking.
const LEAST: u64 = 1 << 16;

/// Memorizes a text as a step does, within the bytes of a dense memory, and asks for it.
pub(super) fn measure(text: &Text, dim: usize, step: Step, seed: u64) -> Result<Found, Error> {
    match step {
        Step::Dense => dense(text, dim, seed),
        Step::Exact => exact(text, dim, seed),
        _ => superposed(text, dim, step, seed),
    }
}

fn dense(text: &Text, dim: usize, seed: u64) -> Result<Found, Error> {
    let authors = DenseConfig::authors(text.vocabulary as usize, dim, HEADS, LAYERS);
    let mut memo = DenseMemo::new(DenseConfig { codes: CodeKind::Hadamard, seed, ..authors })?;
    memo.memorize_all(&text.documents.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    let answers = memo.predict_all(&text.contexts())?;
    let recall = Share::of(answers.iter().map(|next| next.token), text.wanted());
    // Signs of transforms are all that it has besides: the limit is that of its cells.
    Ok(Found { bytes: memo.bytes() as u64, fits: true, recall, perplexity: None })
}

fn exact(text: &Text, dim: usize, seed: u64) -> Result<Found, Error> {
    let settings = sparse::Settings::new(text.vocabulary, text.end, seed)?;
    let mut memory = sparse::Memory::new(settings)?;
    let spans: Vec<sparse::Span<'_>> =
        text.documents.iter().map(|document| sparse::Span::whole(document, 1)).collect();
    memory.write(&spans)?;
    let best = |scratch: &mut readout::Scratch, context: &&[u32]| {
        readout::BACKOFF.best(&memory, context, scratch)
    };
    let answers = text
        .contexts()
        .par_iter()
        .map_init(readout::Scratch::default, best)
        .collect::<Result<Vec<_>, _>>()?;
    let recall = Share::of(answers, text.wanted());
    let scores = readout::score(&memory, &readout::BACKOFF, &text.held_out)?;
    let bytes = memory.usage().total() as u64;
    let perplexity = perplexity(&scores, &text.held_out);
    Ok(Found { bytes, fits: bytes <= limit(dim), recall, perplexity })
}

fn superposed(text: &Text, dim: usize, step: Step, seed: u64) -> Result<Found, Error> {
    // Tables do not depend on the cells, so a small memory tells how large they will be.
    let tables = if step >= Step::Pairs {
        looked_at(&written(text, step, LEAST, seed)?.usage(), step)
    } else {
        0
    };
    let cells = (limit(dim).saturating_sub(tables)) / if step == Step::SparseKeys { 4 } else { 1 };
    if cells < LEAST {
        let recall = Share::default();
        return Ok(Found { bytes: tables, fits: false, recall, perplexity: None });
    }
    let memory = written(text, step, cells, seed)?;
    let MemoryUsage { cells, wide, .. } = memory.usage();
    // As if a cell had four bytes, like a dense one.
    let cells = if step == Step::SparseKeys { 4 * cells } else { cells + wide };
    let bytes = cells as u64 + looked_at(&memory.usage(), step);
    let known = |tables| Backoff { tables, ..Backoff::default() };
    let backoff = known(match step {
        Step::Backoff => Tables::None,
        Step::Pairs => Tables::Pairs,
        _ => Tables::All,
    });
    let readout: &dyn ReadOut = if step < Step::Backoff { &Sum } else { &backoff };
    let best = |scratch: &mut Scratch, context: &&[u32]| readout.best(&memory, context, scratch);
    let answers = text
        .contexts()
        .par_iter()
        .map_init(Scratch::default, best)
        .collect::<Result<Vec<_>, _>>()?;
    let recall = Share::of(answers, text.wanted());
    let perplexity = if step < Step::Backoff {
        None
    } else {
        perplexity(&score(&memory, readout, &text.held_out)?, &text.held_out)
    };
    Ok(Found { bytes, fits: true, recall, perplexity })
}

/// Bytes of the tables that a step's read-out looks at.
fn looked_at(usage: &MemoryUsage, step: Step) -> u64 {
    let bytes = match step {
        Step::Totals => usage.tables,
        Step::Pairs => usage.tables - usage.totals,
        _ => 0,
    };
    bytes as u64
}

/// A memory of the text with about so many cells.
fn written(text: &Text, step: Step, cells: u64, seed: u64) -> Result<Memory, Error> {
    let slot = |len: u32, share: u64, of: u64| {
        let bucketed = step >= Step::Buckets && len <= 2;
        let width = if bucketed { 64 } else { 256 };
        let rows = (cells * share / of / u64::from(width)).max(1);
        Slot { skip: 0, len, rows, width, copies: 2, bucketed, bound: step >= Step::Bound }
    };
    let windows = (1..=LAYERS as u32).map(|layer| (HEADS as u32).pow(layer));
    // Back-off begins at the last token; its shares of the cells are the engine's.
    let slots = if step >= Step::Backoff {
        let share = |len: u32| if len == 2 { 14 } else { 8 };
        std::iter::once(slot(1, 18, 56))
            .chain(windows.map(|len| slot(len, share(len), 56)))
            .collect()
    } else {
        windows.map(|len| slot(len, 1, LAYERS as u64)).collect()
    };
    let Text { vocabulary, end, .. } = *text;
    let mut memory = Memory::new(Settings { vocabulary, end, seed, heads: HEADS as u32, slots })?;
    let spans: Vec<Span<'_>> =
        text.documents.iter().map(|document| Span::whole(document, 1)).collect();
    memory.write(&spans)?;
    Ok(memory)
}

/// The perplexity of a text from the log-probabilities of its tokens; the end is not counted.
fn perplexity(scores: &[f64], text: &[u32]) -> Option<f64> {
    let scores = &scores[..text.len().min(scores.len())];
    (!scores.is_empty()).then(|| (-scores.iter().sum::<f64>() / scores.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    /// Each step takes what it may, and the last ones recall what the first cannot.
    #[test]
    fn steps_keep_the_limit_and_come_to_exact_counts() {
        let options = Options { quick: true, seed: 1, ..Options::default() };
        let mut text = Text::random(&options).remove(1);
        text.documents.truncate(8);
        text.tried.retain(|(document, _)| *document < 8);
        let found = |step| measure(&text, 512, step, 1).unwrap();
        for step in [Step::SparseKeys, Step::ByteCells, Step::Bound, Step::Buckets, Step::Backoff] {
            let Found { bytes, fits, .. } = found(step);
            // Slots are rounded to whole pages, and a few rows have more than a byte a cell.
            assert!(
                fits && bytes <= limit(512) * 11 / 10 && bytes > limit(512) * 9 / 10,
                "{step:?} {bytes}"
            );
        }
        assert!(found(Step::Exact).recall.value() > 0.99);
        assert!(found(Step::Bound).recall.value() > found(Step::SparseKeys).recall.value());
        // The tables of a vocabulary of 50,254 and of these pairs do not fit into 64 kB.
        assert!(!measure(&text, 128, Step::Totals, 1).unwrap().fits);
    }
}
