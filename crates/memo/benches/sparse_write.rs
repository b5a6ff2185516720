//! Memorizing: tokens a second against what the memory bandwidth of this machine allows, and against size.
//!
//! `cargo bench -p memo --bench sparse_write [largest size in MiB]`
//!
//! What limits a write: each slot's K rows of D cells are read and written, 5,632 bytes a token by default. The bound
//! is that over the rate at which all cores together read and write an array of the same size, in this run. A second
//! bound visits rows of 64 and 256 bytes at random, as keys do.

use memo::random::{Purpose, Stream};
use memo::readout::{Backoff, ReadOut, Scratch};
use memo::sparse::{Memory, Settings, Shape, Size};
use rayon::prelude::*;
use std::time::Instant;

fn main() {
    let largest: usize = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(1024);
    println!(
        "{:>10} {:>10} {:>12} {:>12} {:>8} {:>12} {:>8} {:>12} {:>10} {:>8}",
        "cells MiB",
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
    for mib in [10, 32, 100, 256, 1024, 4096].into_iter().filter(|&mib| mib <= largest) {
        measure(mib << 20);
    }
}

fn measure(bytes: usize) {
    let vocabulary = 50_257u32;
    let size = Size::Parameters(bytes as u64);
    let settings = Settings::new(vocabulary, vocabulary - 1, 1, &Shape::default(), size).unwrap();
    let per_token: f64 =
        settings.slots.iter().map(|slot| 2.0 * f64::from(slot.copies * slot.width)).sum();
    // Enough text to be fair, not more than the memory is for.
    let tokens = (bytes / 92).min(2_000_000);
    let text =
        Stream::new(1, Purpose::Sampling, 0).reader().tokens(tokens, vocabulary as usize - 1);
    let before = resident();
    let mut memory = Memory::new(settings).unwrap();
    // The first pass also makes the system hand out pages; it is not timed.
    memory.memorize(&text[..tokens / 2]).unwrap();
    let start = Instant::now();
    memory.memorize(&text[tokens / 2..]).unwrap();
    let rate = (tokens - tokens / 2) as f64 / start.elapsed().as_secs_f64();

    // What the process holds more than before, over cells and tables; small memories do not touch all their cells.
    let held = (resident() - before) / memory.held().total() as f64;

    let mut scratch = Scratch::default();
    let mut query = |from: usize, count: usize| {
        for q in 0..count {
            let p = 100 + (from + q) * 7919 % (tokens - 200);
            Backoff::default().distribution(&memory, &text[p - 64..p], &mut scratch).unwrap();
        }
    };
    query(0, 20);
    let start = Instant::now();
    query(20, 200);
    let micros = start.elapsed().as_secs_f64() * 1e6 / 200.0;
    let start = Instant::now();
    memory.forget(&text[tokens / 2..]).unwrap();
    let forget = (tokens - tokens / 2) as f64 / start.elapsed().as_secs_f64();
    drop(memory);

    let bound = stream(bytes) / per_token;
    let random = random_rows(bytes) / per_token;
    println!(
        "{:>10} {tokens:>10} {rate:>12.0} {bound:>12.0} {:>8.2} {random:>12.0} {:>8.2} {forget:>12.0} {micros:>10.0} {held:>8.2}",
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

/// Bytes a second of reading and writing an array in order, all cores.
fn stream(bytes: usize) -> f64 {
    let mut cells = vec![1u64; bytes / 8];
    let threads = rayon::current_num_threads();
    let part = cells.len().div_ceil(threads);
    let best = (0..5)
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

/// Bytes a second of reading and writing rows at random, in the default slots' proportion of sizes, all cores.
fn random_rows(bytes: usize) -> f64 {
    let mut cells = vec![[1u64; 8]; bytes / 64];
    let threads = rayon::current_num_threads();
    let part = cells.len().div_ceil(threads);
    let visits = 200_000u64;
    let start = Instant::now();
    let touched: usize = cells
        .par_chunks_mut(part)
        .enumerate()
        .map(|(i, part)| {
            let mut reader = Stream::new(1, Purpose::Sampling, i as u32).reader();
            let mut touched = 0;
            for visit in 0..visits {
                let lines = if visit % 14 < 4 { 1 } else { 4 };
                let first = reader.below((part.len() - 4) as u64) as usize;
                for line in &mut part[first..first + lines] {
                    line.iter_mut().for_each(|c| *c = c.wrapping_add(3));
                }
                touched += lines * 128;
            }
            touched
        })
        .sum();
    touched as f64 / start.elapsed().as_secs_f64()
}
