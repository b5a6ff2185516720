//! The language model of a single memory (paper, section 3.1): windows of a fixed length h, and the token that follows.
//!
//! A window's key is `s = [W_V·x₁; …; W_V·x_h]`, so that `s·s' ≈ k/h` when two windows share k tokens at the same
//! places. Reading a key therefore counts full matches as 1 and partial ones as k/h.

use super::layer::{Layer, reduction};
use super::memory::CorrelationMemory;
use super::retrieve::Prediction;
use super::update::Update;
use super::windows::Windows;
use crate::codes::{self, CodeKind, TokenCodes};
use crate::error::{ConfigError, Error, check_memory, check_tokens};
use rayon::prelude::*;
use std::sync::OnceLock;

/// The shape of a [`SingleMemory`]: a matrix of h·d_h × d cells.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleConfig {
    /// n, the size of the vocabulary.
    pub vocab: usize,
    /// h, the number of tokens in a window.
    pub heads: usize,
    /// d_h, the dimensions that each token of a window takes in a key.
    pub head_dim: usize,
    /// d, the dimension of token codes.
    pub dim: usize,
    /// The kind of token codes; with Hadamard codes W_V is a fast transform.
    pub codes: CodeKind,
    /// Everything random comes from this.
    pub seed: u64,
}

impl SingleConfig {
    /// The paper's square memory: d_h = d/h, Gaussian codes. h must divide d.
    pub fn new(vocab: usize, dim: usize, heads: usize) -> Result<Self, ConfigError> {
        if heads == 0 {
            return Err(ConfigError::NoHeads);
        }
        if !dim.is_multiple_of(heads) {
            return Err(ConfigError::HeadsDoNotDivide { dim, heads });
        }
        let head_dim = dim / heads;
        Ok(SingleConfig { vocab, heads, head_dim, dim, codes: CodeKind::Gaussian, seed: 0 })
    }

    /// The number of cells: h·d_h·d.
    pub fn parameters(&self) -> Option<u64> {
        let width = (self.heads as u64).checked_mul(self.head_dim as u64)?;
        width.checked_mul(self.dim as u64)
    }

    fn check(&self) -> Result<(), ConfigError> {
        codes::check(self.codes, self.vocab, self.dim)?;
        if self.heads == 0 {
            return Err(ConfigError::NoHeads);
        }
        if self.head_dim == 0 {
            return Err(ConfigError::ZeroDimension { name: "d_h" });
        }
        let bytes = || {
            let reduction = match self.codes {
                CodeKind::Gaussian => (self.head_dim as u64).checked_mul(self.dim as u64)?,
                CodeKind::Hadamard => (self.dim as u64).checked_add(self.head_dim as u64)?,
            };
            let cells = self.parameters()?.checked_add(reduction)?.checked_mul(4)?;
            cells.checked_add(codes::bytes_needed(self.codes, self.vocab, self.dim)?)
        };
        check_memory(bytes(), u64::MAX)
    }
}

/// A language model of one correlation matrix memory.
///
/// The paper's running example, with one number per word:
///
/// ```
/// use memo::dense::{SingleConfig, SingleMemory};
/// // He enrolled in the mathematics and physics teaching diploma program or
/// let mut memo = SingleMemory::new(SingleConfig::new(11, 2048, 4)?)?;
/// memo.memorize(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// let physics = memo.predict(&[2, 3, 4, 5])?;               // in the mathematics and
/// assert_eq!(physics.token, 6);
/// assert!((physics.weight - 1.0).abs() < 0.2);
/// let physics = memo.predict(&[2, 3, 4, 10])?;              // in the mathematics or
/// assert_eq!(physics.token, 6);
/// assert!((physics.weight - 0.75).abs() < 0.2);             // three of four tokens match
/// # Ok::<(), memo::Error>(())
/// ```
#[derive(Debug)]
pub struct SingleMemory {
    config: SingleConfig,
    codes: TokenCodes,
    layer: Layer,
    memory: CorrelationMemory,
    /// W_V·x of every token, once so many are encoded at a time that this costs less; or what was given instead.
    reduced: OnceLock<Vec<f32>>,
    /// Whether something stands in the place of W_V·x.
    pub(super) own_symbols: bool,
}

/// Floats that the reduced codes of a whole vocabulary may take.
const REDUCED: usize = 1 << 26;

impl SingleMemory {
    /// An empty memory.
    pub fn new(config: SingleConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let (d, head_dim, heads) = (config.dim, config.head_dim, config.heads);
        let reduction = reduction(config.codes, d, head_dim, heads, config.seed, 0);
        Ok(SingleMemory {
            codes: TokenCodes::new(config.codes, config.vocab, d, config.seed)?,
            layer: Layer { dim: d, reduction, composer: None },
            memory: CorrelationMemory::new(heads * head_dim, d),
            reduced: OnceLock::new(),
            own_symbols: false,
            config,
        })
    }

    /// An empty memory whose keys are made of vectors of their own, d_h values for each token, instead of W_V·x.
    ///
    /// The paper's measurements of capacity are of this kind. Where codes are Gaussian, W_V adds 1/d to a crosstalk of 1/d_h,
    /// which vectors of d_h dimensions do not have.
    ///
    /// ```
    /// use memo::codes::{CodeKind, TokenCodes};
    /// use memo::dense::{SingleConfig, SingleMemory};
    /// let symbols = TokenCodes::new(CodeKind::Gaussian, 11, 512, 7)?;
    /// let symbols = symbols.rows(&(0..11).collect::<Vec<_>>());
    /// let mut memo = SingleMemory::with_symbols(SingleConfig::new(11, 2048, 4)?, symbols)?;
    /// memo.memorize(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
    /// let physics = memo.predict(&[2, 3, 4, 5])?;
    /// assert_eq!(physics.token, 6);
    /// assert!((physics.weight - 1.0).abs() < 0.2);
    /// # Ok::<(), memo::Error>(())
    /// ```
    pub fn with_symbols(config: SingleConfig, mut symbols: Vec<f32>) -> Result<Self, ConfigError> {
        let expected = config.vocab.saturating_mul(config.head_dim);
        if symbols.len() != expected {
            return Err(ConfigError::Symbols { got: symbols.len(), expected });
        }
        // A full match of vectors of length 1 counts as 1, as it does with W_V.
        let scale = 1.0 / (config.heads.max(1) as f32).sqrt();
        symbols.iter_mut().for_each(|value| *value *= scale);
        let mut memory = Self::new(config)?;
        memory.reduced = OnceLock::from(symbols);
        memory.own_symbols = true;
        Ok(memory)
    }

    /// The shape.
    pub fn config(&self) -> &SingleConfig {
        &self.config
    }

    /// The token codes.
    pub fn codes(&self) -> &TokenCodes {
        &self.codes
    }

    /// The memory C.
    pub fn memory(&self) -> &CorrelationMemory {
        &self.memory
    }

    /// Memorizes every window of a text with the token that follows it.
    pub fn memorize(&mut self, text: &[u32]) -> Result<(), Error> {
        self.memorize_all(&[text])
    }

    /// Memorizes several texts.
    pub fn memorize_all(&mut self, texts: &[&[u32]]) -> Result<(), Error> {
        self.write_texts(texts, 1.0)
    }

    /// Subtracts what memorizing a text added.
    pub fn forget(&mut self, text: &[u32]) -> Result<(), Error> {
        self.forget_all(&[text])
    }

    /// Subtracts what memorizing several texts added.
    pub fn forget_all(&mut self, texts: &[&[u32]]) -> Result<(), Error> {
        self.write_texts(texts, -1.0)
    }

    /// Memorizes pairs: windows of h tokens one after the other, and the token that follows each.
    pub fn memorize_pairs(&mut self, windows: &[u32], next: &[u32]) -> Result<(), Error> {
        self.write_pairs(windows, next, 1.0)
    }

    /// Subtracts what memorizing pairs added.
    pub fn forget_pairs(&mut self, windows: &[u32], next: &[u32]) -> Result<(), Error> {
        self.write_pairs(windows, next, -1.0)
    }

    /// The keys of windows given one after the other, h·d_h values each.
    pub fn keys(&self, windows: &[u32]) -> Result<Vec<f32>, Error> {
        check_tokens(windows, self.config.vocab)?;
        let heads = self.config.heads;
        if !windows.len().is_multiple_of(heads) {
            return Err(Error::WindowLength { got: windows.len() % heads, expected: heads });
        }
        let reduced = self.reduce(windows);
        // With a single head a window is one row, which `tiled` takes for a window with missing blocks.
        let count = windows.len() / heads;
        if heads == 1 {
            return Ok(reduced);
        }
        Ok(self.layer.keys(&reduced, &Windows::tiled(heads, heads, count)))
    }

    /// `W_V·x` of each token.
    fn reduce(&self, tokens: &[u32]) -> Vec<f32> {
        let Some(all) = self.reduced.get() else {
            return self.layer.reduce(&self.codes.rows(tokens));
        };
        let width = self.config.head_dim;
        let mut out = vec![0.0; tokens.len() * width];
        out.par_chunks_exact_mut(width).zip(tokens).for_each(|(out, &token)| {
            out.copy_from_slice(&all[token as usize * width..][..width]);
        });
        out
    }

    /// Reduces the codes of all tokens once if more of them are about to be encoded than there are.
    fn prepare(&self, tokens: usize) {
        let SingleConfig { vocab, head_dim, .. } = self.config;
        if tokens > vocab && vocab.saturating_mul(head_dim) <= REDUCED {
            self.reduced.get_or_init(|| {
                let all: Vec<u32> = (0..vocab as u32).collect();
                let parts = all.chunks(1024);
                parts.flat_map(|part| self.layer.reduce(&self.codes.rows(part))).collect()
            });
        }
    }

    /// The weight of every token after a window: about how many stored windows match, partial matches in part.
    pub fn weights(&self, window: &[u32]) -> Result<Vec<f32>, Error> {
        self.check_window(window)?;
        self.weights_pairs(window)
    }

    /// The weights of every token after each of some windows, given one after the other: n values a window.
    pub fn weights_pairs(&self, windows: &[u32]) -> Result<Vec<f32>, Error> {
        Ok(self.codes.scores(&self.memory.read_batch(&self.keys(windows)?)))
    }

    /// The token after a window: `argmax E·(sᵀC)`.
    pub fn predict(&self, window: &[u32]) -> Result<Prediction, Error> {
        self.check_window(window)?;
        Ok(self.predict_pairs(window)?[0])
    }

    /// The token after each of some windows, given one after the other.
    pub fn predict_pairs(&self, windows: &[u32]) -> Result<Vec<Prediction>, Error> {
        let outputs = self.memory.read_batch(&self.keys(windows)?);
        let best = self.codes.best(&outputs).into_iter();
        Ok(best.map(|(token, weight)| Prediction { token, weight }).collect())
    }

    fn check_window(&self, window: &[u32]) -> Result<(), Error> {
        let (got, expected) = (window.len(), self.config.heads);
        if got == expected { Ok(()) } else { Err(Error::WindowLength { got, expected }) }
    }

    fn write_texts(&mut self, texts: &[&[u32]], weight: f32) -> Result<(), Error> {
        for text in texts {
            check_tokens(text, self.config.vocab)?;
        }
        let heads = self.config.heads;
        let mut update = Update::new(&self.codes, self.memory.key_dim(), weight);
        for text in texts {
            for start in (0..text.len().saturating_sub(heads)).step_by(1024) {
                let end = text.len().min(start + 1024 + heads);
                let reduced = self.reduce(&text[start..end - 1]);
                let count = end - start - heads;
                let windows = Windows::sliding(heads, 1, heads - 1, count, 0);
                update.extend(&self.layer.keys(&reduced, &windows), &text[start + heads..end]);
                update.flush_if_full(&mut self.memory, &self.codes);
            }
        }
        update.flush(&mut self.memory, &self.codes);
        Ok(())
    }

    fn write_pairs(&mut self, windows: &[u32], next: &[u32], weight: f32) -> Result<(), Error> {
        check_tokens(next, self.config.vocab)?;
        let heads = self.config.heads;
        if windows.len() != next.len() * heads {
            let got = windows.len().checked_div(next.len()).unwrap_or(windows.len());
            return Err(Error::WindowLength { got, expected: heads });
        }
        check_tokens(windows, self.config.vocab)?;
        self.prepare(windows.len());
        let mut update = Update::new(&self.codes, self.memory.key_dim(), weight);
        for (windows, next) in windows.chunks(1024 * heads).zip(next.chunks(1024)) {
            update.extend(&self.keys(windows)?, next);
            update.flush_if_full(&mut self.memory, &self.codes);
        }
        update.flush(&mut self.memory, &self.codes);
        Ok(())
    }
}
