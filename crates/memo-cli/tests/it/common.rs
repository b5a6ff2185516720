//! The real binary on models in temporary folders.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

pub(crate) const OWL: &str = "The owl reads at night by the light of the moon.\nIn the morning she sleeps in the old tower.\n";
pub(crate) const CAT: &str = "The cat sleeps all day on the warm red roof.\nMarta keeps the spare key under the blue stone.\n";

pub(crate) fn memo(home: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("memo").unwrap().args(args).env("NO_COLOR", "1").current_dir(home).assert()
}

pub(crate) fn said(home: &Path, args: &[&str]) -> String {
    String::from_utf8(memo(home, args).success().get_output().stdout.clone()).unwrap()
}

pub(crate) fn json(home: &Path, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let shown = said(home, &args);
    serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{args:?}: {error}: {shown}"))
}

/// A folder with two notes, and a model of it.
pub(crate) fn notes() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("notes")).unwrap();
    std::fs::write(home.path().join("notes/owl.txt"), OWL).unwrap();
    std::fs::write(home.path().join("notes/cat.txt"), CAT).unwrap();
    said(home.path(), &["memorize", "notes.memo", "notes"]);
    home
}
