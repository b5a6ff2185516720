//! Rules on sentences.

use crate::rules;
use memo_knowledge::{LimitError, Limits, Rules, Vocabulary};

/// Knows names and classes that a test gives it.
struct Words(&'static [&'static str], &'static [(&'static str, &'static str)]);

impl Vocabulary for Words {
    fn is_known(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn has_class(&self, words: &str, class: &str) -> bool {
        self.1.contains(&(words, class))
    }
}

fn pattern(when: &str) -> Rules {
    rules(&format!(
        "[[rule]]\nwhen = {when:?}\nthen = \"{}\"\n",
        if when.contains("{y}") { "[{x}|{y}]" } else { "[{x}]" }
    ))
}

fn said(rules: &Rules, text: &str) -> Vec<String> {
    let found = rules.matches(text, &(), &Limits::default()).unwrap();
    found.texts.into_iter().map(|found| found.what).collect()
}

#[test]
fn a_pattern_fits_whole_sentences_only() {
    let rules = pattern("{x} was born in {y}.");
    for (text, expected) in [
        ("Ada was born in London.", "[Ada|London]"),
        ("It is late. Ada  King was\tborn in  New   York. Then she left.", "[Ada King|New York]"),
        ("A title\nAda was born in London.\nMore", "[Ada|London]"),
        ("E. A. Poe was born in St. Ives.", "[E. A. Poe|St. Ives]"),
        ("“Ada was born in London.” He knew.", "[Ada|London]"),
        ("Ada was born in London. Bob was born in Paris.", "[Ada|London] [Bob|Paris]"),
        ("Ada was born in\nLondon.", ""),
        ("Ada was born in London", ""),
        ("Ada was born in London!", ""),
        ("Ada was born in London?!", ""),
        ("He said “Ada was born in London.”", ""),
        ("Ada was Born in London.", ""),
        ("Ada was born in.", ""),
        ("was born in London.", ""),
        (
            "one two three four five six seven eight was born in a b c d e f g h.",
            "[one two three four five six seven eight|a b c d e f g h]",
        ),
        ("one two three four five six seven eight nine was born in London.", ""),
    ] {
        assert_eq!(said(&rules, text).join(" "), expected, "{text}");
    }
}

#[test]
fn without_an_end_mark_any_sentence_may_fit() {
    let rules = pattern("{x} was born in {y}");
    for text in [
        "Ada was born in London",
        "Ada was born in London.",
        "Ada was born in London!",
        "(Ada was born in London?)",
    ] {
        assert_eq!(said(&rules, text), ["[Ada|London]"], "{text}");
    }
}

#[test]
fn the_first_letter_of_a_sentence_may_have_either_case() {
    let rules = pattern("the capital of {x} is {y}.");
    assert_eq!(said(&rules, "The capital of France is Paris."), ["[France|Paris]"]);
    assert_eq!(said(&rules, "the capital of France is Paris."), ["[France|Paris]"]);
    assert!(said(&rules, "The Capital of France is Paris.").is_empty());
    let rules = pattern("Élan is {x}.");
    assert_eq!(said(&rules, "élan is good."), ["[good]"]);
    let rules = pattern("A {x}.");
    assert_eq!(said(&rules, "a thing."), ["[thing]"]);
}

#[test]
fn the_leftmost_variable_takes_the_fewest_words() {
    let rules = pattern("{x} is {y}.");
    assert_eq!(said(&rules, "What is is what is."), ["[What|is what is]"]);
    let rules = pattern("{x} {y} here.");
    assert_eq!(said(&rules, "a b c here."), ["[a|b c]"]);
}

#[test]
fn variables_stand_beside_punctuation_and_endings() {
    assert_eq!(
        said(&pattern("{x}'s capital is {y}."), "France's capital is Paris."),
        ["[France|Paris]"]
    );
    assert_eq!(
        said(&pattern("{x}, born in {y}, was there."), "Ada King, born in London, was there."),
        ["[Ada King|London]"]
    );
    assert_eq!(said(&pattern("{x}s are {y}."), "Cats are animals."), ["[Cat|animals]"]);
    assert_eq!(said(&pattern("{x} ({y}) is"), "Ada (1815) is"), ["[Ada|1815]"]);
    assert_eq!(said(&pattern("{x} → {y}"), "one → two"), ["[one|two]"]);
}

#[test]
fn a_variable_that_is_there_twice_stands_for_the_same_words() {
    let rules = pattern("{x} is {x}.");
    assert_eq!(said(&rules, "A  rose is a thorn. A rose is A rose."), ["[A rose]"]);
    let rules = pattern("{x} and {y} met {x}.");
    assert_eq!(said(&rules, "a and b and c met a and b."), ["[a and b|c]"]);
}

#[test]
fn limits_choose_what_a_variable_stands_for() {
    let file = |limit: &str| {
        rules(&format!(
            "[[rule]]\nwhen = \"{{x}} of {{y}} is big.\"\nthen = [\"{{x}}\", \"of\", \"{{y}}\"]\nwhere = {limit}\n"
        ))
    };
    let words = Words(&["City of York", "York"], &[("Leeds", "city")]);
    let found = |limit: &str, text: &str| {
        let found = file(limit).matches(text, &words, &Limits::default()).unwrap();
        let shown: Vec<String> = found.triples.iter().map(|found| found.what.to_string()).collect();
        shown.join("; ")
    };
    let text = "City of York of England is big. Half of Leeds is big.";
    assert_eq!(found("{}", text), "City, of, York of England; Half, of, Leeds");
    assert_eq!(found("{ x = \"known\" }", text), "City of York, of, England");
    assert_eq!(found("{ y = \"class:city\" }", text), "Half, of, Leeds");
    assert_eq!(found("{ y = \"words:2-3\" }", text), "City, of, York of England");
    assert_eq!(found("{ y = [\"words:1\", \"class:town\"] }", text), "");
}

#[test]
fn matches_say_which_rule_and_which_sentence() {
    let rules = rules(
        "[[rule]]\nwhen_any = [\"{x} likes {y}.\", \"{y} is liked by {x}.\"]\nthen = [[\"{x}\", \"likes\", \"{y}\"], [\"{x}\", \"is\", \"kind\"]]\nsay = \"{x} is kind to {y}.\"\n\
         [[rule]]\nwhen = \"It rains.\"\nthen = \"The street is wet.\"\n",
    );
    let text = "It rains. Boris is liked by Alan. Ünä likes Boris.";
    let found = rules.matches(text, &(), &Limits::default()).unwrap();
    let shown: Vec<(String, usize, &str)> = found
        .triples
        .iter()
        .map(|found| (found.what.to_string(), found.rule, &text[found.sentence.clone()]))
        .collect();
    let (first, second) = ("Boris is liked by Alan.", "Ünä likes Boris.");
    assert_eq!(
        shown,
        [
            ("Alan, is, kind".into(), 0, first),
            ("Alan, likes, Boris".into(), 0, first),
            ("Ünä, is, kind".into(), 0, second),
            ("Ünä, likes, Boris".into(), 0, second),
        ]
    );
    let texts: Vec<(&str, usize)> =
        found.texts.iter().map(|found| (&*found.what, found.rule)).collect();
    assert_eq!(
        texts,
        [("Alan is kind to Boris.", 0), ("The street is wet.", 1), ("Ünä is kind to Boris.", 0)]
    );
}

#[test]
fn a_rule_that_makes_too_much_of_a_text_meets_a_limit_by_name() {
    let text = "Alan likes Boris. ".repeat(20);
    let limits = Limits { triples: 10, texts: 10, ..Limits::default() };
    let triples = rules(
        "[[rule]]\nname = \"many\"\nwhen = \"{x} likes {y}.\"\nthen = [\"{x}\", \"likes\", \"{y}\"]\n",
    );
    let error = triples.matches(&text, &(), &limits).unwrap_err();
    assert!(
        matches!(&error, LimitError::Triples { rule, limit: 10 } if rule.contains("\"many\"")),
        "{error}"
    );
    let error = pattern("{x} likes {y}.").matches(&text, &(), &limits).unwrap_err();
    assert!(matches!(error, LimitError::Texts { limit: 10, .. }));
}
