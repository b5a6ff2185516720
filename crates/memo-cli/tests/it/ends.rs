//! Ends that come early: Ctrl-C, and readers that have seen enough.

use crate::common::{json, notes, said};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn start(home: &Path, args: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_memo"))
        .args(args)
        .current_dir(home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a pipeline, whose end is that of its first command that fails.
fn bash(home: &Path, line: &str) -> Output {
    Command::new("bash")
        .args(["-o", "pipefail", "-c", line])
        .env("MEMO", env!("CARGO_BIN_EXE_memo"))
        .current_dir(home)
        .output()
        .unwrap()
}

#[test]
fn ctrl_c_leaves_the_model_as_it_was_or_complete() {
    let home = notes();
    let home = home.path();
    let mut long = String::new();
    for day in 0..12_000 {
        writeln!(long, "On day {day} the heron counted {} boats in the harbour.", day * 7 % 311)
            .unwrap();
    }
    std::fs::write(home.join("long.txt"), long).unwrap();
    said(home, &["rebuild", "notes.memo", "--memory", "24MiB"]);
    said(home, &["backup", "notes.memo", "whole.memo"]);
    said(home, &["memorize", "whole.memo", "long.txt"]);
    let digest = |model: &str| json(home, &["digest", model])["digest"].clone();
    let (before, whole) = (digest("notes.memo"), digest("whole.memo"));
    assert_ne!(before, whole);
    for milliseconds in [20, 60, 120, 200, 300, 450, 700] {
        let mut child = start(home, &["memorize", "notes.memo", "long.txt"]);
        std::thread::sleep(Duration::from_millis(milliseconds));
        let pid = child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status().unwrap();
        child.wait().unwrap();
        // Verifying opens the model for writing: the lock went with the process.
        let after = json(home, &["verify", "notes.memo"])["digest"].clone();
        assert!(after == before || after == whole, "after {milliseconds} ms: {after}");
        if after == whole {
            break;
        }
    }
    said(home, &["memorize", "notes.memo", "long.txt"]);
    assert_eq!(digest("notes.memo"), whole);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = notes();
    let home = home.path();
    // More than a pipe holds.
    let mut lines = String::new();
    for k in 0..3_000 {
        writeln!(lines, "{{\"text\": \"Note {k} of a long evening.\"}}").unwrap();
    }
    std::fs::write(home.join("notes-of-the-evening.jsonl"), lines).unwrap();
    said(home, &["memorize", "notes.memo", "notes-of-the-evening.jsonl", "--force"]);
    for line in [
        "$MEMO docs notes.memo | head -1",
        "$MEMO docs notes.memo --json | head -1",
        "$MEMO complete notes.memo 'The owl' -n 400 --temperature 1 --stream | head -c 1",
        "$MEMO demo | head -1",
        "$MEMO --help | head -1",
    ] {
        let output = bash(home, line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && error.is_empty(), "{line}: {error}");
        assert!(!output.stdout.is_empty(), "{line}");
    }
    let mut child = start(home, &["demo", "--json"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
}
