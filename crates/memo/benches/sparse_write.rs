//! Memorizing: tokens a second against what the memory bandwidth of this machine allows, and against size.
//!
//! `cargo bench -p memo --bench sparse_write [largest size in MiB]`
//!
//! What limits a write: each slot's K rows of D cells are read and written, 5,632 bytes a token by default. The bound
//! is that over the rate at which all cores together read and write memory in order, measured in this run on an array
//! that no cache holds, in large pages as the cells are. A second bound visits rows of 64 and 256 bytes at random, as
//! keys do, in an array as large as the cells (small ones are in a cache). Text is either
//! random, which makes every table entry new, or like natural text in how often tokens and phrases come back. The
//! best of a few rounds counts, for the bounds too.

use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, ReadOut, Scratch};
use memo::sparse::{Memory, Settings, Shape, Size};
use rayon::prelude::*;
use std::time::Instant;

fn main() {
    let largest: usize = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(1024);
    println!(
        "{:>10} {:>8} {:>10} {:>12} {:>12} {:>8} {:>12} {:>8} {:>12} {:>10} {:>8}",
        "cells MiB",
        "text",
        "tokens",
        "tokens/s",
        "bound",
        "share",
        "random rows",
        "share",
        "forget t/s",
        "query µs",
        "held"
    );
    let bandwidth = stream(1 << 30);
    for mib in [10, 32, 100, 256, 1024, 4096].into_iter().filter(|&mib| mib <= largest) {
        measure(mib << 20, bandwidth);
    }
}

const VOCABULARY: u32 = 50_257;

fn measure(bytes: usize, bandwidth: f64) {
    // Enough text to be fair, not more than the memory is for.
    let tokens = (bytes / 92).min(2_000_000);
    let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
    let random = reader.tokens(tokens, VOCABULARY as usize - 1);
    // Tokens by Zipf's law; one in 32 begins a phrase of up to 32 tokens that was there before.
    let mut natural: Vec<u32> = Vec::with_capacity(tokens + 32);
    while natural.len() < tokens {
        if reader.below(32) == 0 && natural.len() > 64 {
            let from = reader.below(natural.len() as u64 - 32) as usize;
            let len = 1 + reader.below(32) as usize;
            natural.extend_from_within(from..from + len);
        } else {
            let uniform = reader.below(1 << 32) as f64 / 4_294_967_296.0;
            natural.push(f64::from(VOCABULARY - 1).powf(uniform) as u32 - 1);
        }
    }
    natural.truncate(tokens);
    let bounds = (bandwidth, random_rows(bytes));
    of_text(bytes, "random", &random, bounds);
    of_text(bytes, "natural", &natural, bounds);
}

fn of_text(bytes: usize, name: &str, text: &[u32], (stream, random_rows): (f64, f64)) {
    let size = Size::Parameters(bytes as u64);
    let settings = Settings::new(VOCABULARY, VOCABULARY - 1, 1, &Shape::default(), size).unwrap();
    let per_token: f64 =
        settings.slots.iter().map(|slot| 2.0 * f64::from(slot.copies * slot.width)).sum();
    let tokens = text.len();
    let before = resident();
    let mut memory = Memory::new(settings).unwrap();
    // The first pass also makes the system hand out pages; it is not timed.
    let (known, rest) = text.split_at(tokens / 2);
    memory.memorize(known).unwrap();
    let (mut rate, mut forget, mut held) = (0f64, 0f64, 0.0);
    for round in 0..5 {
        let start = Instant::now();
        memory.memorize(rest).unwrap();
        rate = rate.max(rest.len() as f64 / start.elapsed().as_secs_f64());
        if round == 4 {
            break;
        }
        // What the process holds more than before, over cells and tables; small memories do not touch all their cells.
        held = (resident() - before) / memory.usage().total() as f64;
        let start = Instant::now();
        memory.forget(rest).unwrap();
        forget = forget.max(rest.len() as f64 / start.elapsed().as_secs_f64());
    }

    let mut scratch = Scratch::default();
    let mut query = |from: usize, count: usize| {
        for q in 0..count {
            let p = 100 + (from + q) * 7919 % (tokens - 200);
            BACKOFF.distribution(&memory, &text[p - 64..p], &mut scratch).unwrap();
        }
    };
    query(0, 20);
    let start = Instant::now();
    query(20, 200);
    let micros = start.elapsed().as_secs_f64() * 1e6 / 200.0;

    let (bound, random) = (stream / per_token, random_rows / per_token);
    println!(
        "{:>10} {name:>8} {tokens:>10} {rate:>12.0} {bound:>12.0} {:>8.2} {random:>12.0} {:>8.2} {forget:>12.0} {micros:>10.0} {held:>8.2}",
        bytes >> 20,
        rate / bound,
        rate / random,
    );
}

/// Bytes of memory that this process holds, where the system tells.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = status.split_whitespace().nth(1).and_then(|p| p.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}

/// Zero bytes in large pages, where the system has them.
fn array(bytes: usize) -> memmap2::MmapMut {
    let map = memmap2::MmapMut::map_anon(bytes).unwrap();
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map
}

/// Bytes a second of reading and writing an array in order, all cores.
fn stream(bytes: usize) -> f64 {
    let mut cells = array(bytes);
    let part = bytes.div_ceil(rayon::current_num_threads());
    let best = (0..8)
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

/// Bytes a second of reading and writing rows at random, in the default slots' proportion of sizes, all cores. Where
/// they are is known beforehand and no visit waits for another, but nothing is fetched ahead.
fn random_rows(bytes: usize) -> f64 {
    let mut cells = array(bytes);
    let part = bytes.div_ceil(rayon::current_num_threads());
    let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
    let visits: Vec<(usize, usize)> = (0..400_000)
        .map(|visit| {
            let lines = if visit % 14 < 4 { 1 } else { 4 };
            (reader.below((part / 64 - 8) as u64) as usize * 64, lines * 64)
        })
        .collect();
    (0..4)
        .map(|_| {
            let start = Instant::now();
            let touched = cells.par_chunks_mut(part).map(|part| {
                let mut touched = 0;
                for &(first, len) in &visits {
                    part[first..first + len].iter_mut().for_each(|c| *c = c.wrapping_add(3));
                    touched += 2 * len;
                }
                touched
            });
            touched.sum::<usize>() as f64 / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}
