//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod access;
mod common;
mod fairness;
mod knowledge;
mod leaving;
mod lexicon;
#[cfg(unix)]
mod load;
mod mcp;
mod models;
mod native;
mod openai;
mod partner;
mod requests;
