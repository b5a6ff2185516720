//! Forgetting shows what goes before it goes: on a terminal it asks, elsewhere it needs to be told.

use crate::common::{json, memo, notes, said};
use std::path::Path;
use std::process::{Command, Stdio};

fn refused(home: &Path, args: &[&str]) -> String {
    String::from_utf8(memo(home, args).failure().get_output().stderr.clone()).unwrap()
}

fn live(home: &Path) -> Vec<String> {
    let documents = json(home, &["docs", "notes.memo"])["documents"].as_array().unwrap().clone();
    let live = documents.iter().filter(|document| document["state"] == "live");
    live.map(|document| document["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_short_text_that_is_everywhere_is_shown_and_not_cut_unasked() {
    let home = notes();
    let home = home.path();
    let before = json(home, &["digest", "notes.memo"]);
    let error = refused(home, &["forget", "notes.memo", "--text", "a"]);
    assert!(error.contains("9 places in 2 documents") && error.contains("--yes"), "{error}");
    let shown = said(home, &["forget", "notes.memo", "--text", "sleeps", "--dry-run"]);
    insta::assert_snapshot!("dry_run", shown);
    let preview = json(home, &["forget", "notes.memo", "--text", "sleeps", "--dry-run"]);
    assert_eq!((&preview["places"], &preview["documents"][1]["places"]), (&2.into(), &1.into()));
    assert_eq!(json(home, &["digest", "notes.memo"]), before);
    let receipt = json(home, &["forget", "notes.memo", "--text", "sleeps", "--yes"]);
    assert_eq!(receipt["tokens"], preview["tokens"]);
    assert_eq!(json(home, &["find", "notes.memo", "sleeps"])["count"], 0);
}

#[test]
fn documents_are_forgotten_by_label_glob_and_age() {
    let home = notes();
    let home = home.path();
    for (name, label) in [("a.md", "kind=draft"), ("b.md", "kind=draft"), ("c.md", "kind=final")] {
        std::fs::write(home.join(name), format!("The text of {name}.")).unwrap();
        said(home, &["memorize", "notes.memo", name, "--label", label]);
    }
    // Several documents, or whatever fits, are not forgotten without a word; one that is named is.
    let error = refused(home, &["forget", "notes.memo", "--label", "kind=final"]);
    assert!(error.contains("1 document") && error.contains("--yes"), "{error}");
    let error = refused(home, &["forget", "notes.memo", "--doc", "a.md", "--doc", "b.md"]);
    assert!(error.contains("2 documents"), "{error}");
    let error = refused(home, &["forget", "notes.memo", "--older-than", "1h", "--yes"]);
    assert!(error.contains("no document fits"), "{error}");
    let args = ["forget", "notes.memo", "--label", "kind=draft", "--glob", "b.*"];
    let both = [&args[..], &["--older-than", "0s", "--yes"]].concat();
    assert_eq!(json(home, &both)["documents"], serde_json::json!(["b.md"]));
    said(home, &["forget", "notes.memo", "--doc", "a.md"]);
    assert_eq!(live(home), ["c.md", "cat.txt", "owl.txt"]);
    // Where a document was read is a label, too.
    let file = format!("file={}", home.canonicalize().unwrap().join("c.md").display());
    said(home, &["forget", "notes.memo", "--label", &file, "--yes"]);
    said(home, &["forget", "notes.memo", "--glob", "*.txt", "-y"]);
    assert_eq!(live(home), [""; 0]);
}

/// Runs a command on a terminal of its own, and types an answer.
fn on_a_terminal(home: &Path, command: &str, answer: &str) -> Option<String> {
    let memo = assert_cmd::cargo::cargo_bin("memo");
    let command = format!("{} {command}", memo.display());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(home).env("NO_COLOR", "1");
    let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = script else {
        eprintln!("there is no `script` to make a terminal: not tested");
        return None;
    };
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
    Some(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

#[test]
fn on_a_terminal_it_asks() {
    let home = notes();
    let home = home.path();
    for answer in ["n\n", "\n"] {
        let Some(shown) = on_a_terminal(home, "forget notes.memo --doc cat.txt", answer) else {
            return;
        };
        assert!(shown.contains("The cat sleeps all day"), "{shown}");
        assert!(shown.contains("for good? [y/N]") && shown.contains("nothing was forgotten"));
        assert_eq!(live(home), ["cat.txt", "owl.txt"]);
    }
    let shown = on_a_terminal(home, "forget notes.memo --doc cat.txt", "y\n").unwrap();
    assert!(shown.contains("forgot cat.txt"), "{shown}");
    // Told so, or asked for JSON, it does not ask.
    let error = on_a_terminal(home, "forget notes.memo --glob owl.txt --json", "y\n").unwrap();
    assert!(error.contains("--yes") && !error.contains("[y/N]"), "{error}");
    let shown = on_a_terminal(home, "forget notes.memo --glob owl.txt --yes", "").unwrap();
    assert!(shown.contains("forgot owl.txt") && !shown.contains("[y/N]"), "{shown}");
}

#[test]
fn a_receipt_of_a_backup_says_that_it_is_a_copy() {
    let home = notes();
    let home = home.path();
    said(home, &["backup", "notes.memo", "copy.memo"]);
    let shown = said(home, &["forget", "copy.memo", "--doc", "cat.txt"]);
    let original = home.canonicalize().unwrap().join("notes.memo");
    let line =
        format!("this model is a copy; its original may still contain it: {}", original.display());
    assert!(shown.contains(&line), "{shown}");
    assert!(!shown.contains("copy.memo"), "{shown}");
}

/// A disk that fills up while a forget is made: the command says what is pending, others read, and one finishes it.
#[test]
fn a_forget_that_a_full_disk_interrupted_is_finished_by_a_command() {
    let home = notes();
    let home = home.path();
    // The checkpoint of a model with so many tokens is larger than its ledger, however little is in it.
    std::fs::remove_dir_all(home.join("notes.memo")).unwrap();
    said(home, &["memorize", "notes.memo", "notes", "--tokenizer", "o200k"]);
    let error = refused(home, &["forget", "notes.memo", "--finish"]);
    assert!(error.contains("no forget to finish"), "{error}");
    // A limit on the size of files stops the checkpoint, and nobody sees it coming.
    let memo = assert_cmd::cargo::cargo_bin("memo");
    let limited = |args: &str| {
        let command = format!("ulimit -f 3000; trap '' XFSZ; {} {args}", memo.display());
        let output = Command::new("bash").args(["-c", &command]).current_dir(home).output();
        let output = output.unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for args in ["forget notes.memo --doc cat.txt", "memorize notes.memo notes/owl.txt --id new"] {
        let error = limited(args);
        let pending = "transaction 2 forgets cat.txt";
        assert!(error.contains(pending) && error.contains("--finish"), "{error}");
    }
    assert!(said(home, &["log", "notes.memo"]).contains("cat.txt  not finished"));
    assert!(said(home, &["complete", "notes.memo", "The owl reads"]).contains("at night"));
    let shown = said(home, &["forget", "notes.memo", "--finish"]);
    assert!(shown.starts_with("forgot cat.txt"), "{shown}");
    assert!(!said(home, &["log", "notes.memo"]).contains("not finished"));
    said(home, &["verify", "notes.memo"]);
}
