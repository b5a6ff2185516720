//! `memo lab …` as its users meet it: what is written, what is printed, what is refused.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

fn lab(args: &[&str], out: &Path) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("memo").unwrap();
    command.arg("lab").args(args).arg("--out").arg(out).env("NO_COLOR", "1").assert()
}

#[test]
fn an_experiment_writes_its_page_its_table_and_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let printed = lab(&["examples"], &out).success();
    let printed = String::from_utf8(printed.get_output().stdout.clone()).unwrap();
    assert!(printed.contains("examples.csv"), "{printed}");

    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    let page = String::from_utf8(read("examples.md")).unwrap();
    assert!(page.contains("`memo lab examples --out results`"), "{page}");
    assert!(!page.contains(folder.path().to_str().unwrap()), "no folder of this machine");
    let csv = String::from_utf8(read("examples.csv")).unwrap();
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
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("0.0.1, quick, seed 1") && said.contains("another --out"), "{said}");

    let wrong = folder.path().join("authors.csv");
    std::fs::write(&wrong, "params,stored\n1,2\n").unwrap();
    let refused = lab(&["capacity", "--authors", wrong.to_str().unwrap()], folder.path()).code(1);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("there is no column stored_pairs"), "{said}");
}
