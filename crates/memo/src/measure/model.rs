//! The engines, as the measurement sees them.

use super::Experiment;
use crate::codes::CodeKind;
use crate::dense::{DenseConfig, DenseMemo};
use crate::readout::{Backoff, Scratch, score};
use crate::sparse::{self, Digest, Memory, Settings, Span};
use rayon::prelude::*;

/// Bytes that a memory holds.
pub(super) struct Bytes {
    pub(super) cells: usize,
    pub(super) tables: usize,
}

/// A memory that can be written to and asked.
pub(super) trait Model {
    /// What the engine refuses.
    type Error;

    /// Memorizes documents.
    fn memorize(&mut self, documents: &[&[u32]]) -> Result<(), Self::Error>;

    /// Forgets documents.
    fn forget(&mut self, documents: &[&[u32]]) -> Result<(), Self::Error>;

    /// The most probable token after each prompt.
    fn answers(&self, prompts: &[&[u32]]) -> Result<Vec<u32>, Self::Error>;

    /// The log-probability of every token of a text, if the engine has probabilities.
    fn score(&self, text: &[u32]) -> Result<Option<Vec<f64>>, Self::Error>;

    /// What the memory is, to the last bit, if it is exact.
    fn digest(&mut self) -> Result<Option<Digest>, Self::Error>;

    /// The number of cells.
    fn parameters(&self) -> u64;

    /// What it holds.
    fn bytes(&self) -> Bytes;
}

/// The sparse engine with a read-out.
pub(super) struct Sparse<'r> {
    memory: Memory,
    readout: &'r Backoff,
}

impl<'r> Sparse<'r> {
    pub(super) fn new(
        experiment: &Experiment<'_>,
        readout: &'r Backoff,
    ) -> Result<Self, sparse::Error> {
        let Experiment { vocabulary, end, seed, .. } = *experiment;
        let settings = Settings::new(vocabulary, end, seed)?;
        let words = experiment.words.clone();
        let settings = if words.is_some() { settings.with_words() } else { settings };
        let lexicon = words.as_ref().and_then(|words| words.lexicon());
        let settings = settings.with_lexicon(lexicon.map(|lexicon| &**lexicon));
        Ok(Sparse { memory: Memory::with_words(settings, words)?, readout })
    }

    fn write(&mut self, documents: &[&[u32]], weight: i32) -> Result<(), sparse::Error> {
        let passages: Vec<Span<'_>> =
            documents.iter().map(|document| Span::whole(document, weight)).collect();
        self.memory.write(&passages)
    }
}

impl Model for Sparse<'_> {
    type Error = sparse::Error;

    fn memorize(&mut self, documents: &[&[u32]]) -> Result<(), sparse::Error> {
        self.write(documents, 1)
    }

    fn forget(&mut self, documents: &[&[u32]]) -> Result<(), sparse::Error> {
        self.write(documents, -1)
    }

    fn answers(&self, prompts: &[&[u32]]) -> Result<Vec<u32>, sparse::Error> {
        let answer = |scratch: &mut Scratch, prompt: &&[u32]| {
            self.readout.best_repaired(&self.memory, prompt, scratch)
        };
        prompts.par_iter().map_init(Scratch::default, answer).collect()
    }

    fn score(&self, text: &[u32]) -> Result<Option<Vec<f64>>, sparse::Error> {
        Ok(Some(score(&self.memory, self.readout, text)?))
    }

    fn digest(&mut self) -> Result<Option<Digest>, sparse::Error> {
        Ok(Some(self.memory.digest()?))
    }

    fn parameters(&self) -> u64 {
        self.memory.cells()
    }

    fn bytes(&self) -> Bytes {
        let held = self.memory.usage();
        Bytes { cells: held.tables, tables: held.vocabulary }
    }
}

/// The paper's engine as it recalls best: Hadamard codes, four heads, three layers, computed recall.
pub(super) struct Dense(DenseMemo);

impl Dense {
    /// A model with the power of two for d whose square is nearest to the cells that were asked for, and at least 64.
    pub(super) fn new(experiment: &Experiment<'_>, cells: u64) -> Result<Self, crate::Error> {
        let half = (cells.max(1) as f64).log2() / 2.0;
        let dim = 1 << (half.round() as u32).clamp(6, 30);
        let config = DenseConfig::authors(experiment.vocabulary as usize, dim, 4, 3);
        let config = DenseConfig { codes: CodeKind::Hadamard, seed: experiment.seed, ..config };
        Ok(Dense(DenseMemo::new(config)?))
    }
}

impl Model for Dense {
    type Error = crate::Error;

    fn memorize(&mut self, documents: &[&[u32]]) -> Result<(), crate::Error> {
        self.0.memorize_all(documents)
    }

    fn forget(&mut self, documents: &[&[u32]]) -> Result<(), crate::Error> {
        for document in documents {
            self.0.forget(document)?;
        }
        Ok(())
    }

    fn answers(&self, prompts: &[&[u32]]) -> Result<Vec<u32>, crate::Error> {
        Ok(self.0.predict_all(prompts)?.iter().map(|prediction| prediction.token).collect())
    }

    fn score(&self, _: &[u32]) -> Result<Option<Vec<f64>>, crate::Error> {
        Ok(None)
    }

    fn digest(&mut self) -> Result<Option<Digest>, crate::Error> {
        Ok(None)
    }

    fn parameters(&self) -> u64 {
        self.0.parameters() as u64
    }

    fn bytes(&self) -> Bytes {
        Bytes { cells: self.0.parameters() * 4, tables: self.0.bytes() - self.0.parameters() * 4 }
    }
}
