//! How much rules may make, and the errors of those that make more.

/// The most that rules may make of a text or of facts, so that a rule that goes with everything meets an error before it meets
/// the end of memory.
///
/// ```
/// use memo_knowledge::Limits;
///
/// let limits = Limits { texts: 1_000, ..Limits::default() };
/// assert_eq!(limits.triples, 1_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Triples that are concluded, or found in one text.
    pub triples: usize,
    /// Texts that are made.
    pub texts: usize,
    /// Facts that are looked at to find those that go together.
    pub joined: usize,
    /// Places at which the parts of one pattern are tried in one sentence.
    pub tried: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { triples: 1_000_000, texts: 4_000_000, joined: 20_000_000, tried: 1_000_000 }
    }
}

/// Why rules were stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A rule makes too many triples.
    #[error(
        "{rule} makes more than {limit} triples; ask for more in its `when`, so that fewer facts go with it, or allow more triples"
    )]
    Triples {
        /// The rule, by name and document.
        rule: String,
        /// The limit that it met.
        limit: usize,
    },
    /// A rule makes too many texts.
    #[error(
        "{rule} makes more than {limit} texts; ask for more in its `when`, so that fewer facts or sentences go with it, or allow more texts"
    )]
    Texts {
        /// The rule, by name and document.
        rule: String,
        /// The limit that it met.
        limit: usize,
    },
    /// A rule looks at too many facts.
    #[error(
        "{rule} needs more than {limit} steps to find facts that go together; give its triples variables or names in common, or allow more steps"
    )]
    Joined {
        /// The rule, by name and document.
        rule: String,
        /// The limit that it met.
        limit: usize,
    },
    /// A rule's pattern fits a sentence in too many ways.
    #[error(
        "{rule} tries more than {limit} places in one sentence, which begins at byte {sentence}; put words between its variables, or use each variable once"
    )]
    Tried {
        /// The rule, by name and document.
        rule: String,
        /// The limit that it met.
        limit: usize,
        /// Where the sentence begins in the text, in bytes.
        sentence: usize,
    },
    /// The observer asked to stop.
    #[error("stopped on request")]
    Stopped,
}
