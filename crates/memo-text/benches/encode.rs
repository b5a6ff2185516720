//! How fast text becomes tokens, and that no text makes it slow.
//!
//! `cargo bench -p memo-text` (`-- FILE` for your own text). The limit to compare with is printed
//! beside each figure: the published encoder on the same text in the same run, where it does not
//! stop. Encoding is bound by one hash look-up per word and by the splitting automaton.

#[path = "../tests/it/common.rs"]
mod common;

use memo_text::Tokenizer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

type Encoder = fn() -> &'static tiktoken_rs::CoreBPE;

/// 20 MB of sentences over a vocabulary with a long tail, the same every time.
fn prose() -> String {
    let syllables = ["ka", "lo", "mir", "ten", "us", "ar", "ing", "vo", "esh", "dal", "qui", "nor"];
    let mut state = 7u64;
    let mut next = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut text = String::new();
    while text.len() < 20_000_000 {
        for _ in 0..=next(3) {
            text += syllables[next(syllables.len())];
        }
        text += [" ", " ", " ", " ", " ", ", ", ". ", ".\n", " 12 "][next(9)];
    }
    text
}

fn time<T>(run: impl FnOnce() -> T) -> (Option<T>, f64) {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(run)).ok();
    (result, start.elapsed().as_secs_f64())
}

fn main() {
    // The published encoder's panics are a result here, not noise.
    std::panic::set_hook(Box::new(|_| {}));
    let file = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let text = file.map_or_else(prose, |path| std::fs::read_to_string(path).unwrap());

    let mut cases = vec![("text".to_owned(), text)];
    for unit in ["a", "A", " ", "\n", "  \n", "!", "7", "漢"] {
        cases.push((
            format!("1 MiB of {unit:?}, then x"),
            unit.repeat((1 << 20) / unit.len()) + "x",
        ));
    }
    let published: [(Tokenizer, Encoder); 3] = [
        (Tokenizer::gpt2(), tiktoken_rs::r50k_base_singleton),
        (Tokenizer::cl100k(), tiktoken_rs::cl100k_base_singleton),
        (Tokenizer::o200k(), tiktoken_rs::o200k_base_singleton),
    ];
    println!(
        "{:<24} {:<12} {:>10} {:>10} {:>12}",
        "text", "tokenizer", "tokens", "MB/s", "published"
    );
    for (name, text) in &cases {
        let megabytes = text.len() as f64 / 1e6;
        for (tokenizer, encoder) in &published {
            let (ours, seconds) = time(|| tokenizer.encode(text).unwrap());
            let ours = ours.unwrap();
            let encoder = encoder();
            let (theirs, their_seconds) = time(|| encoder.encode_ordinary(text));
            let beside = match &theirs {
                Some(ids) => {
                    assert!(*ids == ours, "{} differs on {name}", tokenizer.name());
                    format!("{:.1}", megabytes / their_seconds)
                }
                None => "stops".to_owned(),
            };
            let speed = megabytes / seconds;
            println!(
                "{name:<24} {:<12} {:>10} {speed:>10.1} {beside:>12}",
                tokenizer.name(),
                ours.len()
            );
        }
    }

    let text = &cases[0].1;
    let words = Tokenizer::words([text]).unwrap();
    let file = Tokenizer::from_json(common::gpt2_json().to_string().as_bytes()).unwrap();
    for tokenizer in [Tokenizer::bytes(), words, file] {
        let (ids, seconds) = time(|| tokenizer.encode(text).unwrap());
        let speed = text.len() as f64 / 1e6 / seconds;
        println!(
            "{:<24} {:<12} {:>10} {speed:>10.1}",
            "text",
            tokenizer.name(),
            ids.unwrap().len()
        );
    }
}
