//! What freezing costs and saves: a model beside frozen copies of it that keep more or fewer bits of their keys.
//!
//!     frozen BITS[,BITS…] FILE…
//!
//! BITS are those of both tables, as in `12`, or of successors and of events, as in `14/12`.
//!
//! Memorizes the first four fifths of each file and prints a table: bytes a token in memory and on the disk (all files of the model), how
//! many of 500 cues that occur once are followed by the right eight tokens, the share of 1,000 places whose next token is right after
//! the last few, the same after 64 (recall), the perplexity of the rest of the file, and how many of its tokens a second are scored.

use memo::random::{Purpose, Stream};
use memo::sparse::FrozenBits;
use memo_store::{
    CompletionOptions, CompletionStream, Error, NewDocument, NewModel, ReadOptions, Snapshot, Store,
};
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

const CUES: [usize; 5] = [3, 4, 6, 8, 16];
const LAST: [usize; 5] = [3, 4, 8, 16, 64];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let bits = arguments.next().ok_or("usage: frozen BITS[,BITS…] FILE…")?;
    let bits: Vec<FrozenBits> = bits.split(',').map(parse).collect::<Result<_, _>>()?;
    for file in arguments {
        let text = std::fs::read_to_string(&file)?;
        let boundary = |&at: &usize| text.is_char_boundary(at);
        let cut = (0..=text.len() * 4 / 5).rev().find(boundary).unwrap_or(0);
        let (memorized, new) = text.split_at(text[..cut].rfind('\n').map_or(cut, |at| at + 1));
        let home = tempfile::tempdir()?;
        let path = home.path().join("live.memo");
        let mut store = Store::create(&path, &NewModel::default())?;
        store.memorize([NewDocument::text(memorized).with_id("text")], None)?;
        store.checkpoint()?;
        let tokens = store.tokenizer().encode(memorized)?;
        let new = store.tokenizer().encode(new)?;
        println!("{file}: {} tokens", tokens.len());
        println!(
            "| | bytes in memory | on disk | right after {CUES:?} | next after {LAST:?} | perplexity | tokens/s |"
        );
        println!("|---|---|---|---|---|---|---|");
        report("live", &path, &tokens, &new)?;
        for &bits in &bits {
            let FrozenBits { successors, events } = bits;
            let path = home.path().join(format!("{successors}-{events}.memo"));
            store.freeze_with(&path, bits)?;
            report(&format!("frozen, {successors}/{events}"), &path, &tokens, &new)?;
        }
    }
    Ok(())
}

fn parse(bits: &str) -> Result<FrozenBits, std::num::ParseIntError> {
    let (successors, events) = bits.split_once('/').unwrap_or((bits, bits));
    Ok(FrozenBits { successors: successors.parse()?, events: events.parse()? })
}

/// Prints the row of a model.
fn report(name: &str, path: &Path, tokens: &[u32], new: &[u32]) -> Result<(), Error> {
    let model = Snapshot::open(path)?;
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    let disk: u64 = files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
    let each = |bytes: u64| bytes as f64 / tokens.len() as f64;
    let share = |right: (usize, usize)| format!("{:.3}", right.0 as f64 / right.1.max(1) as f64);
    let mut right = Vec::new();
    for len in CUES {
        right.push(share(unique(&model, tokens, len)?));
    }
    let mut next = Vec::new();
    for len in LAST {
        next.push(share(anywhere(&model, tokens, len)?));
    }
    let start = Instant::now();
    let scores = model.token_scores(new, 0..new.len(), 0, &ReadOptions::default())?;
    let rate = new.len() as f64 / start.elapsed().as_secs_f64();
    let mean = scores.iter().map(|score| score.logprob).sum::<f64>() / new.len() as f64;
    println!(
        "| {name} | {:.1} | {:.1} | {} | {} | {:.2} | {rate:.0} |",
        each(model.stats()?.bytes),
        each(disk),
        right.join(" "),
        next.join(" "),
        (-mean).exp()
    );
    Ok(())
}

fn follows(model: &Snapshot, prompt: &[u32], next: &[u32]) -> Result<bool, Error> {
    let options = CompletionOptions { heal: false, ..CompletionOptions::greedy(next.len()) };
    let mut stream = CompletionStream::new(model.tokenizer(), prompt, &options)?;
    for &expected in next {
        let token = stream.next_token(model.memory()?)?;
        if token.is_none_or(|token| token.token != expected) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Cues that occur once: how many bring back the next eight tokens, and how many were tried.
fn unique(model: &Snapshot, tokens: &[u32], len: usize) -> Result<(usize, usize), Error> {
    let mut seen: HashMap<&[u32], u32> = HashMap::new();
    tokens.windows(len).for_each(|cue| *seen.entry(cue).or_default() += 1);
    let mut draws = Stream::new(1, Purpose::Sampling, len as u32).draws();
    let (mut right, mut tried) = (0, 0);
    for _ in 0..20_000 {
        let place = draws.below((tokens.len() - len - 8) as u64) as usize;
        let (cue, next) = tokens[place..place + len + 8].split_at(len);
        if tried < 500 && seen[cue] == 1 {
            tried += 1;
            right += usize::from(follows(model, cue, next)?);
        }
    }
    Ok((right, tried))
}

/// Places whose next token is right after some tokens, and how many were tried.
fn anywhere(model: &Snapshot, tokens: &[u32], len: usize) -> Result<(usize, usize), Error> {
    let mut draws = Stream::new(2, Purpose::Sampling, 0).draws();
    let mut right = 0;
    for _ in 0..1000 {
        let place = 64 + draws.below((tokens.len() - 64) as u64) as usize;
        right += usize::from(follows(model, &tokens[place - len..place], &tokens[place..=place])?);
    }
    Ok((right, 1000))
}
