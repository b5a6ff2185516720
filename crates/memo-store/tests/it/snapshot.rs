//! Snapshots: what readers see while a store changes.

use crate::common::small;
use memo_store::{NewDocument, Store};

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
        store.forget_document("owl", None).unwrap();

        assert_eq!(snapshot.complete("The owl", 17).unwrap(), " reads at night.");
        assert_eq!(snapshot.text("owl", None).unwrap(), OWL);
        assert!(!snapshot.document("fox").is_ok_and(|fox| fox.state() == "live"));
        assert_eq!(snapshot.explain("The owl re", 1).unwrap().candidates[0].sources.len(), 1);
        assert_eq!(store.complete("The fox", 16).unwrap(), " sleeps by day.");
        assert!(store.text("owl", None).is_err());
        drop(snapshot);

        store.forget_document("fox", None).unwrap();
        store.memorize([NewDocument::text(OWL).with_id("owl")], None).unwrap();
        assert_eq!(store.digest().unwrap(), before);
    }
    assert!(store.verify().unwrap().damage.is_empty());
}

#[test]
fn a_place_is_shown_with_the_text_around_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &small()).unwrap();
    store.memorize([NewDocument::text(OWL).with_id("owl")], None).unwrap();
    let why = store.explain("Every owl re", 1).unwrap();
    let passage = store.passage(&why.candidates[0].sources[0], 3).unwrap();
    let parts = [passage.before, passage.matching, passage.token, passage.after];
    assert_eq!(parts, ["The", " owl re", "a", "ds "]);
    let context = store.tokenizer().encode("Every owl re").unwrap();
    let spoke = store.spoke(&context, u32::from(b'a')).unwrap().unwrap();
    // Of "Every owl re" the last 7 bytes are known; the longest block in them has 4.
    assert_eq!((spoke.layer, spoke.context_tokens), (3, 4));
    assert_eq!(store.spoke(&context, u32::from(b'z')).unwrap(), None);
}
