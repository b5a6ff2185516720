//! Text made for tests, and memories of it: words with Zipf-like frequencies, in phrases that come back.

use memo::lexicon::Lexicon;
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

/// The contexts of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contexts {
    Tokens,
    Words,
    /// Of words, and generalised ones.
    Classes,
}

impl From<bool> for Contexts {
    fn from(with_words: bool) -> Self {
        if with_words { Contexts::Words } else { Contexts::Tokens }
    }
}

/// Two levels of classes for most words of [`words`], and for commas.
pub(crate) fn lexicon(vocabulary: u32) -> Arc<Lexicon> {
    let words = (0..vocabulary).filter(|token| token % 3 != 1).map(|token| {
        let fine = (token % 2 == 0).then(|| format!("fine{}", token % 8));
        (format!("W{token}"), vec![fine, Some(format!("coarse{}", token % 3))])
    });
    let comma = (",".to_owned(), vec![Some("comma".to_owned())]);
    Arc::new(Lexicon::new(words.chain([comma])).unwrap())
}

/// An empty memory.
pub(crate) fn empty(vocabulary: u32, contexts: impl Into<Contexts>) -> Memory {
    let (settings, words) = (settings(vocabulary), words(vocabulary));
    match contexts.into() {
        Contexts::Tokens => Memory::new(settings),
        Contexts::Words => Memory::with_words(settings.with_words(), Some(words)),
        Contexts::Classes => {
            let lexicon = lexicon(vocabulary);
            let settings = settings.with_words().with_lexicon(Some(&lexicon));
            let words = Arc::unwrap_or_clone(words).with_lexicon(lexicon);
            Memory::with_words(settings, Some(Arc::new(words)))
        }
    }
    .unwrap()
}

/// Documents, each once and whole.
pub(crate) fn whole(documents: &[Vec<u32>]) -> Vec<Span<'_>> {
    documents.iter().map(|document| Span::whole(document, 1)).collect()
}

/// The digest of a memory of documents.
pub(crate) fn digest_of(
    vocabulary: u32,
    contexts: impl Into<Contexts>,
    documents: &[Vec<u32>],
) -> Digest {
    let mut memory = empty(vocabulary, contexts);
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
