//! Closest passages: someone who does not quote is shown where to look.

use crate::common::small;
use memo_store::{
    ClosestPassages, CompletionOptions, Error, FinishReason, MatchKind, NewDocument, Passage,
    Snapshot, Store,
};

const OWL: &str = "Chapter one.\n\nThe owl reads at night, — « naïve » and alone.\nIn the morning the owl sleeps.\n";
const CAT: &str = "The cat sleeps all day on the warm roof.\nThe cat doesn’t read.";

fn store(home: &tempfile::TempDir) -> Store {
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let documents = [("owl", OWL), ("cat", CAT)];
    store.memorize(documents.map(|(id, text)| NewDocument::text(text).with_id(id)), None).unwrap();
    store
}

fn documents(closest: &ClosestPassages) -> Vec<&str> {
    closest.passages.iter().map(|passage| passage.document.as_str()).collect()
}

#[test]
fn rare_words_count_more_than_frequent_ones() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let closest = store.closest("the ROOF, the house, the owner", 5).unwrap();
    assert_eq!(documents(&closest), ["cat", "owl"]);
    let [cat, owl] = &closest.passages[..] else { panic!("{closest:?}") };
    assert_eq!(
        (&cat.words[..], &owl.words[..]),
        (&["ROOF".into(), "the".into()][..], &["the".into()][..])
    );
    assert!(0.0 < owl.score && owl.score < cat.score && cat.score < 1.0, "{closest:?}");
    assert_eq!(documents(&store.closest("the roof", 1).unwrap()), ["cat"]);
    assert_eq!(store.closest("zyx", 5).unwrap().passages, []);
}

#[test]
fn case_layout_and_apostrophes_make_no_difference() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let closest = store.closest("NAÏVE\tand\nALONE", 1).unwrap();
    assert_eq!(closest.passages[0].document, "owl");
    assert!((closest.passages[0].score - 1.0).abs() < 1e-9, "{closest:?}");
    let closest = store.closest("the cat doesnt read", 1).unwrap();
    assert_eq!(
        (closest.passages[0].document.as_str(), closest.passages[0].words.len()),
        ("cat", 4)
    );
}

/// A question has other forms of the words than the text, and slips of the fingers.
#[test]
fn forms_of_a_word_and_typos_are_alike_but_count_for_less() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    for question in ["Who was reading at nights?", "where do cats sleep", "the wram rooff"] {
        let closest = store.closest(question, 1).unwrap();
        let document = if question.starts_with("Who") { "owl" } else { "cat" };
        assert_eq!(closest.passages[0].document, document, "{closest:?}");
    }
    let score = |text: &str| store.closest(text, 1).unwrap().passages[0].score;
    assert!(score("roofs") < score("roof"));
    assert!(score("roof") > 0.99 && score("roofs") > 0.5);
}

#[test]
fn a_passage_says_where_it_stands() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let closest = store.closest("naïve alone", 1).unwrap();
    let passage = &closest.passages[0];
    let start = OWL.find("The owl reads").unwrap();
    assert_eq!(passage.excerpt, "The owl reads at night, — « naïve » and alone.");
    assert_eq!((passage.offset, passage.line, passage.version), (start as u64, 3, 1));
    let morning = store.closest("morning", 1).unwrap();
    let passage = &morning.passages[0];
    let start = OWL.find("In the morning").unwrap();
    let characters = OWL[..start].chars().count();
    assert_eq!(
        (passage.offset, passage.character, passage.line),
        (start as u64, characters as u64, 4)
    );
}

/// A long document has many passages, wherever threads cut it.
#[test]
fn passages_of_a_long_document_do_not_overlap() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let filler = "all work and no play makes a dull day ".repeat(30_000);
    let half = filler.len() / 2;
    let text = format!(
        "{}the zebra xylophone {}a zebra alone{}",
        &filler[..half],
        &filler[half..],
        &filler[..400]
    );
    store.memorize([NewDocument::text(text.as_str()).with_id("long")], None).unwrap();
    let closest = store.closest("zebra xylophone", 10).unwrap();
    let words: Vec<usize> = closest.passages.iter().map(|passage| passage.words.len()).collect();
    assert_eq!(words, [2, 1]);
    for passage in &closest.passages {
        let at = passage.offset as usize;
        assert_eq!(text[at..at + passage.excerpt.len()], passage.excerpt);
        assert!(passage.excerpt.contains("zebra"));
    }
}

#[test]
fn only_what_is_live_is_found() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(&home);
    store.forget(&["cat"], None).unwrap();
    assert_eq!(store.closest("roof", 5).unwrap().passages, []);
    assert_eq!(documents(&store.closest("sleeps", 5).unwrap()), ["owl"]);
    assert!(matches!(store.closest(" … ", 5), Err(Error::Invalid(_))));
}

/// Someone whose prompt is not there is told where to look, and is not sent anywhere by a word or two that every text has.
#[test]
fn a_completion_of_an_unknown_prompt_names_the_closest_passages() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(&home);
    let ask = |model: &Snapshot, prompt: &str, options: &CompletionOptions| {
        let completion = model.complete(prompt, options).unwrap();
        let kind = completion.matched.as_ref().map(|matched| matched.kind);
        (kind, completion.finish_reason, completion.closest)
    };
    let named = |closest: Option<Vec<Passage>>| -> Vec<String> {
        closest.unwrap().into_iter().map(|passage| passage.document).collect()
    };
    let greedy = CompletionOptions::greedy(8);
    let (kind, finish, closest) = ask(&store, "Roof of warm tin?", &greedy);
    assert_eq!((kind, finish), (Some(MatchKind::None), FinishReason::Unknown));
    assert_eq!(
        closest.as_ref().unwrap()[0],
        store.closest("Roof of warm tin?", 1).unwrap().passages[0]
    );
    assert_eq!(named(closest), ["cat"]);
    // Guesses are named as such, and so is what is closest.
    let guess = CompletionOptions { guess: true, ..greedy.clone() };
    assert_eq!(named(ask(&store, "Roof of warm tin?", &guess).2), ["cat"]);
    // Only its last few tokens are known, which says little.
    let (kind, _, closest) = ask(&store, "roofs warm: sleeps", &greedy);
    assert_eq!((kind, named(closest)), (Some(MatchKind::General), vec!["cat".to_owned()]));
    // Too little of it is shared; there is no word in it.
    for prompt in ["XYLOPHONE ZEBRAS BITE THE QUICK FROG!!", "?!%"] {
        let (kind, _, closest) = ask(&store, prompt, &greedy);
        assert_eq!((kind, named(closest).len()), (Some(MatchKind::None), 0), "{prompt}");
    }
    // A prompt that is known, and one that was not looked for.
    assert_eq!(ask(&store, "The cat sleeps", &greedy).2, None);
    let tokens = CompletionOptions { heal: false, find: false, ..greedy.clone() };
    assert_eq!(ask(&store, "Roof of warm tin?", &tokens).2, None);
    store.freeze(&home.path().join("frozen.memo")).unwrap();
    let frozen = Snapshot::open(&home.path().join("frozen.memo")).unwrap();
    let (kind, _, closest) = ask(&frozen, "Roof of warm tin?", &greedy);
    assert_eq!((kind, closest), (Some(MatchKind::None), None));
    store.forget(&["cat"], None).unwrap();
    assert_eq!(named(ask(&store, "Roof of warm tin?", &greedy).2), [""; 0]);
}
