//! What benchmarks share: texts made up with the statistics of natural ones, read from a file, and the worst that can be; and
//! time as this process spends it.

#![allow(dead_code, reason = "not every benchmark needs all of them")]

use cpu_time::ProcessTime;
use memo::random::{Draws, Purpose, Stream};
use std::collections::HashMap;

/// The number of tokens, the last of which ends documents.
pub(crate) const VOCABULARY: u32 = 50_257;

/// Tokens of a language: the next one is a successor of the last token or of the last two, of which each has its own, most of
/// them rare. Tokens, successors and what comes back are distributed by Zipf's law, as in natural text.
pub(crate) fn natural(tokens: usize, seed: u64) -> Vec<u32> {
    let mut draws = Stream::new(seed, Purpose::Sampling, 0).draws();
    let mut text: Vec<u32> = vec![0, 1];
    while text.len() < tokens {
        let (before, last) = (text[text.len() - 2], text[text.len() - 1]);
        let successor = (uniform(&mut draws) * 3_000f64.ln()).exp() as u64;
        let context = match draws.below(4) {
            0 => 0,
            1 => 1 + u64::from(last),
            _ => (1 + u64::from(before)) << 32 | (1 + u64::from(last)),
        };
        // Which token that is depends on nothing else: all texts are of one language.
        let mixed = mix(context ^ mix(successor));
        text.push(by_rank((mixed >> 11) as f64 / (1u64 << 53) as f64));
    }
    text.truncate(tokens);
    text
}

/// A token by Zipf's law.
fn by_rank(uniform: f64) -> u32 {
    let n = f64::from(VOCABULARY - 1);
    let rank = 2.7 * ((n / 2.7 + 1.0).powf(uniform) - 1.0);
    (rank as u32).min(VOCABULARY - 2)
}

fn uniform(draws: &mut Draws) -> f64 {
    draws.below(1 << 53) as f64 / (1u64 << 53) as f64
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(0x7FB5_D329_728E_A185);
    let x = (x ^ x >> 27).wrapping_mul(0x81DA_DEF4_BC2D_D44D);
    x ^ x >> 33
}

/// Tokens of which each is as likely as any other, whatever comes before.
pub(crate) fn random(tokens: usize, seed: u64) -> Vec<u32> {
    Stream::new(seed, Purpose::Sampling, 0).draws().tokens(tokens, VOCABULARY as usize - 1)
}

/// Code that repeats itself: one paragraph again and again, with other words in a few places.
pub(crate) fn boilerplate(tokens: usize) -> Vec<u32> {
    let paragraph = natural(400, 4);
    let mut text: Vec<u32> = paragraph.iter().cycle().take(tokens).copied().collect();
    for (at, word) in random(tokens / 100, 3).into_iter().enumerate() {
        text[at * 100 + at % 100] = word;
    }
    text
}

/// Every word after every other.
pub(crate) fn every_pair(tokens: usize) -> Vec<u32> {
    let words = ((tokens / 2) as f64).sqrt().ceil() as u32;
    let pairs = (0..words).flat_map(|a| (0..words).flat_map(move |b| [a, b]));
    pairs.take(tokens).collect()
}

/// The words of a text, each with the character after it, and where each stands in the text, by its number among them.
pub(crate) fn numbered(text: &str) -> (Vec<&str>, Vec<u32>) {
    let (mut words, mut numbers) = (Vec::new(), HashMap::new());
    let number = |word| {
        *numbers.entry(word).or_insert_with(|| {
            words.push(word);
            words.len() as u32 - 1
        })
    };
    let text = text.split_inclusive(|c: char| !c.is_alphanumeric()).map(number).collect();
    (words, text)
}

/// The words of a file, numbered as they come; those for which no number is left share one with others.
pub(crate) fn from_file(path: &str) -> Vec<u32> {
    let text = std::fs::read_to_string(path).expect("a text in UTF-8");
    let most = VOCABULARY - 1;
    let number = |n: u32| if n < most { n } else { mix(n.into()) as u32 % most };
    numbered(&text).1.into_iter().map(number).collect()
}

/// Tokens of which each followed the two before it somewhere in a text: phrases of three come back as often as there, and longer ones
/// are new, so that long contexts have as many successors as short ones.
pub(crate) fn chain(text: &[u32], tokens: usize, seed: u64) -> Vec<u32> {
    let mut followed: HashMap<&[u32], Vec<u32>> = HashMap::new();
    text.windows(3).for_each(|run| followed.entry(&run[..2]).or_default().push(run[2]));
    let mut draws = Stream::new(seed, Purpose::Sampling, 0).draws();
    let mut chain = text[..2].to_vec();
    while chain.len() < tokens {
        match followed.get(&chain[chain.len() - 2..]) {
            Some(next) => chain.push(next[draws.below(next.len() as u64) as usize]),
            // Only the end of the text was never followed.
            None => chain.extend_from_slice(&text[..2]),
        }
    }
    chain.truncate(tokens);
    chain
}

/// Returns the seconds that a thread has computed, if all threads have computed equally long. Unlike a clock's they do not depend
/// on what else the machine does.
pub(crate) fn seconds() -> f64 {
    let computed = ProcessTime::now().as_duration().as_secs_f64();
    computed / rayon::current_num_threads() as f64
}

/// Returns how much `work` gets done in a second: what it returns, over many calls with the numbers 0, 1, 2 …
pub(crate) fn rate(mut work: impl FnMut(usize) -> usize) -> f64 {
    let (start, mut done) = (seconds(), 0);
    for call in 0.. {
        done += work(call);
        let spent = seconds() - start;
        if spent > 0.3 {
            return done as f64 / spent;
        }
    }
    0.0
}
