//! What can go wrong, each way with its own type.

use thiserror::Error;

/// A configuration that cannot work, found before anything is allocated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ConfigError {
    /// The vocabulary has no tokens.
    #[error("n = 0: the vocabulary needs at least one token")]
    EmptyVocabulary,
    /// More tokens than 32-bit ids can name.
    #[error("n = {0}: token ids are 32-bit, so the vocabulary can have at most 4294967296 tokens")]
    VocabularyTooLarge(usize),
    /// A dimension of zero.
    #[error("{name} = 0: a dimension must be at least 1")]
    ZeroDimension {
        /// Which dimension.
        name: &'static str,
    },
    /// A window needs at least two heads.
    #[error("h = {0}: a window needs at least 2 heads")]
    TooFewHeads(usize),
    /// A model needs at least one layer.
    #[error("l = 0: a model needs at least 1 layer")]
    NoLayers,
    /// Each head takes d/h dimensions of a key, so h must divide d.
    #[error("d = {dim} is not a multiple of h = {heads}: each head takes d/h dimensions of a key")]
    HeadsDoNotDivide {
        /// The dimension d.
        dim: usize,
        /// The number of heads h.
        heads: usize,
    },
    /// Hadamard codes exist only for powers of two.
    #[error("{name} = {value} is not a power of two, which Hadamard codes need")]
    NotPowerOfTwo {
        /// Which quantity.
        name: &'static str,
        /// Its value.
        value: usize,
    },
    /// The longest window, hˡ, does not fit in a machine word.
    #[error("h = {heads}, l = {layers}: the longest window, h^l tokens, overflows")]
    WindowOverflow {
        /// The number of heads h.
        heads: usize,
        /// The number of layers l.
        layers: usize,
    },
    /// α outside [0, 1].
    #[error("blend α = {0} must be between 0 (computed) and 1 (stored)")]
    Blend(f32),
    /// An update without rows.
    #[error("update_rows = 0: an update needs at least one row")]
    EmptyUpdate,
    /// The model would need more memory than allowed or available.
    #[error("the model needs {needed} bytes, but only {limit} are allowed or available")]
    DoesNotFit {
        /// Bytes needed; `u64::MAX` when not even their number can be counted.
        needed: u64,
        /// Bytes allowed or available.
        limit: u64,
    },
    /// The thread pool could not be made.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

/// An operation that cannot be done; the model is unchanged.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Error {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A token that the vocabulary does not have.
    #[error("token {token} at position {position} is not in the vocabulary of {vocab} tokens")]
    UnknownToken {
        /// The token's id.
        token: u32,
        /// Where it stands in the given text.
        position: usize,
        /// The size n of the vocabulary.
        vocab: usize,
    },
    /// A window of the wrong length was given to a memory of fixed-length windows.
    #[error("a window of {got} tokens was given to a memory with windows of {expected}")]
    WindowLength {
        /// Tokens given.
        got: usize,
        /// Tokens needed.
        expected: usize,
    },
    /// Complete forgetting needs to know which sequences other texts still use.
    #[error("forgetting completely needs the `exact` distiller, which counts the stored sequences")]
    NeedsExactDistiller,
    /// The text to forget completely was never memorized, or has been forgotten already.
    #[error(
        "the text was not memorized: its window of {tokens} tokens ending at position {position} is not stored"
    )]
    NotMemorized {
        /// Length of the missing window.
        tokens: usize,
        /// Position of its last token.
        position: usize,
    },
}

/// Checks that every token lies in a vocabulary of `vocab` tokens.
pub(crate) fn check_tokens(tokens: &[u32], vocab: usize) -> Result<(), Error> {
    match tokens.iter().position(|&t| t as usize >= vocab) {
        Some(position) => Err(Error::UnknownToken { token: tokens[position], position, vocab }),
        None => Ok(()),
    }
}

/// Refuses what would not fit: more than `limit` bytes, or more than the system is willing to reserve.
pub(crate) fn check_memory(needed: Option<u64>, limit: u64) -> Result<(), ConfigError> {
    let needed = needed.unwrap_or(u64::MAX);
    if needed > limit {
        return Err(ConfigError::DoesNotFit { needed, limit });
    }
    // A reservation of untouched pages costs nothing, and fails where an allocation of this size would.
    let reserved =
        usize::try_from(needed).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok());
    if reserved { Ok(()) } else { Err(ConfigError::DoesNotFit { needed, limit }) }
}
