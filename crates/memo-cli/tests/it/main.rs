//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod ask;
mod cli;
mod common;
#[cfg(unix)]
mod corpus;
#[cfg(unix)]
mod ends;
#[cfg(target_os = "linux")]
mod forget;
#[cfg(unix)]
mod guide;
#[cfg(target_os = "linux")]
mod large;
mod lexicon;
#[cfg(unix)]
mod mcp;
mod model;
mod pages;
#[cfg(unix)]
mod serve;
mod wrong;
