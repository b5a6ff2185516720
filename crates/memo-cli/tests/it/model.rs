//! Every command on a model, through the real binary: what people read, what scripts parse, what is refused.

use crate::common::{OWL, json, memo, notes, said};
use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write;

/// Times, rates and digests under keys of the model's own secret differ from run to run.
fn steady(shown: &str) -> String {
    let date = |word: &str| {
        word.len() >= 8 && word.chars().all(|c| c.is_ascii_digit() || "-:".contains(c))
    };
    let lines = shown.lines().map(|line| {
        let words = line.split(' ').map(|word| {
            let bare = word.trim_end_matches([',', '…']);
            let hex = bare.len() >= 16 && bare.chars().all(|c| c.is_ascii_hexdigit());
            match word {
                word if hex || date(word) => "#".repeat(4),
                word if line.contains("tokens/s") && word.contains(',') => "#".to_owned(),
                word => word.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_tour_in_words() {
    let home = notes();
    let tour: [&[&str]; 14] = [
        &["docs", "notes.memo"],
        &["stats", "notes.memo"],
        &["complete", "notes.memo", "The owl reads", "-n", "8"],
        &["explain", "notes.memo", "The owl reads", "-n", "1"],
        &["complete", "notes.memo", "The owl rea", "-n", "8"],
        &["find", "notes.memo", "sleeps"],
        &["closest", "notes.memo", "Which OWL sleeps?"],
        &["edit", "notes.memo", "--prompt", "The owl reads at", "--target", " noon."],
        &["complete", "notes.memo", "The owl reads", "-n", "3"],
        &["rollback", "notes.memo", "2", "--reason", "she does not"],
        &["forget", "notes.memo", "--doc", "cat.txt"],
        &["log", "notes.memo"],
        &["docs", "notes.memo"],
        &["verify", "notes.memo"],
    ];
    let mut shown = String::new();
    for args in tour {
        writeln!(shown, "$ memo {}\n{}", args.join(" "), said(home.path(), args)).unwrap();
    }
    insta::assert_snapshot!("tour", steady(&shown));
}

#[test]
fn scripts_get_their_keys() {
    let home = notes();
    let home = home.path();
    let keys = |value: &Value, keys: &[&str]| {
        for key in keys {
            assert!(value.get(key).is_some(), "{key} of {value}");
        }
    };
    std::fs::write(home.join("more.txt"), "A third note.").unwrap();
    let done = json(home, &["memorize", "notes.memo", "more.txt", "--label", "kind=test"]);
    keys(&done, &["documents", "tokens", "seconds", "tokens_per_second", "transaction"]);
    assert_eq!((&done["documents"], &done["transaction"]), (&1.into(), &2.into()));
    let again = json(home, &["memorize", "notes.memo", "more.txt"]);
    assert_eq!((&again["transaction"], &again["unchanged"][0]), (&Value::Null, &"more.txt".into()));
    let recall = json(home, &["recall", "notes.memo", "notes/owl.txt"]);
    keys(&recall, &["tokens", "evaluated", "correct", "recall", "tokens_per_second"]);
    // After "The" both notes go on, each in its own way; after that there is no doubt.
    assert_eq!(recall["evaluated"].as_u64().unwrap() - recall["correct"].as_u64().unwrap(), 1);
    let score = json(home, &["score", "notes.memo", "notes/owl.txt"]);
    keys(&score, &["tokens", "log_likelihood", "perplexity", "perplexity_alone"]);
    assert!(score["perplexity"].as_f64().unwrap() < 3.0);
    let stats = json(home, &["stats", "notes.memo"]);
    let counted = ["documents", "tokens", "cells", "bytes", "bytes_per_token", "transaction"];
    keys(&stats, &counted);
    keys(&stats, &["tokenizer", "frozen", "context_tokens", "context_words"]);
    let why = json(home, &["explain", "notes.memo", "The owl reads"]);
    assert_eq!(why["prediction"], " at");
    let best = &why["candidates"][0];
    keys(best, &["token", "text", "probability", "evidence", "sources"]);
    keys(&best["evidence"][0], &["unit", "length", "from_start", "count", "total"]);
    keys(&best["sources"][0], &["document", "version", "offset", "match_tokens"]);
    assert_eq!(best["sources"][0]["document"], "owl.txt");
    let digest = json(home, &["digest", "notes.memo"])["digest"].as_str().unwrap().to_owned();
    json(home, &["retire", "notes.memo", "more.txt"]);
    json(home, &["restore", "notes.memo", "more.txt"]);
    assert_eq!(json(home, &["digest", "notes.memo"])["digest"], digest.as_str());
    json(home, &["replace", "notes.memo", "--old", "third", "--new", "3rd", "--doc", "more.txt"]);
    assert_eq!(json(home, &["show", "notes.memo", "more.txt"])["text"], "A 3rd note.");
    assert_eq!(json(home, &["trace", "notes.memo", "more.txt"])["transactions"][0]["id"], 2);
    let receipt = json(home, &["forget", "notes.memo", "--file", "notes/cat.txt"]);
    keys(&receipt, &["documents", "tokens", "transaction", "digest_after"]);
    assert_eq!(receipt["documents"][0], "cat.txt");
    assert_eq!(json(home, &["digest", "notes.memo"])["digest"], receipt["digest_after"]);
    json(home, &["backup", "notes.memo", "copy.memo"]);
    json(home, &["export", "notes.memo", "out"]);
    json(home, &["import", "out", "in.memo"]);
    assert_eq!(json(home, &["digest", "in.memo"])["digest"], receipt["digest_after"]);
    let frozen = json(home, &["freeze", "notes.memo", "small.memo"]);
    assert_eq!(frozen["recall_after"], frozen["recall_before"]);
    assert_eq!(json(home, &["complete", "small.memo", "The owl"])["completion"], OWL[7..]);
    json(home, &["merge", "notes.memo", "copy.memo"]);
    let merged = json(home, &["digest", "notes.memo"])["digest"].clone();
    let rebuilt = json(home, &["rebuild", "notes.memo"]);
    keys(&rebuilt, &["bytes", "digest"]);
    assert_eq!(rebuilt["digest"], merged);
    assert!(json(home, &["verify", "notes.memo"])["damage"].as_array().unwrap().is_empty());
}

#[test]
fn a_stop_text_that_spans_tokens_is_never_printed() {
    let home = notes();
    let home = home.path();
    let done = json(home, &["complete", "notes.memo", "The owl", "--stop", "night by"]);
    assert_eq!(
        (&done["completion"], &done["finish_reason"]),
        (&" reads at ".into(), &"stop".into())
    );
    let tokens = done["tokens"].as_array().unwrap().iter().map(|token| token["text"].as_str());
    assert_eq!(tokens.collect::<Option<String>>().unwrap(), " reads at ");
    let args = ["complete", "notes.memo", "The owl", "--stop", "night by", "--stream"];
    assert_eq!(said(home, &args), "The owl reads at \n");
}

/// Eight of each at once, beside a writer that never closes: none waits for another, and none fails.
#[test]
fn readers_need_nobody_to_be_gone() {
    let home = notes();
    let home = home.path();
    json(home, &["freeze", "notes.memo", "small.memo"]);
    let mut writer = memo_store::Store::open(&home.join("notes.memo")).unwrap();
    writer
        .memorize([memo_store::NewDocument::text("A third note.").with_id("third")], None)
        .unwrap();
    let commands: [&[&str]; 13] = [
        &["docs", "notes.memo"],
        &["show", "notes.memo", "third"],
        &["log", "notes.memo"],
        &["trace", "notes.memo", "owl.txt"],
        &["stats", "notes.memo"],
        &["digest", "notes.memo"],
        &["verify", "notes.memo"],
        &["prove", "notes.memo", "--without", "owl.txt"],
        &["find", "notes.memo", "third"],
        &["explain", "notes.memo", "A third"],
        &["complete", "notes.memo", "A third"],
        &["recall", "notes.memo", "notes/owl.txt"],
        &["score", "notes.memo", "notes/owl.txt"],
    ];
    let frozen: [&[&str]; 5] = [
        &["stats", "small.memo"],
        &["digest", "small.memo"],
        &["verify", "small.memo"],
        &["explain", "small.memo", "The owl"],
        &["complete", "small.memo", "The owl"],
    ];
    let children: Vec<_> = commands
        .iter()
        .chain(&frozen)
        .flat_map(|command| std::iter::repeat_n(*command, 8))
        .map(|args| {
            let memo = assert_cmd::cargo::cargo_bin("memo");
            let mut command = std::process::Command::new(memo);
            command.args(args).current_dir(home).stdout(std::process::Stdio::piped());
            (args, command.stderr(std::process::Stdio::piped()).spawn().unwrap())
        })
        .collect();
    writer.forget(&["owl.txt"], None).unwrap();
    for (args, child) in children {
        let output = child.wait_with_output().unwrap();
        let refused = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {refused}");
    }
    // What needs the texts, which a frozen model has not, says exactly that.
    let refused = memo(home, &["docs", "small.memo"]).failure().get_output().stderr.clone();
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("it has no texts"), "{refused}");
}

#[test]
fn a_secret_is_forgotten_from_standard_input() {
    let home = notes();
    let secret = "Marta keeps the spare key under the blue stone.";
    let mut command = Command::cargo_bin("memo").unwrap();
    let command =
        command.args(["forget", "notes.memo", "--text", "-", "--yes"]).current_dir(home.path());
    command.write_stdin(format!("{secret}\n")).assert().success();
    let found = json(home.path(), &["find", "notes.memo", "Marta"]);
    assert_eq!(found["count"], 0);
    assert_eq!(json(home.path(), &["find", "notes.memo", "warm red roof"])["count"], 1);
}

#[test]
fn words_count_whatever_their_case_unless_they_are_left_out() {
    let home = notes();
    let home = home.path();
    let contexts = |model: &str| {
        let why = json(home, &["explain", model, "THE OWL READS AT", "-n", "1"]);
        let evidence = why["candidates"][0]["evidence"].as_array().unwrap().clone();
        evidence.iter().filter(|slot| slot["unit"] == "words").count()
    };
    assert!(contexts("notes.memo") > 0);
    assert_eq!(
        json(home, &["complete", "notes.memo", "THE OWL READS AT"])["completion"],
        OWL[16..]
    );
    json(home, &["init", "tokens.memo", "--no-words"]);
    json(home, &["memorize", "tokens.memo", "notes"]);
    assert_eq!(contexts("tokens.memo"), 0);
    let stats = json(home, &["stats", "tokens.memo"]);
    assert_eq!(stats["context_words"], serde_json::json!([]));
    assert_eq!(json(home, &["complete", "tokens.memo", "The owl reads"])["completion"], OWL[13..]);
}

#[test]
fn globs_name_documents_as_their_folder_does() {
    let home = notes();
    let home = home.path();
    std::fs::create_dir(home.join("notes/old")).unwrap();
    std::fs::write(home.join("notes/old/owl.txt"), "An older owl.").unwrap();
    let done = json(home, &["memorize", "notes.memo", "notes/**/*.txt"]);
    assert_eq!(done["added"], serde_json::json!(["old/owl.txt"]));
    assert_eq!(done["unchanged"], serde_json::json!(["cat.txt", "owl.txt"]));
    assert_eq!(json(home, &["show", "notes.memo", "old/owl.txt"])["text"], "An older owl.");
    for same in ["notes", "./notes/**/*", "notes/../notes/**/*.*"] {
        let done = json(home, &["memorize", "notes.memo", same]);
        assert_eq!(done["unchanged"].as_array().unwrap().len(), 3, "{same}");
    }
}

#[test]
fn a_stop_ends_a_completion_and_a_space_stands_before_words() {
    let home = notes();
    let home = home.path();
    let stop = ["--stop", "the light", "--stop", "never"];
    let words = ["complete", "notes.memo", "The owl reads"];
    let words = [&words[..], &stop[..]].concat();
    assert_eq!(json(home, &words)["completion"], " at night by ");
    assert_eq!(said(home, &words), "The owl reads at night by \n");
    let init = ["init", "words.memo", "--tokenizer", "words", "--vocab-from", "notes/owl.txt"];
    said(home, &init);
    said(home, &["memorize", "words.memo", "notes/owl.txt"]);
    let streamed = ["complete", "words.memo", "The owl reads", "-n", "2", "--stream"];
    assert_eq!(said(home, &streamed), "The owl reads at night\n");
}

#[test]
fn a_new_model_takes_the_tokenizer_that_is_asked_for_and_keeps_it() {
    let home = notes();
    let home = home.path();
    let memorize = ["memorize", "o.memo", "notes", "--tokenizer"];
    assert_eq!(json(home, &[&memorize[..], &["o200k"]].concat())["made"], true);
    assert_eq!(json(home, &["stats", "o.memo"])["tokenizer"], "o200k");
    // Asked again for the same, as a script does.
    assert_eq!(json(home, &[&memorize[..], &["o200k"]].concat())["made"], false);
    let refused =
        memo(home, &[&memorize[..], &["gpt2"]].concat()).code(1).get_output().stderr.clone();
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("o.memo was made with the tokenizer o200k"), "{refused}");
    let words = ["memorize", "w.memo", "notes", "--tokenizer", "words", "--vocab-from"];
    json(home, &[&words[..], &["notes"]].concat());
    assert_eq!(json(home, &["stats", "w.memo"])["tokenizer"], "words");
}

#[test]
fn a_proof_is_a_rehearsal_and_its_exit_code_says_how_it_went() {
    let home = notes();
    let home = home.path();
    let before = json(home, &["digest", "notes.memo"])["digest"].clone();
    let proof = json(home, &["prove", "notes.memo", "--without", "cat.txt"]);
    assert_eq!((&proof["equal"], &proof["digest"]), (&true.into(), &before));
    let said = said(home, &["prove", "notes.memo", "--without", "cat.txt", "owl.txt"]);
    assert!(said.contains("`memo forget notes.memo --doc cat.txt --doc owl.txt`"), "{said}");
    assert_eq!(json(home, &["digest", "notes.memo"])["digest"], before);
    let receipt = json(home, &["forget", "notes.memo", "--doc", "cat.txt"]);
    assert_eq!(receipt["digest_after"], proof["digest_after"]);
    let after = json(home, &["prove", "notes.memo"]);
    assert_eq!((&after["equal"], &after["digest"]), (&true.into(), &proof["digest_never_saw"]));
    memo(home, &["prove", "notes.memo", "--without", "nobody"]).code(1);
    // Checkpoints of the same transaction, of which one knows another text than its ledger.
    for (name, text) in [("one", OWL), ("two", "Other words.")] {
        let new = memo_store::NewModel::default();
        let mut store = memo_store::Store::create(&home.join(name), &new).unwrap();
        store.memorize([memo_store::NewDocument::text(text).with_id("owl")], None).unwrap();
        store.checkpoint().unwrap();
    }
    let file = "memory.000000000001";
    std::fs::copy(home.join("two").join(file), home.join("one").join(file)).unwrap();
    let output = memo(home, &["prove", "one", "--json"]).code(1).get_output().stdout.clone();
    let proof: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(proof["equal"], false);
    let shown = memo(home, &["prove", "one"]).code(1).get_output().stdout.clone();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.starts_with("different") && shown.contains("`memo rebuild one`"), "{shown}");
}

#[test]
fn every_command_has_help_with_an_example() {
    let home = tempfile::tempdir().unwrap();
    let help = said(home.path(), &["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.trim().split(' ').next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 25, "{commands:?}");
    for command in commands {
        let help = said(home.path(), &[command, "--help"]);
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        assert!(examples.contains(&format!("memo {command}")), "{command}");
    }
}
