//! Closest passages: someone who does not quote is shown where to look.

use crate::common::small;
use memo_store::{ClosestPassages, Error, NewDocument, Store};

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
