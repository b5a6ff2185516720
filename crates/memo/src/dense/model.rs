//! The multi-layer MeMo (paper, section 3.2).

use super::Composer;
use super::config::{DenseConfig, Distiller};
use super::distill::SequenceCounts;
use super::encoder::Encoder;
use super::memories::{Change, Memories};
use super::memory::CorrelationMemory;
use crate::codes::TokenCodes;
use crate::error::{ConfigError, Error, check_tokens};
use crate::transform::Transform;

/// A language model of layered correlation matrix memories.
///
/// ```
/// use memo::dense::{DenseConfig, DenseMemo};
/// let mut memo = DenseMemo::new(DenseConfig::new(100, 1024, 2, 3))?;
/// memo.memorize(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// let prediction = memo.predict(&[1, 2, 3, 4, 5, 6, 7, 8])?;
/// assert_eq!(prediction.token, 9);
/// assert!((prediction.weight - 3.0).abs() < 1.0); // once per layer
/// # Ok::<(), memo::Error>(())
/// ```
#[derive(Debug)]
pub struct DenseMemo {
    pub(super) encoder: Encoder,
    pub(super) memories: Memories,
    threads: Option<rayon::ThreadPool>,
}

impl DenseMemo {
    /// An empty model.
    pub fn new(config: DenseConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let threads = match config.threads {
            0 => None,
            threads => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|e| ConfigError::Threads { threads, reason: e.to_string() })?,
            ),
        };
        let memories = Memories::new(&config);
        let encoder = on(threads.as_ref(), || Encoder::new(config))?;
        Ok(DenseMemo { encoder, memories, threads })
    }

    /// The configuration.
    pub fn config(&self) -> &DenseConfig {
        &self.encoder.config
    }

    /// The token codes: the paper's E.
    pub fn codes(&self) -> &TokenCodes {
        &self.encoder.codes
    }

    /// W_V of layer i, counted from 1: the transform from a code to one head of a key.
    pub fn reduction(&self, layer: usize) -> Option<&dyn Transform> {
        Some(self.encoder.layers.get(layer.checked_sub(1)?)?.reduction.as_ref())
    }

    /// Prj of layer i, counted from 1; the last layer has none.
    pub fn composer(&self, layer: usize) -> Option<&Composer> {
        self.encoder.layers.get(layer.checked_sub(1)?)?.composer.as_ref()
    }

    /// C of layer i, counted from 1. The last layer always has one, inner layers where recall uses them.
    pub fn memory(&self, layer: usize) -> Option<&CorrelationMemory> {
        if layer == self.config().layers {
            return Some(&self.memories.last);
        }
        self.memories.inner.get(layer.checked_sub(1)?)
    }

    /// The same, for an experiment that changes it.
    pub fn memory_mut(&mut self, layer: usize) -> Option<&mut CorrelationMemory> {
        if layer == self.config().layers {
            return Some(&mut self.memories.last);
        }
        self.memories.inner.get_mut(layer.checked_sub(1)?)
    }

    /// Bytes held by codes, projections and memories.
    pub fn bytes(&self) -> usize {
        self.encoder.bytes() + self.parameters() * 4
    }

    /// The number of cells in all memories: the paper's parameters.
    pub fn parameters(&self) -> usize {
        let inner: usize = self.memories.inner.iter().map(CorrelationMemory::parameters).sum();
        self.memories.last.parameters() + inner
    }

    /// How many different sequences each inner layer holds; empty unless the distiller is exact.
    pub fn stored_sequences(&self) -> Vec<usize> {
        self.memories.counts.iter().map(SequenceCounts::len).collect()
    }

    /// Memorizes one text (the paper's MM_m). A text has no neighbours: nothing is stored across its ends.
    pub fn memorize(&mut self, text: &[u32]) -> Result<(), Error> {
        self.memorize_all(&[text])
    }

    /// Memorizes several texts: the same as one after the other, and faster where they are short.
    pub fn memorize_all(&mut self, texts: &[&[u32]]) -> Result<(), Error> {
        for text in texts {
            check_tokens(text, self.config().vocab)?;
        }
        self.write(texts, Change::Memorize);
        Ok(())
    }

    /// Forgets a text (the paper's MM_f): subtracts what memorizing it added to the last memory, so that it is no longer
    /// predicted. Inner memories keep its sequences, which say nothing about what follows them.
    ///
    /// As in the paper, nothing checks that the text was memorized: subtracting one that was not leaves negative
    /// weights. Cells are floats, so what remains is what was there before up to rounding.
    pub fn forget(&mut self, text: &[u32]) -> Result<(), Error> {
        check_tokens(text, self.config().vocab)?;
        self.write(&[text], Change::Forget);
        Ok(())
    }

    /// Forgets a text, and also the inner sequences that no other memorized text uses.
    ///
    /// Where there are inner memories this needs [`Distiller::Exact`]. The exact distiller knows the memorized texts: one
    /// that was not memorized, or has been forgotten since, is refused and nothing changes.
    pub fn forget_completely(&mut self, text: &[u32]) -> Result<(), Error> {
        check_tokens(text, self.config().vocab)?;
        let exact = self.config().distiller == Distiller::Exact;
        if !exact && self.config().has_inner_memories() {
            return Err(Error::NeedsExactDistiller);
        }
        if exact && !self.memories.has(text) {
            return Err(Error::NotMemorized { tokens: text.len() });
        }
        self.write(&[text], Change::ForgetCompletely);
        Ok(())
    }

    fn write(&mut self, texts: &[&[u32]], change: Change) {
        let DenseMemo { encoder, memories, threads } = self;
        on(threads.as_ref(), || memories.write(encoder, texts, change));
    }

    /// Runs on the model's own threads, if it has them.
    pub(super) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        on(self.threads.as_ref(), work)
    }
}

fn on<T: Send>(threads: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match threads {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
