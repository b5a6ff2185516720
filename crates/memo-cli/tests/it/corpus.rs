//! What `memo memorize` reads of folders, under which ids, and what it does about the rest, through the real binary.

use crate::common::{CAT, OWL, json, memo, notes, said};
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn write(home: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The ids of documents in a state.
fn ids(home: &Path, state: &str) -> Vec<String> {
    let documents = json(home, &["docs", "notes.memo"])["documents"].clone();
    let documents = documents.as_array().unwrap().iter();
    let there = documents.filter(|document| document["state"] == state);
    there.map(|document| document["id"].as_str().unwrap().to_owned()).collect()
}

/// What a command that does not succeed says: its output if it did its work, its error if not.
fn ended(home: &Path, args: &[&str], code: i32) -> String {
    let output = memo(home, args).code(code).get_output().clone();
    assert_eq!(output.stdout.is_empty(), code == 1, "{args:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// How many documents a report names.
fn named(report: &Value, what: &str) -> usize {
    report[what].as_array().unwrap().len()
}

fn transactions(home: &Path) -> usize {
    json(home, &["log", "notes.memo"])["transactions"].as_array().unwrap().len()
}

#[test]
fn what_cannot_be_read_is_skipped_and_the_exit_code_says_so() {
    let home = notes();
    let home = home.path();
    write(home, &[("notes/dog.txt", "The dog waits at the gate."), ("notes/.secret", "x")]);
    fs::write(home.join("notes/latin.txt"), b"caf\xe9").unwrap();
    fs::write(home.join("notes/picture.png"), b"\x89PNG\0").unwrap();
    fs::write(home.join("scan.pdf"), "%PDF-1.7\n").unwrap();
    let pdf = ended(home, &["memorize", "notes.memo", "scan.pdf"], 1);
    assert!(pdf.starts_with("error: scan.pdf: this is a PDF, which is not read; save"), "{pdf}");

    let strict = ended(home, &["memorize", "notes.memo", "notes", "--strict"], 1);
    assert!(strict.starts_with("error: notes/latin.txt: the byte at offset 3 is not"), "{strict}");
    assert_eq!(transactions(home), 1);

    let shown = ended(home, &["memorize", "notes.memo", "notes"], 3);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("skipped notes/latin.txt: the byte at offset 3"), "{shown}");
    assert_eq!(lines[1], "skipped notes/picture.png: it is binary");
    assert_eq!(lines[2], "skipped 1 hidden or ignored");
    assert!(lines[3].starts_with("memorized 3 documents"), "{shown}");
    assert_eq!(ids(home, "live"), ["cat.txt", "dog.txt", "owl.txt"]);

    let output = memo(home, &["memorize", "notes.memo", "notes", "--json"]).code(3);
    let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let skipped = report["skipped"].as_array().unwrap();
    let failed: Vec<bool> = skipped.iter().map(|each| each["failed"].as_bool().unwrap()).collect();
    assert_eq!(failed, [false, true, false]);
    assert_eq!(skipped[0]["source"], "notes/.secret");
    assert_eq!(skipped[2]["reason"], "it is binary");

    // What a rule leaves out is no failure, and what is pointed at is none that can be passed over.
    fs::remove_file(home.join("notes/latin.txt")).unwrap();
    said(home, &["memorize", "notes.memo", "notes", "--strict"]);
    ended(home, &["memorize", "notes.memo", "notes/picture.png"], 1);
}

#[test]
fn a_page_is_memorized_as_the_text_that_a_reader_sees() {
    let home = notes();
    let home = home.path();
    write(
        home,
        &[("page.html", "<style>p {}</style><p>Marta&rsquo;s <i>other</i> key is red.</p>")],
    );
    memo(home, &["memorize", "notes.memo", "page.html"]).success();
    let shown = json(home, &["show", "notes.memo", "page.html"]);
    assert_eq!(shown["text"], "Marta’s other key is red.\n");
}

#[test]
fn a_line_that_cannot_be_read_costs_a_folder_that_line() {
    let home = notes();
    let home = home.path();
    let lines = "{\"id\": \"one\", \"text\": \"First.\"}\n{\"text\": 2}\n{\"text\": \"Third.\"}\n";
    write(home, &[("more/posts.jsonl", lines)]);
    let shown = ended(home, &["memorize", "notes.memo", "more"], 3);
    assert!(shown.starts_with("skipped more/posts.jsonl:2: the field \"text\" must be"), "{shown}");
    assert_eq!(ids(home, "live"), ["cat.txt", "one", "owl.txt", "posts.jsonl#3"]);
    ended(home, &["memorize", "notes.memo", "more/posts.jsonl"], 1);
}

#[test]
fn memorizing_a_folder_memorizes_neither_models_nor_what_is_ignored() {
    let home = notes();
    let home = home.path();
    said(home, &["freeze", "notes.memo", "frozen.memo"]);
    write(home, &[(".gitignore", "*.log\n"), ("run.log", "tick"), ("src/main.rs", "fn main() {}")]);
    let done = json(home, &["memorize", "notes.memo", "."]);
    assert_eq!((named(&done, "added"), &done["documents"]), (3, &3.into()));
    let mut expected = vec!["cat.txt", "notes/cat.txt", "notes/owl.txt", "owl.txt", "src/main.rs"];
    assert_eq!(ids(home, "live"), expected);
    let shown = said(home, &["memorize", "notes.memo", "."]);
    assert!(shown.starts_with("skipped ./frozen.memo: it is a model\nskipped ./notes.memo: it is a model\nskipped 2 hidden or ignored\n"), "{shown}");
    let refused = ended(home, &["memorize", "notes.memo", "frozen.memo"], 1);
    assert!(refused.contains("memo merge"), "{refused}");

    let some = ["memorize", "notes.memo", ".", "--no-ignore", "--include", "*.log", "--include"];
    let some = [&some[..], &["*.txt", "--exclude", "notes/"]].concat();
    assert_eq!(json(home, &some)["documents"], 1);
    expected.insert(4, "run.log");
    assert_eq!(ids(home, "live"), expected);
    let wrong = ended(home, &["memorize", "notes.memo", ".", "--include", "{a"], 1);
    assert!(wrong.starts_with("error: {a: not a glob"), "{wrong}");
}

#[test]
fn a_second_folder_replaces_nothing_unless_it_is_asked_to() {
    let home = notes();
    let home = home.path();
    write(home, &[("other/owl.txt", "Another owl hoots."), ("other/cat.txt", CAT)]);
    let refused = ended(home, &["memorize", "notes.memo", "other"], 1);
    let whole = home.canonicalize().unwrap();
    let expected = format!(
        "error: 1 document of other files would be replaced:\n  owl.txt: memorized from {0}/notes/owl.txt, now in \
         {0}/other/owl.txt\n--prefix NAME/ gives the documents of this run ids of their own; --replace makes them new versions\n",
        whole.display()
    );
    assert_eq!(refused, expected);
    assert_eq!(transactions(home), 1);

    let beside = json(home, &["memorize", "notes.memo", "other", "--prefix", "other/"]);
    assert_eq!(named(&beside, "added"), 2);
    assert_eq!(ids(home, "live"), ["cat.txt", "other/cat.txt", "other/owl.txt", "owl.txt"]);
    let replaced = json(home, &["memorize", "notes.memo", "other", "--replace"]);
    assert_eq!((named(&replaced, "updated"), named(&replaced, "unchanged")), (1, 1));
    // Now it comes from there, and the first folder is the other one.
    let shown = json(home, &["show", "notes.memo", "owl.txt"]);
    assert_eq!(shown["labels"]["file"], format!("{}/other/owl.txt", whole.display()));
    ended(home, &["memorize", "notes.memo", "notes"], 1);
    // A new version from the same place needs no permission; nor does a document whose place nobody knows.
    write(home, &[("other/owl.txt", "Another owl hoots twice.")]);
    assert_eq!(named(&json(home, &["memorize", "notes.memo", "other"]), "updated"), 1);
    let piped = |text: &str| {
        let mut command = Command::cargo_bin("memo").unwrap();
        let args = ["memorize", "notes.memo", "-", "--id", "piped.txt", "--json"];
        let command = command.args(args).current_dir(home).write_stdin(text);
        let output = command.assert().success().get_output().stdout.clone();
        serde_json::from_slice::<Value>(&output).unwrap()
    };
    assert_eq!((named(&piped(OWL), "added"), named(&piped(CAT), "updated")), (1, 1));
    write(home, &[("piped.txt", "From a file.")]);
    assert_eq!(named(&json(home, &["memorize", "notes.memo", "piped.txt"]), "updated"), 1);
    // The listing leaves the paths out; the label is nobody else's.
    assert!(!said(home, &["docs", "notes.memo"]).contains("file="));
    let label = ["memorize", "notes.memo", "notes", "--label", "file=x"];
    memo(home, &label).code(2);
}

#[test]
fn sync_retires_what_is_gone_and_nothing_else() {
    let home = notes();
    let home = home.path();
    let lines = |ids: &[&str]| -> String {
        let line = |id| format!("{{\"id\": \"{id}\", \"text\": \"Post {id}.\"}}\n");
        ids.iter().map(line).collect::<Vec<_>>().concat()
    };
    write(
        home,
        &[
            ("notes/old/dog.txt", "The dog waits at the gate."),
            ("notes/posts.jsonl", &lines(&["p1", "p2", "p3"])),
            ("notes/sharp#1.txt", "A sharp."),
            ("elsewhere/fox.txt", "The fox has no key."),
        ],
    );
    said(home, &["memorize", "notes.memo", "notes", "elsewhere"]);
    fs::remove_dir_all(home.join("notes/old")).unwrap();
    fs::remove_dir_all(home.join("elsewhere")).unwrap();
    fs::remove_file(home.join("notes/cat.txt")).unwrap();
    write(home, &[("notes/posts.jsonl", &lines(&["p1", "p3"])), ("notes/new.txt", "New.")]);

    // Not without being asked, nor what is left out, nor what is not below the folder.
    said(home, &["memorize", "notes.memo", "notes", "--exclude", "posts.jsonl"]);
    assert_eq!(ids(home, "retired"), Vec::<String>::new());
    let done = json(home, &["memorize", "notes.memo", "notes", "--exclude", "*.jsonl", "--sync"]);
    assert_eq!(done["retired"], serde_json::json!(["cat.txt", "old/dog.txt"]));
    let shown = said(home, &["memorize", "notes.memo", "notes", "--sync"]);
    assert!(shown.ends_with("retired 1 document whose text is gone  p2\n"), "{shown}");
    assert_eq!(ids(home, "retired"), ["cat.txt", "old/dog.txt", "p2"]);
    let live = ["fox.txt", "new.txt", "owl.txt", "p1", "p3", "sharp#1.txt"];
    assert_eq!(ids(home, "live"), live);

    // A file that cannot be read is not gone; one that is empty says nothing any more; one that is back comes back.
    fs::write(home.join("notes/posts.jsonl"), lines(&["p1"]) + "{}\n").unwrap();
    write(home, &[("notes/new.txt", ""), ("notes/cat.txt", CAT)]);
    let shown = ended(home, &["memorize", "notes.memo", "notes", "--sync"], 3);
    assert!(shown.ends_with("retired 1 document whose text is gone  new.txt\n"), "{shown}");
    assert!(ids(home, "live").contains(&"p3".to_owned()));
    assert!(ids(home, "live").contains(&"cat.txt".to_owned()));

    // A folder with nothing left has something to say, too.
    fs::remove_dir_all(home.join("notes")).unwrap();
    fs::create_dir(home.join("notes")).unwrap();
    said(home, &["memorize", "notes.memo", "notes", "--sync"]);
    assert_eq!(ids(home, "live"), ["fox.txt"]);
    for (wrong, why) in [("notes/*", "no globs"), ("-", "standard input")] {
        let refused = ended(home, &["memorize", "notes.memo", wrong, "--sync"], 1);
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn fields_of_lines_are_ids_and_labels() {
    let home = notes();
    let home = home.path();
    let line = "{\"body\": \"A post.\", \"slug\": \"first\", \"author\": \"Ada\", \"year\": 1984}";
    write(home, &[("posts.txt", line)]);
    let fields = ["--jsonl", "body", "--id-field", "slug", "--label-field", "author"];
    let args =
        ["memorize", "notes.memo", "posts.txt", "--label-field", "year", "--label", "kind=post"];
    said(home, &[&args[..], &fields[..]].concat());
    let shown = json(home, &["show", "notes.memo", "first"]);
    let labels = &shown["labels"];
    assert_eq!((&labels["author"], &labels["year"]), (&"Ada".into(), &"1984".into()));
    assert_eq!(labels["kind"], "post");
    let small = ["memorize", "notes.memo", "notes/owl.txt", "--max-bytes", "64KiB"];
    said(home, &small);
    write(home, &[("long.txt", &"long ".repeat(20_000))]);
    let small = ended(home, &["memorize", "notes.memo", "long.txt", "--max-bytes", "64KiB"], 1);
    assert!(small.contains("larger than the limit of 65536 bytes"), "{small}");
}

/// Labels and reasons may come from anybody who uses a server.
#[test]
fn listings_show_control_characters_and_do_not_send_them() {
    let home = notes();
    let home = home.path();
    let label = "a\u{1b}]0;b=c\nd";
    write(home, &[("dog.txt", "The dog waits at the gate.")]);
    said(home, &["memorize", "notes.memo", "dog.txt", "--label", label]);
    said(home, &["retire", "notes.memo", "dog.txt", "--reason", "e\u{1b}[2Jf"]);
    let listed =
        [&["docs", "notes.memo"][..], &["show", "notes.memo", "dog.txt"], &["log", "notes.memo"]]
            .map(|args| said(home, args));
    assert!(listed[0].contains(r"a\u{1b}]0;b=c\nd"), "{}", listed[0]);
    assert!(listed[1].contains(r"a\u{1b}]0;b = c\nd"), "{}", listed[1]);
    assert!(listed[2].contains(r"“e\u{1b}[2Jf”"), "{}", listed[2]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_a_file_that_is_nowhere() {
    let home = notes();
    let memo = assert_cmd::cargo::cargo_bin("memo");
    let command = format!("{} memorize notes.memo <(echo From a pipe.) --id piped", memo.display());
    Command::new("bash").args(["-c", &command]).current_dir(home.path()).assert().success();
    let shown = json(home.path(), &["show", "notes.memo", "piped"]);
    assert_eq!(
        (&shown["text"], &shown["labels"]),
        (&"From a pipe.\n".into(), &serde_json::json!({}))
    );
}

#[test]
fn every_line_of_a_file_is_forgotten() {
    let home = notes();
    let home = home.path();
    write(home, &[("posts.jsonl", "{\"text\": \"First post.\"}\n{\"text\": \"Second post.\"}\n")]);
    said(home, &["memorize", "notes.memo", "posts.jsonl"]);
    let receipt = json(home, &["forget", "notes.memo", "--file", "posts.jsonl", "--yes"]);
    assert_eq!(receipt["documents"], serde_json::json!(["posts.jsonl#1", "posts.jsonl#2"]));
    assert_eq!(ids(home, "live"), ["cat.txt", "owl.txt"]);
}
