//! The options of the dense engine, and the checks that refuse a configuration before anything is allocated.

use crate::codes::{self, CodeKind};
use crate::error::{ConfigError, check_memory};
use serde::{Deserialize, Serialize};

/// How a block's codes become one code: the value stored for a sequence, and the input of the next layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Composition {
    /// The paper's linear Prj. Sequences that share tokens at the same places have similar codes, so a match counts
    /// the share of equal tokens.
    #[default]
    Jlt,
    /// The element-wise product of the blocks' signs, each permuted and flipped in its head's own way. A code is
    /// unique to its sequence, so a match counts the share of equal blocks.
    Bind,
    /// The element-wise product of the blocks' codes, brought to length 1: what the authors tried besides Prj. It is the same in
    /// whatever order a window's tokens stand, and a token that occurs twice makes other windows resemble it. Needs Gaussian codes.
    Product,
}

/// Where retrieval takes the codes of inner sequences from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Recall {
    /// From the inner memories: the paper's `X̂⁽ⁱ⁺¹⁾ = I⁽ⁱ⁾·C⁽ⁱ⁾`. Noise grows with every layer, so this fails long
    /// before the last memory is full.
    #[default]
    Stored,
    /// From the composition itself; inner memories are neither needed nor kept. What the authors' figures used.
    Computed,
    /// α times the stored plus 1 − α times the computed code.
    Blend(f32),
}

impl Distiller {
    /// Whether Φ is rounded from what the memories return, so that nobody can tell afterwards what was stored.
    pub(super) fn is_rounded(self) -> bool {
        matches!(self, Distiller::Memory | Distiller::Unclamped)
    }
}

impl Recall {
    /// The share α of the stored code.
    pub fn alpha(self) -> f32 {
        match self {
            Recall::Stored => 1.0,
            Recall::Computed => 0.0,
            Recall::Blend(alpha) => alpha,
        }
    }
}

/// The paper's Φ = D·F: how inner memories avoid storing a sequence twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Distiller {
    /// As the paper computes it, by rounding what the memories themselves return. Approximate: it errs once noise
    /// or similar sequences reach ½, and what it stored of a text cannot be told afterwards.
    #[default]
    Memory,
    /// The same with D as printed, not kept in {0, 1}: a sequence that is stored and occurs f times in an update is subtracted
    /// f − 1 times, and one whose noise reads −1 is stored twice. Where the frequency rounds to 0, Φ is 0.
    Unclamped,
    /// By a counted set of 64-bit sequence hashes. Errs only if two of them collide, and allows forgetting completely.
    Exact,
    /// Φ = 1: every occurrence is stored, which allows forgetting completely too. What the authors' figures used.
    Off,
}

/// Which windows are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stride {
    /// A window ends at every token: every position is predicted in every layer.
    #[default]
    Token,
    /// Windows tile the text, as the paper's Flat literally says: layer i predicts every hⁱ-th token only.
    Block,
}

/// What happens at the beginning of a text, where windows reach before its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edges {
    /// Only windows wholly inside the text are stored.
    #[default]
    Inside,
    /// Windows that reach before the start are stored too, with zeros for what is missing.
    Padded,
}

/// Everything that defines a dense model. [`DenseConfig::new`] gives the paper's equations; change fields as needed.
///
/// ```
/// use memo::dense::{DenseConfig, DenseMemo, Recall};
/// let config = DenseConfig { recall: Recall::Computed, ..DenseConfig::new(1000, 256, 4, 2) };
/// assert_eq!(config.window(), 16);
/// let memo = DenseMemo::new(config)?;
/// let wrong = DenseConfig::new(1000, 250, 4, 2);
/// assert_eq!(
///     wrong.check().unwrap_err().to_string(),
///     "d = 250 is not a multiple of h = 4: each head takes d/h dimensions of a key"
/// );
/// # Ok::<(), memo::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DenseConfig {
    /// n, the size of the vocabulary.
    pub vocab: usize,
    /// d, the dimension of codes.
    pub dim: usize,
    /// h, the number of heads: the blocks that a window is cut into.
    pub heads: usize,
    /// l, the number of layers: layer i sees windows of hⁱ tokens.
    pub layers: usize,
    /// Everything random comes from this.
    pub seed: u64,
    /// The kind of token codes; with Hadamard codes, W_V and Prj are fast transforms too.
    pub codes: CodeKind,
    /// How a block's codes become one.
    pub composition: Composition,
    /// Where retrieval takes inner codes from.
    pub recall: Recall,
    /// How inner memories avoid storing a sequence twice.
    pub distiller: Distiller,
    /// Which windows are stored.
    pub stride: Stride,
    /// What happens at the beginning of a text.
    pub edges: Edges,
    /// How many positions of a text make one update: the paper's `X` for one application of `MM_m`, over which
    /// the `Memory` distiller sums, and what is batched into one matrix product.
    pub update_rows: usize,
    /// Threads to use; 0 takes those of the calling rayon pool. Results do not depend on it beyond float rounding.
    #[serde(skip)]
    pub threads: usize,
    /// Refuse to allocate more than this many bytes for codes, projections and memories.
    #[serde(skip, default = "unlimited")]
    pub memory_limit: u64,
}

/// Threads and limits are those of a machine, not of a model.
fn unlimited() -> u64 {
    u64::MAX
}

impl DenseConfig {
    /// The paper's equations for n tokens, dimension d, h heads and l layers: Gaussian codes, linear composition,
    /// stored recall, and the distiller by rounding.
    pub fn new(vocab: usize, dim: usize, heads: usize, layers: usize) -> Self {
        DenseConfig {
            vocab,
            dim,
            heads,
            layers,
            seed: 0,
            codes: CodeKind::default(),
            composition: Composition::default(),
            recall: Recall::default(),
            distiller: Distiller::default(),
            stride: Stride::default(),
            edges: Edges::default(),
            update_rows: 1024,
            threads: 0,
            memory_limit: u64::MAX,
        }
    }

    /// The setting of the authors' own experiments: computed recall, Φ off.
    pub fn authors(vocab: usize, dim: usize, heads: usize, layers: usize) -> Self {
        DenseConfig {
            recall: Recall::Computed,
            distiller: Distiller::Off,
            ..Self::new(vocab, dim, heads, layers)
        }
    }

    /// hˡ, the longest window; saturates where [`check`](Self::check) would refuse.
    pub fn window(&self) -> usize {
        self.span(self.layers)
    }

    /// hⁱ, the tokens in a window of layer i (and in a block of layer i + 1).
    pub(super) fn span(&self, layer: usize) -> usize {
        self.heads.saturating_pow(u32::try_from(layer).unwrap_or(u32::MAX))
    }

    /// Whether retrieval needs the inner memories.
    pub(super) fn has_inner_memories(&self) -> bool {
        self.recall.alpha() > 0.0
    }

    /// Bytes of codes, projections and memories; `None` when not even their number fits in 64 bits, or there are no
    /// heads or layers.
    pub fn bytes(&self) -> Option<u64> {
        let (d, h, layers) = (self.dim as u64, self.heads as u64, self.layers as u64);
        let inner = layers.checked_sub(1)?;
        let square = d.checked_mul(d)?;
        let (reduction, composition) = match (self.codes, self.composition) {
            (CodeKind::Gaussian, Composition::Jlt) => {
                (square.checked_div(h)?, square.checked_mul(h)?)
            }
            (CodeKind::Gaussian, Composition::Bind) => (square.checked_div(h)?, d.checked_mul(h)?),
            (CodeKind::Gaussian, Composition::Product) => (square.checked_div(h)?, 0),
            (CodeKind::Hadamard, _) => (d + d.checked_div(h)?, d.checked_mul(h)?),
        };
        let memories = if self.has_inner_memories() { layers } else { 1 };
        let values = reduction
            .checked_mul(layers)?
            .checked_add(composition.checked_mul(inner)?)?
            .checked_add(square.checked_mul(memories)?)?;
        values.checked_mul(4)?.checked_add(codes::bytes_needed(self.codes, self.vocab, self.dim)?)
    }

    /// Finds what cannot work, without allocating anything.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_shape()?;
        check_memory(self.bytes(), self.memory_limit)
    }

    /// The same but for the memory that it takes.
    pub(crate) fn check_shape(&self) -> Result<(), ConfigError> {
        codes::check(self.codes, self.vocab, self.dim)?;
        if (self.codes, self.composition) == (CodeKind::Hadamard, Composition::Product) {
            return Err(ConfigError::ProductOfHadamard);
        }
        if self.heads < 2 {
            return Err(ConfigError::TooFewHeads(self.heads));
        }
        if self.layers == 0 {
            return Err(ConfigError::NoLayers);
        }
        if !self.dim.is_multiple_of(self.heads) {
            return Err(ConfigError::HeadsDoNotDivide { dim: self.dim, heads: self.heads });
        }
        // With room to spare, so that offsets into a text cannot overflow either.
        if self.span(self.layers) > isize::MAX as usize / 4 {
            return Err(ConfigError::WindowOverflow { heads: self.heads, layers: self.layers });
        }
        if !(0.0..=1.0).contains(&self.recall.alpha()) {
            return Err(ConfigError::Blend(self.recall.alpha()));
        }
        if self.update_rows == 0 {
            return Err(ConfigError::EmptyUpdate);
        }
        Ok(())
    }
}
