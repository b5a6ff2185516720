//! Readers: beside a writer, beside each other, on media that cannot be written, and of frozen models.

use crate::common::{says, small};
use memo_store::{Error, NewDocument, Observer, ReadOptions, Snapshot, Store};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const OWL: &str = "The owl reads at night by the light of the moon.";

fn document(id: &str, text: &str) -> NewDocument {
    NewDocument::text(text).with_id(id)
}

/// Asks a model everything that can be asked of it.
fn ask_everything(path: &Path) {
    let model = Snapshot::open(path).unwrap();
    let live = model.documents().unwrap();
    assert!(live.iter().any(|document| document.id == "owl"));
    assert_eq!(model.log().unwrap().len() as u64, model.transaction());
    assert_eq!(model.text("owl", None).unwrap(), OWL);
    assert!(!model.history("owl").unwrap().is_empty());
    assert_eq!(says(&model, "The owl reads", 9), " at night");
    assert_eq!(model.find("owl reads").unwrap().documents[0].document, "owl");
    let why = model.explain("The owl reads at n", 1, &ReadOptions::default()).unwrap();
    assert_eq!(why.candidates[0].sources[0].document, "owl");
    let tokens = model.tokenizer().encode(OWL).unwrap();
    assert_eq!(
        model
            .recall(std::slice::from_ref(&tokens), &ReadOptions::default(), &Observer::default())
            .unwrap()
            .recall,
        1.0
    );
    assert!(
        model.score(&[tokens], &ReadOptions::default(), &Observer::default()).unwrap().perplexity
            < 2.0
    );
    assert_eq!(model.stats().unwrap().transaction, model.transaction());
    let verified = model.verify(&Observer::default()).unwrap();
    assert!(verified.damage.is_empty(), "{verified:?}");
    assert_eq!(verified.digest, model.digest().unwrap());
}

#[test]
fn readers_never_fail_beside_a_writer() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("owl", OWL)], None).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    ask_everything(&path);
                }
            });
        }
        // Everything that changes files: memorize, checkpoint, forget, rebuild, retire.
        for round in 0..12 {
            let text = format!("Round {round}: {}", "some more words to write down. ".repeat(20));
            store.memorize([document("round", &text)], None).unwrap();
            store.checkpoint().unwrap();
            store.forget(&["round"], None).unwrap();
            store.rebuild().unwrap();
            store.memorize([document("kept", &text)], None).unwrap();
            store.retire("kept", None).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn reading_changes_no_byte_of_the_directory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("owl", OWL)], None).unwrap();
    drop(store);
    let state = || {
        let mut files: Vec<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|e| {
                (
                    e.file_name(),
                    e.metadata().unwrap().modified().unwrap(),
                    std::fs::read(e.path()).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    };
    let before = state();
    ask_everything(&path);
    assert!(state() == before, "reading wrote something");
}

/// A mount of a folder that cannot be written, where this user may make one.
struct ReadOnlyMount<'a>(&'a Path);

impl<'a> ReadOnlyMount<'a> {
    fn of(from: &Path, to: &'a Path) -> Option<Self> {
        std::fs::create_dir(to).ok()?;
        let mount = |args: &[&str]| {
            let done = Command::new("mount").args(args).arg(to).output();
            done.is_ok_and(|output| output.status.success())
        };
        if !mount(&["--bind", from.to_str()?]) {
            return None;
        }
        let mounted = ReadOnlyMount(to);
        mount(&["-o", "remount,ro,bind"]).then_some(mounted)
    }
}

impl Drop for ReadOnlyMount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).output();
    }
}

#[test]
fn a_model_on_a_read_only_mount_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let mut store = Store::create(&folder.join("m.memo"), &small()).unwrap();
    store.memorize([document("owl", OWL)], None).unwrap();
    // Neither with a writer on the other side of the mount, nor without, nor after a writer was killed.
    let place = home.path().join("mount");
    let Some(mount) = ReadOnlyMount::of(&folder, &place) else {
        eprintln!("no read-only mount can be made here: not tested");
        return;
    };
    let model = mount.0.join("m.memo");
    assert!(std::fs::write(mount.0.join("x"), "x").is_err(), "the mount can be written");
    ask_everything(&model);
    std::mem::forget(store);
    ask_everything(&model);
    assert!(Store::open(&model).is_err());
}

#[test]
fn a_frozen_model_answers_all_that_needs_no_text() {
    let home = tempfile::tempdir().unwrap();
    let (path, frozen) = (home.path().join("m.memo"), home.path().join("frozen.memo"));
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("owl", OWL)], None).unwrap();
    store.freeze(&frozen).unwrap();
    let model = Snapshot::open(&frozen).unwrap();
    assert_eq!(says(&model, "The owl reads", 9), " at night");
    assert_eq!(model.digest().unwrap(), store.digest().unwrap());
    let stats = model.stats().unwrap();
    assert_eq!((stats.frozen, stats.documents, stats.tokens), (true, None, 48));
    assert!(model.verify(&Observer::default()).unwrap().damage.is_empty());
    let why = model.explain("The owl reads at n", 1, &ReadOptions::default()).unwrap();
    assert!(!why.candidates[0].evidence.is_empty() && why.candidates[0].sources.is_empty());
    for refused in [
        model.documents().map(drop),
        model.log().map(drop),
        model.find("owl").map(drop),
        model.text("owl", None).map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::NoTexts { .. }), "{refused}");
        assert!(refused.to_string().contains("it has no texts"), "{refused}");
    }
    assert!(matches!(Store::open(&frozen), Err(Error::Frozen { .. })));
}

/// A model that was killed in the middle of everything is repaired in the reader's copy, not in the file.
#[test]
fn a_ledger_that_was_not_closed_is_read_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let (path, copy) = (home.path().join("m.memo"), home.path().join("copy.memo"));
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([document("owl", OWL)], None).unwrap();
    // Copied while it is open for writing, as a kill would leave it.
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let before = std::fs::read(copy.join("ledger.redb")).unwrap();
    ask_everything(&copy);
    assert!(std::fs::read(copy.join("ledger.redb")).unwrap() == before);
}
