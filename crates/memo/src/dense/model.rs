//! The multi-layer MeMo (paper, section 3.2).

use super::Composer;
use super::config::DenseConfig;
use super::distill::SequenceCounts;
use super::encoder::Encoder;
use super::memories::{Change, Memories, Progress};
use super::memory::CorrelationMemory;
use crate::codes::TokenCodes;
use crate::error::{ConfigError, Error, check_tokens};
use crate::transform::Transform;
use std::ops::ControlFlow;

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
        self.memories.parameters()
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
        self.change_all(texts, Change::Memorize, None)
    }

    /// Forgets a text (the paper's MM_f): subtracts what memorizing it added to the last memory, so that it is no longer
    /// predicted. **Inner memories keep all of its sequences**, and the whole text can be read from them token by token: of all
    /// tokens, the one that followed makes a window that C⁽¹⁾ knows (`memo-lab residue` does it). Where this matters, use
    /// [`DenseMemo::forget_completely`] instead, or recall that has no inner memories ([`Recall::Computed`](super::Recall::Computed)).
    ///
    /// As in the paper, nothing checks that the text was memorized: subtracting one that was not writes it with negative
    /// weights, which can be read as well. Cells are floats, so what remains is what was there before up to rounding.
    pub fn forget(&mut self, text: &[u32]) -> Result<(), Error> {
        self.forget_all(&[text])
    }

    /// Forgets several texts.
    pub fn forget_all(&mut self, texts: &[&[u32]]) -> Result<(), Error> {
        self.change_all(texts, Change::Forget, None)
    }

    /// Forgets a text in every memory, so that they hold what they would without it, up to the rounding of floats.
    ///
    /// | inner memories | distiller | |
    /// |---|---|---|
    /// | none | any | the same as [`DenseMemo::forget`] |
    /// | some | [`Distiller::Exact`](super::Distiller::Exact) | sequences that no other text uses are subtracted |
    /// | some | [`Distiller::Off`](super::Distiller::Off) | every occurrence is subtracted, as every one was added |
    /// | some | [`Distiller::Memory`](super::Distiller::Memory), [`Distiller::Unclamped`](super::Distiller::Unclamped) | refused: Φ was rounded from what the memories held when the text came, which nobody knows any more, and texts that came later were stored, or not, depending on it |
    ///
    /// The exact distiller knows the memorized texts: one that was not memorized, or has been forgotten since (by
    /// [`DenseMemo::forget`] too), is refused and nothing changes. The others do not know, and subtract what is asked.
    pub fn forget_completely(&mut self, text: &[u32]) -> Result<(), Error> {
        self.forget_completely_all(&[text])
    }

    /// Forgets several texts completely: all of them or, if one is refused, none.
    pub fn forget_completely_all(&mut self, texts: &[&[u32]]) -> Result<(), Error> {
        self.change_all(texts, Change::ForgetCompletely, None)
    }

    /// Memorizes or forgets texts and calls `progress` about every thousand tokens, for callers that show it or may stop.
    ///
    /// If it breaks, the answer is [`Error::Stopped`] and nothing has changed. For this the memories are copied first;
    /// where there is no room for a copy, the work goes on to its end.
    ///
    /// ```
    /// use memo::Error;
    /// use memo::dense::{Change, DenseConfig, DenseMemo};
    /// use std::ops::ControlFlow;
    /// let mut memo = DenseMemo::new(DenseConfig::authors(100, 64, 2, 2))?;
    /// let text: Vec<u32> = (0..10_000).map(|k| k * k % 100).collect();
    /// let mut progress = |done| if done < 5000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    /// let stopped = memo.change_all(&[&text], Change::Memorize, Some(&mut progress));
    /// assert_eq!(stopped, Err(Error::Stopped));
    /// assert_eq!(memo.memory(2).unwrap().norm(), 0.0);
    /// # Ok::<(), memo::Error>(())
    /// ```
    pub fn change_all(
        &mut self,
        texts: &[&[u32]],
        change: Change,
        progress: Option<Progress<'_>>,
    ) -> Result<(), Error> {
        for text in texts {
            check_tokens(text, self.config().vocab)?;
        }
        if change == Change::ForgetCompletely {
            let rounded = self.config().distiller.is_rounded();
            if rounded && self.config().layers > 1 && self.config().has_inner_memories() {
                return Err(Error::RoundedDistiller);
            }
            if let Some(text) = self.memories.missing(texts) {
                return Err(Error::NotMemorized { tokens: text.len() });
            }
        }
        let DenseMemo { encoder, memories, threads } = self;
        match on(threads.as_ref(), || memories.change(encoder, texts, change, progress)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
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
