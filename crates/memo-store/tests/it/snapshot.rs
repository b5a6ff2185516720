//! Snapshots: what readers see while a store changes.

use crate::common::{says, small};
use memo_store::{DocumentState, MatchedContext, NewDocument, Observer, ReadOptions, Store};

const OWL: &str = "The owl reads at night.";
const FOX: &str = "The fox sleeps by day.";

#[test]
fn a_snapshot_stays_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([NewDocument::text(OWL).with_id("owl")], None).unwrap();
    // In RAM first, then mapped from a checkpoint, with one transaction more in the ledger.
    for mapped in [false, true] {
        if mapped {
            store.checkpoint().unwrap();
            drop(store);
            store = Store::open(&path).unwrap();
            store.memorize([NewDocument::text("One more.").with_id("more")], None).unwrap();
        }
        let before = store.digest().unwrap();
        let snapshot = store.snapshot().unwrap();
        assert_eq!(snapshot.transaction(), store.transaction());
        store.memorize([NewDocument::text(FOX).with_id("fox")], None).unwrap();
        store.forget(&["owl"], None).unwrap();

        assert_eq!(says(&snapshot, "The owl", 17), " reads at night.");
        assert_eq!(snapshot.text("owl", None).unwrap(), OWL);
        assert!(!snapshot.document("fox").is_ok_and(|fox| fox.state == DocumentState::Live));
        assert_eq!(
            snapshot.explain("The owl re", 1, &ReadOptions::default()).unwrap().candidates[0]
                .sources
                .len(),
            1
        );
        assert_eq!(says(&store, "The fox", 16), " sleeps by day.");
        assert!(store.text("owl", None).is_err());
        drop(snapshot);

        store.forget(&["fox"], None).unwrap();
        store.memorize([NewDocument::text(OWL).with_id("owl")], None).unwrap();
        assert_eq!(store.digest().unwrap(), before);
    }
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn a_place_is_shown_with_the_text_around_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(OWL).with_id("owl")], None).unwrap();
    let why = store.explain("Every owl re", 1, &ReadOptions::default()).unwrap();
    let excerpt = why.candidates[0].sources[0].excerpt.clone();
    let parts = [excerpt.before, excerpt.matching, excerpt.token, excerpt.after];
    assert_eq!(parts, ["The", " owl re", "a", "ds at night."]);
    let context = store.tokenizer().encode("Every owl re").unwrap();
    let matched = |token: u8| MatchedContext::of(store.memory().unwrap(), &context, token.into());
    // Of "Every owl re" the last 7 bytes are known; the longest context in use has 6 of them.
    let known = matched(b'a').unwrap().unwrap();
    assert_eq!((known.layer, known.context_tokens), (6, 6));
    assert_eq!(matched(b'z').unwrap(), None);
}
