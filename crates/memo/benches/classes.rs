//! Reading with a lexicon, beside reading without: how much longer it takes.
//!
//! `cargo bench -p memo --bench classes -- FILE…`
//!
//! Four fifths of the words of a text, each with the character after it, are memorized, once without a lexicon and once with 200
//! classes that were induced from them; then tokens of the rest are scored, and tokens that follow them are chosen. Times are those
//! that one thread computed, the least of several rounds, in which both memories take turns.

mod common;

use cpu_time::ThreadTime;
use memo::lexicon::{InduceOptions, UnitCounts};
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;

const ROUNDS: usize = 5;

/// Tokens that are scored.
const SCORED: usize = 4_000;

fn main() {
    println!(
        "{:>24} {:>9}  {:<14} {:>10} {:>10} {:>7} {:>5}",
        "text", "tokens", "a token, µs", "without", "with", "ratio", "goal"
    );
    for file in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        measure(&file);
    }
}

fn measure(file: &str) {
    let text = std::fs::read_to_string(file).expect("a text in UTF-8");
    let (names, tokens) = common::numbered(&text);
    let (known, new) = tokens.split_at(tokens.len() / 5 * 4);
    let [without, with] = memories(&names, known);
    let along = &new[..new.len().min(SCORED)];
    for (what, score) in [("scored", true), ("best", false)] {
        let mut least = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for (least, memory) in least.iter_mut().zip([&without, &with]) {
                *least = least.min(time(memory, along, score) / along.len() as f64 * 1e6);
            }
        }
        let [without, with] = least;
        println!(
            "{file:>24} {:>9}  {what:<14} {without:>10.2} {with:>10.2} {:>7.2} {:>5}",
            known.len(),
            with / without,
            1.4
        );
    }
}

/// Memories of a text without a lexicon and with classes of its words.
fn memories(names: &[&str], known: &[u32]) -> [Memory; 2] {
    let vocabulary = names.len() as u32 + 1;
    let settings = Settings::new(vocabulary, vocabulary - 1, 1).unwrap();
    // The end token has no text.
    let words = Words::new(names.iter().copied().chain([""]));
    let mut counts = UnitCounts::default();
    counts.add(&known.iter().map(|&token| names[token as usize]).collect::<String>());
    let mut go_on = |_| ControlFlow::Continue(());
    let induced = counts.induce(&InduceOptions { rounds: 3, ..Default::default() }, &mut go_on);
    let lexicon = Arc::new(induced.unwrap().lexicon);
    let classes = settings.clone().with_lexicon(Some(&lexicon));
    let with = Memory::with_words(classes, Some(Arc::new(words.clone().with_lexicon(lexicon))));
    let without = Memory::with_words(settings, Some(Arc::new(words)));
    [without, with].map(|memory| {
        let mut memory = memory.unwrap();
        memory.memorize(known).unwrap();
        memory
    })
}

/// The seconds that a text takes, token by token.
fn time(memory: &Memory, text: &[u32], score: bool) -> f64 {
    let window = BACKOFF.window(memory);
    let mut scratch = Scratch::default();
    let start = ThreadTime::now();
    for (p, &token) in text.iter().enumerate() {
        let context = &text[p.saturating_sub(window)..p];
        let distribution = BACKOFF.distribution(memory, context, &mut scratch).unwrap();
        if score {
            black_box(distribution.probability(token).unwrap());
        } else {
            black_box(distribution.best().unwrap());
        }
    }
    start.elapsed().as_secs_f64()
}
