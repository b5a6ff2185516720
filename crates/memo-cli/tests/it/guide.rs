//! README.md, docs/guide.md, docs/lexicon.md and docs/knowledge.md do what they say: their commands are run, and what they print is what the pages show.
//! `MEMO_UPDATE=1` writes what they print now into the pages instead.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Numbers that differ from run to run, or from machine to machine, become marks.
fn steady(shown: &str) -> String {
    let word = |word: &str| {
        // Digests under a model's own secret key are shown by their beginning; those of memories are the same everywhere.
        let keyed = word.strip_suffix('…').is_some_and(|word| word.len() == 16);
        if keyed { "KEYED".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| {
        let line: Vec<String> = line.trim_end().split(' ').map(word).collect();
        let line = line.join(" ");
        let Some(end) = line.find(" tokens/s") else { return line };
        let start = line[..end].rfind(' ').map_or(0, |at| at + 1);
        format!("{}RATE{}", &line[..start], &line[end..])
    };
    shown.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)
}

/// The commands of a page, each with what the page shows that it prints.
fn steps(page: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(path(page)).unwrap();
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    // Commands within what a command prints are indented.
    let steps = blocks.flat_map(|block| {
        format!("\n{block}").split("\n$ ").skip(1).map(str::to_owned).collect::<Vec<_>>()
    });
    steps
        .map(|step| {
            let (first, mut shown) = step.split_once('\n').unwrap_or((&step, ""));
            let mut command = first.to_owned();
            // A command goes on where a shell says so.
            while let Some(line) = shown.strip_prefix("> ") {
                let (more, rest) = line.split_once('\n').unwrap_or((line, ""));
                command = format!("{command}\n{more}");
                shown = rest;
            }
            (command, shown.to_owned())
        })
        .collect()
}

/// Runs a command as a reader of the page would.
fn run(home: &Path, command: &str) -> String {
    let memo = assert_cmd::cargo::cargo_bin("memo");
    let path = format!("{}:{}", memo.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", command])
        .env("PATH", &path)
        .env("NO_COLOR", "1")
        .current_dir(home)
        .output()
        .unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Runs a page's commands, but for those that build: the tests have built already.
fn check(page: &str, least: usize) {
    let home = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for (command, expected) in steps(page) {
        if !["cargo ", "pip "].iter().any(|builder| command.starts_with(builder)) {
            let printed = run(home.path(), &command);
            if std::env::var_os("MEMO_UPDATE").is_some() && steady(&printed) != steady(&expected) {
                let whole = std::fs::read_to_string(path(page)).unwrap();
                let new = whole.replacen(expected.trim_end(), printed.trim_end(), 1);
                std::fs::write(path(page), new).unwrap();
            } else {
                assert_eq!(steady(&printed), steady(&expected), "$ {command}");
            }
            commands += 1;
        }
    }
    assert!(commands >= least, "{commands} commands were run");
}

#[test]
fn the_guide_is_true() {
    check("docs/guide.md", 16);
}

#[test]
fn the_page_on_lexicons_is_true() {
    check("docs/lexicon.md", 14);
}

#[test]
fn the_page_on_knowledge_is_true() {
    check("docs/knowledge.md", 23);
}

#[test]
fn the_readme_is_true() {
    check("README.md", 9);
}
