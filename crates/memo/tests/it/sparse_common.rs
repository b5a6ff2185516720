//! Text made for tests: words with Zipf-like frequencies, in phrases that come back.

use memo::random::{Purpose, Stream};
use memo::sparse::{Memory, Settings, Shape, Size};

/// `tokens` tokens below `vocabulary - 1`: drawn by rank with probability ∝ 1/(rank + 2.7), now and then a few tokens
/// that were there before.
pub(crate) fn text(tokens: usize, vocabulary: u32, seed: u64) -> Vec<u32> {
    let mut reader = Stream::new(seed, Purpose::Sampling, 7).draws();
    let n = f64::from(vocabulary - 1);
    let mut text: Vec<u32> = Vec::with_capacity(tokens + 8);
    while text.len() < tokens {
        if text.len() > 40 && reader.below(12) == 0 {
            let len = 2 + reader.below(6) as usize;
            let start = reader.below((text.len() - len) as u64) as usize;
            text.extend_from_within(start..start + len);
            continue;
        }
        let u = reader.below(1 << 53) as f64 / (1u64 << 53) as f64;
        let rank = 2.7 * ((n / 2.7 + 1.0).powf(u) - 1.0);
        text.push((rank as u32).min(vocabulary - 2));
    }
    text.truncate(tokens);
    text
}

/// Default slots; the end token is the last of the vocabulary.
pub(crate) fn settings(vocabulary: u32, parameters: u64) -> Settings {
    Settings::new(vocabulary, vocabulary - 1, 11, &Shape::default(), Size::Parameters(parameters))
        .unwrap()
}

/// A memory of one text at 92 parameters a token.
pub(crate) fn memory_of(text: &[u32], vocabulary: u32) -> Memory {
    let mut memory = Memory::new(settings(vocabulary, 92 * text.len() as u64)).unwrap();
    memory.memorize(text).unwrap();
    memory
}

/// Runs something on a number of threads.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
