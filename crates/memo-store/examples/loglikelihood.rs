//! How probable a model finds continuations, by the library alone: what a server says of them can be held against this.
//!
//! Reads lines `["context", "continuation"]` and writes, for each, `[log-likelihood, whether no token was more probable
//! than the continuation's own, anywhere in it]`.
//!
//! ```console
//! $ echo '["The owl", " reads"]' | cargo run -p memo-store --example loglikelihood -- notes.memo
//! ```

use memo::readout::{BACKOFF, map_distributions, score};
use memo_store::Reader;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("give a model")?.into();
    let reader = Reader::open(&path)?;
    let memory = reader.memory().sparse().ok_or("log-likelihoods need the sparse engine")?;
    for line in std::io::stdin().lines() {
        let (context, continuation): (String, String) = serde_json::from_str(&line?)?;
        let start = reader.tokenizer().encode(&context)?.len();
        let text = reader.tokenizer().encode(&(context + &continuation))?;
        let own = start..text.len();
        let scores = score(memory, &BACKOFF, &text)?;
        let best = map_distributions(memory, &BACKOFF, &text, own.clone(), |p, seen| {
            seen.probability(text[p]) == seen.probability(seen.best())
        })?;
        let sum: f64 = scores[own].iter().sum();
        println!("{}", serde_json::to_string(&(sum, best.iter().all(|best| *best)))?);
    }
    Ok(())
}
