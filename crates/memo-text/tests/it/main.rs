//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod common;
mod huggingface;
mod lexicons;
mod readers;
mod tokenizers;
