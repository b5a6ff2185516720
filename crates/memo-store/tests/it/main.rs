//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod common;
mod complete;
mod damage;
mod documents;
mod forgotten;
mod fuzz;
mod golden;
mod kill;
mod large;
#[cfg(unix)]
mod limits;
mod readers;
mod snapshot;
mod state_machine;
