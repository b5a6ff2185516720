//! The memory of a model: made from its newest checkpoint and from the ledger.

mod load;
mod update;

pub(crate) use self::load::{CheckpointFile, empty, load, open, replay};
pub(crate) use self::update::{Failure, MemoryUpdate, NewContents};
