//! Prints a text as the numbers of its tokens, a document a line, for programs that count words of their own:
//!
//! ```text
//! cargo run -p memo-text --example tokens TOKENIZER FIRST TEXT
//! ```
//!
//! TOKENIZER is as in `memo measure`; the vocabulary of `words` is that of FIRST, and what TEXT has beyond it is one number that
//! FIRST never has. Each file is a document.

use memo_text::{Tokenizer, TokenizerSpec};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tokenizer, first, text] = arguments.as_slice() else {
        return Err("usage: tokens TOKENIZER FIRST TEXT".into());
    };
    let spec: TokenizerSpec = tokenizer.parse()?;
    let tokenizer = Tokenizer::for_texts(&spec, [std::fs::read_to_string(first)?])?;
    let tokens = tokenizer.encode(&std::fs::read_to_string(text)?)?;
    let line: Vec<String> = tokens.iter().map(u32::to_string).collect();
    println!("{}", line.join(" "));
    Ok(())
}
