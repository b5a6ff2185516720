//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod experiments;
mod lab;
