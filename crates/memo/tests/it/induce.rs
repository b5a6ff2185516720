//! Induced lexicons: a function of the texts, whatever their order and the number of threads.

use memo::lexicon::{
    InduceError, InduceOptions, Induced, Lexicon, MAX_INDUCED, RARE, UnitCounts, source_digest,
};
use memo::words::unit_hash;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::ops::ControlFlow;

fn counts<'t>(texts: impl IntoIterator<Item = &'t String>) -> UnitCounts {
    let mut counts = UnitCounts::default();
    texts.into_iter().for_each(|text| counts.add(text));
    counts
}

fn induce(counts: &UnitCounts, options: InduceOptions) -> Result<Induced, InduceError> {
    counts.induce(&options, &mut |_| ControlFlow::Continue(()))
}

/// Sentences of people, verbs, vehicles and cities, as many as asked for.
fn sentences(count: usize) -> Vec<String> {
    let people = ["Anna", "Paul", "Ines", "Omar"];
    let verbs = ["drives", "parks", "washes"];
    let vehicles = ["Volvo", "Fiat", "lorry", "bus"];
    let cities = ["Rome", "Bonn", "Oslo", "Graz"];
    let sentence = |at: usize| {
        let part = |words: &[&'static str], by: usize| words[at / by % words.len()];
        let (person, verb) = (part(&people, 1), part(&verbs, 4));
        let (vehicle, city) = (part(&vehicles, 12), part(&cities, 48));
        format!("{person} {verb} the {vehicle} in {city}.")
    };
    (0..count).map(sentence).collect()
}

#[test]
fn words_of_one_kind_share_a_class() {
    let texts = sentences(192);
    let options = InduceOptions { classes: 7, ..InduceOptions::default() };
    let induced = induce(&counts(&texts), options).unwrap();
    let lexicon = &induced.lexicon;
    let class = |word: &str| lexicon.class(0, unit_hash(word).unwrap()).unwrap();
    for kind in
        [&["anna", "omar", "paul"][..], &["drives", "parks"], &["fiat", "bus"], &["rome", "graz"]]
    {
        assert!(kind.iter().all(|word| class(word) == class(kind[0])), "{kind:?}");
    }
    let mut kinds = ["anna", "drives", "the", "bus", "in", "rome", "."].map(class);
    kinds.sort_unstable();
    assert_eq!(kinds, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(lexicon.name(0, class("Omar")), "anna ines omar");
    // The grammar's own perplexity: of 7 units and an end, four are drawn from 4, 3, 4 and 4.
    let grammar = 192_f64.powf(1.0 / 8.0);
    let found = *induced.perplexities.last().unwrap();
    assert!((found - grammar).abs() < 1e-5, "{found} and {grammar}");
}

#[test]
fn rare_units_share_a_class_and_count_as_neighbours() {
    let mut texts = sentences(40);
    texts.push("Anna drives the zeppelin in Rome.".to_owned());
    let options = InduceOptions { classes: 4, ..InduceOptions::default() };
    let lexicon = induce(&counts(&texts), options).unwrap().lexicon;
    let rare = |lexicon: &Lexicon| lexicon.find(0, RARE);
    assert!(rare(&lexicon).is_some());
    assert_eq!(lexicon.class(0, unit_hash("zeppelin").unwrap()), rare(&lexicon));
    let all = InduceOptions { min_count: 1, ..options };
    let lexicon = induce(&counts(&texts), all).unwrap().lexicon;
    assert!(lexicon.has(unit_hash("zeppelin").unwrap()) && rare(&lexicon).is_none());
}

#[test]
fn it_names_the_texts_it_was_made_from() {
    let mut texts = sentences(6);
    texts.extend([String::new(), " \n".to_owned(), texts[0].clone()]);
    let lexicon = induce(&counts(&texts), InduceOptions::default()).unwrap().lexicon;
    // Texts without a unit leave no trace; one that is there twice is one.
    assert_eq!(lexicon.sources().len(), 6);
    assert!(lexicon.is_from(texts[5].as_bytes()) && !lexicon.is_from(b"Anna"));
    assert!(lexicon.sources().contains(&source_digest(texts[0].as_bytes())));
    assert_eq!(Lexicon::from_bytes(&lexicon.to_bytes()).unwrap(), lexicon);
}

#[test]
fn what_cannot_be_induced_is_refused() {
    let some = counts(&sentences(3));
    for classes in [0, MAX_INDUCED + 1] {
        let options = InduceOptions { classes, ..InduceOptions::default() };
        assert_eq!(induce(&some, options).unwrap_err(), InduceError::Classes(classes));
    }
    let options = InduceOptions { min_count: 1_000, ..InduceOptions::default() };
    assert_eq!(induce(&some, options).unwrap_err(), InduceError::TooLittle { min_count: 1_000 });
    let empty = UnitCounts::default();
    let too_little = InduceError::TooLittle { min_count: 2 };
    assert_eq!(induce(&empty, InduceOptions::default()).unwrap_err(), too_little);
    let stopped = some.induce(&InduceOptions::default(), &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err(), InduceError::Stopped);
}

#[test]
fn more_classes_than_words_are_a_class_a_word() {
    let options = InduceOptions { classes: MAX_INDUCED, min_count: 1, rounds: 3 };
    let lexicon = induce(&counts(&sentences(2)), options).unwrap().lexicon;
    assert!(lexicon.classes(0) <= lexicon.len());
}

/// Text of a few words, with chains between them, so that there is something to find.
fn text() -> impl Strategy<Value = String> {
    let word = (0_usize..60).prop_map(|at| format!("w{}", at * at % 37));
    prop::collection::vec(word, 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn order_and_threads_do_not_matter(mut texts in prop::collection::vec(text(), 1..12), classes in 1_usize..9, turn in any::<usize>()) {
        let options = InduceOptions { classes, min_count: 1, rounds: 4 };
        let Ok(one) = induce(&counts(&texts), options) else {
            return Ok(());
        };
        prop_assert!(one.perplexities.windows(2).all(|pair| pair[1] <= pair[0]));
        prop_assert!(one.lexicon.classes(0) <= classes);
        let turn = turn % texts.len();
        texts.rotate_left(turn);
        texts.reverse();
        let other = induce(&counts(&texts), options).unwrap();
        prop_assert_eq!(one.lexicon.to_bytes(), other.lexicon.to_bytes());
        prop_assert_eq!(one.perplexities, other.perplexities);
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    // Many classes and many different neighbours, so that candidates are shared out.
    let mut state = 1_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let x = (state >> 33) % 1_000;
        format!("w{}", x * x / 1_000)
    };
    let texts: Vec<String> = (0..4).map(|_| (0..5_000).map(|_| word() + " ").collect()).collect();
    let counts = counts(&texts);
    let options = InduceOptions { classes: 150, min_count: 1, rounds: 3 };
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| induce(&counts, options)).unwrap()
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        let other = on(threads);
        assert_eq!(one.lexicon.to_bytes(), other.lexicon.to_bytes(), "{threads} threads");
        assert_eq!(one.perplexities, other.perplexities);
    }
}
