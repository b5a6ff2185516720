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

/// Neither a model nor a copy is half there, whenever the user changes their mind.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_half_made() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let lines =
        (0..20_000).map(|day| format!("On day {day} the heron counted {} boats.\n", day % 311));
    std::fs::write(home.join("long.txt"), lines.collect::<String>()).unwrap();
    let unfinished = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().to_str().unwrap().contains("unfinished")
    };
    let mut interrupted = 0;
    for milliseconds in [100, 200, 300, 400, 600, 800, 1200, 2000] {
        let mut child = start(home, &["memorize", "n.memo", "long.txt"]);
        // Until it has begun to make the model, or is done.
        for _ in 0..milliseconds {
            if std::fs::read_dir(home).unwrap().any(unfinished)
                || child.try_wait().unwrap().is_some()
            {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(milliseconds / 10));
        let pid = child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status().unwrap();
        let ended = child.wait().unwrap();
        assert!(!std::fs::read_dir(home).unwrap().any(unfinished), "after {milliseconds} ms");
        if home.join("n.memo").exists() {
            json(home, &["verify", "n.memo"]);
            std::fs::remove_dir_all(home.join("n.memo")).unwrap();
        } else {
            assert_eq!(ended.code(), Some(130));
            interrupted += 1;
        }
    }
    assert!(interrupted > 0, "every model was made before it could be interrupted");
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
    said(home, &["memorize", "notes.memo", "notes-of-the-evening.jsonl"]);
    for line in [
        "$MEMO docs notes.memo | head -1",
        "$MEMO docs notes.memo --json | head -1",
        "$MEMO complete notes.memo 'The owl' -n 400 --temperature 1 --seed 1 --stream | head -c 1",
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
