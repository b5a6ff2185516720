//! Errors of tokenizers, one variant per cause. Each message includes its reason, so no error has a
//! `source()` that would repeat it.

use std::path::PathBuf;

/// Why a tokenizer cannot be made, read, written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The name is none of ours and not the path of a JSON file or a `.gguf`.
    #[error(
        "there is no tokenizer {name:?}; use gpt2, cl100k, o200k, bytes, words, \
         or the path of a tokenizer.json or of a model's .gguf"
    )]
    UnknownName {
        /// The name as it was given.
        name: String,
    },
    /// `words` was asked for without the text that fixes its vocabulary.
    #[error("the tokenizer words needs a text to take its vocabulary from; give it one")]
    WordsNeedText,
    /// Something is wrong with a tokenizer file.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<TokenizerError>,
    },
    /// A tokenizer file cannot be read.
    #[error("cannot read the tokenizer file: {reason}")]
    Io {
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A tokenizer file is implausibly large.
    #[error("the tokenizer file is larger than {max} bytes; is it the right file?")]
    FileTooLarge {
        /// The largest file that is read.
        max: u64,
    },
    /// The observer stopped it.
    #[error("stopped before the text was tokenized")]
    Stopped,
    /// The JSON of a `words` vocabulary is malformed.
    #[error("this is not a words vocabulary: {reason}")]
    NotAWordsFile {
        /// What the parser found.
        reason: String,
    },
    /// The `words` vocabulary was written by another version.
    #[error(
        "this words vocabulary has format version {found}; this program reads version {known}, \
         so use the program that wrote it"
    )]
    WordsVersion {
        /// The version in the file.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// An entry of a `words` vocabulary is empty or contains white space.
    #[error("entry {index} of the words vocabulary is {word:?}, which is not one word")]
    NotAWord {
        /// The entry, counted from 0.
        index: usize,
        /// The entry's text.
        word: String,
    },
    /// A `words` vocabulary lists a word twice, so the word would have two ids.
    #[error("entry {index} of the words vocabulary repeats the word {word:?}")]
    WordTwice {
        /// The second of the two entries, counted from 0.
        index: usize,
        /// The word.
        word: String,
    },
    /// A Hugging Face `tokenizer.json` cannot be used.
    #[error("this is not a tokenizer.json that can be used: {reason}")]
    HuggingFace {
        /// What its reader says.
        reason: String,
    },
    /// The tokenizer of a `.gguf` cannot be used.
    #[error("the tokenizer of this .gguf cannot be used: {reason}")]
    Gguf {
        /// What is wrong with it.
        reason: String,
    },
    /// The vocabulary has more ids than a model can hold.
    #[error(
        "the vocabulary needs {size} ids; the most that a model can have is {}",
        super::MAX_VOCABULARY
    )]
    TooManyTokens {
        /// The largest id plus one.
        size: u64,
    },
    /// A text cannot be encoded by a Hugging Face tokenizer.
    #[error("the tokenizer cannot encode this text: {reason}")]
    Encode {
        /// What the tokenizer says.
        reason: String,
    },
    /// Ordinary text was encoded as the end of a document.
    #[error(
        "the tokenizer encodes the text at byte {offset} as the end of a document, \
         so this text cannot be told from two documents; remove those characters"
    )]
    ForgedEnd {
        /// Where the token starts in the text.
        offset: usize,
    },
    /// Bytes were given to a tokenizer of text.
    #[error("byte {offset} is not valid UTF-8; only the tokenizer bytes takes any bytes")]
    NotUtf8 {
        /// The first bad byte.
        offset: usize,
    },
}
