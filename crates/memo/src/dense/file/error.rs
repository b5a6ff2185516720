//! What can be wrong with a file.

use super::FORMAT;
use crate::error::ConfigError;
use std::io;
use thiserror::Error;

/// Why a model cannot be written to a file or read from one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is no safetensors file, or not all of one.
    #[error("this is not a whole safetensors file: {0}")]
    Container(String),
    /// It is a safetensors file of something else.
    #[error("this safetensors file is not a model of the dense engine: its metadata have no {0:?}")]
    NotAModel(&'static str),
    /// Another version wrote it.
    #[error("the file has format {found}, and this version reads format {FORMAT}")]
    Format {
        /// The format that it says it has.
        found: String,
    },
    /// The configuration or the loads are not what they should be.
    #[error("{name:?} in the file's metadata cannot be read: {reason}")]
    Syntax {
        /// Which of them.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The configuration cannot work, here or at all.
    #[error("the file's configuration cannot work: {0}")]
    Config(#[from] ConfigError),
    /// A tensor that the configuration calls for is missing.
    #[error("the file has no tensor {0:?}, which its configuration calls for")]
    Missing(String),
    /// A tensor that the configuration does not call for.
    #[error("the file has a tensor {0:?}, which its configuration does not call for")]
    Unknown(String),
    /// A tensor of another type or shape than the configuration calls for.
    #[error("tensor {name:?} is {found}, and the configuration calls for {expected}")]
    Shape {
        /// The tensor.
        name: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A number that is none.
    #[error("value {index} of tensor {name:?} is not a finite number")]
    NotFinite {
        /// The tensor.
        name: String,
        /// The value, counted from 0.
        index: usize,
    },
    /// Counts that nobody counted: a hash that is not above the one before it, or a count of 0.
    #[error("row {row} of tensor {name:?} is out of order, or counts nothing")]
    Counts {
        /// The tensor.
        name: String,
        /// The row, counted from 0.
        row: usize,
    },
    /// The content is not what was written.
    #[error(
        "the digest is not that of the content: the file is damaged, or something else changed it"
    )]
    Digest,
    /// The notes do not fit into a header.
    #[error("the notes take {0} bytes, and the header of a safetensors file has room for 100 MB")]
    NotesTooLong(usize),
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
