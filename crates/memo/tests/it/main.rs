//! All integration tests of the crate as one program, so that it is linked once. `FILE::` selects those of one file.

mod breakdown;
mod capacity_law;
mod dense_equations;
mod dense_file;
mod dense_limits;
mod dense_oracle;
mod dense_protocol;
mod fill;
mod general;
mod golden;
mod induce;
mod johnson_lindenstrauss;
mod lexicon;
mod paper;
mod quotes;
mod recent;
mod sparse_common;
mod sparse_exactness;
mod sparse_facts;
mod sparse_oracle;
mod sparse_readout;
mod sparse_shards;
#[cfg(feature = "superposed")]
mod superposed_common;
#[cfg(feature = "superposed")]
mod superposed_evidence;
#[cfg(feature = "superposed")]
mod superposed_exactness;
#[cfg(feature = "superposed")]
mod superposed_readout;
mod units;
mod words;
