//! A full disk: a forget that does not fit is refused before it is recorded, one that the disk interrupts says so, readers
//! go on, and the text is gone as soon as there is room.

use crate::common::{assert_gone, says, small};
use crate::disk::{Disk, fill};
use memo_store::{Error, NewDocument, Observer, Snapshot, Store, Together};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SECRET: &str = "Marta keeps the spare key under the blue stone. Nobody else knows it!";
const OTHER: &str = "The owl reads at night by the light of the moon.";

fn notes(path: &Path) -> Store {
    let mut store = Store::create(path, &small()).unwrap();
    let secret = NewDocument::text(SECRET).with_id("secret");
    store.memorize([secret, NewDocument::text(OTHER).with_id("owl")], None).unwrap();
    store.checkpoint().unwrap();
    store
}

/// Notes on a disk of their own, in a folder that lasts as long; nothing where no disk can be mounted.
fn on_a_small_disk() -> Option<(TempDir, Disk, PathBuf, Store)> {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("disk");
    let disk = Disk::mount(&place, "24m")?;
    let path = place.join("m.memo");
    let store = notes(&path);
    Some((home, disk, path, store))
}

#[test]
fn a_forget_that_does_not_fit_is_refused_before_it_is_recorded() {
    let Some((_home, disk, path, mut store)) = on_a_small_disk() else { return };
    let before = store.digest().unwrap();
    disk.fill(200_000);
    let refused = store.forget(&["secret"], None).unwrap_err();
    assert!(matches!(refused, Error::NoRoom { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("free") && said.contains("nothing has changed"), "{said}");
    // Nothing was recorded, for this store, for readers and for the next one.
    assert_eq!((store.digest().unwrap(), store.log().unwrap().len()), (before, 1));
    assert_eq!(store.text("secret", None).unwrap(), SECRET);
    drop(store);
    assert_eq!(says(&Snapshot::open(&path).unwrap(), "Marta keeps", 10), " the spare");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), before);
    // What was said to be needed is enough.
    let Error::NoRoom { needed, .. } = refused else { unreachable!() };
    disk.fill(needed as usize + 65_536);
    store.forget(&["secret"], None).unwrap();
    assert_gone(&path, store.tokenizer(), SECRET);
}

#[test]
fn a_forget_that_a_full_disk_interrupts_says_what_is_pending_and_is_finished_later() {
    let Some((_home, disk, path, mut store)) = on_a_small_disk() else { return };
    let tokenizer = store.tokenizer().clone();
    // Someone else takes all room when the checkpoint is begun, after the forget was recorded.
    let filler = disk.filler();
    store.observe(move |progress| {
        if progress.stage == "writing the checkpoint" && !filler.exists() {
            fill(&filler, 0);
        }
        ControlFlow::Continue(())
    });
    let pending = store.forget(&["secret"], None).unwrap_err();
    store.observe(|_| ControlFlow::Continue(()));
    let check = |pending: &Error| {
        let Error::Pending { transaction: 2, documents, .. } = pending else {
            panic!("{pending}");
        };
        assert_eq!(documents, &["secret"]);
        let said = pending.to_string();
        assert!(said.contains("--finish") && said.contains("No space left"), "{said}");
    };
    check(&pending);
    // The next forget is not begun before this one is finished.
    check(&store.forget(&["owl"], None).unwrap_err());
    let kept = store.digest().unwrap();
    drop(store);
    // Writers hear what is pending; readers go on, and know the text no more.
    check(&Store::open(&path).map(drop).unwrap_err());
    let reader = Snapshot::open(&path).unwrap();
    assert_eq!(reader.digest().unwrap(), kept);
    assert_eq!(says(&reader, "The owl", 6), " reads");
    assert!(reader.text("secret", None).is_err());
    let log = reader.log().unwrap();
    assert_eq!(log.iter().map(|t| t.unfinished).collect::<Vec<_>>(), [false, true]);
    // Half-written files do not take what little room there is.
    let names = std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().ends_with(".tmp")));

    disk.clear();
    let store = Store::open(&path).unwrap();
    assert_gone(&path, &tokenizer, SECRET);
    assert_eq!(store.digest().unwrap(), kept);
    assert!(!store.log().unwrap().iter().any(|t| t.unfinished));
    assert!(store.verify(&Observer::default()).unwrap().damage.is_empty());
}

#[test]
fn a_full_disk_leaves_an_open_model_readable() {
    let Some((_home, disk, path, mut store)) = on_a_small_disk() else { return };
    disk.fill(0);
    let long = "words that need room on the disk, and find none. ".repeat(20_000);
    let refused = store.memorize([NewDocument::text(long).with_id("long")], None).unwrap_err();
    assert!(refused.to_string().contains("No space left"), "{refused}");
    assert_eq!(store.text("owl", None).unwrap(), OTHER);
    assert_eq!(says(&store, "The owl", 6), " reads");
    disk.clear();
    store.forget(&["secret"], None).unwrap();
    assert_gone(&path, store.tokenizer(), SECRET);
}

#[test]
fn a_full_disk_refuses_all_that_was_made_together_and_the_model_goes_on() {
    let Some((_home, disk, path, mut store)) = on_a_small_disk() else { return };
    let before = store.digest().unwrap();
    // A reader of the state before keeps the file open.
    let reader = store.snapshot().unwrap();
    disk.fill(0);
    let texts = || {
        let long = "words that need room on the disk, and find none. ".repeat(20_000);
        [
            ("short", "The cat sleeps all day.".to_owned()),
            ("long", long),
            ("last", "No room.".to_owned()),
        ]
    };
    let together = |store: &mut Store| {
        store.make_together(texts().map(|(id, text)| {
            move |store: &mut Together<'_>| {
                store.memorize([NewDocument::text(text).with_id(id)], None).map(drop)
            }
        }))
    };
    let refused = together(&mut store).unwrap_err();
    assert!(refused.to_string().contains("No space left"), "{refused}");
    assert_eq!((store.digest().unwrap(), store.log().unwrap().len()), (before, 1));
    assert!(store.document("short").is_err());
    assert_eq!(says(&store, "The owl", 6), " reads");
    assert_eq!(says(&reader, "The owl", 6), " reads");
    drop(reader);
    disk.clear();
    assert!(together(&mut store).unwrap().iter().all(Result::is_ok));
    let digest = store.digest().unwrap();
    let ids: Vec<u64> = store.log().unwrap().iter().map(|transaction| transaction.id).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.digest().unwrap(), digest);
    store.rebuild().unwrap();
    assert_eq!(store.digest().unwrap(), digest);
}

#[test]
fn a_model_on_a_full_disk_is_opened_and_says_what_a_forget_needs() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("disk");
    let Some(disk) = Disk::mount(&place, "24m") else { return };
    let path = place.join("m.memo");
    drop(notes(&path));
    disk.fill(0);
    let mut store = Store::open(&path).unwrap();
    let refused = store.forget(&["secret"], None).unwrap_err();
    assert!(matches!(refused, Error::NoRoom { .. }), "{refused}");
    drop(store);
    disk.clear();
    Store::open(&path).unwrap().forget(&["secret"], None).unwrap();
}
