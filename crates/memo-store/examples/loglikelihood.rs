//! How probable a model finds continuations, by the library alone: what a server says of them can be held against this.
//!
//! Reads lines `["context", "continuation"]` and writes, for each, `[log-likelihood, whether no token was more probable
//! than the continuation's own, anywhere in it]`.
//!
//! ```console
//! $ echo '["The owl", " reads"]' | cargo run -p memo-store --example loglikelihood -- notes.memo
//! ```

use memo_store::{ReadOptions, Snapshot};
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("give a model")?.into();
    let model = Snapshot::open(&path)?;
    for line in std::io::stdin().lines() {
        let (context, continuation): (String, String) = serde_json::from_str(&line?)?;
        let start = model.tokenizer().encode(&context)?.len();
        let text = model.tokenizer().encode(&(context + &continuation))?;
        let scores = model.token_scores(&text, start..text.len(), 1, &ReadOptions::default())?;
        let best = scores.iter().all(|score| score.top[0].1 == score.logprob);
        let sum: f64 = scores.iter().map(|score| score.logprob).sum();
        println!("{}", serde_json::to_string(&(sum, best))?);
    }
    Ok(())
}
