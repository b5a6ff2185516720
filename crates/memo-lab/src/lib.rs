//! Experiments on MeMo: the paper's and ours. Functions that take options or tokens and give reports; the program
//! `memo-lab` reads arguments, shows progress and prints.
//!
//! An experiment is a grid of [`Setting`]s. [`Lab::measure`] goes through them, writes each result to a journal, and
//! skips what an interrupted run has already measured. What comes out is a [`Page`]: prose, [`Table`]s and
//! [`figure`]s with their [`Provenance`], written as Markdown, CSV, SVG and PNG.

pub mod ablation;
pub mod capacity;
mod columns;
pub mod cues;
pub mod editing;
mod error;
pub mod examples;
pub mod figure;
pub mod forgetting;
pub mod generalize;
mod inputs;
mod journal;
pub mod knowledge;
mod lab;
pub mod layers;
mod page;
mod provenance;
pub mod realtext;
pub mod residue;
mod share;
pub mod sources;
pub mod speed;
mod table;
pub mod text;
mod threads;
pub mod vectors;

pub use error::Error;
pub use lab::{Lab, Measured, Observer, Options, Setting, Step, seconds};
pub use page::Page;
pub use provenance::Provenance;
pub use share::Share;
pub use table::{Cell, Table};
pub use threads::on_threads;
