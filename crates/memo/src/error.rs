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
    /// Vectors of tokens that are not as many as the vocabulary, or not as long as a head.
    #[error("{got} values were given for the vectors of all tokens: n·d_h = {expected} are needed")]
    Symbols {
        /// How many values there are.
        got: usize,
        /// How many are needed.
        expected: usize,
    },
    /// Layers need at least two heads.
    #[error("h = {0}: layers need at least 2 heads")]
    TooFewHeads(usize),
    /// A window without tokens.
    #[error("h = 0: a window needs at least 1 token")]
    NoHeads,
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
    /// Products of Hadamard codes are codes of other tokens.
    #[error(
        "the product composition needs Gaussian codes: the product of two Hadamard codes is the code of another token, so that sequences are \
         mistaken for others; take the bind composition, or Gaussian codes"
    )]
    ProductOfHadamard,
    /// α outside [0, 1].
    #[error("blend α = {0} must be between 0 (computed) and 1 (stored)")]
    Blend(f32),
    /// An update without rows.
    #[error("update_rows = 0: an update needs at least one row")]
    EmptyUpdate,
    /// The model would need more memory than it may have.
    #[error("the model needs {}, but may have only {}", size(*needed), size(*limit))]
    OverLimit {
        /// Bytes needed; `u64::MAX` when not even their number can be counted.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The model would need more memory than the machine has free.
    #[error("the model needs {}, but only {} of memory are free", size(*needed), size(*free))]
    OutOfMemory {
        /// Bytes needed; `u64::MAX` when not even their number can be counted.
        needed: u64,
        /// Bytes free.
        free: u64,
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
    #[error("token {token} at position {position} is outside the vocabulary of {vocab}")]
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
    /// Complete forgetting needs to know what a text added to the inner memories.
    #[error(
        "forgetting completely needs the `exact` distiller or `off`: by rounding, what a text added to the inner memories \
         depended on what they held at that time, and is known no more"
    )]
    RoundedDistiller,
    /// The text to forget completely was never memorized, or has been forgotten already.
    #[error("this text of {tokens} tokens is not memorized, or has been forgotten already")]
    NotMemorized {
        /// Its length.
        tokens: usize,
    },
    /// Whoever watched the work had it stop.
    #[error("stopped before it was done; nothing has changed")]
    Stopped,
}

/// Checks that every token lies in a vocabulary of `vocab` tokens.
pub(crate) fn check_tokens(tokens: &[u32], vocab: usize) -> Result<(), Error> {
    match tokens.iter().position(|&t| t as usize >= vocab) {
        Some(position) => Err(Error::UnknownToken { token: tokens[position], position, vocab }),
        None => Ok(()),
    }
}

/// Refuses what would not fit: more than `limit` bytes, or more than the machine has free.
pub(crate) fn check_memory(needed: Option<u64>, limit: u64) -> Result<(), ConfigError> {
    let needed = needed.unwrap_or(u64::MAX);
    if needed > limit {
        return Err(ConfigError::OverLimit { needed, limit });
    }
    // Where the system does not tell, no slice can be longer than this.
    let free = free_memory().unwrap_or(isize::MAX as u64);
    if needed > free { Err(ConfigError::OutOfMemory { needed, free }) } else { Ok(()) }
}

/// The memory that the machine can still give, and the container that we run in, if any (Linux).
fn free_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let machine = line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024;
    let group = |file: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok()
    };
    let container =
        group("memory.max").map(|max| max.saturating_sub(group("memory.current").unwrap_or(0)));
    Some(container.map_or(machine, |container| container.min(machine)))
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    if unit == 0 {
        return format!("{bytes} bytes");
    }
    format!("{:.1} {}", bytes as f64 / libm::exp2(10.0 * unit as f64), UNITS[unit])
}
