//! Memorizing and forgetting: tokens a second, beside what the memory bandwidth of this machine allows.
//!
//! `cargo bench -p memo --bench sparse_write -- [largest text in tokens]`
//!
//! What limits a write: a position is planned as a cell of 12 bytes for each of its contexts, then sorted as ranks of 8 bytes, and
//! in the end all entries are read and written once. The bound is these bytes over the rate at which all cores
//! together read and write an array in order that no cache holds, measured in this run. Text is either random, which makes every
//! entry new, or like natural text in how often tokens and phrases come back. *Small* is a text of 200 tokens, added to
//! and taken from what is there. All of it counts the time that this process computed, so that others on the machine matter
//! little.

mod common;

use common::{VOCABULARY, rate, seconds};
use memo::sparse::{Memory, Settings};
use rayon::prelude::*;
use std::time::Instant;

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
    for tokens in
        [20_000, 200_000, 2_000_000, 10_000_000].into_iter().filter(|&tokens| tokens <= largest)
    {
        measure("random", &common::random(tokens, 1), bandwidth);
        measure("natural", &common::natural(tokens, 1), bandwidth);
    }
}

fn measure(name: &str, text: &[u32], bandwidth: f64) {
    let settings = Settings::new(VOCABULARY, VOCABULARY - 1, 1).unwrap();
    let contexts = settings.slots() as f64;
    let mut memory = Memory::new(settings).unwrap();
    let tokens = text.len() as f64;
    // Hundredths of a second are counted, so short texts are written many times.
    let rounds = (1_000_000 / text.len()).max(2);
    let (mut memorizing, mut forgetting) = (0.0, 0.0);
    for round in 0..rounds {
        let start = seconds();
        memory.memorize(text).unwrap();
        let memorized = seconds();
        memorizing += memorized - start;
        if round + 1 < rounds {
            memory.forget(text).unwrap();
            forgetting += seconds() - memorized;
        }
    }
    let written = rounds as f64 * tokens / memorizing;
    let forget = (rounds - 1) as f64 * tokens / forgetting;
    let held = memory.usage().tables as f64 / tokens;
    let start = Instant::now();
    memory.digest().unwrap();
    let digest = start.elapsed().as_secs_f64() * 1e3;
    let small = &common::random(300, 1)[100..];
    let pairs = rate(|_| {
        memory.memorize(small).unwrap();
        memory.forget(small).unwrap();
        1
    });
    let small = 1e3 / pairs / 2.0 * rayon::current_num_threads() as f64;
    // Planned cells are written and read, their ranks twice; entries are read and written.
    let bound = bandwidth / (contexts * (2.0 * 12.0 + 4.0 * 8.0) + 2.0 * held);
    println!(
        "{name:>8} {tokens:>9} {written:>11.0} {bound:>11.0} {:>6.2} {forget:>11.0} {small:>9.2} {held:>9.1} {digest:>11.1}",
        written / bound
    );
}

/// Bytes a second of reading and writing an array in order, all cores.
fn stream(bytes: usize) -> f64 {
    // Written once, so that the system has handed out its pages.
    let mut cells = vec![1u8; bytes];
    let part = bytes.div_ceil(rayon::current_num_threads());
    rate(|_| {
        cells
            .par_chunks_mut(part)
            .for_each(|part| part.iter_mut().for_each(|c| *c = c.wrapping_add(3)));
        2 * bytes
    })
}
