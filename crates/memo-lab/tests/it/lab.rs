//! `memo-lab` as its users meet it: what is written, what is printed, what is refused.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

fn memo_lab(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("memo-lab").unwrap().args(args).env("NO_COLOR", "1").assert()
}

fn lab(args: &[&str], out: &Path) -> assert_cmd::assert::Assert {
    memo_lab(&[args, &["--out", out.to_str().unwrap()]].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_and_version() {
    let shown = |args: &[&str]| text(&memo_lab(args).success().get_output().stdout);
    insta::assert_snapshot!("help", shown(&["--help"]));
    insta::assert_snapshot!("realtext_help", shown(&["realtext", "--help"]));
    assert_eq!(shown(&["--version"]), concat!("memo-lab ", env!("CARGO_PKG_VERSION"), "\n"));
    memo_lab(&[]).code(2);
    let help = shown(&["--help"]);
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.trim().split(' ').next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(commands.len(), 13, "{commands:?}");
    for command in commands {
        let help = shown(&[command, "--help"]);
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("memo-lab {command}")), "{command}");
    }
}

#[test]
fn an_experiment_writes_its_page_its_table_and_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let printed = lab(&["examples"], &out).success();
    let printed = text(&printed.get_output().stdout);
    assert!(printed.contains("examples.csv"), "{printed}");

    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    let page = text(&read("examples.md"));
    assert!(page.contains("`memo-lab examples --out results`"), "{page}");
    assert!(!page.contains(folder.path().to_str().unwrap()), "no folder of this machine");
    let csv = text(&read("examples.csv"));
    assert!(csv.starts_with("example,query,layer,token,weight\n"), "{csv}");
    for name in ["examples-sentence", "examples-weights", "examples-numbers", "examples-layers"] {
        assert!(page.contains(&format!("({name}.svg)")), "{page}");
        assert!(read(&format!("{name}.svg")).starts_with(b"<svg"));
        assert!(read(&format!("{name}.png")).starts_with(b"\x89PNG"));
    }
}

#[test]
fn an_experiment_as_json_has_what_was_measured_and_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(&["examples", "--json", "--seed", "5"], folder.path()).success();
    let found: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(found["experiment"], "examples");
    assert_eq!(found["provenance"]["seed"], 5);
    assert_eq!(found["measured"].as_array().unwrap().len(), 2 * 11 + 4 * 9);
}

#[test]
fn results_of_other_options_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let header = r#"{"experiment":"vectors","version":"0.0.1","quick":true,"seed":1,"inputs":""}"#;
    std::fs::write(folder.path().join("vectors.journal.jsonl"), format!("{header}\n")).unwrap();
    let refused = lab(&["vectors", "--quick", "--seed", "2"], folder.path()).code(1);
    let said = text(&refused.get_output().stderr);
    assert!(said.contains("0.0.1, quick, seed 1") && said.contains("another --out"), "{said}");

    let wrong = folder.path().join("authors.csv");
    std::fs::write(&wrong, "params,stored\n1,2\n").unwrap();
    let refused = lab(&["capacity", "--authors", wrong.to_str().unwrap()], folder.path()).code(1);
    let said = text(&refused.get_output().stderr);
    assert!(said.contains("there is no column stored_pairs"), "{said}");
}

#[test]
fn one_measurement_of_either_engine() {
    let folder = tempfile::tempdir().unwrap();
    let line = |day: usize| format!("On day {day} the heron counted {} boats .\n", day * 7 % 31);
    let path = folder.path().join("story.txt");
    std::fs::write(&path, (1..=60).map(line).collect::<String>()).unwrap();
    let common = ["realtext", "--tokenizer", "words", "--split", "0.9", "--json", "--text"];
    for engine in ["sparse", "dense"] {
        let args = [&common[..], &[path.to_str().unwrap(), "--engine", engine]].concat();
        let output = memo_lab(&args).success();
        let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        assert_eq!(report["engine"], engine);
        // Dense memories are floats: they have no digest and no probabilities.
        assert_eq!(report["forget_exact"], engine == "sparse");
        assert_eq!(report["held_out_perplexity"].is_null(), engine == "dense");
    }
    memo_lab(&[&common[..], &[path.to_str().unwrap(), "--engine", "steam"]].concat()).code(2);
}
