//! Memorizing and forgetting: tokens a second, beside what the memory bandwidth of this machine allows.
//!
//! `cargo bench -p memo --bench sparse_write [largest text in tokens]`
//!
//! What limits a write: a position is planned as a cell of 12 bytes for each of its contexts, then sorted as ranks of 8 bytes, and
//! in the end all entries are read and written once. The bound is these bytes over the rate at which all cores
//! together read and write an array in order that no cache holds, measured in this run. Text is either random, which makes every
//! entry new, or like natural text in how often tokens and phrases come back. *Small* is a text of 200 tokens, added to
//! and taken from what is there.

use memo::random::{Purpose, Stream};
use memo::sparse::{Memory, Settings};
use rayon::prelude::*;
use std::time::Instant;

const VOCABULARY: u32 = 50_257;

fn main() {
    let largest = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(2_000_000);
    println!(
        "{:>8} {:>9} {:>11} {:>11} {:>6} {:>11} {:>9} {:>9} {:>11}",
        "text",
        "tokens",
        "memorize/s",
        "bound/s",
        "share",
        "forget/s",
        "small ms",
        "bytes/t",
        "digest ms"
    );
    let bandwidth = stream(1 << 29);
    for tokens in [20_000, 200_000, 2_000_000].into_iter().filter(|&tokens| tokens <= largest) {
        measure("random", &random(tokens), bandwidth);
        measure("natural", &natural(tokens), bandwidth);
    }
}

fn random(tokens: usize) -> Vec<u32> {
    Stream::new(1, Purpose::Sampling, 0).draws().tokens(tokens, VOCABULARY as usize - 1)
}

/// Tokens by Zipf's law; one in 32 begins a phrase of up to 32 tokens that was there before.
fn natural(tokens: usize) -> Vec<u32> {
    let mut draws = Stream::new(2, Purpose::Sampling, 0).draws();
    let mut natural: Vec<u32> = Vec::with_capacity(tokens + 32);
    while natural.len() < tokens {
        if draws.below(32) == 0 && natural.len() > 64 {
            let from = draws.below(natural.len() as u64 - 32) as usize;
            let len = 1 + draws.below(32) as usize;
            natural.extend_from_within(from..from + len);
        } else {
            let uniform = draws.below(1 << 32) as f64 / 4_294_967_296.0;
            natural.push(f64::from(VOCABULARY - 1).powf(uniform) as u32 - 1);
        }
    }
    natural.truncate(tokens);
    natural
}

fn measure(name: &str, text: &[u32], bandwidth: f64) {
    let settings = Settings::new(VOCABULARY, VOCABULARY - 1, 1).unwrap();
    let contexts = settings.slots() as f64;
    let mut memory = Memory::new(settings).unwrap();
    let (mut rate, mut forget) = (0f64, 0f64);
    let tokens = text.len() as f64;
    for round in 0..3 {
        let start = Instant::now();
        memory.memorize(text).unwrap();
        rate = rate.max(tokens / start.elapsed().as_secs_f64());
        if round < 2 {
            let start = Instant::now();
            memory.forget(text).unwrap();
            forget = forget.max(tokens / start.elapsed().as_secs_f64());
        }
    }
    let held = memory.usage().tables as f64 / tokens;
    let start = Instant::now();
    memory.digest().unwrap();
    let digest = start.elapsed().as_secs_f64() * 1e3;
    let small = &random(300)[100..];
    let start = Instant::now();
    for _ in 0..10 {
        memory.memorize(small).unwrap();
        memory.forget(small).unwrap();
    }
    let small = start.elapsed().as_secs_f64() * 1e3 / 20.0;
    // Planned cells are written and read, their ranks twice; entries are read and written.
    let bound = bandwidth / (contexts * (2.0 * 12.0 + 4.0 * 8.0) + 2.0 * held);
    println!(
        "{name:>8} {tokens:>9} {rate:>11.0} {bound:>11.0} {:>6.2} {forget:>11.0} {small:>9.2} {held:>9.1} {digest:>11.1}",
        rate / bound
    );
}

/// Bytes a second of reading and writing an array in order, all cores.
fn stream(bytes: usize) -> f64 {
    let mut cells = vec![0u8; bytes];
    let part = bytes.div_ceil(rayon::current_num_threads());
    let best = (0..4)
        .map(|_| {
            let start = Instant::now();
            cells
                .par_chunks_mut(part)
                .for_each(|part| part.iter_mut().for_each(|c| *c = c.wrapping_add(3)));
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    2.0 * bytes as f64 / best
}
