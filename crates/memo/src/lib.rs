//! MeMo: a language model that is a memory.

mod kernels;
pub mod random;
pub mod readout;
pub mod sparse;
