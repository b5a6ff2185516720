//! The sparse engine: correlation matrix memories with one-hot codes, kept as the counts that are not zero.
//!
//! A memory of the paper is `C = Σ k·vᵀ`, a sum of outer products of keys (contexts) and values (next tokens). With dense
//! codes every pair touches every cell, and what is read is blurred by all the others. The sparser the codes, the fewer
//! cells a pair touches and the fewer bits a cell needs for the same noise; at the end of that road a key selects one row, a
//! value one column, and a cell is how often that token followed that context. Such a matrix is almost empty, so only
//! its cells that are not zero are kept, sorted. Rows are chosen by a hash, and noise is what is left of it: two contexts that
//! share a row, about once in 2³⁴ pairs of contexts. docs/engine.md derives all of this, with measurements.
//!
//! There is a matrix for each *slot*: a context of so many tokens (a head of a layer), or of so many words. Everything that
//! is stored is a sum of integers over positions of text: forgetting is subtracting, merging is adding, and both are exact
//! to the last bit. A memory has no size: it holds what its contents need, and shrinks when they are forgotten.
//!
//! Data flows one way: tokens → `keys` → plans (`write`) → `tables` → `read` → [`Evidence`] → a distribution
//! ([`crate::readout`]).
//!
//! | name | what it is |
//! |---|---|
//! | *slot* | a length of context in use, with a matrix of its own |
//! | *entry* | a cell that is not zero: a key, for some tables the next token, and a count |
//! | *table* | the entries of some slots, in order of their keys ([`TableKind`]) |
//! | *partition* | the entries of a table whose keys begin alike; there are [`PARTITIONS`] |
//! | *shard* | some partitions of a memory, the rest of which is elsewhere ([`Shard`]) |
//! | *scope* | the partitions that a write is limited to ([`Scope`]) |
//! | *fact* | an answer to a [`Question`], in a slot of its own that no text reads |
//! | *span* | the positions of a document that are written with one weight ([`Span`]) |

mod digest;
mod error;
mod facts;
mod fetched;
mod fill;
mod frozen;
mod general;
mod keys;
mod lists;
mod memory;
mod packed;
mod partition;
mod place;
pub(crate) mod prior;
mod read;
mod saved;
mod scope;
pub(crate) mod seek;
mod settings;
mod shard;
mod smoothing;
mod tables;
mod write;

pub use self::digest::{Digest, Leaves};
pub use self::error::Error;
pub use self::facts::{Answer, Direction, Question};
pub use self::fill::{SLOT_ROWS, SlotFill, UsedRows};
pub use self::frozen::FrozenBits;
pub use self::general::{GeneralEvidence, Symbol};
pub(crate) use self::general::{GeneralLevels, Members, Predicted};
pub(crate) use self::lists::{Followers, ranked};
pub use self::memory::{Memory, MemoryUsage};
pub use self::partition::{LargeCount, PARTITIONS, PackedEntries, Section};
pub use self::read::{Evidence, Successor};
pub(crate) use self::read::{Level, Levels, Reader, Totals};
pub use self::saved::SavedMemory;
pub use self::scope::Scope;
pub use self::settings::{Context, LexiconSettings, MAX_VOCABULARY, Settings};
pub(crate) use self::settings::{GENERAL, check_positions};
pub use self::shard::{Shard, ShardReader, ShardRequest, ShardResponse};
pub(crate) use self::smoothing::Weighing;
pub use self::tables::TableKind;
pub use self::write::Span;
#[cfg(feature = "superposed")]
pub(crate) use self::write::{divide, positions};
