//! MeMo: a language model that is a memory.

pub mod capacity;
pub mod codes;
pub mod dense;
mod error;
mod kernels;
mod language;
pub mod oracle;
pub mod random;
pub mod readout;
pub mod sparse;
pub mod transform;

pub use error::{ConfigError, Error};
pub use language::{LanguageMemory, Prediction};
