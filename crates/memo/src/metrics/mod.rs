//! How unlearning and editing are measured: small functions of numbers and words, each defined by its own lines.
//!
//! None knows of a model. What a model said comes in as slices: whether each token was right, log-probabilities, words.

mod kolmogorov;
mod mean;
mod rouge;
mod verbatim;

pub use self::kolmogorov::{KolmogorovSmirnov, kolmogorov_smirnov};
pub use self::mean::{harmonic_mean, mean, quantiles};
pub use self::rouge::{RougeL, rouge_l, words};
pub use self::verbatim::{exact_memorization, extraction_strength};
