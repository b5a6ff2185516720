//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod common;
mod damage;
mod dense;
mod documents;
mod forgotten;
mod fuzz;
mod golden;
mod kill;
mod large;
#[cfg(unix)]
mod limits;
mod snapshot;
mod state_machine;
