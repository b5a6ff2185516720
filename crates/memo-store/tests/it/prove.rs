//! The proof of forgetting in one call: it changes nothing, agrees with the forget itself, and finds what differs.

use crate::common::small;
use memo_store::{Error, NewDocument, NewModel, Observer, Snapshot, Store};
use memo_text::Tokenizer;
use std::path::Path;

const OWL: &str = "The owl reads at night by the light of the moon.";
const CAT: &str = "The cat sleeps all day, and the owl reads at night.";

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

fn notes(path: &Path, model: &NewModel) -> Store {
    let mut store = Store::create(path, model).unwrap();
    store.memorize([document("owl", OWL), document("cat", CAT)], None).unwrap();
    store.edit("The cat sleeps", " never", None).unwrap();
    store
}

#[test]
fn a_rehearsal_changes_nothing_and_tells_what_forgetting_will_do() {
    for tokenizer in [Tokenizer::bytes(), Tokenizer::gpt2()] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let mut store = notes(&path, &NewModel { tokenizer, ..small() });
        let before = (store.digest().unwrap(), store.transaction());
        let reader = Snapshot::open(&path).unwrap();
        let proof = reader.prove(&["cat", "cat"], &Observer::default()).unwrap();
        assert_eq!(proof, store.prove(&["cat"], &Observer::default()).unwrap());
        assert!(proof.equal);
        assert_eq!((proof.digest, &*proof.without), (before.0, &["cat".to_owned()][..]));
        assert_ne!(proof.digest_after, proof.digest);
        // The owl and the edit.
        assert_eq!(proof.documents, 2);
        assert_eq!((store.digest().unwrap(), store.transaction()), before);
        assert_eq!(store.text("cat", None).unwrap(), CAT);
        let receipt = store.forget(&["cat"], None).unwrap();
        assert_eq!(receipt.digest_after, proof.digest_after);
        // Afterwards the model itself is compared, whether the document is named or not.
        for without in [&["cat"][..], &[]] {
            let after = store.prove(without, &Observer::default()).unwrap();
            assert!(after.equal);
            assert_eq!(after.digest, receipt.digest_after);
            assert_eq!(after.digest_never_saw, proof.digest_never_saw);
        }
    }
}

#[test]
fn a_memory_without_any_document_is_an_empty_one() {
    let home = tempfile::tempdir().unwrap();
    let store = notes(&home.path().join("m.memo"), &small());
    let all: Vec<String> = store.documents().unwrap().into_iter().map(|d| d.id).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let proof = store.prove(&all, &Observer::default()).unwrap();
    let empty = Store::create(&home.path().join("empty.memo"), &small()).unwrap();
    assert_eq!(proof.digest_after, empty.digest().unwrap());
    assert!(proof.equal);
    assert_eq!((proof.documents, proof.tokens), (0, 0));
}

#[test]
fn what_is_retired_has_left_the_memory_already() {
    let home = tempfile::tempdir().unwrap();
    let mut store = notes(&home.path().join("m.memo"), &small());
    store.retire("cat", None).unwrap();
    let proof = store.prove(&["cat"], &Observer::default()).unwrap();
    assert!(proof.equal);
    assert_eq!(proof.digest_after, proof.digest);
}

#[test]
fn a_memory_that_is_not_the_sum_of_its_documents_is_found_out() {
    let home = tempfile::tempdir().unwrap();
    let checkpoint = |name: &str, text: &str| {
        let path = home.path().join(name);
        let mut store = Store::create(&path, &small()).unwrap();
        store.memorize([document("owl", text), document("cat", CAT)], None).unwrap();
        store.checkpoint().unwrap();
        path.join("memory.000000000001")
    };
    // A sound checkpoint that knows other texts than the ledger beside it, as a wrong forget would leave it.
    let (right, wrong) = (checkpoint("m.memo", OWL), checkpoint("other.memo", "Other words."));
    std::fs::copy(wrong, &right).unwrap();
    let model = Snapshot::open(right.parent().unwrap()).unwrap();
    let as_it_is = model.prove(&[], &Observer::default()).unwrap();
    assert!(!as_it_is.equal);
    assert_ne!(as_it_is.digest, as_it_is.digest_never_saw);
    assert!(!model.prove(&["cat"], &Observer::default()).unwrap().equal);
}

#[test]
fn what_cannot_be_proved_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut store = notes(&home.path().join("m.memo"), &small());
    let unknown = store.prove(&["dog"], &Observer::default()).unwrap_err();
    assert!(matches!(unknown, Error::NoDocument(id) if id == "dog"));
    let frozen = home.path().join("frozen.memo");
    store.freeze(&frozen).unwrap();
    let frozen = Snapshot::open(&frozen).unwrap();
    assert!(matches!(frozen.prove(&[], &Observer::default()), Err(Error::NoTexts { .. })));
}
