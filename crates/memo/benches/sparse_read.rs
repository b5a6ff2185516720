//! Reading: what one query costs, on natural text and on the worst, beside what it must touch.
//!
//! `cargo bench -p memo --bench sparse_read -- [largest text in tokens] [text file] [--chain tokens]`
//!
//! Texts are made up, and a file if one is given, word by word; `--chain` makes one more of so many tokens, each of which followed the
//! two before it somewhere in the file: harder than any natural text, because its long contexts have as many successors as its
//! short ones. The worst texts are small ones of code that repeats itself, of all pairs of words, and of random words.
//!
//! A query reads one list of successors for each of the shortest contexts, and one entry for each successor of the longer ones.
//! Each is two cache lines (a place in a directory, an entry) that lie anywhere in the memory, so the bound is the time for
//! that many cache lines, chosen at random in an array as large as the memory's tables, all independent of each other, on one
//! thread, in this run. A distribution over all n tokens also reads and writes n numbers in order, at the rate at which this
//! thread does that. Queries are read along a text with one scratch, as generation and scoring do. Times of queries are the least of
//! several passes. All of it counts the time that this process computed, so that others on the machine matter little.

mod common;

use common::{VOCABULARY, rate};
use cpu_time::ThreadTime;
use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Generation, Generator, Sampling, Scratch, score};
use memo::sparse::{Context, Memory, Settings};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 5;

/// Prompts of each length that are looked for.
const PROMPTS: usize = 500;

/// Tokens of a text that are not memorized.
const NEW: usize = 20_000;

fn main() {
    let (mut largest, mut file, mut chain) = (2_000_000, None, None);
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.parse() {
            Ok(tokens) => largest = tokens,
            Err(_) if arg == "--chain" => {
                let tokens = args.next().and_then(|tokens| tokens.parse::<usize>().ok());
                chain = Some(tokens.expect("--chain wants a number of tokens"));
            }
            Err(_) => file = Some(arg),
        }
    }
    println!(
        "{:>12} {:>9}  {:<34} {:>10} {:>10} {:>10} {:>6}",
        "text", "tokens", "measured", "", "goal", "bound", "share"
    );
    for tokens in [100_000, 2_000_000, 10_000_000].into_iter().filter(|&tokens| tokens <= largest) {
        let goals = if tokens == 2_000_000 { NATURAL } else { Goals::default() };
        measure("natural", &common::natural(tokens, 1), &common::natural(NEW, 2), goals);
    }
    if let Some(file) = file {
        let text = common::from_file(&file);
        let (known, new) = text.split_at(text.len() - NEW);
        measure("file", known, new, NATURAL);
        if let Some(tokens) = chain {
            let chain = common::chain(&text, tokens + NEW, 7);
            let (known, new) = chain.split_at(tokens);
            measure("chain", known, new, NATURAL);
        }
    }
    let boilerplate = common::boilerplate(200_000);
    measure("boilerplate", &boilerplate, &boilerplate[1_000..21_000], WORST);
    let every = common::every_pair(200_000);
    measure("every pair", &every, &every[3_000..23_000], WORST);
    measure("random", &common::random(200_000, 3), &common::random(NEW, 5), WORST);
}

/// Microseconds at most, and tokens a second at least.
#[derive(Clone, Copy, Default)]
struct Goals {
    median: f64,
    p99: f64,
    greedy: f64,
    sampled: f64,
    scored: f64,
}

const NATURAL: Goals =
    Goals { median: 150.0, p99: 600.0, greedy: 20_000.0, sampled: 8_000.0, scored: 15_000.0 };
const WORST: Goals =
    Goals { median: 1e6 / 3e3, p99: 0.0, greedy: 3_000.0, sampled: 3_000.0, scored: 3_000.0 };

fn measure(name: &str, text: &[u32], new: &[u32], goals: Goals) {
    let mut memory = Memory::new(Settings::new(VOCABULARY, VOCABULARY - 1, 1).unwrap()).unwrap();
    memory.memorize(text).unwrap();
    let line = CacheLine::new(memory.usage().tables);
    let dense = dense_bound();
    let row = |what: &str, value: f64, goal: f64, bound: f64, share: f64| {
        let goal = if goal > 0.0 { format!("{goal:.0}") } else { String::new() };
        println!(
            "{name:>12} {:>9}  {what:<34} {value:>10.1} {goal:>10} {bound:>10.1} {share:>6.2}",
            text.len()
        );
    };
    for (kind, along) in [("memorized", text), ("new", new)] {
        let places: Vec<usize> = (1_000..3_000).collect();
        let all = times(&memory, along, &places, true);
        let best = times(&memory, along, &places, false);
        let lines = lines(&memory, along, &places);
        let (middle, most) = (quantile(lines.clone(), 0.5), quantile(lines, 0.99));
        let bound = |lines: f64| lines * line.seconds * 1e6;
        row(
            &format!("all n, µs, median, {kind}"),
            all.0,
            goals.median,
            bound(middle) + dense,
            (bound(middle) + dense) / all.0,
        );
        row("  99th of 100", all.1, goals.p99, bound(most) + dense, (bound(most) + dense) / all.1);
        row(
            &format!("best token, µs, median, {kind}"),
            best.0,
            goals.median,
            bound(middle),
            bound(middle) / best.0,
        );
        row("  99th of 100", best.1, goals.p99, bound(most), bound(most) / best.1);
        row("  mean", best.2, 0.0, 0.0, 0.0);
        row("  cache lines, median", middle, 0.0, 0.0, 0.0);
    }
    for tokens in [3, 4, 8, 16] {
        row(
            &format!("prompt of {tokens}, µs, mean"),
            prompts(&memory, text, tokens),
            0.0,
            0.0,
            0.0,
        );
    }
    let bound = |lines: f64, more: f64| 1e6 / (lines * line.seconds * 1e6 + more);
    let places: Vec<usize> = (564..1_064).collect();
    let lines_along = mean(&lines(&memory, text, &places));
    // One thread computes, and the time of a process is shared among all.
    let threads = rayon::current_num_threads() as f64;
    let generated = |temperature: f64| {
        let generate = |call: usize| {
            let sampling = Sampling { temperature, ..Sampling::default() };
            let prompt = &text[500 + call % 100 * 64..][..64];
            Generator::new(&memory, &BACKOFF, prompt, sampling).take(500).count()
        };
        rate(generate) / threads
    };
    let greedy = generated(0.0);
    let most = bound(lines_along, 0.0);
    row("greedy, tokens/s", greedy, goals.greedy, most, greedy / most);
    let sampled = generated(1.0);
    let most = bound(lines_along, dense);
    row("sampled, tokens/s", sampled, goals.sampled, most, sampled / most);
    let scored = rate(|_| score(&memory, &BACKOFF, &new[..10_000]).unwrap().len());
    let places: Vec<usize> = (100..10_000).step_by(10).collect();
    let most = threads * bound(mean(&lines(&memory, new, &places)), 0.0);
    row(&format!("scored, tokens/s, {threads} threads"), scored, goals.scored, most, scored / most);
}

/// The median, the 99th of 100 and the mean of the times of queries at places of a text, in microseconds that the thread computed. A text is
/// read along several times, and the least of a query's times counts: before the others, other processes had the caches.
fn times(memory: &Memory, text: &[u32], places: &[usize], all: bool) -> (f64, f64, f64) {
    let window = BACKOFF.window(memory);
    let mut least = vec![f64::INFINITY; places.len()];
    for _ in 0..ROUNDS {
        let mut scratch = Scratch::default();
        for (least, &p) in least.iter_mut().zip(places) {
            let context = &text[p - window..p];
            let start = ThreadTime::now();
            let distribution = BACKOFF.distribution(memory, context, &mut scratch).unwrap();
            if all {
                black_box(distribution.dense().unwrap());
            } else {
                black_box(distribution.best().unwrap());
            }
            *least = least.min(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let mean = mean(&least);
    (quantile(least.clone(), 0.5), quantile(least, 0.99), mean)
}

/// The mean time of prompts of so many tokens of a text that are looked for as quotes, each with its next token, in microseconds.
fn prompts(memory: &Memory, text: &[u32], tokens: usize) -> f64 {
    let places: Vec<usize> =
        (1_000..text.len()).step_by((text.len() - 1_000).div_ceil(PROMPTS)).collect();
    let each = places.iter().map(|&p| {
        let prompt = &text[p - tokens..p];
        (0..2).fold(f64::INFINITY, |least, _| {
            let start = ThreadTime::now();
            let mut scratch = Scratch::default();
            black_box(BACKOFF.matching(memory, prompt, &mut scratch).unwrap());
            let generation = Generation::new(prompt, Sampling::default()).with_scratch(scratch);
            black_box(generation.quoting().step(memory, &BACKOFF).unwrap());
            least.min(start.elapsed().as_secs_f64() * 1e6)
        })
    });
    mean(&each.collect::<Vec<f64>>())
}

/// The cache lines that queries at places of a text must touch.
fn lines(memory: &Memory, text: &[u32], places: &[usize]) -> Vec<f64> {
    let longest = memory.settings().reach();
    let each = places.iter().map(|&p| {
        let evidence = memory.evidence(&text[p.saturating_sub(longest)..p]).unwrap();
        let listed = |context| matches!(context, Context::Tokens(1..=3));
        let lists = evidence.iter().filter(|slot| listed(slot.context)).count().max(2);
        // Each successor of a context is looked up in the next, the longest one's too unless there is no longer one.
        let longer = evidence.iter().filter(|slot| !matches!(slot.context, Context::Tokens(1 | 2)));
        let looked_up = longer.filter(|slot| slot.context != Context::Tokens(longest as u32));
        let looked_up: usize = looked_up.map(|slot| slot.successors.len()).sum();
        // Lists that are longer than a cache line go on in the next ones.
        let entries = |slot: &memo::sparse::Evidence| slot.successors.len() as f64 * 20.0 / 512.0;
        let rest: f64 = evidence.iter().filter(|slot| listed(slot.context)).map(entries).sum();
        2.0 * (lists + looked_up) as f64 + rest.floor()
    });
    each.collect()
}

/// Reading cache lines at random places.
struct CacheLine {
    /// Of one of them, when many are read that do not depend on each other.
    seconds: f64,
}

impl CacheLine {
    fn new(bytes: usize) -> Self {
        let words = vec![1u64; (bytes / 8).max(64)];
        let mut draws = Stream::new(9, Purpose::Sampling, 0).draws();
        let places: Vec<u32> =
            (0..1 << 18).map(|_| draws.below(words.len() as u64) as u32).collect();
        let seconds = (0..ROUNDS).fold(f64::INFINITY, |best, _| {
            let start = Instant::now();
            let sum: u64 = places.iter().map(|&place| words[place as usize]).sum();
            black_box(sum);
            best.min(start.elapsed().as_secs_f64())
        });
        CacheLine { seconds: seconds / places.len() as f64 }
    }
}

/// Microseconds to read n numbers and to write as many, one thread.
fn dense_bound() -> f64 {
    let from = vec![1f64; VOCABULARY as usize];
    (0..100).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        let to: Vec<f64> = black_box(&from).iter().map(|p| p * 0.5).collect();
        black_box(to);
        best.min(start.elapsed().as_secs_f64() * 1e6)
    })
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
