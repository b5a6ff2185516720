//! A memory with a lexicon in shards: what a reader says is what a memory says that nobody divided.

use crate::sparse_common::{Contexts, empty, lexicon, text, whole, words};
use memo::readout::{
    BACKOFF, Backoff, Generation, Generator, Sampling, best_all, map_distributions, score,
};
use memo::sparse::{Error, Leaves, Memory, Shard, ShardReader, Span};
use memo::words::Words;
use std::cell::RefCell;
use std::sync::Arc;

const VOCABULARY: u32 = 300;

/// The words of the vocabulary with its lexicon, as whoever holds a shard makes them from the lexicon's bytes.
fn words_with_lexicon() -> Arc<Words> {
    let bytes = lexicon(VOCABULARY).to_bytes();
    let lexicon = memo::lexicon::Lexicon::from_bytes(&bytes).unwrap();
    Arc::new(Arc::unwrap_or_clone(words(VOCABULARY)).with_lexicon(Arc::new(lexicon)))
}

struct Divided {
    shards: Vec<Shard>,
    reader: ShardReader,
}

impl Divided {
    fn new(memory: &Memory, count: usize) -> Self {
        let (settings, words) = (memory.settings(), words_with_lexicon());
        let shard = |i| Shard::new(settings.clone(), Some(words.clone()), i, count).unwrap();
        let reader = ShardReader::new(settings.clone(), Some(words.clone()), count).unwrap();
        Divided { shards: (0..count).map(shard).collect(), reader }
    }

    fn write(&mut self, spans: &[Span<'_>]) {
        self.shards.iter_mut().for_each(|shard| shard.write(spans).unwrap());
        let derived: Vec<_> = self.shards.iter().map(Shard::derived).collect();
        let each = self.shards.iter().zip(&derived);
        let counts: Vec<_> =
            each.map(|(shard, derived)| (shard.unigrams(), &derived[..])).collect();
        self.reader.refresh(&counts).unwrap();
    }

    /// Reads until nothing is missing, and says how many rounds that took.
    fn read<T>(&mut self, read: impl Fn(&Memory) -> Result<T, Error>) -> (T, u32) {
        for round in 1.. {
            if let Some(made) = self.reader.read(&read).unwrap() {
                return (made, round);
            }
            for (shard, request) in self.shards.iter().zip(self.reader.missing()) {
                self.reader.insert(&request, &shard.fetch(&request).unwrap()).unwrap();
            }
        }
        unreachable!()
    }
}

#[test]
fn what_shards_with_a_lexicon_hold_is_what_one_memory_would() {
    let texts: Vec<Vec<u32>> = (0..4).map(|seed| text(700, VOCABULARY, seed)).collect();
    let unseen = text(200, VOCABULARY, 9);
    let mut memory = empty(VOCABULARY, Contexts::Classes);
    assert_eq!(memory.settings().lexicon.as_ref().unwrap().classes.len(), 2);
    memory.write(&whole(&texts)).unwrap();
    let mut never = empty(VOCABULARY, Contexts::Classes);
    never.write(&whole(&texts[1..])).unwrap();
    for count in [1, 3, 40] {
        let mut divided = Divided::new(&memory, count);
        divided.write(&whole(&texts));
        // What was derived from the memory before is not what is derived from the one after.
        let first = divided.read(|memory| score(memory, &BACKOFF, &unseen)).0;
        assert_eq!(first, score(&memory, &BACKOFF, &unseen).unwrap(), "{count} shards");
        divided.write(&[Span::whole(&texts[0], -1)]);
        let leaves: Vec<Leaves> = divided.shards.iter().map(|s| s.leaves().unwrap()).collect();
        let digest = Shard::digest(memory.settings(), &leaves).unwrap();
        assert_eq!(digest, never.digest().unwrap(), "{count} shards");
        for generalize in [1.0, 0.4, 0.0] {
            let readout = Backoff { generalize, ..BACKOFF.clone() };
            for text in [&texts[0], &texts[1], &unseen] {
                let (scores, rounds) = divided.read(|memory| score(memory, &readout, text));
                assert_eq!(scores, score(&never, &readout, text).unwrap(), "{count} shards");
                assert!(rounds <= 5, "{rounds} rounds");
                // What was fetched is kept.
                let (best, rounds) = divided.read(|memory| best_all(memory, &readout, text));
                assert_eq!((best, rounds), (best_all(&never, &readout, text).unwrap(), 1));
            }
            let dense = |memory: &Memory| {
                map_distributions(memory, &readout, &unseen, 0..30, |_, seen| seen.dense())
            };
            assert_eq!(divided.read(dense).0, dense(&never).unwrap());
        }
        assert_eq!(
            divided.read(|memory| memory.general_evidence(&unseen[..20])).0,
            never.general_evidence(&unseen[..20]).unwrap()
        );
    }
}

#[test]
fn a_text_is_continued_as_by_one_memory_with_the_lexicon() {
    let texts: Vec<Vec<u32>> = (0..3).map(|seed| text(700, VOCABULARY, seed)).collect();
    let prompt = &text(30, VOCABULARY, 9);
    let mut memory = empty(VOCABULARY, Contexts::Classes);
    memory.write(&whole(&texts)).unwrap();
    let mut divided = Divided::new(&memory, 3);
    divided.write(&whole(&texts));
    let sampling = Sampling { temperature: 1.0, seed: 4, ..Sampling::default() };
    let expected: Vec<u32> = Generator::new(&memory, &BACKOFF, prompt, sampling.clone())
        .take(40)
        .map(Result::unwrap)
        .collect();
    // One generation reads on from what it read before, also if that was done with something missing.
    let generation = RefCell::new(Generation::new(prompt, sampling));
    let mut generated = Vec::new();
    for _ in 0..expected.len() {
        let (choice, _) = divided.read(|memory| generation.borrow_mut().choose(memory, &BACKOFF));
        generation.borrow_mut().accept(choice);
        generated.push(choice.token);
    }
    assert_eq!(generated, expected);
}

/// A shard that was told of another lexicon, or of none, would write other cells.
#[test]
fn a_shard_needs_the_lexicon_of_its_settings() {
    let settings = empty(VOCABULARY, Contexts::Classes).settings().clone();
    for words in [None, Some(words(VOCABULARY))] {
        assert!(Shard::new(settings.clone(), words.clone(), 0, 2).is_err());
        assert!(ShardReader::new(settings.clone(), words, 2).is_err());
    }
}
