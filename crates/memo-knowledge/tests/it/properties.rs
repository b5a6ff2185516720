//! Graphs that are written are read again as they were, in any order; patterns fit as their definition says.

use crate::rules;
use memo_knowledge::{Graph, GraphFormat, GraphOptions, Limits, Triple};
use proptest::prelude::*;

/// Terms of the text form by position; without blank nodes, whose labels are a file's own.
fn term(object: bool, predicate: bool) -> BoxedStrategy<String> {
    let iri = "<http://e/[a-z%_]{0,4}>".prop_filter("an IRI", |iri| !iri.contains('%'));
    let name = "[a-zA-Z0-9 é→#%'._-]{0,8}[a-z]"
        .prop_map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    let label = proptest::sample::select(vec![
        "<http://www.w3.org/2000/01/rdf-schema#label>".to_owned(),
        "<http://www.w3.org/2004/02/skos/core#prefLabel>".to_owned(),
    ]);
    let literal = (
        "[ -~é\u{1F600}]{0,8}",
        proptest::sample::select(vec!["", "@en", "@it", "@en-gb", "^^<http://e/t>"]),
    )
        .prop_map(|(text, end)| {
            format!("\"{}\"{end}", text.replace('\\', "\\\\").replace('"', "\\\""))
        });
    match (object, predicate) {
        (true, _) => prop_oneof![iri, name, literal].boxed(),
        (_, true) => prop_oneof![iri, name, label].boxed(),
        _ => prop_oneof![iri, name].boxed(),
    }
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = (term(false, false), term(false, true), term(true, false))
        .prop_map(|(subject, predicate, object)| format!("{subject}\t{predicate}\t{object}"));
    proptest::collection::vec(line, 0..12)
}

proptest! {
    #[test]
    fn a_graph_comes_back_from_its_text_and_from_every_format(
        lines in lines(),
        language in proptest::option::of(proptest::sample::select(vec!["en", "it"])),
    ) {
        let head = language.map(|language| format!("# language: {language}\n")).unwrap_or_default();
        let graph = Graph::from_text(&format!("{head}{}", lines.join("\n"))).unwrap();
        prop_assert_eq!(&Graph::from_text(&graph.to_text()).unwrap(), &graph);
        let options = GraphOptions { language: language.map(String::from) };
        for format in GraphFormat::ALL.into_iter().filter(|format| format.is_written()) {
            let text = graph.write(format);
            let again = Graph::read(text.as_bytes(), format, &options);
            prop_assert_eq!(&again.unwrap(), &graph, "{}: {}", format, text);
        }
        let facts = graph.facts();
        prop_assert!(facts.is_sorted() && facts.windows(2).all(|pair| pair[0] != pair[1]));
        prop_assert_eq!(graph.report().facts, facts.len());
    }

    #[test]
    fn the_order_of_lines_changes_nothing(lines in lines(), seed in any::<u64>()) {
        let mut other = lines.clone();
        other.sort_by_key(|line| line.bytes().fold(seed, |hash, byte| hash.rotate_left(7).wrapping_mul(31) ^ u64::from(byte)));
        let (one, other) = (Graph::from_text(&lines.join("\n")).unwrap(), Graph::from_text(&other.join("\n")).unwrap());
        prop_assert_eq!(one.to_text(), other.to_text());
        prop_assert_eq!(one.report(), other.report());
        prop_assert_eq!(one.facts(), other.facts());
    }

    #[test]
    fn any_names_that_are_inserted_are_facts(names in proptest::collection::vec(["\\PC{1,6}", "\\PC{1,6}", "\\PC{1,6}"], 0..5)) {
        let mut graph = Graph::default();
        let mut expected = Vec::new();
        for [subject, predicate, object] in &names {
            let triple = Triple::new(subject, predicate, object);
            let added = graph.insert(&triple);
            let collapsed = [subject, predicate, object].map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
            if collapsed.iter().all(|name| !name.is_empty()) {
                let [subject, predicate, object] = collapsed;
                let triple = Triple { subject, predicate, object };
                prop_assert_eq!(added, !expected.contains(&triple));
                expected.push(triple);
            }
        }
        expected.sort();
        expected.dedup();
        prop_assert_eq!(graph.facts(), expected);
        prop_assert_eq!(&Graph::from_text(&graph.to_text()).unwrap(), &graph);
        let turtle = graph.write(GraphFormat::Turtle);
        prop_assert_eq!(Graph::read(turtle.as_bytes(), GraphFormat::Turtle, &GraphOptions::default()).unwrap(), graph);
    }
}

/// A word of a pattern: below 3 a word as it is, else a variable.
fn divide<'a>(
    pattern: &[usize],
    words: &[&'a str],
    values: &mut [Option<Vec<&'a str>>; 3],
) -> bool {
    let Some((first, pattern)) = pattern.split_first() else { return words.is_empty() };
    if *first < 3 {
        return words.first() == Some(&WORDS[*first]) && divide(pattern, &words[1..], values);
    }
    (1..=8.min(words.len())).any(|count| {
        let (value, before) = (words[..count].to_vec(), values[first - 3].clone());
        if before.as_ref().is_some_and(|before| *before != value) {
            return false;
        }
        values[first - 3] = Some(value);
        let fits = divide(pattern, &words[count..], values);
        if !fits {
            values[first - 3] = before;
        }
        fits
    })
}

const WORDS: [&str; 3] = ["is", "on", "up"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_pattern_fits_as_its_definition_says(
        pattern in proptest::collection::vec(0..6_usize, 1..6)
            .prop_filter("has a word", |pattern| pattern.iter().any(|part| *part < 3)),
        sentence in proptest::collection::vec(proptest::sample::select(vec!["is", "on", "up", "it"]), 1..12),
    ) {
        let part = |part: &usize| if *part < 3 { WORDS[*part].to_owned() } else { format!("{{v{part}}}") };
        let when = pattern.iter().map(part).collect::<Vec<_>>().join(" ");
        let mut used: Vec<usize> = pattern.iter().copied().filter(|part| *part >= 3).collect();
        used.sort_unstable();
        used.dedup();
        let then: Vec<String> = used.iter().map(|variable| format!("{{v{variable}}}")).collect();
        let rules = rules(&format!("[[rule]]\nwhen = \"{when}.\"\nthen = \"[{}]\"\n", then.join("|")));
        let text = format!("Up. {}. Up.", sentence.join("  "));
        let found = rules.matches(&text.replace("Up. ", "Upwards!\n"), &(), &Limits::default()).unwrap();
        let mut values = [None, None, None];
        let expected = divide(&pattern, &sentence, &mut values).then(|| {
            let values: Vec<String> = used.iter().map(|variable| values[variable - 3].as_ref().unwrap().join(" ")).collect();
            format!("[{}]", values.join("|"))
        });
        let first = found.texts.iter().find(|found| found.sentence.start == "Upwards!\n".len());
        prop_assert_eq!(first.map(|found| found.what.clone()), expected, "{}", when);
    }
}
