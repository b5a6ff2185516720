//! Asking a model, through the real binary: sources, chats, differences, draws, lines, and exact texts.

use crate::common::{CAT, OWL, json, memo, notes, said};
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// What a command says that reads something from standard input.
fn piped(home: &Path, args: &[&str], input: &str) -> String {
    let mut command = Command::cargo_bin("memo").unwrap();
    let command = command.args(args).env("NO_COLOR", "1").current_dir(home);
    let output = command.write_stdin(input).assert().success().get_output().clone();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn footnotes_name_the_documents_of_a_completion() {
    let home = notes();
    let home = home.path();
    let args = ["complete", "notes.memo", "The owl reads", "--sources"];
    let shown = "The owl reads at night by the light of the moon.\nIn the morning she sleeps in the old tower.[1]\n  [1] \
         owl.txt  line 1, after 3 of the same tokens\n";
    assert_eq!(said(home, &args), shown);
    let sources = json(home, &args)["sources"].clone();
    assert_eq!((&sources[0]["text"], &sources[1]), (&OWL[13..].into(), &Value::Null));
    assert_eq!(sources[0]["source"]["document"], "owl.txt");
    assert_eq!(json(home, &args[..3])["sources"], Value::Null);
    // Two documents, one after the other: an edit leads from one to the other.
    let edit = ["edit", "notes.memo", "--exact", "--prompt", "The owl reads at night", "--target"];
    said(home, &[&edit[..], &[" all day on the warm"]].concat());
    let shown = said(home, &args);
    assert!(shown.contains("[1] all day on the warm[2]"), "{shown}");
    assert!(shown.contains("[2] edit-2") && shown.contains("[3] cat.txt  line 1"), "{shown}");
    // A frozen model has no texts, and says so.
    json(home, &["freeze", "notes.memo", "small.memo"]);
    let args = ["complete", "small.memo", "The owl reads", "--sources"];
    let shown = said(home, &args);
    assert!(shown.ends_with("  no sources: the model is frozen and has no texts\n"), "{shown}");
    assert_eq!(json(home, &args)["sources"], Value::Null);
    memo(home, &["complete", "notes.memo", "x", "--sources", "--stream"]).code(2);
}

/// Someone whose prompt is not there sees where to look.
#[test]
fn what_is_not_known_is_answered_with_the_closest_passages() {
    let home = notes();
    let home = home.path();
    let question = "Where is the old tower?";
    let args = ["complete", "notes.memo", question];
    let output = memo(home, &args).code(5).get_output().stdout.clone();
    let shown = String::from_utf8(output).unwrap();
    insta::assert_snapshot!("closest", shown);
    let streamed =
        memo(home, &[&args[..], &["--stream"]].concat()).code(5).get_output().stdout.clone();
    assert_eq!(String::from_utf8(streamed).unwrap(), shown);
    assert_eq!(piped(home, &["chat", "notes.memo"], &format!("{question}\n")), shown);
    let output = memo(home, &[&args[..], &["--json"]].concat()).code(5).get_output().stdout.clone();
    let answer: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer["closest"][0]["document"], "owl.txt", "{answer}");
    assert_eq!(json(home, &["complete", "notes.memo", "The owl reads"])["closest"], Value::Null);
}

#[test]
fn a_chat_from_a_pipe_answers_line_by_line() {
    let home = notes();
    let home = home.path();
    let chat = ["chat", "notes.memo", "-n", "4"];
    let lines = "The owl reads\n\n:sources\n:why 2\n:quit\nnever read\n";
    let shown = piped(home, &chat, lines);
    let begins = "The owl reads at night by the\nThe owl reads at night by the light of the moon\nThe owl reads at night by the \
         light of the moon[1]\n  [1] owl.txt  line 1, after 7 of the same tokens\nafter \"The owl reads at night by the \
         light\"\n  \" of\"";
    assert!(shown.starts_with(begins), "{shown}");
    assert!(!shown.contains("never"), "{shown}");
    let help = piped(home, &["chat", "notes.memo"], ":help\n");
    for command in [":why", ":sources", ":help", ":quit"] {
        assert!(help.contains(command), "{help}");
    }
    let shown =
        piped(home, &["chat", "notes.memo", "-n", "2", "--json"], "The owl\n:why\nThe cat\n");
    let answers = serde_json::from_str::<Value>(&shown).unwrap()["answers"].clone();
    assert_eq!(answers[0]["completion"], " reads at");
    assert_eq!(answers[1]["prediction"], " reads");
    assert_eq!((&answers[2]["prompt"], &answers[3]), (&"The cat".into(), &Value::Null));
    // A space makes a prompt of it.
    assert!(piped(home, &chat, " :why\n").starts_with(" :why"));
    // Nobody is there to try again.
    for (input, why) in
        [(":wy\n", ":wy is no command; :help lists them"), (":why\n", "nothing was said yet")]
    {
        let mut command = Command::cargo_bin("memo").unwrap();
        let wrong = command.args(chat).current_dir(home).write_stdin(input).assert().code(1);
        let error = String::from_utf8(wrong.get_output().stderr.clone()).unwrap();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn two_models_are_compared_and_the_exit_code_says_whether_they_differ() {
    let home = notes();
    let home = home.path();
    said(home, &["backup", "notes.memo", "before.memo"]);
    assert_eq!(said(home, &["diff", "notes.memo", "before.memo"]), "2 documents are the same\n");
    let owl = OWL.replace("at night", "at noon");
    std::fs::write(home.join("notes/owl.txt"), owl).unwrap();
    std::fs::write(home.join("notes/dog.txt"), "The dog waits.").unwrap();
    std::fs::remove_file(home.join("notes/cat.txt")).unwrap();
    said(home, &["memorize", "notes.memo", "notes", "--sync"]);
    std::fs::write(home.join("prompts.txt"), "The owl reads\n\nIn the morning\n").unwrap();
    let args = ["diff", "before.memo", "notes.memo", "--prompts", "prompts.txt", "-n", "2"];
    let output = memo(home, &args).code(4).get_output().clone();
    let shown = "only a    cat.txt\nonly b    dog.txt\nchanged   owl.txt  first in line 1\n          a The owl reads at \
         night by the light of the moon.\n          b The owl reads at noon by the light of the moon.\n0 documents are the \
         same\ndiffer    after \"The owl reads\"\n          a  at night\n          b  at noon\nthe same  after \"In the \
         morning\"  she sleeps\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown);
    let output = memo(home, &[&args[..], &["--json"]].concat()).code(4).get_output().clone();
    let diff: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&diff["same"], &diff["documents"]["only_b"][0]),
        (&false.into(), &"dog.txt".into())
    );
    assert_eq!(
        (&diff["prompts"][0]["b"], &diff["prompts"][1]["same"]),
        (&" at noon".into(), &true.into())
    );
    // A frozen model has no documents to compare; it can be asked.
    said(home, &["freeze", "before.memo", "small.memo"]);
    memo(home, &["diff", "before.memo", "small.memo"]).code(1);
    let asked = json(home, &["diff", "before.memo", "small.memo", "The owl reads"]);
    assert_eq!((&asked["documents"], &asked["same"]), (&Value::Null, &true.into()));
}

#[test]
fn draws_differ_each_time_and_can_be_repeated() {
    let home = notes();
    let home = home.path();
    let args = ["complete", "notes.memo", "The", "--temperature", "3", "-n", "12"];
    let drawn: Vec<Value> = (0..4).map(|_| json(home, &args)).collect();
    assert!(drawn.iter().any(|other| other["completion"] != drawn[0]["completion"]), "{drawn:?}");
    let seed = drawn[0]["seed"].as_u64().unwrap().to_string();
    let again = json(home, &[&args[..], &["--seed", &seed]].concat());
    assert_eq!(
        (&again["completion"], &again["seed"]),
        (&drawn[0]["completion"], &drawn[0]["seed"])
    );
    let output = memo(home, &args).success().get_output().clone();
    let named = String::from_utf8(output.stderr).unwrap();
    let seed = named.split([' ', ':']).nth(1).unwrap();
    assert_eq!(named, format!("seed {seed}: --seed {seed} draws the same again\n"));
    let again = memo(home, &[&args[..], &["--seed", seed]].concat()).success().get_output().clone();
    assert_eq!((again.stdout, again.stderr.is_empty()), (output.stdout, true));
    assert_eq!(json(home, &args[..3])["seed"], Value::Null);
}

#[test]
fn a_text_is_found_line_by_line() {
    let home = notes();
    let home = home.path();
    let find = |more: &[&str]| said(home, &[&["find", "notes.memo"], more].concat());
    assert_eq!(
        find(&["sleeps"]),
        "cat.txt:1: The cat sleeps all day on the warm red roof.\nowl.txt:2: In the morning she sleeps in the old \
         tower.\n2 in 2 documents\n"
    );
    assert_eq!(find(&["THE OLD"]), "0 in 0 documents\n");
    assert_eq!(
        find(&["THE OLD", "-i", "-C", "1"]),
        "owl.txt-1- The owl reads at night by the light of the moon.\nowl.txt:2: In the morning she sleeps in the old \
         tower.\nowl.txt-3- \n1 in 1 document\n"
    );
    // Two in a line are shown once, and a text may go over the end of a line.
    assert_eq!(find(&["the ", "--ignore-case"]).lines().count(), 5);
    let over = find(&["roof.\nMarta"]);
    assert!(
        over.starts_with("cat.txt:1: The cat") && over.contains("\ncat.txt:2: Marta keeps"),
        "{over}"
    );
    said(home, &["retire", "notes.memo", "owl.txt"]);
    assert!(find(&["moon"]).starts_with("owl.txt (retired):1: The owl"));
    let found = json(home, &["find", "notes.memo", "tower"]);
    let first = &found["documents"][0]["matches"][0];
    assert_eq!(
        (&first["line"], &first["match"], &first["after"]),
        (&2.into(), &"tower".into(), &".".into())
    );
}

#[test]
fn a_text_is_shown_as_it_is() {
    let home = notes();
    let home = home.path();
    let text = "  Two spaces before.\n\nLast line, and three ends.  \n\n\n";
    std::fs::write(home.join("ends.txt"), text).unwrap();
    said(home, &["memorize", "notes.memo", "ends.txt"]);
    assert!(said(home, &["show", "notes.memo", "ends.txt"]).ends_with(&format!("\n\n{text}")));
    assert_eq!(said(home, &["show", "notes.memo", "ends.txt", "--text"]), text);
    std::fs::write(home.join("ends.txt"), "No end.").unwrap();
    said(home, &["memorize", "notes.memo", "ends.txt"]);
    assert_eq!(said(home, &["show", "notes.memo", "ends.txt", "--text"]), "No end.");
    assert!(said(home, &["show", "notes.memo", "ends.txt"]).ends_with("\n\nNo end.\n"));
    let older = said(home, &["show", "notes.memo", "ends.txt", "--text", "--version", "1"]);
    assert_eq!(older, text);
}

#[test]
fn an_edit_puts_a_space_between_words_and_the_text_goes_on() {
    let home = notes();
    let home = home.path();
    let edit = |target: &str, more: &[&str]| {
        let args = ["edit", "notes.memo", "--prompt", "The owl reads at", "--target", target];
        said(home, &[&args[..], more].concat())
    };
    let says = |prompt: &str| json(home, &["complete", "notes.memo", prompt])["completion"].clone();
    let shown = edit("noon", &[]);
    assert_eq!(
        shown.lines().skip(1).collect::<Vec<_>>(),
        [
            "  in place of \" night\"; the text goes on with \" by the light of the moon.\\n\"",
            "  a space was put before the target; --exact keeps it as typed"
        ]
    );
    assert_eq!(says("The owl reads at"), OWL[16..].replace("night", "noon"));
    said(home, &["rollback", "notes.memo", "2"]);
    // A sentence for a sentence, longer than before.
    edit("dusk in the window of the highest room.", &[]);
    let text =
        " dusk in the window of the highest room.\nIn the morning she sleeps in the old tower.\n";
    assert_eq!(says("The owl reads at"), text);
    said(home, &["rollback", "notes.memo", "4"]);
    let shown = edit("tic", &["--exact"]);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    assert!(says("The owl reads at").as_str().unwrap().starts_with("tic"));
    let shown = json(home, &["edit", "notes.memo", "--prompt", "She said:", "--target", "nothing"]);
    assert_eq!((&shown["space_added"], &shown["replaced"]), (&false.into(), &Value::Null));
}

#[test]
fn texts_from_pipes_are_documents_of_their_own() {
    let home = notes();
    let home = home.path();
    let memorize = |more: &[&str], text: &str| -> Value {
        let args = [&["memorize", "notes.memo", "-", "--json"], more].concat();
        serde_json::from_str(&piped(home, &args, text)).unwrap()
    };
    let first = memorize(&[], "The first of two messages.");
    let second = memorize(&[], "The second of two messages.");
    assert_eq!(
        (first["added"][0] == second["added"][0], &second["updated"]),
        (false, &serde_json::json!([]))
    );
    assert_eq!(memorize(&[], "The second of two messages.")["unchanged"], second["added"]);
    let id = first["added"][0].as_str().unwrap();
    assert!(id.starts_with("doc-"), "{id}");
    assert_eq!(said(home, &["show", "notes.memo", id, "--text"]), "The first of two messages.");
    // Named, it is one document, and a new text is its next version.
    assert_eq!(memorize(&["--id", "mail"], CAT)["added"], serde_json::json!(["mail"]));
    assert_eq!(memorize(&["--id", "mail"], OWL)["updated"], serde_json::json!(["mail"]));
    assert_eq!(memorize(&["--prefix", "in/"], OWL)["added"], serde_json::json!(["in/stdin"]));
    // Lines have their own ids.
    let lines = "{\"id\": \"one\", \"text\": \"First.\"}\n{\"text\": \"Second.\"}\n";
    let added = memorize(&["--jsonl", "text"], lines)["added"].clone();
    assert_eq!(added, serde_json::json!(["one", "stdin#2"]));
    // A model is made of what comes.
    let made = piped(home, &["memorize", "piped.memo", "-", "--id", "owl"], OWL);
    assert!(made.starts_with("made piped.memo\nmemorized 1 document"), "{made}");
    assert_eq!(json(home, &["complete", "piped.memo", "The owl reads"])["completion"], OWL[13..]);
}
