//! What the system may refuse: room on the disk, leave to write, a second writer.

use crate::common::{digest_of, says, small};
use memo_store::{Error, NewDocument, Observer, Snapshot, Store};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says to a child of this test where its model is.
const MODEL: &str = "MEMO_TEST_MODEL";

fn model_of_child() -> PathBuf {
    std::env::var_os(MODEL).expect("its parent names a model").into()
}

/// A command that runs one test of this file as a child, in a shell that first sets limits.
fn child(test: &str, model: &Path, limits: &str) -> Command {
    let mut command = Command::new("bash");
    let run = format!("{limits} exec \"$0\" --ignored --exact limits::{test} --nocapture");
    command.args(["-c", &run]).arg(std::env::current_exe().unwrap());
    command.env(MODEL, model).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn text(k: usize) -> String {
    format!("Note {k}: the owl reads for {} hours. ", k * 7).repeat(300)
}

fn note(k: usize) -> NewDocument {
    NewDocument::text(text(k)).with_id(format!("note-{k}"))
}

fn say(what: &str, done: Result<(), Error>) {
    match done {
        Ok(()) => println!("\n{what} done"),
        Err(error) => println!("\n{what} refused: {error}"),
    }
}

/// Memorizes notes until there is no room, then tries all else that writes.
#[test]
#[ignore = "child process of a_full_disk_loses_nothing_that_was_acknowledged"]
fn child_without_room() {
    let path = model_of_child();
    let mut store = Store::open(&path).unwrap();
    for k in 1..100 {
        let done = store.memorize([note(k)], None);
        let refused = done.is_err();
        say(&format!("note {k}"), done.map(drop));
        if refused {
            break;
        }
    }
    say("checkpoint", store.checkpoint());
    say("forget", store.forget(&["first"], None).map(drop));
    say("backup", store.backup(&path.with_extension("backup")));
}

/// Forgets where there is room in the ledger but not for a checkpoint, and goes on.
#[test]
#[ignore = "child process of a_full_disk_loses_nothing_that_was_acknowledged"]
fn child_that_forgets() {
    let path = model_of_child();
    let mut store = Store::open(&path).unwrap();
    say("forget", store.forget(&["first"], None).map(drop));
    say("note 1", store.memorize([note(1)], None).map(drop));
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    // In kilobytes: from less than the ledger has to more than a checkpoint and many notes need.
    for (room, test) in [
        (8, "child_without_room"),
        (100, "child_without_room"),
        (140, "child_without_room"),
        (300, "child_without_room"),
        (900, "child_without_room"),
        (2500, "child_without_room"),
        (8, "child_that_forgets"),
        (140, "child_that_forgets"),
        (300, "child_that_forgets"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.memo");
        let mut store = Store::create(&path, &small()).unwrap();
        store.memorize([NewDocument::text(text(0)).with_id("first")], None).unwrap();
        store.checkpoint().unwrap();
        drop(store);
        let limits = format!("ulimit -f {room}; trap '' XFSZ;");
        let output = child(test, &path, &limits).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let what = format!("{room} kilobytes, {test}: {said}");
        assert!(output.status.success(), "{what}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("refused") && said.contains("too large"), "{what}");

        let mut store = Store::open(&path).unwrap();
        let mut live = Vec::new();
        for k in 1..100 {
            let done = said.contains(&format!("note {k} done"));
            // What was not acknowledged is there whole or not at all.
            if done || store.document(&format!("note-{k}")).is_ok() {
                assert_eq!(store.text(&format!("note-{k}"), None).unwrap(), text(k), "{what}");
                live.push(text(k));
            }
        }
        if store.document("first").unwrap().version.is_some() {
            assert!(!said.contains("forget done"), "{what}");
            live.push(text(0));
        }
        assert_eq!(store.digest().unwrap(), digest_of(&live, &[]), "{what}");
        store.rebuild().unwrap();
        assert_eq!(store.digest().unwrap(), digest_of(&live, &[]), "{what}");
        assert!(store.verify(&Observer::default()).unwrap().damage.is_empty(), "{what}");
        let names = std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name());
        let mut names: Vec<String> = names.map(|n| n.into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with("memory."));
        names.sort();
        assert_eq!(names, ["ledger.redb", "lock", "model.toml", "snapshot.lock"], "{what}");
        store.memorize([note(500)], None).unwrap();
        println!("{what}");
    }
}

/// Keeps a model open until its input ends.
#[test]
#[ignore = "child process of a_second_writer_hears_who_is_first"]
fn child_that_writes() {
    let path = model_of_child();
    let _store = Store::open(&path).unwrap();
    println!("\nopen");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_second_writer_hears_who_is_first() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    Store::create(&path, &small()).unwrap().memorize([note(1)], None).unwrap();
    let mut first = child("child_that_writes", &path, "").spawn().unwrap();
    let mut said = BufReader::new(first.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap() == "open"));
    let Err(Error::Busy { pid, path: busy, .. }) = Store::open(&path) else {
        panic!("two writers");
    };
    assert_eq!((pid, busy), (first.id(), path.clone()));
    // There is no checkpoint yet: a reader makes the memory from the ledger, as it was acknowledged.
    let beside = Snapshot::open(&path).unwrap();
    assert_eq!(beside.transaction(), 1);
    assert_eq!(says(&beside, "Note 1: the owl", 6), " reads");
    // The lock dies with its process.
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(Snapshot::open(&path).unwrap().transaction(), 1);
    Store::open(&path).unwrap().memorize([note(2)], None).unwrap();
}

/// A directory that nobody may write to, until dropped.
struct ReadOnly<'a>(&'a Path);

impl<'a> ReadOnly<'a> {
    /// `None` if this system has no way to keep us from writing: root may write anywhere unless files are immutable.
    fn new(path: &'a Path) -> Option<Self> {
        let guard = ReadOnly(path);
        guard.set(true);
        let probe = path.join("probe");
        let writable = std::fs::write(&probe, "").is_ok();
        let _ = std::fs::remove_file(probe);
        (!writable).then_some(guard)
    }

    fn set(&self, on: bool) {
        let flag = if on { "+i" } else { "-i" };
        let _ =
            Command::new("chattr").args(["-R", flag]).arg(self.0).stderr(Stdio::null()).status();
        let mode = std::fs::Permissions::from_mode(if on { 0o500 } else { 0o700 });
        let _ = std::fs::set_permissions(self.0, mode);
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

#[test]
fn a_model_that_cannot_be_written_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("m.memo");
    let backup = home.path().join("backup.memo");
    let mut store = Store::create(&path, &small()).unwrap();
    store.memorize([note(1)], None).unwrap();
    store.checkpoint().unwrap();
    store.memorize([note(2)], None).unwrap();
    store.backup(&backup).unwrap();
    drop(store);
    // A backup was never opened: it has no lock.
    for path in [&path, &backup] {
        let Some(guard) = ReadOnly::new(path) else {
            println!("skipped: nothing keeps this user from writing");
            return;
        };
        let reader = Snapshot::open(path).unwrap();
        assert_eq!(reader.transaction(), 2);
        assert_eq!(says(&reader, "Note 2: the owl", 6), " reads");
        assert!(matches!(Store::open(path), Err(Error::Io { .. })));
        drop(guard);
        let store = Store::open(path).unwrap();
        assert_eq!(store.digest().unwrap(), digest_of(&[text(1), text(2)], &[]));
    }
}
