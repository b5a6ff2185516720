//! How long memorizing a file takes, and scoring its beginning: what `bindings/python/bench/overhead.py` compares Python with.
//!
//!     rates FILE FOLDER ROUNDS
//!
//! Prints the seconds of the best round as JSON. Models are made in FOLDER.

use memo_store::{NewDocument, NewModel, ReadOptions, Store};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [_, file, folder, rounds] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: rates FILE FOLDER ROUNDS".into());
    };
    let text = std::fs::read_to_string(file)?;
    let (mut memorize, mut logprobs) = (f64::INFINITY, f64::INFINITY);
    for round in 0..rounds.parse()? {
        let path = Path::new(folder).join(format!("rust-{round}.memo"));
        let mut store = Store::create(&path, &NewModel::default())?;
        let start = Instant::now();
        store.memorize([NewDocument::text(text.as_str()).with_id("text")], None)?;
        memorize = memorize.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let tokens = store.tokenizer().encode(text.get(..8000).unwrap_or(&text))?;
        store.token_scores(&tokens, 0..tokens.len() + 1, 0, &ReadOptions::default())?;
        logprobs = logprobs.min(start.elapsed().as_secs_f64());
    }
    println!("{{\"memorize\": {memorize}, \"logprobs\": {logprobs}}}");
    Ok(())
}
