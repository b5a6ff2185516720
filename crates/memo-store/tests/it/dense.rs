//! Models of the dense engine: the same ledger and transactions, within what floats allow.

use crate::common::{assert_gone, small};
use memo::dense::DenseConfig;
use memo_store::{Error, NewDocument, NewModel, Reader, Store};

fn dense() -> NewModel {
    NewModel { dense: Some(DenseConfig::authors(0, 512, 2, 3)), ..small() }
}

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

#[test]
fn a_dense_model_keeps_documents_and_forgets_by_rebuilding() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &dense()).unwrap();
    store.memorize([document("a", "The owl reads at night.")], None).unwrap();
    let one = store.digest().unwrap();
    store.memorize([document("b", "A cat sleeps all day.")], None).unwrap();
    assert_eq!(store.complete("The owl reads", 9).unwrap(), " at night");
    assert!(store.verify().unwrap().damage.is_empty());
    drop(store);
    assert_eq!(Reader::open(&path).unwrap().complete("A cat sleeps", 3).unwrap(), " al");
    let mut store = Store::open(&path).unwrap();
    store.retire("b", None).unwrap();
    assert_eq!(store.digest().unwrap(), one);
    store.restore("b", None).unwrap();
    let receipt = store.forget_document("b", None).unwrap();
    assert_eq!((receipt.digest_after, receipt.tokens), (one, 21));
    assert_gone(&path, store.tokenizer(), "A cat sleeps all day.");
    assert!(store.verify().unwrap().damage.is_empty());
    assert_ne!(store.complete("A cat sleeps", 3).unwrap(), " al");
    store.rollback(1, None).unwrap();
    store.backup(&home.path().join("copy")).unwrap();
    let mut copy = Store::open(&home.path().join("copy")).unwrap();
    assert_eq!(copy.digest().unwrap(), store.digest().unwrap());
}

#[test]
fn what_needs_integers_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::create(&home.path().join("m.memo"), &dense()).unwrap();
    store.memorize([document("a", "The owl reads at night.")], None).unwrap();
    let refused = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Engine(_))));
    refused(store.edit("The owl", " sings", None).map(drop));
    refused(store.explain("The owl", 1).map(drop));
    refused(store.freeze(&home.path().join("f"), 1).map(drop));
    refused(store.export(&home.path().join("e"), true));
    refused(store.rebuild(Some(memo::sparse::Size::Parameters(1 << 20))));
    let wrong = NewModel { dense: Some(DenseConfig::new(0, 510, 4, 2)), ..small() };
    assert!(Store::create(&home.path().join("wrong"), &wrong).is_err());
    assert!(!home.path().join("wrong").exists());
    assert_eq!(store.log().unwrap().len(), 1);
}
