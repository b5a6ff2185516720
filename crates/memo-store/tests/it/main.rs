//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod closest;
mod common;
mod complete;
mod copies;
mod damage;
#[cfg(unix)]
mod disk;
mod documents;
mod forgotten;
mod frozen;
mod fuzz;
mod golden;
mod healing;
mod kill;
mod knowledge;
mod large;
mod lexicon;
#[cfg(unix)]
mod limits;
mod passages;
mod portions;
mod prove;
mod readers;
mod recent;
mod remember;
#[cfg(unix)]
mod room;
mod selection;
mod snapshot;
mod state_machine;
