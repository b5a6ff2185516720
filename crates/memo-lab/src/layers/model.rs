//! The engines that are compared.

use super::texts::{Batch, HEADS, VOCABULARY};
use crate::{Error, Share};
use memo::codes::CodeKind;
use memo::dense::{Composition, DenseConfig, DenseMemo, Distiller, Recall};
use memo::superposed::readout::{BACKOFF, ReadOut, Scratch, Sum};
use memo::superposed::{Memory, Settings, Slot, Span};
use rayon::prelude::*;

/// An engine under comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Engine {
    /// As the authors ran it: Gaussian codes, linear composition, computed recall.
    Gaussian,
    /// The same with Hadamard codes.
    Hadamard,
    /// Hadamard codes, bound.
    Bind,
    /// Gaussian codes composed by the authors' product.
    Product,
    /// Hadamard codes, linear composition, inner codes from the inner memories: the paper's equation.
    Stored,
    /// The same with the distiller as the paper prints it.
    Printed,
    /// The superposed engine as it reads best: back-off with its tables.
    Sparse,
    /// The cells of the superposed engine alone, read by the paper's sum.
    Cells,
}

impl Engine {
    /// Its name in tables and figures.
    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::Gaussian => "Gaussian",
            Engine::Hadamard => "Hadamard",
            Engine::Bind => "bind",
            Engine::Product => "product",
            Engine::Stored => "stored recall",
            Engine::Printed => "stored recall, Φ as printed",
            Engine::Sparse => "sparse",
            Engine::Cells => "cells alone",
        }
    }
}

/// A slot for the window of each layer, 4, 16 and 64 tokens, which share d×d cells evenly. From two layers on, a 32nd of
/// the cells is for the last token alone; with one, the read-out's constants, made for text, would trust it too much.
fn sparse(dim: usize, layers: usize, seed: u64) -> Settings {
    let cells = dim * dim;
    let last = if layers > 1 { cells / 32 } else { 0 };
    let slot = |len: usize, cells: usize, width: u32| Slot {
        skip: 0,
        len: len as u32,
        rows: (cells / width as usize) as u64,
        width,
        copies: 2,
        bucketed: len == 1,
        bound: true,
    };
    let windows = (1..=layers).map(|i| slot(HEADS.pow(i as u32), (cells - last) / layers, 256));
    let slots = (last > 0).then(|| slot(1, last, 64)).into_iter().chain(windows).collect();
    let end = VOCABULARY as u32;
    Settings { vocabulary: end + 1, end, seed, heads: HEADS as u32, slots }
}

/// The authors' model.
pub(super) fn gaussian(dim: usize, layers: usize, seed: u64) -> Result<DenseMemo, Error> {
    let config = DenseConfig::authors(VOCABULARY, dim, HEADS, layers);
    Ok(DenseMemo::new(DenseConfig { seed, ..config })?)
}

/// A model under test.
pub(super) enum Model {
    Dense(Box<DenseMemo>),
    Sparse(Box<Memory>, &'static dyn ReadOut),
}

impl Model {
    /// An empty model with a last memory of d×d cells; the sparse engine gets as many.
    pub(super) fn new(engine: Engine, dim: usize, layers: usize, seed: u64) -> Result<Self, Error> {
        let readout: Option<&'static dyn ReadOut> = match engine {
            Engine::Sparse => Some(&BACKOFF),
            Engine::Cells => Some(&Sum),
            _ => None,
        };
        if let Some(readout) = readout {
            let memory = Memory::new(sparse(dim, layers, seed))?;
            return Ok(Model::Sparse(Box::new(memory), readout));
        }
        let authors = DenseConfig::authors(VOCABULARY, dim, HEADS, layers);
        let config = match engine {
            Engine::Bind => DenseConfig { composition: Composition::Bind, ..authors },
            Engine::Product => DenseConfig { composition: Composition::Product, ..authors },
            Engine::Stored => {
                DenseConfig { recall: Recall::Stored, distiller: Distiller::Exact, ..authors }
            }
            Engine::Printed => {
                DenseConfig { recall: Recall::Stored, distiller: Distiller::Unclamped, ..authors }
            }
            _ => authors,
        };
        let codes = match engine {
            Engine::Gaussian | Engine::Product => CodeKind::Gaussian,
            _ => CodeKind::Hadamard,
        };
        let memo = DenseMemo::new(DenseConfig { codes, seed, ..config })?;
        Ok(Model::Dense(Box::new(memo)))
    }

    pub(super) fn memorize(&mut self, batch: &Batch) -> Result<(), Error> {
        match self {
            Model::Dense(memo) => Ok(memo.memorize_all(&batch.texts())?),
            Model::Sparse(memory, _) => {
                let passages: Vec<Span<'_>> =
                    batch.chunks.iter().map(|chunk| Span::whole(chunk, 1)).collect();
                Ok(memory.write(&passages)?)
            }
        }
    }

    /// How many of the batch's sampled positions are predicted right.
    pub(super) fn recall(&self, batch: &Batch) -> Result<Share, Error> {
        let contexts = batch.contexts();
        let answers: Vec<u32> = match self {
            Model::Dense(memo) => {
                memo.predict_all(&contexts)?.iter().map(|prediction| prediction.token).collect()
            }
            Model::Sparse(memory, readout) => {
                let best = |scratch: &mut Scratch, context: &&[u32]| {
                    readout.best(memory, context, scratch)
                };
                contexts.par_iter().map_init(Scratch::default, best).collect::<Result<_, _>>()?
            }
        };
        Ok(Share::of(answers, batch.wanted()))
    }

    /// Cells of the memories, and the bytes of all that is read.
    pub(super) fn size(&self, engine: Engine) -> (u64, u64) {
        match self {
            Model::Dense(memo) => (memo.parameters() as u64, memo.bytes() as u64),
            Model::Sparse(memory, _) => {
                let bytes = memory.usage().total()
                    - if engine == Engine::Cells { memory.usage().tables } else { 0 };
                (memory.settings().parameters(), bytes as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_codes_are_those_of_the_authors_model_and_of_the_product() {
        let codes = |engine| match Model::new(engine, 64, 2, 1).unwrap() {
            Model::Dense(memo) => memo.config().codes,
            Model::Sparse(..) => panic!("{engine:?} is dense"),
        };
        for engine in [Engine::Gaussian, Engine::Product] {
            assert_eq!(codes(engine), CodeKind::Gaussian, "{engine:?}");
        }
        for engine in [Engine::Hadamard, Engine::Bind, Engine::Stored, Engine::Printed] {
            assert_eq!(codes(engine), CodeKind::Hadamard, "{engine:?}");
        }
        let authors = gaussian(64, 2, 1).unwrap();
        assert_eq!(authors.config().codes, CodeKind::Gaussian);
    }
}
