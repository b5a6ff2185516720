//! The command line as its users meet it: the real binary, its words, its exit codes.

use assert_cmd::Command;
use serde_json::Value;

fn memo(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("memo").unwrap().args(args).env("NO_COLOR", "1").assert()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Weights differ in their last digits from CPU to CPU, rates from run to run, keyed digests from model to model; their
/// places do not.
fn without_digits(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        if word.trim_end().ends_with('…') && word.len() > 16 {
            out.push_str("DIGEST\n");
            continue;
        }
        if out.ends_with("transaction 1, ") {
            out.push_str("RATE ");
            continue;
        }
        let number = word.contains('.')
            && !word.trim_end().ends_with('.')
            && word.trim().trim_matches(['±', '(', ')', '-']).parse::<f32>().is_ok();
        out.extend(word.chars().map(|c| if number && c.is_ascii_digit() { '0' } else { c }));
    }
    out
}

#[test]
fn help_and_version() {
    insta::assert_snapshot!("help", text(&memo(&["--help"]).success().get_output().stdout));
    insta::assert_snapshot!(
        "measure_help",
        text(&memo(&["measure", "--help"]).success().get_output().stdout)
    );
    insta::assert_snapshot!(
        "demo_help",
        text(&memo(&["demo", "--help"]).success().get_output().stdout)
    );
    let version = text(&memo(&["--version"]).success().get_output().stdout);
    assert_eq!(version, concat!("memo ", env!("CARGO_PKG_VERSION"), "\n"));
    memo(&[]).code(2);
}

#[test]
fn the_demo_shows_a_tour_and_both_examples() {
    let shown = text(&memo(&["demo"]).success().get_output().stdout);
    assert!(!shown.contains('\x1b'), "no colour when not on a terminal");
    insta::assert_snapshot!("demo", without_digits(&shown));
}

#[test]
fn the_demo_as_json_has_the_paper_s_weights() {
    let output = memo(&["demo", "--json"]).success();
    let demo: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let number =
        |path: &str| demo.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    for exact in ["rolled_back_exactly", "forgot_exactly"] {
        assert_eq!(demo["tour"][exact], true, "{exact}");
    }
    assert_eq!(demo["tour"]["steps"].as_array().unwrap().len(), 6);
    let word =
        |path: &str| demo.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path}"));
    for (query, weight) in [(0, 1.0), (1, 0.75)] {
        let at = |key: &str| format!("/sentence/queries/{query}/{key}");
        assert_eq!(word(&at("emitted/token")), "physics");
        let deviation = number("/sentence/deviation");
        assert!((number(&at("emitted/weight")) - weight).abs() < 6.0 * deviation);
    }
    assert!(number("/sentence/weight_after_forgetting").abs() < 0.01);
    let deviation = 3.0 * number("/numbers/deviation");
    assert_eq!(word("/numbers/emitted/token"), "9");
    assert!((number("/numbers/emitted/weight") - 3.0).abs() < 6.0 * deviation);
    assert!(number("/numbers/weight_after_forgetting").abs() < deviation);
    assert_eq!(word("/numbers/other_after/token"), "i");
    let kept = number("/numbers/other_after/weight") - number("/numbers/other_before/weight");
    assert!(kept.abs() < deviation);
}

/// A text of our own with some repetition, long enough to be halved.
fn story() -> String {
    let line = |day: usize| {
        let bird = ["owl", "heron", "wren", "swift", "crane"][day % 5];
        let place = ["harbour", "mill", "orchard", "bridge"][day % 4];
        format!("On day {day} the {bird} left the {place} and counted {} boats .", day * 7 % 31)
    };
    (1..=60).map(line).collect::<Vec<_>>().join("\n")
}

fn measure(extra: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let (text, held_out) = (folder.path().join("story.txt"), folder.path().join("other.txt"));
    std::fs::write(&text, story()).unwrap();
    std::fs::write(&held_out, "On day 61 the owl left the bridge and counted 3 zeppelins .\n")
        .unwrap();
    let (text, held_out) = (text.to_str().unwrap(), held_out.to_str().unwrap());
    let args = [&["measure", "--text", text, "--held-out", held_out, "--json"], extra].concat();
    serde_json::from_slice(&memo(&args).success().get_output().stdout).unwrap()
}

#[test]
fn a_text_is_recalled_and_half_of_it_forgotten_exactly() {
    for tokenizer in ["gpt2", "words", "bytes"] {
        let report = measure(&["--tokenizer", tokenizer, "--sample", "0"]);
        let number =
            |key: &str| report[key].as_f64().unwrap_or_else(|| panic!("{key} of {report}"));
        // Sixty-four bytes back do not always tell one day from another.
        let least = if tokenizer == "bytes" { 0.99 } else { 1.0 };
        assert!(number("recall") >= least, "{tokenizer}: {report}");
        // Prompts are put right word by word; a byte is less than that.
        let least_damaged = if tokenizer == "bytes" { 0.6 } else { 0.7 };
        assert!(number("recall_damaged_prompt") > least_damaged, "{tokenizer}: {report}");
        assert!(number("held_out_perplexity") > 1.0 && number("held_out_perplexity_known") > 1.0);
        assert_eq!(report["forget_exact"], true);
        let halves = |key: &str, k: usize| report[key][k].as_f64().unwrap();
        assert!(halves("recall_kept_half", 1) >= least);
        assert!(halves("recall_forgotten_half", 1) < halves("recall_forgotten_half", 0) - 0.05);
        for key in [
            "tokens",
            "parameters",
            "parameters_per_token",
            "bytes_per_token",
            "memorize_tokens_per_second",
            "retrieve_tokens_per_second",
        ] {
            assert!(number(key) > 0.0, "{key}");
        }
        // Only the words tokenizer has words that it does not know.
        let same = report["held_out_perplexity"] == report["held_out_perplexity_known"];
        assert_eq!(same, tokenizer != "words");
    }
    let [words, tokens] = [measure(&[]), measure(&["--no-words"])];
    let number = |report: &Value| report["parameters"].as_u64().unwrap();
    assert!(number(&words) > number(&tokens), "contexts of words take cells");
    assert_eq!(tokens["forget_exact"], true);
}

#[test]
fn what_cannot_be_read_is_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (path, message) in [
        (folder.path().join("missing.txt").to_str().unwrap().to_owned(), "missing.txt"),
        (file("empty.txt", b""), "nothing to read"),
        (file("binary.bin", b"\x00\x01\x02"), "binary.bin"),
        (file("latin.txt", b"caf\xe9 au lait"), "latin.txt"),
    ] {
        let output = memo(&["measure", "--text", &path]).code(1);
        let stderr = text(&output.get_output().stderr);
        assert!(
            stderr.contains(message) && output.get_output().stdout.is_empty(),
            "{path}: {stderr}"
        );
    }
    let story = file("story.txt", story().as_bytes());
    for wrong in [["--tokenizer", "klingon"], ["--threads", "-1"], ["--sample", "-3"]] {
        memo(&[&["measure", "--text", &story], &wrong[..]].concat()).code(2);
    }
}

#[test]
fn wrong_usage_says_what_and_exits_with_2() {
    for (name, args) in [
        ("unknown_command", vec!["remember"]),
        ("unknown_option", vec!["demo", "--speed", "3"]),
        ("colour", vec!["demo", "--color", "pink"]),
        ("dim_not_a_number", vec!["demo", "--dim", "many"]),
        ("seed_negative", vec!["demo", "--seed=-1"]),
    ] {
        let output = memo(&args).code(2);
        insta::assert_snapshot!(name, text(&output.get_output().stderr));
    }
}

#[test]
fn impossible_sizes_are_refused_with_1() {
    for (dim, message) in [
        ("0", "d = 0"),
        ("7", "d = 7 is not a multiple of h = 4"),
        ("1048576", "TiB, but only"),
        ("9223372036854775808", "EiB, but only"),
    ] {
        let output = memo(&["demo", "--dim", dim]).code(1);
        let stderr = text(&output.get_output().stderr);
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "--dim {dim}: {stderr}");
        assert!(output.get_output().stdout.is_empty());
    }
}
