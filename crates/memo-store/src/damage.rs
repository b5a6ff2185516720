//! The ways in which a file can be wrong, one variant each.

/// In what way a file is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// It is not there.
    #[error("it is missing")]
    Missing,
    /// It ends before it should.
    #[error("it is cut off")]
    CutOff,
    /// It is longer or shorter than it says itself.
    #[error("its length is wrong")]
    Length,
    /// It is far larger than any of its kind.
    #[error("it has {0} bytes")]
    Huge(u64),
    /// It begins as no file of its kind does.
    #[error("it does not begin as a checkpoint does")]
    Magic,
    /// It is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// Its words or records are not what they should be.
    #[error("{0}")]
    Syntax(String),
    /// Its sizes describe no memory.
    #[error("{0}")]
    Sizes(String),
    /// A checksum is wrong.
    #[error("the checksum of {0} is wrong")]
    Checksum(&'static str),
    /// Something is missing.
    #[error("it lacks {0}")]
    Lacks(&'static str),
    /// Something lies where it should not.
    #[error("{0} is not in its place")]
    Misplaced(&'static str),
    /// A part has a size, a type or numbers that do not fit the rest.
    #[error("{0} does not fit the rest")]
    Unfitting(String),
    /// The tokens of a version are missing, or are not those that were recorded.
    #[error(
        "the tokens of document {document:?}, version {version}, are not those that were recorded"
    )]
    Tokens {
        /// The document.
        document: String,
        /// Its version.
        version: u32,
    },
    /// The tokens of several versions are wrong, each in words of its own.
    #[error("{}", .0.join("; "))]
    Several(Vec<String>),
    /// The database in it cannot be read.
    #[error("its database cannot be read")]
    Database,
    /// A digest is not that of what it should be.
    #[error("its digest is not that of {0}")]
    Digest(&'static str),
    /// It is older than the checkpoint beside it.
    #[error("it is older than the checkpoint")]
    Older,
    /// A transaction was recorded, and the memory could not be changed accordingly.
    #[error("a transaction was recorded, but the memory lacks it ({0})")]
    Behind(String),
}
