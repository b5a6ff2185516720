//! Reading: what one query costs, on natural text and on the worst.
//!
//! `cargo bench -p memo --bench sparse_read [largest text in tokens]`
//!
//! A query reads one list of successors for each of the shortest contexts and one entry for each successor of the longer ones; a
//! distribution over all n tokens adds a pass over n numbers. So the worst texts are those whose last token, or last
//! tokens, were followed by everything. *One by one* reads along a text with one scratch, as generation and scoring do;
//! *alone* reads a prompt of 64 tokens with a fresh one.

use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Generator, Sampling, Scratch, score};
use memo::sparse::{Memory, Settings};
use std::hint::black_box;
use std::time::Instant;

const VOCABULARY: u32 = 50_257;

fn main() {
    let largest = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(2_000_000);
    println!(
        "{:>12} {:>9} {:>16} {:>16} {:>16} {:>16} {:>11} {:>11} {:>11}",
        "text",
        "tokens",
        "best µs (p99)",
        "all n µs (p99)",
        "new text (p99)",
        "alone µs (p99)",
        "greedy t/s",
        "sampled t/s",
        "scored t/s"
    );
    for tokens in [200_000, 2_000_000].into_iter().filter(|&tokens| tokens <= largest) {
        measure("natural", &natural(tokens, 1), &natural(5_000, 2));
    }
    let draws = |tokens, n| Stream::new(3, Purpose::Sampling, 0).draws().tokens(tokens, n);
    measure("random", &draws(200_000, VOCABULARY as usize - 1), &natural(5_000, 2));
    // The same paragraph, with other words in a few places.
    let paragraph = natural(400, 4);
    let mut boilerplate: Vec<u32> = paragraph.iter().cycle().take(200_000).copied().collect();
    for (at, word) in draws(2_000, VOCABULARY as usize - 1).into_iter().enumerate() {
        boilerplate[at * 100] = word;
    }
    measure("boilerplate", &boilerplate, &boilerplate[1_000..6_000]);
    // Every word after every other, of 447 words; and one word followed by all others.
    let every: Vec<u32> = (0..447u32).flat_map(|a| (0..447u32).flat_map(move |b| [a, b])).collect();
    measure("every pair", &every[..200_000], &every[3_000..8_000]);
    let one: Vec<u32> = (1..VOCABULARY - 1).flat_map(|b| [0, b]).collect();
    measure("one, all", &one, &one[3_000..8_000]);
}

/// Words drawn by rank with probability ∝ 1/(rank + 2.7), one third of them repeating a phrase seen before.
fn natural(tokens: usize, seed: u64) -> Vec<u32> {
    let mut draws = Stream::new(seed, Purpose::Sampling, 0).draws();
    let n = f64::from(VOCABULARY - 1);
    let mut text: Vec<u32> = Vec::with_capacity(tokens);
    while text.len() < tokens {
        if text.len() > 100 && draws.below(12) == 0 {
            let start = draws.below(text.len() as u64 - 8) as usize;
            text.extend_from_within(start..start + 4);
            continue;
        }
        let u = draws.below(1 << 53) as f64 / (1u64 << 53) as f64;
        let rank = 2.7 * ((n / 2.7 + 1.0).powf(u) - 1.0);
        text.push((rank as u32).min(VOCABULARY - 2));
    }
    text.truncate(tokens);
    text
}

fn measure(name: &str, text: &[u32], new: &[u32]) {
    let mut memory = Memory::new(Settings::new(VOCABULARY, VOCABULARY - 1, 1).unwrap()).unwrap();
    memory.memorize(text).unwrap();
    let window = BACKOFF.window(&memory);
    let mut scratch = Scratch::default();
    let mut along = |text: &[u32], all: bool| {
        quantiles((1_000..3_000).map(|p| {
            let context = &text[p - window..p];
            let start = Instant::now();
            let distribution = BACKOFF.distribution(&memory, context, &mut scratch).unwrap();
            if all {
                black_box(distribution.dense().unwrap());
            } else {
                black_box(distribution.best().unwrap());
            }
            start.elapsed().as_secs_f64()
        }))
    };
    let (best, all, unseen) = (along(text, false), along(text, true), along(new, false));
    let alone = quantiles((0..500).map(|q| {
        let p = 100 + q * 7919 % (text.len() - 200);
        let start = Instant::now();
        black_box(BACKOFF.best(&memory, &text[p - 64..p], &mut Scratch::default()).unwrap());
        start.elapsed().as_secs_f64()
    }));
    let generated = |temperature: f64| {
        let sampling = Sampling { temperature, ..Sampling::default() };
        let start = Instant::now();
        let made = Generator::new(&memory, &BACKOFF, &text[500..564], sampling).take(500).count();
        made as f64 / start.elapsed().as_secs_f64()
    };
    let (greedy, sampled) = (generated(0.0), generated(1.0));
    let start = Instant::now();
    let scored = score(&memory, &BACKOFF, &new[..5_000]).unwrap();
    let scored = scored.len() as f64 / start.elapsed().as_secs_f64();
    println!(
        "{name:>12} {:>9} {best:>16} {all:>16} {unseen:>16} {alone:>16} {greedy:>11.0} {sampled:>11.0} {scored:>11.0}",
        text.len()
    );
}

/// The median, and the 99th of a hundred, in microseconds.
fn quantiles(seconds: impl Iterator<Item = f64>) -> String {
    let mut micros: Vec<f64> = seconds.map(|seconds| seconds * 1e6).collect();
    micros.sort_by(f64::total_cmp);
    format!("{:.1} ({:.1})", micros[micros.len() / 2], micros[micros.len() * 99 / 100])
}
