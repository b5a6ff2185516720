//! `memo lexicon`: made from text and from tables, shown, checked, and never written over by accident.

use crate::common::{json, memo, said};
use std::fmt::Write as _;
use std::path::Path;

/// Four kinds of words in every combination.
fn sentences() -> String {
    let mut text = String::new();
    for person in ["Anna", "Paul"] {
        for vehicle in ["Volvo", "Fiat", "bus"] {
            for city in ["Rome", "Bonn", "Oslo"] {
                writeln!(text, "{person} drives the {vehicle} to {city}.").unwrap();
            }
        }
    }
    text
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    write("trips.txt", &sentences());
    write(
        "cars.tsv",
        "Volvo\tcar\tvehicle\nFiat\tcar\tvehicle\nbus\t\tvehicle\nAlfa Romeo\tcar\tvehicle\n",
    );
    home
}

/// What a command that fails says.
fn fails(home: &Path, args: &[&str], code: i32) -> String {
    let output = memo(home, args).code(code);
    String::from_utf8(output.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_lexicon_is_induced_shown_and_checked() {
    let home = home();
    let home = home.path();
    let induce = ["lexicon", "induce", "trips.txt", "--classes", "7", "-o", "words.lexicon"];
    let made = json(home, &induce);
    assert_eq!((made["words"].as_u64(), made["classes"].as_u64()), (Some(12), Some(7)));
    assert_eq!((made["units"].as_u64(), made["documents"].as_u64()), (Some(126), Some(1)));
    let [before, after] = [0, 1].map(|at| made["perplexity"][at].as_f64().unwrap());
    assert!(after < before, "{before} → {after}");
    let found = json(home, &["lexicon", "show", "words.lexicon", "FIAT"]);
    assert_eq!(found["word"], "fiat");
    assert_eq!(found["classes"][0]["members"], serde_json::json!(["bus", "fiat", "volvo"]));
    let name = found["classes"][0]["name"].as_str().unwrap();
    assert_eq!(name, "bus fiat volvo");
    let class = said(home, &["lexicon", "show", "words.lexicon", name]);
    assert_eq!(class, "‹bus fiat volvo›  3 words  level 0\n  bus, fiat, volvo\n");
    let all = json(home, &["lexicon", "show", "words.lexicon"]);
    assert_eq!((all["words"].as_u64(), all["sources"].as_u64()), (Some(12), Some(1)));
    assert_eq!(all["digest"], made["digest"]);
    let covered = json(home, &["lexicon", "check", "words.lexicon", "trips.txt"]);
    assert_eq!(
        (covered["levels"][0]["share"].as_f64(), covered["induced_from_it"].as_bool()),
        (Some(1.0), Some(true))
    );
    std::fs::write(home.join("new.txt"), "Anna drives the zeppelin, the zeppelin!\n").unwrap();
    let covered = json(home, &["lexicon", "check", "words.lexicon", "new.txt", "--most", "1"]);
    assert_eq!(
        (covered["units"].as_u64(), covered["levels"][0]["units"].as_u64()),
        (Some(8), Some(4))
    );
    assert_eq!(covered["without"], serde_json::json!([{"unit": "zeppelin", "count": 2}]));
    assert_eq!(covered["induced_from_it"], false);
}

#[test]
fn a_table_is_converted_and_what_is_left_out_is_named() {
    let home = home();
    let home = home.path();
    let said_so = said(home, &["lexicon", "convert", "cars.tsv", "-o", "cars.lexicon"]);
    assert_eq!(
        said_so,
        "skipped entries of several words: 1  Alfa Romeo\nmade cars.lexicon  3 words in 1 class on level 0 and 1 class on level 1\n"
    );
    let shown = said(home, &["lexicon", "show", "cars.lexicon", "Volvo"]);
    assert!(
        shown.starts_with(
            "volvo is in ‹car› and ‹vehicle›\n‹car›  2 words  level 0\n  fiat, volvo\n"
        ),
        "{shown}"
    );
    // Any format can be shown, and says the same.
    assert_eq!(shown, said(home, &["lexicon", "show", "cars.tsv", "Volvo"]));
    let converted = json(home, &["lexicon", "convert", "cars.lexicon", "-o", "again.lexicon"]);
    assert_eq!(
        (converted["format"].as_str(), converted["words"].as_u64()),
        (Some("lexicon"), Some(3))
    );
    let read = |name: &str| std::fs::read(home.join(name)).unwrap();
    assert_eq!(read("again.lexicon"), read("cars.lexicon"));
}

#[test]
fn wrong_use_says_what_to_do() {
    let home = home();
    let home = home.path();
    let convert = ["lexicon", "convert", "cars.tsv", "-o", "cars.lexicon"];
    said(home, &convert);
    std::fs::write(home.join("cars.tsv"), "Saab\tcar\n").unwrap();
    let again = fails(home, &convert, 1);
    assert!(again.contains("cars.lexicon exists already; --replace replaces it"), "{again}");
    assert_eq!(json(home, &["lexicon", "show", "cars.lexicon"])["words"], 3);
    said(home, &[&convert[..], &["--replace"]].concat());
    assert_eq!(json(home, &["lexicon", "show", "cars.lexicon"])["words"], 1);
    let folder = fails(home, &["lexicon", "induce", "trips.txt", "-o", "."], 1);
    assert!(folder.contains("is a folder"), "{folder}");
    let unknown = fails(home, &["lexicon", "show", "cars.lexicon", "owl"], 1);
    assert!(unknown.contains("\"owl\" is neither a word nor a class of cars.lexicon"), "{unknown}");
    let classes = fails(home, &["lexicon", "induce", "trips.txt", "--classes", "0", "-o", "x"], 2);
    assert!(classes.contains("must be a whole number from 1 to 5000"), "{classes}");
    let rare = fails(home, &["lexicon", "induce", "trips.txt", "--min-count", "99", "-o", "x"], 1);
    assert!(rare.contains("no word occurs 99 times"), "{rare}");
    std::fs::write(home.join("blank.txt"), " \n").unwrap();
    let blank = fails(home, &["lexicon", "check", "cars.lexicon", "blank.txt"], 1);
    assert!(blank.contains("there is no word in blank.txt"), "{blank}");
    let depth = fails(home, &["lexicon", "convert", "cars.tsv", "--depth", "5,x", "-o", "x"], 2);
    assert!(depth.contains("must be whole numbers such as 6 or 6,3"), "{depth}");
    assert!(!home.join("x").exists());
}
