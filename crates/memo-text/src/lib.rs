//! Text for a memory: tokenizers, and documents read from files, folders, JSONL and standard input.
//!
//! Data flows one way: [`Reader`] turns places into [`Document`]s, one at a time, and [`Tokenizer`]
//! turns a document into ids that a memory can hold. Both take text that nobody has looked at, so
//! both follow stated rules and neither guesses: what is not text is refused or reported as
//! skipped, no text can forge the end of a document, and no input takes more than linear time
//! (times a logarithm) to encode with the tokenizers that come with the program.
//!
//! ```
//! use memo_text::{Item, ReadOptions, Reader, Tokenizer};
//!
//! let tokenizer = Tokenizer::gpt2();
//! let note = "The owl reads at night.\n".as_bytes();
//! for item in Reader::from_read(note, "note.txt", ReadOptions::default()) {
//!     match item? {
//!         Item::Document(document) => {
//!             let ids = tokenizer.encode_bytes(document.content.as_bytes())?;
//!             assert_eq!((document.id.as_str(), ids.len()), ("note.txt", 7));
//!         }
//!         Item::Skipped(skipped) => eprintln!("{skipped}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod read;
mod tokenizer;

pub use read::{
    Content, Document, Encoding, Format, Item, Pair, ReadError, ReadOptions, Reader, SkipReason,
    Skipped, Source,
};
pub use tokenizer::{
    MAX_VOCABULARY, StreamDecoder, Token, Tokenizer, TokenizerError, TokenizerSpec,
};
