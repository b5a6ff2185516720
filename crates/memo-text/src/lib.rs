//! Text for a memory: tokenizers, documents read from files, folders, JSONL and standard input, and lexicons in many formats.
//!
//! Data flows one way: [`Corpus`] turns paths into [`CorpusDocument`]s, one at a time, and [`Tokenizer`]
//! turns a document into ids that a memory can hold. Both take unknown text, so both follow fixed
//! rules and guess nothing: files that are not text are refused or reported as skipped, no text can
//! forge the end of a document, and encoding with the tokenizers that come with the program takes
//! O(n log n) time for any input.
//!
//! ```
//! use memo_text::{Corpus, CorpusEntry, CorpusOptions, Tokenizer};
//!
//! let tokenizer = Tokenizer::gpt2();
//! let options = CorpusOptions { encoding: tokenizer.encoding(), ..CorpusOptions::default() };
//! let note = "The owl reads at night.\n".as_bytes();
//! for entry in Corpus::from_read(note, "note.txt", options) {
//!     match entry? {
//!         CorpusEntry::Document(document) => {
//!             let ids = tokenizer.encode_bytes(document.content.as_bytes())?;
//!             assert_eq!((document.id.as_str(), ids.len()), ("note.txt", 7));
//!         }
//!         CorpusEntry::Skipped(skip) => eprintln!("skipped {skip}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corpus;
mod lexicon;
mod tokenizer;

pub use corpus::{
    Content, Corpus, CorpusDocument, CorpusEntry, CorpusError, CorpusErrorKind, CorpusFile,
    CorpusLines, CorpusOptions, Encoding, Location, Pair, Skip, SkipReason,
};
pub use lexicon::{
    LexiconError, LexiconErrorKind, LexiconFormat, LexiconOptions, LexiconReport, LexiconSkip,
    LexiconSkipReason, OnConflict, WORDNET_DEPTH, parse_lexicon, read_lexicon,
};
pub use tokenizer::{
    MAX_VOCABULARY, StreamDecoder, Token, Tokenizer, TokenizerError, TokenizerSpec,
};
