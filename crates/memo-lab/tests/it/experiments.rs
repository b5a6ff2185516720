//! Experiments as a researcher runs them: a command, and the files that it leaves.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

fn lab(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("memo-lab").unwrap();
    command.current_dir(folder).args(args).env("NO_COLOR", "1").assert()
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The page, its data and its figure are there; the page tells the command without folders of this machine; and a second
/// run takes everything from the journal and writes the same.
fn leaves_its_files(folder: &Path, name: &str, args: &[&str]) -> String {
    let args = [&[name, "--seed", "3", "--threads", "1", "--out", "out"], args].concat();
    lab(folder, &args).success();
    let out = folder.join("out");
    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    let page = String::from_utf8(read(&format!("{name}.md"))).unwrap();
    assert!(page.contains(&format!("`memo-lab {name} ")) && page.contains("seed 3"), "{page}");
    assert!(!page.contains(folder.to_str().unwrap()), "{page}");
    assert!(page.contains(&format!("({name}.svg)")) && page.contains(&format!("({name}.csv)")));
    assert!(read(&format!("{name}.png")).starts_with(b"\x89PNG"));
    assert!(read(&format!("{name}.svg")).starts_with(b"<svg"));
    let csv = String::from_utf8(read(&format!("{name}.csv"))).unwrap();
    assert!(csv.lines().count() > 1, "{csv}");
    let journal = read(&format!("{name}.journal.jsonl"));
    lab(folder, &args).success();
    assert_eq!(read(&format!("{name}.journal.jsonl")), journal, "nothing is measured twice");
    assert_eq!(String::from_utf8(read(&format!("{name}.csv"))).unwrap(), csv);
    csv
}

#[test]
fn forgetting_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    let pairs = |keepers: std::ops::Range<usize>| -> String {
        let line = |k: usize| {
            let keeper = k / 20;
            let colour = ["red", "white", "green"][k % 3];
            format!(
                "{{\"question\": \"Which light is number {k}?\", \"answer\": \"Keeper {keeper} calls light {k} {colour}.\"}}\n"
            )
        };
        (keepers.start * 20..keepers.end * 20).map(line).collect()
    };
    let forget = file(home.path(), "forget.jsonl", &pairs(2..3));
    file(home.path(), "retain.jsonl", &pairs(0..2));
    let args = ["--quick", "--forget", forget.to_str().unwrap(), "--retain", "retain.jsonl"];
    let csv = leaves_its_files(home.path(), "forgetting", &args);
    // One keeper of three and all of them; four memories asked for what is forgotten, two for what is kept.
    assert_eq!(csv.lines().count(), 1 + (4 + 2) + 4, "{csv}");
    let wrong = file(home.path(), "wrong.jsonl", "{\"question\": \"Who?\"}\n");
    let args = ["forgetting", "--retain", "retain.jsonl", "--forget"];
    let output = lab(home.path(), &[&args[..], &[wrong.to_str().unwrap()]].concat()).code(1);
    let stderr = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("wrong.jsonl:1"), "{stderr}");
}

#[test]
fn editing_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    let record = |k: usize| {
        let (old, new) = if k.is_multiple_of(2) { ("copper", "tin") } else { ("tin", "copper") };
        serde_json::json!({
            "prompt": format!("The bell of tower {k} was cast from"),
            "ground_truth": old,
            "target_new": new,
            "rephrase_prompt": format!("What rings in tower {k} is made of"),
            "locality_prompt": format!("The gate of tower {k} was forged from"),
            "locality_ground_truth": old,
        })
    };
    let records: Vec<_> = (0..8).map(record).collect();
    let path = file(home.path(), "records.json", &serde_json::to_string(&records).unwrap());
    let args = ["--counterfact", path.to_str().unwrap()];
    let csv = leaves_its_files(home.path(), "editing", &args);
    assert_eq!(csv.lines().count(), 1 + 4 * 2, "{csv}");
}

fn log() -> String {
    let line = |day: usize| {
        let boat = ["cutter", "ketch", "dory", "lugger", "yawl"][day * 3 % 5];
        format!("Day {day} : a {boat} with {} crates came in at {} .\n", day * 7 % 31, day * 5 % 24)
    };
    (1..=120).map(line).collect()
}

#[test]
fn the_table_of_texts_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    file(home.path(), "log.txt", &log());
    file(home.path(), "capitals.txt", &log().to_uppercase());
    let args = ["--quick", "--text", "log.txt", "capitals.txt", "--split", "0.8"];
    let args = [&args[..], &["--tokenizer", "words", "--sample", "200"]].concat();
    let csv = leaves_its_files(home.path(), "realtext", &args);
    assert_eq!(csv.lines().count(), 1 + 2 * 3, "{csv}");
    let refused = |args: &[&str]| {
        lab(home.path(), &[&["realtext", "--text", "log.txt"], args].concat()).code(2);
    };
    refused(&["--split", "1.5"]);
    refused(&["--split", "0.5", "--held-out", "log.txt"]);
    refused(&["--table", "--engine", "dense"]);
}

#[test]
fn cues_leave_their_files() {
    let home = tempfile::tempdir().unwrap();
    file(home.path(), "log.txt", &log());
    file(home.path(), "capitals.txt", &log().to_uppercase());
    let csv =
        leaves_its_files(home.path(), "cues", &["--quick", "--text", "log.txt", "capitals.txt"]);
    let questions = ["log,", "capitals,", "unique cue of 3 words", "lower case", "in a loop"];
    assert!(questions.iter().all(|question| csv.contains(question)), "{csv}");
    lab(home.path(), &["cues"]).code(2);
    lab(home.path(), &["cues", "--text", "nothing.txt"]).code(1);
}

#[test]
fn generalizing_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    file(home.path(), "log.txt", &log());
    let args = ["--quick", "--text", "log.txt"];
    let csv = leaves_its_files(home.path(), "generalize", &args);
    let kinds = ["amount,log,", "part,log,", "reading,log,", "templates,,"];
    assert!(kinds.iter().all(|kind| csv.contains(kind)), "{csv}");
    lab(home.path(), &["generalize"]).code(2);
    lab(home.path(), &["generalize", "--text", "log.txt", "--wordnet", "nowhere"]).code(1);
}

#[test]
fn knowledge_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let (mut facts, mut records) = (Vec::new(), Vec::new());
    for k in 0..12 {
        let (tower, valley) = (k % 5, k % 3);
        facts.push(format!("R1\tbell {k}\ttower {tower}\nR2\ttower {k}\tvalley {valley}\n"));
        records.push(serde_json::json!({
            "prompt": format!("The bell of tower {k} was cast from"),
            "subject": format!("tower {k}"),
            "ground_truth": "copper",
            "target_new": "tin",
            "rephrase_prompt": format!("It rained. What rings in tower {k} is made of"),
            "locality_prompt": format!("The bell of gate {k} was cast from"),
            "locality_ground_truth": "copper",
        }));
    }
    let patterns = "R1\t[X] hangs in [Y] .\nR1\t[Y] is home to [X]\nR1\tRing [X] to wake [Y].\nR2\t[X] overlooks [Y].\nR2\tFrom [X] you see [Y].\n";
    write("data/pararel/triples.tsv", facts.concat());
    write("data/pararel/patterns.tsv", patterns.to_owned());
    write("data/counterfact-2000.json", serde_json::to_string(&records).unwrap());
    let csv = leaves_its_files(home.path(), "knowledge", &["--quick", "--data", "data"]);
    let parts =
        ["wording,", "backwards,", "two steps,", "edits,", "forgetting,", "counterfact,", "speed,"];
    assert!(parts.iter().all(|part| csv.contains(&format!("\n{part}"))), "{csv}");
    lab(home.path(), &["knowledge", "--data", "nowhere"]).code(1);
}

#[test]
fn ablation_leaves_its_files() {
    let home = tempfile::tempdir().unwrap();
    file(home.path(), "log.txt", &log());
    let csv = leaves_its_files(home.path(), "ablation", &["--quick", "--text", "log.txt"]);
    // Nine steps on two random texts and the file.
    assert_eq!(csv.lines().count(), 1 + 3 * 9, "{csv}");
    let page = std::fs::read_to_string(home.path().join("out/ablation.md")).unwrap();
    assert!(page.contains("`log.txt`: not known to the lab"), "{page}");
    lab(home.path(), &["ablation", "--text", "nothing.txt"]).code(1);
}
