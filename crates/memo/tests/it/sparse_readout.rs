//! The read-out: proper distributions that agree with exact counting, recall, and generation that does what it was asked.

use crate::sparse_common::{empty, memory_of, on_threads, settings, text, whole};
use crate::sparse_oracle::Oracle;
use memo::random::{Purpose, Stream};
use memo::readout::{
    BACKOFF, Backoff, Constants, Generator, Sampling, Scratch, best_all, map_distributions, score,
};
use memo::sparse::{Context, Memory, Settings, Span};
use memo::words::Words;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

fn dense(memory: &Memory, context: &[u32], scratch: &mut Scratch) -> Vec<f64> {
    BACKOFF.distribution(memory, context, scratch).unwrap().dense().unwrap()
}

fn bits(p: &[f64]) -> Vec<u64> {
    p.iter().map(|p| p.to_bits()).collect()
}

/// Positive, summing to 1, and the same whichever way it is asked; whatever the context, the same for any number of threads.
#[test]
fn distributions_are_proper() {
    let (tokens, vocabulary) = (8_000, 1_500);
    let text = text(tokens, vocabulary, 1);
    let unseen = self::text(200, vocabulary, 2);
    let end = vocabulary - 1;
    let strange = [5, end, 9, 9, 9];
    let contexts =
        [&[][..], &text[..1], &text[..3], &text[..4000], &unseen, &strange, &[end], &[3; 50]];
    for with_words in [false, true] {
        let mut memory = empty(vocabulary, with_words);
        let nothing = memory.clone();
        memory.memorize(&text).unwrap();
        // More was forgotten than memorized: nothing good can come of it, but no nonsense either.
        let mut owing = memory.clone();
        owing.write(&[Span::whole(&text[..4_500], -2)]).unwrap();
        let mut scratch = Scratch::default();
        for memory in [&memory, &nothing, &owing] {
            for context in contexts {
                let distribution = BACKOFF.distribution(memory, context, &mut scratch).unwrap();
                let p = distribution.dense().unwrap();
                assert_eq!(p.len(), vocabulary as usize);
                assert!(p.iter().all(|&p| p > 0.0 && p <= 1.0));
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}", p.iter().sum::<f64>());
                for (token, p) in (0..).zip(&p) {
                    assert_eq!(distribution.probability(token).unwrap().to_bits(), p.to_bits());
                }
                let mut order: Vec<usize> = (0..p.len()).collect();
                order.sort_by(|&a, &b| p[b].total_cmp(&p[a]).then(a.cmp(&b)));
                let top: Vec<(u32, f64)> = order.iter().map(|&t| (t as u32, p[t])).collect();
                assert_eq!(distribution.top(usize::MAX).unwrap(), top);
                assert_eq!(distribution.top(7).unwrap(), top[..7]);
                assert_eq!(distribution.best().unwrap(), top[0].0);
                assert_eq!(BACKOFF.best(memory, context, &mut scratch).unwrap(), top[0].0);
            }
        }
        let score = || score(&memory, &BACKOFF, &text[..500]).unwrap();
        let scores = [1, 3].map(|threads| on_threads(threads, score));
        assert_eq!(scores[0], scores[1]);
        // A batch says what single queries say.
        for p in [0, 1, 33, 499] {
            let distribution = BACKOFF.distribution(&memory, &text[..p], &mut scratch).unwrap();
            let probability = distribution.probability(text[p]).unwrap();
            assert_eq!(scores[0][p], libm::log(probability));
        }
    }
}

/// Reading along a text keeps what it knows of the last tokens. An answer must not depend on that, nor on how much of the text
/// before the window was given: a request would be answered differently the second time.
#[test]
fn a_scratch_remembers_nothing_that_can_be_seen() {
    let vocabulary = 400;
    let long = text(6_000, vocabulary, 1);
    let mut mixed = [&long[900..1_100], &text(150, vocabulary, 2), &long[40..200]].concat();
    mixed.insert(170, vocabulary - 1);
    for with_words in [false, true] {
        let mut memory = empty(vocabulary, with_words);
        memory.memorize(&long).unwrap();
        let other = memory_of(&mixed[..100], vocabulary);
        let window = BACKOFF.window(&memory);
        let (mut along, mut jumping) = (Scratch::default(), Scratch::default());
        let best = best_all(&memory, &BACKOFF, &mixed[..170]).unwrap();
        for p in 0..=mixed.len() {
            let context = &mixed[..p];
            let expected = bits(&dense(&memory, context, &mut Scratch::default()));
            let windowed = &context[p.saturating_sub(window)..];
            assert_eq!(bits(&dense(&memory, context, &mut along)), expected, "{p}: one by one");
            assert_eq!(bits(&dense(&memory, windowed, &mut jumping)), expected, "{p}: windowed");
            assert_eq!(bits(&dense(&memory, windowed, &mut along)), expected, "{p}: again");
            if p <= 170 {
                assert_eq!(best[p], BACKOFF.best(&memory, context, &mut along).unwrap());
            }
            // Another memory, another place, and back.
            if p % 7 == 0 {
                dense(&other, context, &mut jumping);
                dense(&memory, &mixed[..p / 2], &mut jumping);
            }
        }
        // A memory that has changed is another.
        let context = &long[..80];
        dense(&memory, context, &mut along);
        let before = memory.clone();
        memory.forget(&long).unwrap();
        memory.memorize(&mixed[..150]).unwrap();
        let changed = dense(&memory, context, &mut Scratch::default());
        assert_eq!(dense(&memory, context, &mut along), changed);
        let unchanged = dense(&before, context, &mut Scratch::default());
        assert_eq!(dense(&before, context, &mut along), unchanged);
        assert_ne!(changed, unchanged);
    }
}

fn oracle_of(settings: &Settings, spans: &[Span<'_>]) -> Oracle {
    let mut oracle = Oracle::new(settings);
    spans.iter().for_each(|span| oracle.write(span));
    oracle
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The full scan over the vocabulary is the reference: whatever was written, the engine says what counting every block
    /// and working out every probability says.
    #[test]
    fn reading_agrees_with_counting(
        documents in prop::collection::vec(prop::collection::vec(0u32..11, 0..90), 1..5),
        part in (0usize..5, 0usize..90, 1usize..20, 2i32..9),
        contexts in prop::collection::vec((0usize..5, 0usize..90, prop::collection::vec(0u32..12, 0..4)), 12),
        lens in prop::sample::select(vec![Settings::TOKENS.to_vec(), vec![1, 2], vec![1, 2, 3, 7], vec![1, 2, 5, 6, 20]]),
    ) {
        let settings = Settings { tokens: lens, ..settings(12) };
        let mut spans = whole(&documents);
        let document = &documents[part.0 % documents.len()];
        let start = part.1.min(document.len());
        let positions = start..(start + part.2).min(document.len() + 1);
        spans.push(Span::part(document, positions, part.3));
        spans.push(Span::whole(&documents[0], -1));
        let mut memory = Memory::new(settings.clone()).unwrap();
        memory.write(&spans).unwrap();
        let oracle = oracle_of(&settings, &spans);
        let mut scratch = Scratch::default();
        for (document, at, rest) in contexts {
            let document = &documents[document % documents.len()];
            let context = [&document[..at.min(document.len())], &rest].concat();
            let expected = oracle.distribution(&Constants::DEFAULT, &context);
            let found = dense(&memory, &context, &mut scratch);
            for (token, (found, expected)) in found.iter().zip(&expected).enumerate() {
                prop_assert!((found / expected - 1.0).abs() < 1e-9, "{token} after {context:?}: {found} {expected}");
            }
            let levels = oracle.levels(&context);
            let skipped = (Context::Skip, oracle.skipped(&context));
            let mut levels = levels.iter().chain([&skipped]).filter(|(_, counts)| !counts.is_empty());
            for evidence in memory.evidence(&context).unwrap() {
                let (slot, counts) = levels.next().unwrap();
                prop_assert!(evidence.from_start || evidence.context == *slot);
                let found: HashMap<u32, i64> = evidence.successors.iter().map(|s| (s.token, s.count)).collect();
                prop_assert_eq!(&found, counts);
                prop_assert_eq!(evidence.total, counts.values().sum::<i64>());
            }
            prop_assert!(levels.next().is_none(), "a context was missed");
        }
    }
}

/// On a longer text, with the vocabulary of a small tokenizer, and constants that are not the default.
#[test]
fn a_long_text_is_read_as_it_was_counted() {
    let vocabulary = 700;
    let long = text(5_000, vocabulary, 3);
    let new = text(300, vocabulary, 4);
    let memory = memory_of(&long, vocabulary);
    let oracle = oracle_of(&settings(vocabulary), &[Span::whole(&long, 1)]);
    let others = Constants {
        quote: 1.5,
        window: 5,
        slip: 0.2,
        gain: [1.0, 3.0],
        skip: 0.4,
        ..Constants::DEFAULT
    };
    for constants in [Constants::DEFAULT, others] {
        let readout = Backoff { constants, ..Backoff::default() };
        let compare = |context: &[u32]| {
            let mut scratch = Scratch::default();
            let found = readout.distribution(&memory, context, &mut scratch).unwrap();
            let expected = oracle.distribution(&constants, context);
            for (found, expected) in found.dense().unwrap().iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
            }
        };
        for p in (0..long.len()).step_by(499) {
            compare(&long[p.saturating_sub(100)..p]);
        }
        (0..new.len()).step_by(37).for_each(|p| compare(&new[..p]));
    }
}

/// After a last token that is new, what stood two places after the token before it is expected; nobody who reads a memory of an earlier
/// version, which keeps no such context, sees a difference.
#[test]
fn the_token_before_the_last_one_foretells() {
    let text: Vec<u32> = (0..40).flat_map(|i| [7, 10 + i, 8, 60 + i]).collect();
    let probability = |skip: bool| {
        let mut memory = Memory::new(Settings { skip, ..settings(120) }).unwrap();
        memory.memorize(&text).unwrap();
        let evidence = memory.evidence(&[7, 110]).unwrap();
        assert_eq!(evidence.len(), usize::from(skip));
        let p = dense(&memory, &[7, 110], &mut Scratch::default());
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        memory.forget(&text).unwrap();
        assert_eq!(memory.cells(), 0);
        p[8]
    };
    let (with, without) = (probability(true), probability(false));
    assert!(with > without + 0.1, "{with} {without}");
}

/// Where every token is a word, contexts of words are contexts of tokens.
#[test]
fn contexts_of_words_are_counted_as_those_of_tokens() {
    let vocabulary = 300;
    let pieces = Words::new((0..vocabulary).map(|token| format!(" w{token}")));
    let settings = Settings { words: vec![2, 4], ..settings(vocabulary) };
    let mut memory = Memory::with_words(settings.clone(), Some(Arc::new(pieces))).unwrap();
    let long = text(4_000, vocabulary, 5);
    memory.memorize(&long).unwrap();
    for p in (100..long.len()).step_by(13) {
        let evidence = memory.evidence(&long[p - 90..p]).unwrap();
        let of = |context| evidence.iter().find(|evidence| evidence.context == context).unwrap();
        for len in [2, 4] {
            let (words, tokens) = (of(Context::Words(len)), of(Context::Tokens(len)));
            assert_eq!((words.total, &words.successors), (tokens.total, &tokens.successors));
        }
    }
}

/// A text that is quoted in other letters and on other lines has none of its tokens; its words are found again.
#[test]
fn careless_quotes_are_found_by_their_words() {
    let half = 200;
    // Each word twice: as it is memorized, and in capitals on a line of its own.
    let piece = |token: u32| {
        if token < half { format!(" word{token}") } else { format!("\nWORD{}", token - half) }
    };
    let vocabulary = 2 * half + 1;
    let pieces = Arc::new(Words::new((0..vocabulary).map(piece)));
    let settings = settings(vocabulary).with_words();
    let mut memory = Memory::with_words(settings, Some(pieces)).unwrap();
    let mut draws = Stream::new(9, Purpose::Sampling, 0).draws();
    let long = draws.tokens(3_000, half as usize);
    memory.memorize(&long).unwrap();
    let mut scratch = Scratch::default();
    let places: Vec<usize> = (50..2_900).step_by(57).collect();
    let right = places.iter().filter(|&&p| {
        let careless: Vec<u32> = long[p - 8..p].iter().map(|token| token + half).collect();
        BACKOFF.best(&memory, &careless, &mut scratch).unwrap() == long[p]
    });
    let share = right.count() as f64 / places.len() as f64;
    assert!(share > 0.95, "{share}");
}

/// A memorized text comes back whole from eight tokens, and mostly from a prompt of which one of the last eight is wrong: unless
/// it is one of the last two.
#[test]
fn memorized_text_is_recalled() {
    let (tokens, vocabulary) = (30_000, 6_000);
    let text = text(tokens, vocabulary, 3);
    let memory = memory_of(&text, vocabulary);
    let positions: Vec<usize> = (64..tokens).step_by(17).collect();
    let mut draws = Stream::new(1, Purpose::Sampling, 3).draws();
    let mut scratch = Scratch::default();
    let mut share = |tokens: usize, damage: bool| {
        let right = positions.iter().filter(|&&p| {
            let mut prompt = text[p - tokens..p].to_vec();
            if damage {
                let at = tokens - 1 - draws.below(8) as usize;
                prompt[at] = draws.below(u64::from(vocabulary) - 1) as u32;
            }
            BACKOFF.best(&memory, &prompt, &mut scratch).unwrap() == text[p]
        });
        right.count() as f64 / positions.len() as f64
    };
    assert_eq!(share(64, false), 1.0);
    let eight = share(8, false);
    assert!(eight > 0.995, "recall from eight tokens {eight}");
    let damaged = share(64, true);
    assert!(damaged > 0.7, "recall from a damaged prompt {damaged}");
}

/// Text it has not seen is better predicted from what it has than from word frequencies alone.
#[test]
fn unseen_text_is_predicted_better_than_by_frequency() {
    let vocabulary = 300;
    // Text in which the next word depends on the one before.
    let chain = |tokens, seed| -> Vec<u32> {
        let mut last = 0;
        let step = |&t: &u32| {
            last = (last * 7 + t) % (vocabulary - 1);
            last
        };
        text(tokens, 40, seed).iter().map(step).collect()
    };
    let (seen, unseen) = (chain(40_000, 4), chain(2_000, 5));
    let memory = memory_of(&seen, vocabulary);
    let scores = score(&memory, &BACKOFF, &unseen).unwrap();
    let whole: i64 = memory.unigrams().iter().sum();
    let frequency = |t: u32| ((memory.unigrams()[t as usize] as f64 + 0.5) / whole as f64).ln();
    let mean = |sum: f64| -sum / unseen.len() as f64;
    let by_memory = mean(scores[..unseen.len()].iter().sum());
    let by_frequency = mean(unseen.iter().map(|&t| frequency(t)).sum());
    assert!(by_memory < by_frequency - 1.0, "{by_memory} nats against {by_frequency}");
}

/// Short documents are recalled whole and end where they ended; unrelated ones do not run into each other.
#[test]
fn short_documents_begin_and_end() {
    let vocabulary = 5_000;
    let long = text(6_000, vocabulary, 6);
    let documents: Vec<&[u32]> = long.chunks(20).collect();
    let mut memory = empty(vocabulary, false);
    memory.write(&documents.iter().map(|d| Span::whole(d, 1)).collect::<Vec<_>>()).unwrap();
    let whole = documents.iter().filter(|document| {
        let made: Vec<u32> = Generator::new(&memory, &BACKOFF, &document[..6], Sampling::default())
            .take(50)
            .map(Result::unwrap)
            .collect();
        made == document[6..]
    });
    let share = whole.count() as f64 / documents.len() as f64;
    assert!(share > 0.97, "{share}");
    // All predictions of one document at once, the end included.
    let best = best_all(&memory, &BACKOFF, documents[7]).unwrap();
    assert_eq!(best.len(), 21);
    assert_eq!(best[20], vocabulary - 1);
    assert_eq!(best[8..20], documents[7][8..]);
}

/// An edit writes only the target's positions, and wins after its prompt.
#[test]
fn an_edit_wins_and_can_be_taken_back() {
    let vocabulary = 3_000;
    let text = text(10_000, vocabulary, 7);
    let mut memory = memory_of(&text, vocabulary);
    let before = memory.digest().unwrap();
    let prompt = &text[4_000..4_030];
    let target = [77, 78, 79];
    let document = [prompt, &target].concat();
    let edit = |weight| Span::part(&document, 30..33, weight);
    memory.write(&[edit(8)]).unwrap();
    let made: Vec<u32> = Generator::new(&memory, &BACKOFF, prompt, Sampling::default())
        .take(3)
        .map(Result::unwrap)
        .collect();
    assert_eq!(made, target);
    memory.write(&[edit(-8)]).unwrap();
    assert_eq!(memory.digest().unwrap(), before);
}

#[test]
fn choices_are_followed() {
    let vocabulary = 500;
    let text = text(5_000, vocabulary, 8);
    let memory = memory_of(&text, vocabulary);
    let prompt = [text[10]];
    let make = |choice: Sampling| -> Vec<u32> {
        Generator::new(&memory, &BACKOFF, &prompt, choice).take(40).map(Result::unwrap).collect()
    };
    let drawn = |seed| Sampling { temperature: 1.0, seed, ..Sampling::default() };
    assert_eq!(make(drawn(1)), make(drawn(1)));
    assert_ne!(make(drawn(1)), make(drawn(2)));
    let greedy = make(Sampling::default());
    assert_eq!(make(Sampling { top_k: 1, ..drawn(3) }), greedy);
    assert_eq!(make(Sampling { top_p: 1e-9, ..drawn(3) }), greedy);
    assert_eq!(make(Sampling { temperature: 1e-3, ..drawn(3) }), greedy);
    let stop = greedy[5];
    let first = greedy.iter().position(|&t| t == stop).unwrap();
    assert_eq!(make(Sampling { stop: vec![stop], ..Sampling::default() }), greedy[..first]);

    // Weighed, the tokens are the same, and each has the probability that the distribution gives it.
    for choice in [Sampling::default(), drawn(1)] {
        let generator = Generator::new(&memory, &BACKOFF, &prompt, choice.clone());
        let weighed: Vec<(u32, f64)> = generator.weighed().take(40).map(Result::unwrap).collect();
        let tokens: Vec<u32> = weighed.iter().map(|(token, _)| *token).collect();
        assert_eq!(tokens, make(choice));
        let mut context = prompt.to_vec();
        for (token, p) in weighed {
            let distribution = BACKOFF.distribution(&memory, &context, &mut Scratch::default());
            assert_eq!(distribution.unwrap().probability(token).unwrap(), p);
            context.push(token);
        }
    }

    // Draws follow the distribution: the frequency of the likeliest token is its probability.
    let distribution = BACKOFF.distribution(&memory, &prompt, &mut Scratch::default()).unwrap();
    let (token, p) = distribution.top(1).unwrap()[0];
    let draws = 2_000;
    let hits = (0..draws).filter(|&seed| {
        Generator::new(&memory, &BACKOFF, &prompt, drawn(seed)).next() == Some(Ok(token))
    });
    let share = hits.count() as f64 / draws as f64;
    assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / draws as f64).sqrt(), "{share} against {p}");
}

/// Positions that a text does not have, and tokens that the vocabulary does not have, are refused where they would be read.
#[test]
fn what_cannot_be_read_is_refused() {
    let memory = memory_of(&text(500, 100, 9), 100);
    let mut scratch = Scratch::default();
    assert!(BACKOFF.distribution(&memory, &[1, 100], &mut scratch).is_err());
    assert!(score(&memory, &BACKOFF, &[1, 100]).is_err());
    assert!(map_distributions(&memory, &BACKOFF, &[1, 2], 1..5, |_, _| Ok(())).is_err());
}

/// Whoever mixes a memory with a neural model weighs it by this: it must not depend on what was asked before.
#[test]
fn confidence_depends_on_the_context_alone() {
    let vocabulary = 400;
    let known = text(2_000, vocabulary, 5);
    let memory = memory_of(&known, vocabulary);
    let mixed: Vec<u32> = [&known[500..560], &text(40, vocabulary, 6), &known[..70]].concat();
    let window = BACKOFF.window(&memory);
    let mut grown = Scratch::default();
    for p in 0..=mixed.len() {
        let context = &mixed[p.saturating_sub(window)..p];
        assert_eq!(grown.precedes(&memory, &BACKOFF, context), p > 0, "{p}");
        let (one, p_one) = BACKOFF.confident(&memory, context, &mut grown).unwrap();
        let (other, p_other) =
            BACKOFF.confident(&memory, context, &mut Scratch::default()).unwrap();
        assert_eq!(one, other, "{p}");
        assert_eq!(bits(&p_one.dense().unwrap()), bits(&p_other.dense().unwrap()));
        let evidence = memory.evidence(context).unwrap();
        if one.matched > 1 {
            assert!(evidence.iter().any(|slot| slot.total == one.times), "{p}: {one:?}");
        }
    }
    // After seventy tokens of what it knows.
    let (sure, _) = BACKOFF.confident(&memory, &mixed, &mut Scratch::default()).unwrap();
    assert!(
        sure.matched >= 64 && sure.times == 1 && sure.kinds == 1 && sure.quote > 0.9,
        "{sure:?}"
    );
    let nothing = BACKOFF.confident(&empty(vocabulary, true), &mixed, &mut grown).unwrap().0;
    assert_eq!((nothing.matched, nothing.times, nothing.quote), (0, 0, 0.0));
    assert!(nothing.familiarity < sure.familiarity);
}

/// A draft is what the memory would say, and ends where it is not sure or the document does.
#[test]
fn a_proposal_is_what_generation_says() {
    let vocabulary = 400;
    let known = text(300, vocabulary, 5);
    let memory = memory_of(&known, vocabulary);
    let mut scratch = Scratch::default();
    let proposed = BACKOFF.propose(&memory, &known[..40], 30, 0.2, &mut scratch).unwrap();
    let said: Result<Vec<u32>, _> =
        Generator::new(&memory, &BACKOFF, &known[..40], Sampling::default()).take(30).collect();
    assert_eq!(proposed.iter().map(|each| each.0).collect::<Vec<_>>(), said.unwrap());
    assert!(proposed.iter().all(|&(_, p)| p >= 0.2));
    let rest = BACKOFF.propose(&memory, &known[..280], 100, 0.0, &mut scratch).unwrap();
    assert_eq!(rest.len(), 20);
    assert_eq!(BACKOFF.propose(&memory, &known[..40], 30, 1.1, &mut scratch).unwrap(), []);
}
