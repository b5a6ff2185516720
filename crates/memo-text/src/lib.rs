//! Text for a memory: tokenizers, and documents read from files, folders, JSONL and standard input.
//!
//! Data flows one way: [`Reader`] turns places into [`Document`]s, one at a time, and [`Tokenizer`]
//! turns a document into ids that a memory can hold. Both take text that nobody has looked at, so
//! both follow stated rules and neither guesses: what is not text is refused or reported as
//! skipped, no text can forge the end of a document, and no input takes more than linear time
//! (times a logarithm) to encode with the tokenizers that come with the program.

mod tokenizer;

pub use tokenizer::{
    MAX_VOCABULARY, StreamDecoder, Token, Tokenizer, TokenizerError, TokenizerSpec,
};
