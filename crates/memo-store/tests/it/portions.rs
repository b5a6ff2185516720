//! Several processes memorize together: each writes a portion, and the model is the one that a single process makes.

use crate::common::{lexicon, small};
use memo_store::{NewDocument, NewModel, Observer, ReadOptions, Store};
use std::path::{Path, PathBuf};

fn texts() -> Vec<NewDocument> {
    let sentence = |n| format!("The owl number {} reads page {}. ", n % 37, n * 7 % 101);
    let long = (0..400).map(sentence).collect::<Vec<_>>().concat();
    let short = "The cat sleeps all day on the warm red roof.";
    vec![
        NewDocument::text(long).with_id("long").with_label("kind", "story"),
        NewDocument::text(short).with_id("short"),
    ]
}

fn sound(store: &Store) -> bool {
    store.verify(&Observer::default()).unwrap().damage.is_empty()
}

/// To the last bit.
fn perplexity(store: &Store) -> u64 {
    let text = store.tokenizer().encode("The owl number 12 sleeps on page 7.").unwrap();
    let report = store.score(&[text], &ReadOptions::default(), &Observer::default());
    report.unwrap().perplexity.to_bits()
}

fn made(home: &Path, new: &NewModel, count: usize) -> Vec<PathBuf> {
    let store = Store::create(&home.join(format!("empty-{count}.memo")), new).unwrap();
    let paths = (0..count).map(|index| home.join(format!("{count}-{index}")));
    let paths: Vec<PathBuf> = paths.collect();
    for (index, path) in paths.iter().enumerate() {
        store.write_portion(texts(), (index, count), path).unwrap();
        assert!(store.documents().unwrap().is_empty());
    }
    paths
}

#[test]
fn portions_are_the_model_of_one_process() {
    let classes =
        NewModel { lexicon: Some(lexicon(&[("owl", "animal"), ("cat", "animal")])), ..small() };
    for new in [small(), classes] {
        let home = tempfile::tempdir().unwrap();
        let mut alone = Store::create(&home.path().join("alone.memo"), &new).unwrap();
        alone.memorize(texts(), None).unwrap();
        for count in [1, 2, 7] {
            let portions = made(home.path(), &new, count);
            let path = home.path().join(format!("{count}.memo"));
            let mut store = Store::create(&path, &new).unwrap();
            let report = store.memorize_portions(texts(), &portions, None).unwrap();
            assert_eq!(report.added, ["long", "short"]);
            assert_eq!(store.digest().unwrap(), alone.digest().unwrap());
            // What is derived from the counts is the same, too.
            assert_eq!(perplexity(&store), perplexity(&alone));
            store.checkpoint().unwrap();
            drop(store);
            portions.iter().for_each(|portion| std::fs::remove_file(portion).unwrap());
            let mut store = Store::open(&path).unwrap();
            assert!(sound(&store));
            // And it is changed as any other.
            store.forget(&["long"], None).unwrap();
            let mut without =
                Store::create(&home.path().join(format!("w{count}.memo")), &new).unwrap();
            without.memorize(texts().into_iter().skip(1), None).unwrap();
            assert_eq!(store.digest().unwrap(), without.digest().unwrap());
        }
    }
}

#[test]
fn portions_join_what_is_there_already() {
    let home = tempfile::tempdir().unwrap();
    let mut alone = Store::create(&home.path().join("alone.memo"), &small()).unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    // One of the two is known, another document has an older version, and a third is there besides.
    let other = || NewDocument::text("A fox looks for the key.").with_id("fox");
    let older = || NewDocument::text("The owl sleeps.").with_id("long");
    for store in [&mut alone, &mut store] {
        store.memorize([other(), older(), texts().remove(1)], None).unwrap();
    }
    alone.memorize(texts(), None).unwrap();
    let report = store.memorize_portions(texts(), &made(home.path(), &small(), 3), None).unwrap();
    assert_eq!(
        (report.updated, report.unchanged),
        (vec!["long".to_owned()], vec!["short".to_owned()])
    );
    assert_eq!(store.digest().unwrap(), alone.digest().unwrap());
    assert!(sound(&store));
}

#[test]
fn portions_that_do_not_fit_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    let before = store.digest().unwrap();
    let portions = made(home.path(), &small(), 2);
    let refused = |store: &mut Store, documents: Vec<NewDocument>, portions: &[PathBuf]| {
        store.memorize_portions(documents, portions, None).unwrap_err().to_string()
    };
    let why = refused(&mut store, texts(), &portions[1..]);
    assert!(why.contains("one is missing"), "{why}");
    let why = refused(&mut store, texts().split_off(1), &portions);
    assert!(why.contains("not of these documents"), "{why}");
    let other =
        Store::create(&home.path().join("other.memo"), &NewModel { seed: 9, ..small() }).unwrap();
    other.write_portion(texts(), (0, 1), &home.path().join("other")).unwrap();
    let why = refused(&mut store, texts(), &[home.path().join("other")]);
    assert!(why.contains("other settings"), "{why}");
    assert!(store.write_portion(texts(), (2, 2), &home.path().join("third")).is_err());
    assert_eq!(store.digest().unwrap(), before);
    assert!(store.documents().unwrap().is_empty());
}
