//! Copies know what they are copies of, and the same text is one document wherever it was memorized.

use crate::common::{digest_of, small};
use memo_store::{Conflict, NewDocument, Store};
use std::path::Path;

const OWL: &str = "The owl reads at night by the light of the moon.";
const CAT: &str = "The cat sleeps all day on the warm red roof.";

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

/// The copies that a forget names, by kind and file name.
fn named(store: &mut Store, id: &str) -> Vec<(String, String)> {
    let receipt = store.forget(&[id], None).unwrap();
    let mut named: Vec<(String, String)> = receipt
        .copies
        .iter()
        .map(|copy| {
            assert!(Path::new(&copy.path).is_absolute());
            let name = Path::new(&copy.path).file_name().unwrap().to_string_lossy().into_owned();
            (format!("{:?}", copy.kind), name)
        })
        .collect();
    named.sort();
    named
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect()
}

#[test]
fn a_receipt_of_a_copy_names_its_original_and_not_itself() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let mut store = Store::create(&at("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL), document("b", CAT)], None).unwrap();
    store.backup(&at("first.memo")).unwrap();
    store.backup(&at("second.memo")).unwrap();
    // The second copy knows of the first; the first cannot know of what came after it.
    let mut first = Store::open(&at("first.memo")).unwrap();
    assert_eq!(named(&mut first, "a"), pairs(&[("Original", "m.memo")]));
    let mut second = Store::open(&at("second.memo")).unwrap();
    assert_eq!(named(&mut second, "a"), pairs(&[("Backup", "first.memo"), ("Original", "m.memo")]));
    // A copy of a copy names both.
    second.backup(&at("third.memo")).unwrap();
    let mut third = Store::open(&at("third.memo")).unwrap();
    let all = [("Backup", "first.memo"), ("Original", "m.memo"), ("Original", "second.memo")];
    assert_eq!(named(&mut third, "b"), pairs(&all));
    // What came to a copy later was never anywhere else.
    third.memorize([document("later", "A later text.")], None).unwrap();
    assert_eq!(named(&mut third, "later"), pairs(&[]));
    // The original names its copies, as ever.
    assert_eq!(
        named(&mut store, "a"),
        pairs(&[("Backup", "first.memo"), ("Backup", "second.memo")])
    );
}

#[test]
fn a_receipt_of_an_import_names_the_export() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let mut store = Store::create(&at("m.memo"), &small()).unwrap();
    store.memorize([document("a", OWL)], None).unwrap();
    store.export(&at("out"), true).unwrap();
    Store::import(&at("out"), &at("in.memo")).unwrap();
    let mut imported = Store::open(&at("in.memo")).unwrap();
    assert_eq!(named(&mut imported, "a"), pairs(&[("Exported", "out")]));
}

#[test]
fn a_text_without_an_id_is_one_document_in_merged_models() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let mut ours = Store::create(&at("ours.memo"), &small()).unwrap();
    let mut theirs = Store::create(&at("theirs.memo"), &small()).unwrap();
    let plain = NewDocument::text(OWL);
    ours.memorize([plain.clone()], None).unwrap();
    theirs.memorize([plain.clone(), NewDocument::text(CAT)], None).unwrap();
    let merged = ours.merge(&mut theirs, Conflict::Refuse, None).unwrap();
    assert_eq!((merged.same.len(), merged.added.len(), merged.renamed.len()), (1, 1, 0));
    let once = digest_of(&[OWL.to_owned(), CAT.to_owned()], &[]);
    assert_eq!(ours.digest().unwrap(), once);
    // Both are known from now on, without an id as before.
    let again = ours.memorize([plain, NewDocument::text(CAT)], None).unwrap();
    assert_eq!((again.transaction, again.unchanged.len()), (None, 2));
    assert_eq!(ours.merge(&mut theirs, Conflict::Refuse, None).unwrap().same.len(), 2);
    assert_eq!(ours.digest().unwrap(), once);
    // Changed there since, it is a conflict of one document, not a second one.
    theirs.replace("owl", "cat", None, None).unwrap();
    assert!(ours.merge(&mut theirs, Conflict::Refuse, None).is_err());
    let merged = ours.merge(&mut theirs, Conflict::Theirs, None).unwrap();
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(ours.digest().unwrap(), theirs.digest().unwrap());
}
