//! Wrong input for every option, through the real binary: what is said, with which exit code, and that nothing changes.

use crate::common::{json, memo, notes};
use std::fmt::Write;
use std::path::Path;

/// Runs each command, and shows what it says.
fn said(home: &Path, wrong: &[(i32, &[&str])]) -> String {
    let mut shown = String::new();
    for (code, args) in wrong {
        let output = memo(home, args).code(*code).get_output().clone();
        assert!(output.stdout.is_empty(), "{args:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        // What follows an empty line is clap's: usage, and where help is.
        let error = error.split("\n\n").next().unwrap_or_default().trim_end();
        let args: Vec<String> = args
            .iter()
            .map(|arg| if arg.is_empty() { "\"\"".to_owned() } else { (*arg).to_owned() })
            .collect();
        writeln!(shown, "$ memo {}\n{error}", args.join(" ")).unwrap();
    }
    shown
}

/// A model, and files and folders that are no texts and no models.
fn home() -> tempfile::TempDir {
    let home = notes();
    let file = |name: &str, bytes: &[u8]| std::fs::write(home.path().join(name), bytes).unwrap();
    for folder in ["hollow.memo", "void", "none.memo"] {
        std::fs::create_dir(home.path().join(folder)).unwrap();
    }
    file("hollow.memo/model.toml", b"");
    file("file.memo", b"");
    file("empty.txt", b"");
    file("binary", &[0, 1, 2, 255]);
    file("latin.txt", b"caf\xe9");
    file("utf16.txt", b"\xff\xfeh\0i\0");
    file("owl.txt", b"Another owl.");
    file("bad.jsonl", b"{\"text\": 5}\n");
    json(home.path(), &["memorize", "clash.memo", "owl.txt"]);
    home
}

#[test]
fn texts_that_are_none() {
    let home = home();
    let before = json(home.path(), &["digest", "notes.memo"]);
    let shown = said(
        home.path(),
        &[
            (1, &["memorize", "notes.memo", "empty.txt"]),
            (1, &["memorize", "notes.memo", "void"]),
            (1, &["memorize", "notes.memo", "binary"]),
            (1, &["memorize", "notes.memo", "latin.txt"]),
            (1, &["memorize", "notes.memo", "utf16.txt"]),
            (1, &["memorize", "notes.memo", "bad.jsonl"]),
            (1, &["memorize", "notes.memo", "nowhere.txt"]),
            (1, &["memorize", "notes.memo", "notes/*.md"]),
            (1, &["memorize", "notes.memo", "notes/***"]),
            (1, &["memorize", "notes.memo", "notes", "owl.txt"]),
            (1, &["memorize", "notes.memo", "notes", "--id", "one"]),
            (1, &["memorize", "notes.memo", "notes", "--jsonl", "body"]),
            (2, &["memorize", "notes.memo", "notes", "--label", "nonsense"]),
            (2, &["memorize", "notes.memo"]),
            (1, &["recall", "notes.memo", "empty.txt"]),
            (1, &["score", "notes.memo", "binary"]),
            (1, &["find", "notes.memo", ""]),
            (1, &["forget", "notes.memo", "--file", "latin.txt"]),
            (1, &["forget", "notes.memo", "--file", "owl.txt"]),
            (1, &["forget", "notes.memo", "--text", ""]),
            (1, &["forget", "notes.memo", "--text", "never said"]),
            (1, &["replace", "notes.memo", "--old", "", "--new", "x"]),
            (1, &["edit", "notes.memo", "--prompt", "", "--target", " x"]),
        ],
    );
    insta::assert_snapshot!("texts", shown);
    assert_eq!(json(home.path(), &["digest", "notes.memo"]), before);
    let log = json(home.path(), &["log", "notes.memo"]);
    assert_eq!(log["transactions"].as_array().unwrap().len(), 1);
}

#[test]
fn models_documents_and_transactions_that_are_not_there() {
    let home = home();
    let before = json(home.path(), &["digest", "notes.memo"]);
    let shown = said(
        home.path(),
        &[
            (1, &["complete", "nowhere.memo", "x"]),
            (1, &["complete", "none.memo", "x"]),
            (1, &["complete", "file.memo", "x"]),
            (1, &["memorize", "file.memo", "notes"]),
            (1, &["docs", "notes/owl.txt"]),
            (1, &["init", "notes.memo"]),
            (2, &["forget", "notes.memo"]),
            (2, &["forget", "notes.memo", "--doc", "owl.txt", "--text", "owl"]),
            (1, &["forget", "notes.memo", "--doc", "nobody"]),
            (1, &["retire", "notes.memo", "nobody"]),
            (1, &["restore", "notes.memo", "owl.txt"]),
            (1, &["show", "notes.memo", "owl.txt", "--version", "9"]),
            (1, &["trace", "notes.memo", "nobody"]),
            (1, &["rollback", "notes.memo", "77"]),
            (2, &["rollback", "notes.memo", "-1"]),
            (1, &["merge", "notes.memo", "notes.memo"]),
            (1, &["merge", "notes.memo", "file.memo"]),
            (1, &["merge", "notes.memo", "clash.memo"]),
            (1, &["show", "notes.memo", "nobody", "--text"]),
            (1, &["diff", "notes.memo", "nowhere.memo"]),
            (1, &["chat", "nowhere.memo"]),
            (1, &["man", "remember"]),
            (2, &["completions", "tcsh"]),
            (1, &["import", "notes", "new.memo"]),
            (1, &["backup", "notes.memo", "file.memo"]),
            (1, &["export", "notes.memo", "notes"]),
        ],
    );
    insta::assert_snapshot!("models", shown);
    assert_eq!(json(home.path(), &["digest", "notes.memo"]), before);
    let hollow = memo(home.path(), &["complete", "hollow.memo", "x"]).code(1).get_output().clone();
    let hollow = String::from_utf8(hollow.stderr).unwrap();
    assert!(hollow.starts_with("error: hollow.memo/model.toml is damaged"), "{hollow}");
}

#[test]
fn numbers_out_of_bounds() {
    let home = home();
    let shown = said(
        home.path(),
        &[
            (2, &["complete", "notes.memo", "x", "--temperature", "-1"]),
            (2, &["complete", "notes.memo", "x", "--temperature", "warm"]),
            (2, &["complete", "notes.memo", "x", "--top-p", "1.7"]),
            (2, &["complete", "notes.memo", "x", "--top-p", "-0.5"]),
            (2, &["complete", "notes.memo", "x", "--top-k", "-3"]),
            (2, &["complete", "notes.memo", "x", "-n", "0"]),
            (2, &["complete", "notes.memo", "x", "-n", "99999999999999999999"]),
            (2, &["complete", "notes.memo", "x", "--seed", "-1"]),
            (2, &["complete", "notes.memo", "x", "--stop", ""]),
            (2, &["explain", "notes.memo", "x", "-n", "-1"]),
            (2, &["show", "notes.memo", "owl.txt", "--version", "0"]),
            (2, &["init", "new.memo", "--memory", "1GiB"]),
            (2, &["init", "new.memo", "--seed", "1e9"]),
            (2, &["init", "new.memo", "--engine", "dense"]),
            (2, &["init", "new.memo", "--dim", "2048"]),
            (2, &["init", "new.memo", "--tokenizer", "gpt5"]),
            (1, &["init", "new.memo", "--tokenizer", "nowhere.json"]),
            (1, &["init", "new.memo", "--tokenizer", "words"]),
            (1, &["init", "new.memo", "--tokenizer", "words", "--vocab-from", "empty.txt"]),
            (1, &["init", "new.memo", "--vocab-from", "notes/owl.txt"]),
            (2, &["freeze", "notes.memo", "new.memo", "--bits", "2"]),
            (2, &["merge", "notes.memo", "file.memo", "--conflict", "maybe"]),
        ],
    );
    insta::assert_snapshot!("numbers", shown);
    assert!(!home.path().join("new.memo").exists());
}

/// A script that asks for JSON gets it also when something is wrong.
#[test]
fn errors_are_json_where_json_is_asked_for() {
    let home = home();
    for (code, args, message) in [
        (
            1,
            &["forget", "notes.memo", "--doc", "nobody"][..],
            "there is no document \"nobody\"; `memo docs` lists them",
        ),
        (
            1,
            &["docs", "file.memo"],
            "file.memo is a file; a model is a directory, which `memo init` makes",
        ),
        (
            1,
            &["diff", "notes.memo", "notes.memo", "--prompts", "nowhere.txt"],
            "nowhere.txt: cannot read prompts",
        ),
        (
            2,
            &["complete", "notes.memo", "x", "-n", "0"],
            "invalid value '0' for '--tokens <N>': must be a whole number from 1 to 100000",
        ),
        (2, &["remember"], "unrecognized subcommand 'remember'"),
        (
            2,
            &["forget", "notes.memo"],
            "the following required arguments were not provided:\n  <--doc <ID>|--file <FILE>|--text <TEXT>|--fact <FACT>|--label <KEY=VALUE>|--glob <GLOB>|--older-than <AGE>|--finish>",
        ),
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let output = memo(home.path(), &args).code(code).get_output().clone();
        assert!(output.stdout.is_empty(), "{args:?}");
        let error: serde_json::Value = serde_json::from_slice(&output.stderr)
            .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(error["error"]["message"], message);
        assert_eq!(error["error"]["exit_code"], code);
        let causes = error["error"]["causes"].as_array().unwrap();
        assert_eq!(causes.len(), usize::from(message.ends_with("prompts")), "{error}");
    }
    // What stands after -- is text, and help is no error.
    let text = memo(home.path(), &["complete", "nowhere.memo", "--", "--json"]).code(1);
    assert!(text.get_output().stderr.starts_with(b"error: "));
    let help = memo(home.path(), &["complete", "--help", "--json"]).success();
    assert!(help.get_output().stdout.starts_with(b"Continue a prompt"));
}

/// No mistake, although it looks like one.
#[test]
fn a_prompt_longer_than_any_window_is_completed() {
    let home = notes();
    let long = "The owl reads ".repeat(500) + "The owl reads at night by the light";
    let done = json(home.path(), &["complete", "notes.memo", &long, "-n", "4"]);
    assert_eq!(done["completion"], " of the moon.");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = notes();
    let path = home.path().join("notes/owl.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        // Root may read everything.
        return;
    }
    let why = "notes/owl.txt: cannot read: Permission denied";
    let found = memo(home.path(), &["memorize", "notes.memo", "notes"]).code(3);
    let shown = String::from_utf8(found.get_output().stdout.clone()).unwrap();
    assert!(shown.starts_with(&format!("skipped {why}")), "{shown}");
    let given = memo(home.path(), &["memorize", "notes.memo", "notes/owl.txt"]).code(1);
    let error = String::from_utf8(given.get_output().stderr.clone()).unwrap();
    assert!(error.starts_with(&format!("error: {why}")), "{error}");
}
