//! Generalised contexts: a lexicon decides what counts as the same, is seen at work, and can be switched off.

use crate::sparse_common::{Contexts, empty, text};
use memo::lexicon::Lexicon;
use memo::readout::{BACKOFF, Backoff, Scratch};
use memo::sparse::{GeneralEvidence, Memory, Settings, Symbol};
use memo::words::Words;
use std::sync::Arc;

const OFF: fn() -> Backoff = || Backoff { generalize: 0.0, ..Backoff::default() };

/// A vocabulary of the words of sentences, and a memory of these with a lexicon.
struct Small {
    words: Vec<&'static str>,
    memory: Memory,
    lexicon: Arc<Lexicon>,
}

impl Small {
    fn new(sentences: &[&'static str], unseen: &[&'static str], classes: &[(&str, &str)]) -> Self {
        let all = sentences.iter().flat_map(|sentence| sentence.split(' '));
        let mut words: Vec<&str> = all.chain(unseen.iter().copied()).collect();
        words.sort_unstable();
        words.dedup();
        let entries = classes.iter().map(|&(word, class)| (word.into(), vec![Some(class.into())]));
        let lexicon = Arc::new(Lexicon::new(entries).unwrap());
        let pieces = words.iter().map(|word| format!(" {word}")).chain([String::new()]);
        let vocabulary = Words::new(pieces).with_lexicon(Arc::clone(&lexicon));
        let end = words.len() as u32;
        let settings = Settings::new(end + 1, end, 1).unwrap().with_words();
        let settings = settings.with_lexicon(Some(&lexicon));
        let memory = Memory::with_words(settings, Some(Arc::new(vocabulary))).unwrap();
        let mut small = Small { words, memory, lexicon };
        for sentence in sentences {
            let tokens = small.tokens(sentence);
            small.memory.memorize(&tokens).unwrap();
        }
        small
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        text.split(' ').map(|word| self.words.binary_search(&word).unwrap() as u32).collect()
    }

    fn probability(&self, readout: &Backoff, context: &str, word: &str) -> f64 {
        let context = self.tokens(context);
        let mut scratch = Scratch::default();
        let distribution = readout.distribution(&self.memory, &context, &mut scratch).unwrap();
        distribution.probability(self.tokens(word)[0]).unwrap()
    }

    fn best(&self, readout: &Backoff, context: &str) -> &'static str {
        let context = self.tokens(context);
        let best = readout.best(&self.memory, &context, &mut Scratch::default()).unwrap();
        self.words[best as usize]
    }
}

const CARS: &[(&str, &str)] = &[("Volvo", "car"), ("Fiat", "car"), ("Saab", "car")];

/// The issue's own example: both are cars, and somebody said so.
#[test]
fn what_was_said_of_one_is_expected_of_its_like() {
    let sentences = [
        "Anna drives a Volvo to Rome",
        "Karl sails a ship to Oslo",
        "Karl sails a boat to Oslo",
        "the way to Oslo",
    ];
    let small = Small::new(&sentences, &["Fiat", "Saab"], CARS);
    assert_eq!(small.best(&BACKOFF, "Anna drives a Fiat to"), "Rome");
    assert_eq!(small.best(&OFF(), "Anna drives a Fiat to"), "Oslo");
    // What is memorized as it is stays what it was.
    assert_eq!(small.best(&BACKOFF, "Karl sails a boat to"), "Oslo");
    assert_eq!(small.best(&BACKOFF, "Anna drives a Volvo to"), "Rome");
}

/// Where a class is expected, its members are, as often as they were seen; what was never seen has no share of it.
#[test]
fn members_share_what_their_class_gets() {
    let sentences = [
        "he then bought a Volvo",
        "she then bought a Fiat",
        "they then bought a Fiat",
        "a house",
        "a garden",
    ];
    let people = [("he", "person"), ("she", "person"), ("they", "person"), ("we", "person")];
    let small = Small::new(&sentences, &["Saab", "we"], &[CARS, &people].concat());
    let p = |readout: &Backoff, word: &str| small.probability(readout, "we then bought a", word);
    assert!(p(&BACKOFF, "Fiat") > p(&BACKOFF, "Volvo"));
    assert!(p(&BACKOFF, "Volvo") > 10.0 * p(&BACKOFF, "Saab"));
}

#[test]
fn evidence_names_the_context_and_what_followed() {
    let small = Small::new(&["Anna drives a Volvo to Rome"], &["Fiat", "Saab"], CARS);
    let context = small.tokens("Anna drives a Fiat to");
    let evidence = small.memory.general_evidence(&context).unwrap();
    let rome = small.tokens("Rome")[0];
    let units: Vec<(usize, usize, i64)> =
        evidence.iter().map(|found| (found.units, found.literal, found.total)).collect();
    assert_eq!(units, [(2, 1, 1), (4, 3, 1)]);
    let longest: &GeneralEvidence = evidence.last().unwrap();
    assert_eq!(longest.successors, [(Symbol::Token(rome), 1)]);
    let document = small.tokens("Anna drives a Volvo to Rome");
    let places =
        small.memory.general_places(&context, longest, Symbol::Token(rome), &document).unwrap();
    assert_eq!(places, [5]);
    let car = small.lexicon.find(0, "car").unwrap();
    assert_eq!(small.memory.classes_begun(0, small.tokens("Volvo")[0]).unwrap(), [car]);
}

/// All ways to ask agree to the last bit, and all probabilities are one.
#[test]
fn distributions_with_classes_agree_with_themselves() {
    let text = text(4_000, 300, 5);
    let mut memory = empty(300, Contexts::Classes);
    memory.memorize(&text).unwrap();
    let mut scratch = Scratch::default();
    let mut generalized = 0;
    for (p, generalize) in (1..400).zip([1.0, 0.5, 0.0, 3.0].into_iter().cycle()) {
        let context: Vec<u32> =
            text[p * 7..p * 7 + 3].iter().map(|t| (t + p as u32) % 299).collect();
        let readout = Backoff { generalize, ..Backoff::default() };
        let distribution = readout.distribution(&memory, &context, &mut scratch).unwrap();
        let dense = distribution.dense().unwrap();
        assert!((dense.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}", dense.iter().sum::<f64>());
        for token in 0..300 {
            assert_eq!(distribution.probability(token).unwrap(), dense[token as usize]);
        }
        let mut order: Vec<u32> = (0..300).collect();
        order.sort_by(|&a, &b| dense[b as usize].total_cmp(&dense[a as usize]).then(a.cmp(&b)));
        assert_eq!(distribution.best().unwrap(), order[0]);
        let top: Vec<u32> = distribution.top(9).unwrap().iter().map(|&(token, _)| token).collect();
        assert_eq!(top, order[..9]);
        generalized += usize::from(!memory.general_evidence(&context).unwrap().is_empty());
    }
    assert!(generalized > 200, "{generalized}");
}

/// The best token, which is found without computing all of them, is the most probable of all, and the first of equals: where a
/// quote goes on, in new text, after tokens that were never seen, and beside what the text itself says.
#[test]
fn the_best_token_with_classes_is_the_most_probable_of_all() {
    let vocabulary = 3_000;
    let text = text(20_000, vocabulary - 500, 8);
    let mut memory = empty(vocabulary, Contexts::Classes);
    memory.memorize(&text).unwrap();
    let mut scratch = Scratch::default();
    for p in 0..600usize {
        let len = p % 7;
        let place = p * 31;
        let mut context = text[place..place + len].to_vec();
        match p % 4 {
            1 => context.iter_mut().for_each(|token| *token = (*token + p as u32) % 2_999),
            2 => context.extend(text[p..p + 2].iter().map(|token| token / 2)),
            3 => context.push(2_600 + p as u32 % 300),
            _ => {}
        }
        let recent = if p % 5 == 0 { 1.0 } else { 0.0 };
        let readout = Backoff { recent, ..Backoff::default() };
        let distribution = readout.distribution(&memory, &context, &mut scratch).unwrap();
        let dense = distribution.dense().unwrap();
        let best =
            (0..dense.len()).fold(0, |best, t| if dense[t] > dense[best] { t } else { best });
        assert_eq!(distribution.best().unwrap() as usize, best, "{p}: after {context:?}");
    }
}

/// Switched off, a lexicon changes no bit of what is said.
#[test]
fn switched_off_it_says_nothing() {
    let text = text(3_000, 300, 6);
    let (mut with, mut without) = (empty(300, Contexts::Classes), empty(300, Contexts::Words));
    with.memorize(&text).unwrap();
    without.memorize(&text).unwrap();
    let (mut a, mut b) = (Scratch::default(), Scratch::default());
    for p in (5..2_000).step_by(13) {
        let left = OFF().distribution(&with, &text[p - 5..p], &mut a).unwrap().dense().unwrap();
        let right = BACKOFF.distribution(&without, &text[p - 5..p], &mut b).unwrap();
        assert_eq!(left, right.dense().unwrap());
    }
}

/// A memory of a lexicon is neither opened nor merged with another, or with none.
#[test]
fn memories_of_different_lexicons_do_not_mix() {
    let other = Arc::new(Lexicon::new([("W2".into(), vec![Some("x".into())])]).unwrap());
    let with = empty(50, Contexts::Classes);
    let settings = with.settings().clone();
    let words = |lexicon| Words::new(["a"; 50]).with_lexicon(lexicon);
    assert!(Memory::with_words(settings.clone(), Some(Arc::new(words(other)))).is_err());
    assert!(Memory::with_words(settings, None).is_err());
    let message = empty(50, Contexts::Words).merge(&with).unwrap_err().to_string();
    assert!(message.contains("lexicon"), "{message}");
}
