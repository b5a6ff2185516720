//! Text made for tests, and memories of it: words with Zipf-like frequencies, in phrases that come back.

use memo::random::{Purpose, Stream};
use memo::sparse::{Digest, Memory, Settings, Span};
use memo::words::Words;
use std::sync::Arc;

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

/// Default contexts of tokens; the end token is the last of the vocabulary.
pub(crate) fn settings(vocabulary: u32) -> Settings {
    Settings::new(vocabulary, vocabulary - 1, 11).unwrap()
}

/// A vocabulary whose tokens are words of their own, but for every fifth, which is the end of a word, and every seventh, a comma.
pub(crate) fn words(vocabulary: u32) -> Arc<Words> {
    let piece = |token: u32| match token {
        token if token == vocabulary - 1 => String::new(),
        token if token % 7 == 3 => ",".into(),
        token if token % 5 == 2 => format!("end{token}"),
        token => format!(" W{token}"),
    };
    Arc::new(Words::new((0..vocabulary).map(piece)))
}

/// An empty memory, with contexts of words or without.
pub(crate) fn empty(vocabulary: u32, with_words: bool) -> Memory {
    if !with_words {
        return Memory::new(settings(vocabulary)).unwrap();
    }
    Memory::with_words(settings(vocabulary).with_words(), Some(words(vocabulary))).unwrap()
}

/// Documents, each once and whole.
pub(crate) fn whole(documents: &[Vec<u32>]) -> Vec<Span<'_>> {
    documents.iter().map(|document| Span::whole(document, 1)).collect()
}

/// The digest of a memory of documents.
pub(crate) fn digest_of(vocabulary: u32, with_words: bool, documents: &[Vec<u32>]) -> Digest {
    let mut memory = empty(vocabulary, with_words);
    memory.write(&whole(documents)).unwrap();
    memory.digest().unwrap()
}

/// A memory of one text, without contexts of words.
pub(crate) fn memory_of(text: &[u32], vocabulary: u32) -> Memory {
    let mut memory = empty(vocabulary, false);
    memory.memorize(text).unwrap();
    memory
}

/// Runs something on a number of threads.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
