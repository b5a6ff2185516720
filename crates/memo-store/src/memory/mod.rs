//! The memory of a model: made from its newest checkpoint and from the ledger.

mod blueprint;
mod load;
mod update;

pub(crate) use self::blueprint::Blueprint;
pub(crate) use self::load::{CheckpointFile, load, open, replay};
pub(crate) use self::update::{Failure, MemoryUpdate, NewContents};
