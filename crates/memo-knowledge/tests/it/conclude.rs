//! What follows from facts.

use crate::{conclude, facts, rules, triple, try_conclude};
use memo_knowledge::{LimitError, Limits, Rules, Triple};
use std::ops::ControlFlow;

const FAMILY: &str = r#"
[[rule]]
name = "parents"
when = ["{x}", "child of", "{y}"]
then = [["{y}", "parent of", "{x}"], ["{y}", "is", "parent"]]

[[rule]]
name = "ancestors"
when = ["{x}", "parent of", "{y}"]
then = ["{x}", "ancestor of", "{y}"]

[[rule]]
name = "older ancestors"
when = [["{x}", "ancestor of", "{y}"], ["{y}", "ancestor of", "{z}"]]
then = ["{x}", "ancestor of", "{z}"]

[[rule]]
name = "childless"
when = ["{x}", "is", "person"]
unless = ["{x}", "is", "parent"]
then = ["{x}", "is", "childless"]
say = "{x} has no children."
"#;

#[test]
fn facts_follow_from_facts_with_the_shortest_reason() {
    let base = facts("Bo, child of, Al\nCy, child of, Bo\nAl, is, person\nCy, is, person");
    let found = conclude(&rules(FAMILY), &base);
    let all: Vec<String> = found.triples.iter().map(|found| found.what.to_string()).collect();
    assert_eq!(
        all,
        [
            "Al, ancestor of, Bo",
            "Al, ancestor of, Cy",
            "Al, is, parent",
            "Al, parent of, Bo",
            "Bo, ancestor of, Cy",
            "Bo, is, parent",
            "Bo, parent of, Cy",
            "Cy, is, childless",
        ]
    );
    let number = |text: &str| {
        let place = found.triples.iter().position(|found| found.what == triple(text));
        let given = base.iter().position(|fact| *fact == triple(text));
        given.unwrap_or_else(|| base.len() + place.unwrap())
    };
    let oldest = &found.triples[1];
    assert_eq!(oldest.rule, 2);
    assert_eq!(oldest.from, [number("Al, ancestor of, Bo"), number("Bo, ancestor of, Cy")]);
    assert_eq!(found.triples[7].from, [number("Cy, is, person")]);
    assert_eq!(found.texts[0].what, "Cy has no children.");
    assert_eq!((found.texts.len(), found.texts[0].rule), (1, 3));
}

#[test]
fn templates_say_all_facts_and_speak_says_the_rest() {
    let text = "[templates]\ncapital = [\"The capital of {subject} is {object}.\", \"{object}!\"]\n[[rule]]\nwhen = [\"{x}\", \"capital\", \"{y}\"]\nthen = [\"{y}\", \"in\", \"{x}\"]\n";
    let base = facts("France, capital, Paris\nSpain, capital, Madrid");
    let said = |rules: &Rules| -> Vec<String> {
        conclude(rules, &base).texts.into_iter().map(|found| found.what).collect()
    };
    let mut rules = rules(text);
    let spoken =
        ["Madrid!", "Paris!", "The capital of France is Paris.", "The capital of Spain is Madrid."];
    assert_eq!(said(&rules), spoken);
    rules.extend(Rules::parse("speak = true", "b.toml").unwrap()).unwrap();
    let spoken = [
        "Madrid in Spain.",
        "Madrid!",
        "Paris in France.",
        "Paris!",
        "The capital of France is Paris.",
        "The capital of Spain is Madrid.",
    ];
    assert_eq!(said(&rules), spoken);
    rules
        .extend(Rules::parse("[templates]\nin = \"{object} has {subject}.\"", "c.toml").unwrap())
        .unwrap();
    assert!(said(&rules).contains(&"Spain has Madrid.".into()));
    assert!(!said(&rules).contains(&"Madrid in Spain.".into()));
}

#[test]
fn a_predicate_may_be_a_variable() {
    let rules = rules(
        "[[rule]]\nwhen = [[\"{x}\", \"{p}\", \"{y}\"], [\"{p}\", \"is\", \"symmetric\"]]\nthen = [\"{y}\", \"{p}\", \"{x}\"]\n",
    );
    let base = facts("Al, knows, Bo\nknows, is, symmetric\nAl, likes, Bo");
    let found = conclude(&rules, &base);
    let all: Vec<String> = found.triples.iter().map(|found| found.what.to_string()).collect();
    assert_eq!(all, ["Bo, knows, Al"]);
    assert_eq!(found.triples[0].from, [0, 2]);
}

#[test]
fn the_same_text_is_said_once_for_its_first_reason() {
    let rules = rules(
        "[[rule]]\nwhen = [\"{x}\", \"visited\", \"{y}\"]\nsay = \"{x} travels.\"\n[[rule]]\nwhen = [\"{x}\", \"is\", \"sailor\"]\nsay = \"{x} travels.\"\n",
    );
    let found = conclude(
        &rules,
        &facts("Al, is, sailor\nAl, visited, Rome\nAl, visited, Turin\nBo, is, sailor"),
    );
    let texts: Vec<(&str, usize, &[usize])> =
        found.texts.iter().map(|found| (&*found.what, found.rule, &*found.from)).collect();
    assert_eq!(texts, [("Al travels.", 0, &[1][..]), ("Bo travels.", 1, &[3][..])]);
}

fn pairs(count: usize) -> Vec<Triple> {
    let mut facts: Vec<Triple> = (0..count)
        .flat_map(|n| {
            [Triple::new(format!("a{n}"), "p", "x"), Triple::new(format!("b{n}"), "q", "y")]
        })
        .collect();
    facts.sort();
    facts
}

#[test]
fn a_join_of_everything_with_everything_meets_a_limit_by_name() {
    let text = "[[rule]]\nname = \"small\"\nwhen = [\"{x}\", \"p\", \"{y}\"]\nthen = [\"{x}\", \"s\", \"{y}\"]\n[[rule]]\nname = \"big\"\nwhen = [[\"{x}\", \"p\", \"{c}\"], [\"{y}\", \"q\", \"{d}\"]]\n";
    let makes = rules(&format!("{text}then = [\"{{x}}\", \"r\", \"{{y}}\"]\n"));
    let error = try_conclude(&makes, &pairs(1_500), Limits::default()).unwrap_err();
    assert!(
        matches!(&error, LimitError::Triples { rule, limit: 1_000_000 } if rule == "the rule \"big\" in test.toml"),
        "{error}"
    );
    let says = rules(&format!("{text}say = \"{{x}} {{y}}\"\n"));
    let limits = Limits { texts: 1_000, ..Limits::default() };
    let error = try_conclude(&says, &pairs(100), limits).unwrap_err();
    assert!(
        matches!(&error, LimitError::Texts { rule, limit: 1_000 } if rule.contains("\"big\"")),
        "{error}"
    );
    // A million steps that make nothing new are stopped too.
    let nothing = rules(&format!("{text}then = [\"{{x}}\", \"p\", \"{{c}}\"]\n"));
    let limits = Limits { joined: 1_000_000, ..Limits::default() };
    let error = try_conclude(&nothing, &pairs(1_500), limits).unwrap_err();
    assert!(
        matches!(&error, LimitError::Joined { rule, .. } if rule.contains("\"big\"")),
        "{error}"
    );
    assert!(error.to_string().contains("give its triples variables or names in common"));
}

#[test]
fn texts_that_are_the_same_count_once_for_their_limit() {
    let rules = rules(
        "[[rule]]\nwhen = [[\"{x}\", \"p\", \"{c}\"], [\"{y}\", \"q\", \"{d}\"]]\nsay = \"{x}\"\n",
    );
    let limits = Limits { texts: 100, ..Limits::default() };
    assert_eq!(try_conclude(&rules, &pairs(100), limits).unwrap().texts.len(), 100);
}

#[test]
fn a_circle_of_facts_ends() {
    let rules = rules(
        "[[rule]]\nwhen = [[\"{x}\", \"near\", \"{y}\"], [\"{y}\", \"near\", \"{z}\"]]\nthen = [\"{x}\", \"near\", \"{z}\"]\n",
    );
    let mut circle: Vec<Triple> =
        (0..60).map(|n| Triple::new(format!("{n}"), "near", format!("{}", (n + 1) % 60))).collect();
    circle.sort();
    assert_eq!(conclude(&rules, &circle).triples.len(), 60 * 60 - 60);
}

#[test]
fn a_variable_for_everything_meets_a_limit() {
    let rules = rules(
        "[[rule]]\nname = \"all\"\nwhen = [[\"{a}\", \"{p}\", \"{b}\"], [\"{c}\", \"{q}\", \"{d}\"], [\"{e}\", \"{r}\", \"{f}\"]]\nthen = [\"{a}\", \"{q}\", \"{f}\"]\n",
    );
    let error = try_conclude(&rules, &pairs(5_000), Limits::default()).unwrap_err();
    assert!(
        !matches!(error, LimitError::Stopped) && error.to_string().contains("\"all\""),
        "{error}"
    );
}

#[test]
fn an_observer_stops_the_work() {
    let rules = rules(
        "[[rule]]\nwhen = [[\"{x}\", \"p\", \"{c}\"], [\"{y}\", \"q\", \"{d}\"]]\nthen = [\"{x}\", \"r\", \"{y}\"]\n",
    );
    let mut last = 0;
    let stopped = rules.conclude(&pairs(500), &Limits::default(), &mut |made| {
        last = made;
        if made > 10_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(stopped.unwrap_err(), LimitError::Stopped);
    assert!((10_000..20_000).contains(&last));
}

#[test]
fn nothing_follows_from_nothing() {
    let rules = rules(FAMILY);
    assert_eq!(conclude(&rules, &[]), memo_knowledge::Conclusions::default());
    assert_eq!(
        conclude(&Rules::default(), &facts("a, b, c")),
        memo_knowledge::Conclusions::default()
    );
}
