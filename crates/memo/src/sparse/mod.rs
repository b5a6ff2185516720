//! The sparse engine: the paper's correlation matrix memory with sparse keys, bound values and integer cells.
//!
//! A dense key of dimension d touches all d² cells of a square matrix. A sparse key selects K rows of a tall one and
//! leaves the rest alone: the same capacity, at a cost that does not grow with it. The value, a ±1 code of the
//! next token, is multiplied by signs drawn from the key before it is added, so that a frequent token does not add
//! up in rows where it was never asked for. Everything that is stored is a sum of ±1 over positions of text, in
//! integers: forgetting is subtracting, merging is adding, and both are exact to the last bit.
//!
//! Data flows one way: tokens → `keys` → plans (`write`) → `cells` and `tables` → scores (`decode`) →
//! [`Evidence`] → a distribution ([`crate::readout`]). docs/engine.md derives noise and capacity.

mod cells;
mod codes;
mod decode;
mod digest;
mod error;
mod evidence;
pub(crate) mod keys;
mod lookup;
mod memory;
pub(crate) mod prior;
mod saved;
mod scope;
mod settings;
mod shard;
mod share;
mod storage;
mod table;
mod tables;
mod wide;
mod write;

pub(crate) use self::decode::{Decoder, Scores};
pub use self::digest::{Digest, Leaves};
pub use self::error::Error;
pub use self::evidence::{Evidence, Successor};
pub use self::memory::{Memory, MemoryUsage};
pub use self::saved::SavedMemory;
pub use self::scope::Scope;
pub use self::settings::{MAX_VOCABULARY, PARAMETERS_PER_TOKEN, Settings, Shape, Size, Slot};
pub use self::shard::{Shard, ShardReader, ShardRequest, ShardResponse};
pub use self::storage::{Ram, Storage};
pub use self::table::PARTS;
pub use self::tables::TableKind;
pub use self::write::Span;
pub use crate::kernels::integer::{LINE, PAGE};
