//! Experiments on `MeMo`, as functions: tokens in, a report out. Reading files, printing and drawing is for others.

pub mod realtext;
