//! Models of every format that was ever released open, today and for good.
//!
//! They were made by `make` below with the program of their time, and are never made again.

use crate::common::says;
use memo_store::{Error, NewDocument, NewModel, Observer, Snapshot, Store};
use memo_text::Tokenizer;
use std::path::{Path, PathBuf};

/// The digest of all that is live in the golden models.
const DIGEST: &str = "f8171935a17c87fdd7c8a337257d5221125ff053aaf2c8979dca8d2a696124c7";

fn golden(format: u32, name: &str) -> PathBuf {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    formats.join(format!("format-{format}")).join(name)
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
    let new =
        NewModel { tokenizer: Tokenizer::bytes(), words: true, seed: 5, ..NewModel::default() };
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
    store.checkpoint().unwrap();
    store.freeze(Path::new("frozen")).unwrap();
}

/// The same of one that is made today.
const TODAY: &str = "c822f205332abdd31d73f93af7c622ff25a3289b739d58c1bedd1dec5bee6195";

/// The memory of format 1 had a size; today's is made anew from the ledger. That of format 2 is read as it is, and is laid out as
/// today's when its lexicon is changed.
#[test]
fn models_of_all_formats_open() {
    for (format, digest) in [(1, TODAY), (2, DIGEST)] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        copy(&golden(format, "model"), &path);
        assert_eq!(Snapshot::open(&path).unwrap().transaction(), 6);
        assert_eq!(says(&Snapshot::open(&path).unwrap(), "The cat", 8), " sleeps.");
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.digest().unwrap().to_string(), digest);
        store.rebuild().unwrap();
        assert_eq!(store.digest().unwrap().to_string(), digest);
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        store.rebuild_with_lexicon(None).unwrap();
        assert_eq!(store.digest().unwrap().to_string(), TODAY);
        assert_eq!(says(&store, "The cat", 8), " sleeps.");
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        assert_eq!(store.text("cat", None).unwrap(), "The cat sleeps.");
        assert_eq!(store.document("owl").unwrap().labels["kind"], "bird");
        assert_eq!(store.log().unwrap().len(), 6);
        store.restore("many", None).unwrap();
        store.rebuild().unwrap();
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
        drop(store);
        assert_eq!(Store::open(&path).unwrap().log().unwrap().len(), 7);
    }
}

#[test]
fn a_frozen_model_opens() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    copy(&golden(2, "frozen"), &path);
    // Its checkpoint is that of a model which is not frozen; since format 3 of checkpoints they differ.
    let new = home.path().join("new.memo");
    copy(&golden(3, "frozen"), &new);
    for path in [&path, &new] {
        let model = Snapshot::open(path).unwrap();
        assert_eq!(says(&model, "The cat", 8), " sleeps.");
        assert_eq!(model.digest().unwrap().to_string(), DIGEST);
        assert!(model.verify(&Observer::default()).unwrap().damage.is_empty());
    }
    // The same memory is frozen to the same bytes.
    let live = home.path().join("live.memo");
    copy(&golden(2, "model"), &live);
    let again = home.path().join("again.memo");
    Store::open(&live).unwrap().freeze(&again).unwrap();
    for name in ["memory.000000000006", "model.toml"] {
        let read = |path: &Path| std::fs::read(path.join(name)).unwrap();
        assert!(read(&again) == read(&new), "{name}");
    }
    // One of format 1 has no texts that its memory could be made anew from.
    let old = home.path().join("old.memo");
    copy(&golden(1, "frozen"), &old);
    assert!(matches!(Snapshot::open(&old), Err(Error::FrozenFormat { .. })));
}
