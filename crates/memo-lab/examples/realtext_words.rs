//! The real-text experiment with a plain words tokenizer.
//!
//! `cargo run --release -p memo-lab --example realtext_words -- TEXT [parameters a token] [vocabulary] [sample]`
//!
//! The first 4/5 of the lines are memorized as one document, the last 1/5 held out. Words are split at white space and
//! the end of a line is a word; words outside the memorized text are unknown. A larger vocabulary may be asked for.

use memo::readout::{Backoff, Cache, Constants, ReadOut, Sum};
use memo::sparse::{Shape, Size};
use memo_lab::realtext::{Experiment, run};
use std::collections::HashMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which text?")?;
    let per_token: f64 = arguments.next().map_or(Ok(92.0), |a| a.parse())?;
    let vocabulary: u32 = arguments.next().map_or(Ok(0), |a| a.parse())?;
    let sample: usize = arguments.next().map_or(Ok(3000), |a| a.parse())?;
    let rest: Vec<String> = arguments.collect();

    let text = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = text.lines().collect();
    let (memorized, held_out) = lines.split_at(lines.len() * 4 / 5);
    let mut words: HashMap<&str, u32> = HashMap::new();
    let split = |lines: &[&'static str]| -> Vec<&'static str> {
        lines.iter().flat_map(|line| line.split_whitespace().chain(["\n"])).collect()
    };
    let memorized = split(&leak(memorized));
    let held_out = split(&leak(held_out));
    let document: Vec<u32> = memorized
        .iter()
        .map(|word| {
            let next = words.len() as u32;
            *words.entry(word).or_insert(next)
        })
        .collect();
    let unknown = words.len() as u32;
    let held_out: Vec<u32> =
        held_out.iter().map(|word| words.get(word).copied().unwrap_or(unknown)).collect();
    let readout: Box<dyn ReadOut> = match rest.first().map(String::as_str) {
        Some("sum") => Box::new(Sum),
        Some("cache") => Box::new(Backoff {
            constants: Constants { cache: Some(Cache::default()), ..Constants::default() },
        }),
        _ => Box::new(Backoff::default()),
    };
    let tokens = document.len() as f64 + 1.0;
    let report = run(
        &Experiment {
            memorized: &[document],
            held_out: &held_out,
            vocabulary: vocabulary.max(unknown + 2),
            end: unknown + 1,
            unknown: Some(unknown),
            size: Size::Parameters((per_token * tokens) as u64),
            shape: Shape::default(),
            seed: 1,
            sample,
        },
        readout.as_ref(),
    )?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

/// Lines that live as long as the program.
fn leak(lines: &[&str]) -> Vec<&'static str> {
    lines.iter().map(|line| &*Box::leak(line.to_string().into_boxed_str())).collect()
}
