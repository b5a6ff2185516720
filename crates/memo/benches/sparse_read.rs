//! Reading: the time of one query, where it goes, and how it depends on the vocabulary.
//!
//! `cargo bench -p memo --bench sparse_read`
//!
//! Text with Zipf-like statistics, memorized at 92 parameters a token. What limits a read: transforms of n 16-bit
//! scores a long slot, and n·K cells a bucketed slot.

use memo::random::{Purpose, Stream};
use memo::readout::{BACKOFF, Generator, ReadOut, Sampling, Scratch, score};
use memo::sparse::{Memory, Settings, Shape, Size};
use std::time::Instant;

/// Words drawn by rank with probability ∝ 1/(rank + 2.7), one third of them repeating a phrase seen before.
fn text(tokens: usize, vocabulary: u32, seed: u64) -> Vec<u32> {
    let mut reader = Stream::new(seed, Purpose::Sampling, 0).draws();
    let n = f64::from(vocabulary - 1);
    let mut text: Vec<u32> = Vec::with_capacity(tokens);
    while text.len() < tokens {
        if text.len() > 100 && reader.below(12) == 0 {
            let start = reader.below(text.len() as u64 - 8) as usize;
            text.extend_from_within(start..start + 4);
            continue;
        }
        let u = reader.below(1 << 53) as f64 / (1u64 << 53) as f64;
        let rank = 2.7 * ((n / 2.7 + 1.0).powf(u) - 1.0);
        text.push((rank as u32).min(vocabulary - 2));
    }
    text.truncate(tokens);
    text
}

fn main() {
    let tokens = 200_000;
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>12} {:>12}",
        "n", "memorized µs", "unseen µs", "best µs", "greedy tok/s", "score tok/s"
    );
    for vocabulary in [14_000, 50_257, 100_277] {
        let text = text(tokens, vocabulary, 1);
        let size = Size::Parameters(92 * tokens as u64);
        let settings =
            Settings::new(vocabulary, vocabulary - 1, 1, &Shape::default(), size).unwrap();
        let mut memory = Memory::new(settings).unwrap();
        memory.memorize(&text).unwrap();
        let unseen = self::text(tokens / 10, vocabulary, 2);
        let mut scratch = Scratch::default();
        let queries = 400;
        let mut time = |text: &[u32], best: bool| {
            let mut right = 0;
            let start = Instant::now();
            for q in 0..queries {
                let p = 100 + q * (text.len() - 200) / queries;
                let context = &text[p - 64..p];
                let answer = if best {
                    BACKOFF.best(&memory, context, &mut scratch).unwrap()
                } else {
                    BACKOFF.distribution(&memory, context, &mut scratch).unwrap().best()
                };
                right += usize::from(answer == text[p]);
            }
            (start.elapsed().as_secs_f64() * 1e6 / queries as f64, right as f64 / queries as f64)
        };
        time(&text, false);
        let (memorized, recall) = time(&text, false);
        let (new, _) = time(&unseen, false);
        let (best, recall_best) = time(&text, true);
        let start = Instant::now();
        let made: Vec<u32> = Generator::new(&memory, &BACKOFF, &text[..64], Sampling::default())
            .take(2000)
            .map(Result::unwrap)
            .collect();
        let greedy = made.len() as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let scored = score(&memory, &BACKOFF, &text[..4000]).unwrap();
        let scoring = scored.len() as f64 / start.elapsed().as_secs_f64();
        println!(
            "{vocabulary:>8} {memorized:>12.0} {new:>12.0} {best:>12.0} {greedy:>12.0} {scoring:>12.0}   recall {recall:.4} / {recall_best:.4}, generated {} right",
            made.iter().zip(&text[64..]).take_while(|(a, b)| a == b).count(),
        );
    }
}
