//! Rules files: what may be written, and what is said about what may not.

use crate::rules;
use memo_knowledge::{RuleKind, Rules};

const FILE: &str = r#"
speak = true

[templates]
capital = ["The capital of {subject} is {object}.", "{object} is the capital of {subject}."]
"born in" = "{subject} was {predicate} {object}."

[[rule]]
name = "birthplace"
when = "{x} was born in {y}."
then = "The birthplace of {x} is {y}."
where = { x = "known", y = ["class:city", "words:1-3"] }

[[rule]]
when_any = ["{x} was born in {y}.", "{x}, born in {y}"]
then = ["{x}", "born in", "{y}"]

[[rule]]
when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
unless = [["{x}", "renounced", "{z}"]]
then = [["{x}", "nationality", "{z}"]]
say = "{x} is from {z}."

[[rule]]
when = ["{x}", "capital", "{y}"]
say = ["{y} is where {x} is governed from."]
"#;

#[test]
fn a_file_has_rules_of_each_kind() {
    let rules = rules(FILE);
    let infos: Vec<_> = (0..rules.len()).map(|rule| rules.info(rule)).collect();
    let kinds: Vec<(&str, RuleKind)> = infos.iter().map(|info| (&*info.name, info.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("birthplace", RuleKind::Text),
            ("rule 2", RuleKind::Extraction),
            ("rule 3", RuleKind::Inference),
            ("rule 4", RuleKind::Speech),
            ("born in", RuleKind::Template),
            ("capital", RuleKind::Template),
            ("speak", RuleKind::Speak),
        ]
    );
    assert_eq!(
        infos[2].text,
        "when ({x}, born in, {y}) and ({y}, country, {z}) unless ({x}, renounced, {z}) then ({x}, nationality, {z}) say “{x} is from {z}.”"
    );
    assert_eq!(
        infos[1].text,
        "when “{x} was born in {y}.” or “{x}, born in {y}” then ({x}, born in, {y})"
    );
    assert!(infos.iter().all(|info| info.source == "test.toml" && !info.text.contains('\n')));
    assert!(rules.reads_text() && rules.uses_known() && !rules.is_empty());
    assert!(!Rules::default().reads_text() && Rules::default().is_empty());
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_remedy() {
    let rule = |lines: &str| format!("[[rule]]\n{lines}\n");
    for (text, place, part) in [
        ("rule = [".to_owned(), (1, 9), "this is no TOML"),
        ("spaek = true".into(), (1, 1), "did you mean `speak`?"),
        (rule("when = \"{x} is.\"\nthan = \"a\""), (3, 1), "did you mean `then`?"),
        (rule("colour = 1"), (2, 1), "there are name, when,"),
        ("speak = \"yes\"".into(), (1, 9), "true or false"),
        ("[rule]\nwhen = \"{x} is.\"".into(), (1, 1), "two brackets"),
        (rule("then = \"a\""), (1, 1), "has no `when`"),
        (rule("when = \"{x} is.\""), (1, 1), "makes nothing"),
        (rule("when = \"{x} is.\"\nthen = \"{y}\""), (3, 8), "{y} is not in `when` (there: {x})"),
        (rule("when = \"{x}.\"\nthen = \"a\""), (2, 8), "matches everything"),
        (rule("when = \"{x} {y}, {z}?\"\nthen = \"a\""), (2, 8), "matches everything"),
        (rule("when = \"{x}{y} is\"\nthen = \"a\""), (2, 8), "side by side"),
        (
            rule("when = \"He was here. She is {x}.\"\nthen = \"a\""),
            (2, 8),
            "more than one sentence",
        ),
        (rule("when = \"{x is\"\nthen = \"a\""), (2, 8), "without its `}`"),
        (rule("when = \"{x} is.\"\nthen = [\"a\", \"b\"]"), (3, 8), "use `say`"),
        (rule("when = [\"a is {x}\", \"b\"]\nthen = \"c\""), (2, 8), "use `when_any`"),
        (rule("when = [\"{x}\", \"p\", \"the {y}\"]\nsay = \"c\""), (2, 21), "not one term"),
        (
            rule("when = \"{x} is.\"\nthen = [[\"a\", \"b\", \"c\"], \"d\"]"),
            (3, 26),
            "texts under `say`",
        ),
        (rule("when = [\"{x}\", \"\", \"y\"]\nsay = \"c\""), (2, 16), "is empty"),
        (rule("when = []\nsay = \"c\""), (2, 8), "is empty"),
        (rule("when = \"{x} is.\"\nthen = \"\""), (3, 8), "empty text"),
        (
            rule("when = \"{x} is.\"\nthen = \"a\"\nwhere = { y = \"known\" }"),
            (4, 11),
            "{y} is not in",
        ),
        (
            rule("when = \"{x} is.\"\nthen = \"a\"\nwhere = { x = \"famous\" }"),
            (4, 15),
            "is no limit",
        ),
        (
            rule("when = \"{x} is.\"\nthen = \"a\"\nwhere = { x = \"words:3-2\" }"),
            (4, 15),
            "no number of words",
        ),
        (
            rule("when = \"{x} is.\"\nthen = \"a\"\nwhere = { x = \"words:1-9\" }"),
            (4, 15),
            "up to 8",
        ),
        (
            rule("when = [\"{x}\", \"p\", \"y\"]\nsay = \"a\"\nwhere = { x = \"known\" }"),
            (4, 9),
            "is for a `when` that is a text",
        ),
        (
            rule("when = \"{x} is.\"\nthen = \"a\"\nunless = [\"{x}\", \"p\", \"y\"]"),
            (4, 10),
            "`unless` is for a `when` of triples",
        ),
        (
            rule("when_any = [\"{x} is.\", \"{x} was {y}.\"]\nthen = \"a\""),
            (2, 12),
            "different variables",
        ),
        (rule("when_any = [\"{x} was {y}.\", \"{x} is.\"]\nthen = \"a\""), (2, 29), "has no {y}"),
        (
            rule("when = \"{x} is.\"\nwhen_any = \"{x} is.\"\nthen = \"a\""),
            (3, 12),
            "both into `when_any`",
        ),
        ("[templates]\ncapital = \"{x} is.\"".into(), (2, 11), "{x} is not in `when`"),
        ("[templates]\nborn.in = \"{subject} is.\"".into(), (2, 1), "in quotation marks"),
        ("[templates]\ncapital = 3".into(), (2, 11), "a text in quotation marks"),
    ] {
        let error = Rules::parse(&text, "test.toml").unwrap_err();
        assert!(error.problem.contains(part), "{text}\n{error}");
        assert_eq!(error.place, Some(place), "{text}\n{error}");
        assert!(error.to_string().starts_with("test.toml, line "), "{error}");
    }
}

#[test]
fn rules_that_ask_for_the_absence_of_what_they_make_are_refused_by_name() {
    let own = "[[rule]]\nname = \"liar\"\nwhen = [\"{x}\", \"says\", \"{y}\"]\nunless = [\"{x}\", \"lies\", \"{y}\"]\nthen = [\"{x}\", \"lies\", \"{y}\"]\n";
    let error = Rules::parse(own, "a.toml").unwrap_err();
    assert!(
        error.to_string().starts_with("a.toml: the rule \"liar\" in a.toml asks in `unless`"),
        "{error}"
    );

    let rule = |name: &str, when: &str, unless: &str, then: &str| {
        let unless = if unless.is_empty() {
            String::new()
        } else {
            format!("unless = [\"{{x}}\", \"{unless}\", \"{{y}}\"]\n")
        };
        format!(
            "[[rule]]\nname = \"{name}\"\nwhen = [\"{{x}}\", \"{when}\", \"{{y}}\"]\n{unless}then = [\"{{x}}\", \"{then}\", \"{{y}}\"]\n"
        )
    };
    let one = rule("first", "p", "q", "r");
    let mut rules = Rules::parse(&one, "one.toml").unwrap();
    let two = Rules::parse(&rule("second", "r", "", "q"), "two.toml").unwrap();
    let error = rules.extend(two).unwrap_err().to_string();
    assert!(
        error.contains("\"first\" in one.toml") && error.contains("\"second\" in two.toml"),
        "{error}"
    );
    // What could not be added has changed nothing.
    assert_eq!(rules.len(), 1);
    rules.extend(Rules::parse(&rule("third", "s", "", "q"), "three.toml").unwrap()).unwrap();
    assert_eq!(rules.info(1).source, "three.toml");
}

#[test]
fn a_predicate_that_is_a_variable_may_be_any_in_the_order_of_rules() {
    let text = "[[rule]]\nwhen = [[\"{x}\", \"{p}\", \"{y}\"], [\"{p}\", \"is\", \"symmetric\"]]\nunless = [\"{x}\", \"differs from\", \"{y}\"]\nthen = [\"{y}\", \"{p}\", \"{x}\"]\n";
    let error = Rules::parse(text, "a.toml").unwrap_err().to_string();
    assert!(error.contains("no right order"), "{error}");
}
