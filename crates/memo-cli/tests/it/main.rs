//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod cli;
mod common;
#[cfg(unix)]
mod ends;
mod experiments;
#[cfg(unix)]
mod guide;
mod lab;
#[cfg(target_os = "linux")]
mod large;
mod model;
mod pages;
#[cfg(unix)]
mod serve;
mod wrong;
