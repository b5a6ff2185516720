//! The superposed engine, for experiments: the paper's correlation matrix memory with sparse keys and dense values.
//!
//! It lies between [`crate::dense`] and [`crate::sparse`], and the laboratory (`memo-lab`) measures capacity with it. A
//! dense key of dimension d touches all d² cells of a square matrix. A sparse key selects K rows of a tall one and leaves
//! the rest alone: the same capacity, at a cost that does not grow with it. The value, a ±1 code of the next token, is
//! multiplied by signs drawn from the key before it is added, so that a frequent token does not add up in rows of
//! contexts that it does not follow. So values lie on top of each other, in a number of cells that is chosen beforehand,
//! and what is read has noise that grows with what is stored. [`crate::sparse`] makes values sparse as well, which
//! leaves no noise and needs no size. Everything that is stored is a sum of ±1 over positions of text, in integers:
//! forgetting is subtracting, merging is adding, and both are exact to the last bit.
//!
//! Data flows one way: tokens → `keys` → plans (`write`) → `cells` and `tables` → scores (`decode`) →
//! [`Evidence`] → a distribution ([`crate::superposed::readout`]). docs/engine.md derives noise and capacity.
//!
//! Each portion of a memory has one name:
//!
//! | name | what it is |
//! |---|---|
//! | *slot* | a (layer, head) pair in use, with a matrix of its own |
//! | *row* | the cells that a key adds a value to, 64 to 1024 of them |
//! | *bucket* | the tokens of one block of codes; in a bucketed slot each has rows of its own |
//! | *page* | 16 KiB of cells that are hashed as one ([`PAGE`]) |
//! | *slot layout* | where the matrix of a slot lies among the cells of all slots |
//! | *row range* | the rows of a slot that one thread owns while it writes |
//! | *partition* | the entries of a table whose keys begin alike |
//! | *span* | the positions of a document that are written with one weight ([`Span`]) |

mod cells;
mod codes;
mod decode;
mod digest;
mod evidence;
pub(crate) mod keys;
mod layout;
mod lookup;
mod memory;
pub(crate) mod prior;
pub mod readout;
mod row_range;
mod settings;
mod storage;
mod table;
mod tables;
mod wide;
mod write;

pub(crate) use self::decode::{Decoder, Scores};
pub use self::evidence::{Evidence, Successor};
pub use self::memory::{Memory, MemoryUsage};
pub use self::settings::{MAX_VOCABULARY, PARAMETERS_PER_TOKEN, Settings, Shape, Slot};
pub use self::storage::Ram;
pub use crate::kernels::integer::{LINE, PAGE};
pub use crate::sparse::{Error, Span};
