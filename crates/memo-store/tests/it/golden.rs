//! Models of every format that was ever released open, today and for good.
//!
//! They were made by `make` below with the program of their time, and are never made again.

use crate::common::says;
use memo::sparse::{Shape, Size};
use memo_store::{NewDocument, NewModel, Observer, Snapshot, Store};
use memo_text::Tokenizer;
use std::path::{Path, PathBuf};

const DIGEST: &str = "37cd9235788d1dd11282b25cc4c58f2fc96f5af764e2eeb0484488c59df56abb";

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1").join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
#[ignore = "makes the golden model of a new format, in the current directory"]
fn make() {
    let new = NewModel {
        tokenizer: Tokenizer::bytes(),
        shape: Shape::new(2, 3, 1),
        size: Size::Parameters(1 << 14),
        seed: 5,
    };
    let mut store = Store::create(Path::new("model"), &new).unwrap();
    let owl =
        NewDocument::text("The owl reads at night.").with_id("owl").with_label("kind", "bird");
    let many = NewDocument::text("aaaa".repeat(200)).with_id("many");
    store.memorize([owl, many], Some("first")).unwrap();
    store.memorize([NewDocument::text("To be forgotten.").with_id("gone")], None).unwrap();
    store.forget(&["gone"], None).unwrap();
    store.memorize([NewDocument::text("The cat sleeps.").with_id("cat")], None).unwrap();
    store.retire("many", None).unwrap();
    store.edit("The owl reads", " now", None).unwrap();
    store.freeze(Path::new("frozen"), 2).unwrap();
}

#[test]
fn a_model_of_format_1_opens() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    copy(&golden("model"), &path);
    assert_eq!(Snapshot::open(&path).unwrap().transaction(), 6);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap().to_string(), DIGEST);
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
    assert_eq!(store.text("cat", None).unwrap(), "The cat sleeps.");
    assert_eq!(store.document("owl").unwrap().labels["kind"], "bird");
    assert_eq!(store.log().unwrap().len(), 6);
    store.restore("many", None).unwrap();
    store.rebuild(None).unwrap();
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn a_frozen_model_of_format_1_opens() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    copy(&golden("frozen"), &path);
    let reader = Snapshot::open(&path).unwrap();
    assert_eq!(says(&reader, "The cat", 8), " sleeps.");
}
