//! Experiments on MeMo: the paper's and ours. Functions that take tokens and give reports; the command line reads,
//! prints and draws.

mod error;
pub mod realtext;

pub use error::Error;
