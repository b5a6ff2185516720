//! Errors of the engines with integer counts, one variant for each cause.

/// An operation that the engine refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that describe no memory.
    #[error("these settings describe no memory: {0}")]
    Settings(String),
    /// A token that the vocabulary does not have.
    #[error("token {token} at position {position} is outside the vocabulary of {vocabulary}")]
    Token {
        /// The token.
        token: u32,
        /// Where it stands in the text that was given.
        position: usize,
        /// The number of tokens in the vocabulary.
        vocabulary: u32,
    },
    /// The end token inside a document: it is written after the last token by the engine itself.
    #[error(
        "the end token {token} stands inside a document, at position {position}; split the text there into two \
         documents"
    )]
    End {
        /// The end token.
        token: u32,
        /// Where it stands in the document.
        position: usize,
    },
    /// A range of positions that the document does not have.
    #[error("positions {start}..{end} were asked of a document with {positions} positions")]
    Range {
        /// First position asked for.
        start: usize,
        /// One past the last position asked for.
        end: usize,
        /// The positions that the document has, its end included.
        positions: usize,
    },
    /// Two memories that do not add, because their settings differ.
    #[error("only memories of equal settings can be merged; {0} differs")]
    Merge(&'static str),
    /// Words that are missing: settings with contexts of words need those of the vocabulary.
    #[error(
        "these settings have contexts of words, and the words of the vocabulary were not given"
    )]
    Words,
    /// A lexicon that is missing, or another one than the settings name.
    #[error("these settings are of another lexicon than the one that was given")]
    Lexicon,
    /// A frozen memory that would be changed, or added to another.
    #[error("the memory is frozen: it can be read, but not changed or merged")]
    Frozen,
    /// Memory that this machine does not have.
    #[cfg(feature = "superposed")]
    #[error("{bytes} bytes of memory could not be had ({reason}); choose a smaller size")]
    Room {
        /// How many.
        bytes: usize,
        /// What the system said.
        reason: String,
    },
    /// Bytes that do not hold what they should.
    #[error("the memory's tables are damaged: {0}")]
    Storage(String),
}
