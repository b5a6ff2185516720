//! The paper's MeMo, equation by equation, in f32.

mod compose;
mod config;
mod distill;
mod encoder;
mod layer;
mod memories;
mod memory;
mod model;
mod noise;
mod pass;
mod retrieve;
mod single;
mod trace;
mod update;
mod windows;

pub use self::compose::Composer;
pub use self::config::{Composition, DenseConfig, Distiller, Edges, Recall, Stride};
pub use self::memory::CorrelationMemory;
pub use self::model::DenseMemo;
pub use self::single::{SingleConfig, SingleMemory};
pub use self::trace::{BlockTrace, Candidate, LayerTrace, Trace};
