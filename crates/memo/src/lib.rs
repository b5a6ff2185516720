//! MeMo: a language model that is a memory.

pub mod codes;
pub mod dense;
mod error;
mod kernels;
pub mod random;
pub mod transform;

pub use error::{ConfigError, Error};
