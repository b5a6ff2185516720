//! The memories that are filled: one matrix, with dense keys or sparse ones.

use super::search::{BATCH, Trial};
use super::{Engine, Shape};
use crate::{Error, Share};
use memo::codes::{CodeKind, TokenCodes};
use memo::dense::{SingleConfig, SingleMemory};
use memo::random::{Purpose, Stream};
use memo::superposed::readout::{ReadOut, Scratch, Sum};
use memo::superposed::{Memory, Ram, Settings, Slot, Span};
use rayon::prelude::*;

/// Symbols, as in the paper.
pub(super) const VOCABULARY: usize = 100_000;

/// Cells in a row of the superposed engine.
const WIDTH: usize = 256;

/// Batches stored by one call.
const AT_ONCE: usize = 200;

/// Random windows of h symbols, and the symbol that follows each.
pub(super) struct Pairs {
    pub(super) windows: Vec<u32>,
    pub(super) next: Vec<u32>,
}

impl Pairs {
    /// The pairs of some batches, one after the other.
    fn batches(seed: u64, heads: usize, batches: std::ops::Range<usize>) -> Self {
        let mut pairs = Pairs { windows: Vec::new(), next: Vec::new() };
        for batch in batches {
            let mut reader = Stream::new(seed, Purpose::Sampling, batch as u32).draws();
            pairs.windows.extend(reader.tokens(BATCH * heads, VOCABULARY));
            pairs.next.extend(reader.tokens(BATCH, VOCABULARY));
        }
        pairs
    }
}

enum Cells {
    Dense(Box<SingleMemory>),
    Sparse(Box<Memory>),
}

/// One memory, and how many batches it holds.
pub(super) struct Filled {
    cells: Cells,
    engine: Engine,
    heads: usize,
    seed: u64,
    stored: usize,
    /// Pairs of a batch that are tried: its first, which are as random as any.
    sample: usize,
}

impl Filled {
    pub(super) fn new(
        engine: Engine,
        shape: Shape,
        seed: u64,
        sample: usize,
    ) -> Result<Self, Error> {
        let Shape { heads, head_dim, dim } = shape;
        let config = |codes| SingleConfig { vocab: VOCABULARY, heads, head_dim, dim, codes, seed };
        let dense = |memory| Cells::Dense(Box::new(memory));
        let cells = match engine {
            Engine::Gaussian => dense(SingleMemory::with_symbols(
                config(CodeKind::Gaussian),
                symbols(head_dim, seed)?,
            )?),
            Engine::Reduced => dense(SingleMemory::new(config(CodeKind::Gaussian))?),
            Engine::Hadamard => dense(SingleMemory::new(config(CodeKind::Hadamard))?),
            Engine::Sparse { .. } => Cells::Sparse(Box::new(Memory::new(settings(shape, seed))?)),
        };
        Ok(Filled { cells, engine, heads, seed, stored: 0, sample })
    }

    /// Adds pairs, or takes them away.
    fn write(&mut self, pairs: &Pairs, add: bool) -> Result<(), Error> {
        match &mut self.cells {
            Cells::Dense(memory) if add => memory.memorize_pairs(&pairs.windows, &pairs.next)?,
            Cells::Dense(memory) => memory.forget_pairs(&pairs.windows, &pairs.next)?,
            Cells::Sparse(memory) => {
                let h = self.heads;
                let documents: Vec<Vec<u32>> = pairs
                    .windows
                    .chunks_exact(h)
                    .zip(&pairs.next)
                    .map(|(window, next)| window.iter().chain([next]).copied().collect())
                    .collect();
                let weight = if add { 1 } else { -1 };
                let passage = |document| Span::part(document, h..h + 1, weight);
                let passages: Vec<Span<'_>> =
                    documents.iter().map(|document| passage(document.as_slice())).collect();
                memory.write(&passages)?;
            }
        }
        Ok(())
    }

    /// The memory's prediction for each window.
    fn answers(&self, windows: &[u32]) -> Result<Vec<u32>, Error> {
        match &self.cells {
            Cells::Dense(memory) => {
                Ok(memory.predict_pairs(windows)?.iter().map(|answer| answer.token).collect())
            }
            Cells::Sparse(memory) => {
                let cut = match self.engine {
                    Engine::Sparse { bits: Some(bits) } => Some(cut(memory, bits)?),
                    _ => None,
                };
                let memory = cut.as_ref().unwrap_or(memory);
                let best = |scratch: &mut Scratch, window| Sum.best(memory, window, scratch);
                let windows = windows.par_chunks_exact(self.heads);
                Ok(windows.map_init(Scratch::default, best).collect::<Result<_, _>>()?)
            }
        }
    }
}

impl Trial for Filled {
    fn fill(&mut self, batches: usize) -> Result<(), Error> {
        let add = batches > self.stored;
        let (from, to) = (batches.min(self.stored), batches.max(self.stored));
        for start in (from..to).step_by(AT_ONCE) {
            let some = start..to.min(start + AT_ONCE);
            self.write(&Pairs::batches(self.seed, self.heads, some), add)?;
        }
        self.stored = batches;
        Ok(())
    }

    fn recall(&self) -> Result<Share, Error> {
        let of = |batch: usize| -> Result<Share, Error> {
            let Pairs { mut windows, mut next } =
                Pairs::batches(self.seed, self.heads, batch..batch + 1);
            windows.truncate(self.sample * self.heads);
            next.truncate(self.sample);
            Ok(Share::of(self.answers(&windows)?, next))
        };
        Ok(of(0)? + of(self.stored - 1)?)
    }
}

/// A vector of its own for every symbol, as the authors have them here: random, and unrelated to its code.
fn symbols(head_dim: usize, seed: u64) -> Result<Vec<f32>, Error> {
    let codes = TokenCodes::new(CodeKind::Gaussian, VOCABULARY, head_dim, !seed)?;
    Ok(codes.rows(&(0..VOCABULARY as u32).collect::<Vec<_>>()))
}

/// One slot for the whole window, with as many cells as the shape has.
fn settings(shape: Shape, seed: u64) -> Settings {
    let slot = Slot {
        skip: 0,
        len: shape.heads as u32,
        rows: (shape.parameters() / WIDTH) as u64,
        width: WIDTH as u32,
        copies: 2,
        bucketed: false,
        bound: true,
    };
    let end = VOCABULARY as u32;
    Settings { vocabulary: end + 1, end, seed, heads: 2, slots: vec![slot] }
}

/// The same memory with fewer bits in each cell, as if it were stored in less: one bit keeps the sign and, for the row,
/// Σx²/Σ|x|; two bits also whether a cell is above the row's mean size, and two numbers for the row; eight bits keep
/// everything up to 127.
fn cut(memory: &Memory, bits: u32) -> Result<Memory, Error> {
    let mut cells = Ram::new(memory.cells().len())?;
    let rows = cells.bytes_mut().par_chunks_exact_mut(WIDTH);
    rows.zip(memory.cells().par_chunks_exact(WIDTH)).for_each(|(out, row)| {
        let values: Vec<f32> = row.iter().map(|&cell| f32::from(cell as i8)).collect();
        let cut = if bits == 8 { values } else { cut_row(&values, bits) };
        for (out, value) in out.iter_mut().zip(cut) {
            *out = value.round().clamp(-127.0, 127.0) as i8 as u8;
        }
    });
    Ok(Memory::with_cells(memory.settings().clone(), cells)?)
}

fn cut_row(row: &[f32], bits: u32) -> Vec<f32> {
    let whole: f32 = row.iter().map(|x| x.abs()).sum();
    if whole == 0.0 {
        return row.to_vec();
    }
    let limit = whole / row.len() as f32;
    let large = |x: f32| bits == 2 && x.abs() > limit;
    let mean = |wanted: bool| {
        let some = || row.iter().filter(|x| large(**x) == wanted).map(|x| x.abs());
        some().sum::<f32>() / (some().count().max(1) as f32)
    };
    let (small, big) = (mean(false), mean(true));
    let level = |x: f32| (if large(x) { big } else { small }).copysign(x);
    // So that the product with the row itself is what it was.
    let energy: f32 = row.iter().map(|x| x * x).sum();
    let kept: f32 = row.iter().map(|x| level(*x) * level(*x)).sum();
    row.iter().map(|x| level(*x) * energy / kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Shape = Shape { heads: 4, head_dim: 64, dim: 256 };

    #[test]
    fn what_is_stored_is_recalled_and_what_is_taken_away_is_not() {
        let engines = [
            Engine::Gaussian,
            Engine::Hadamard,
            Engine::Sparse { bits: None },
            Engine::Sparse { bits: Some(1) },
        ];
        for engine in engines {
            let mut memory = Filled::new(engine, SMALL, 5, 200).unwrap();
            memory.fill(1).unwrap();
            let light = memory.recall().unwrap();
            assert!(light.value() > 0.9, "{engine:?}: {light:?}");
            memory.fill(30).unwrap();
            assert!(memory.recall().unwrap().value() < 0.5, "{engine:?}");
            memory.fill(1).unwrap();
            assert_eq!(memory.recall().unwrap(), light, "{engine:?}");
        }
    }

    #[test]
    fn a_cut_row_keeps_signs_and_its_product_with_itself() {
        let row = [3.0, -1.0, 0.0, 5.0, -7.0, 2.0, -2.0, 4.0];
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        for bits in [1, 2] {
            let cut = cut_row(&row, bits);
            assert!((dot(&cut, &row) / dot(&row, &row) - 1.0).abs() < 1e-5, "{bits} bits: {cut:?}");
            assert!(cut.iter().zip(&row).all(|(cut, x)| cut * x >= 0.0));
            let mut sizes: Vec<f32> = cut.iter().map(|x| x.abs()).collect();
            sizes.sort_by(f32::total_cmp);
            sizes.dedup_by(|a, b| (*a - *b).abs() < 1e-5);
            assert_eq!(sizes.len(), bits as usize);
        }
    }
}
