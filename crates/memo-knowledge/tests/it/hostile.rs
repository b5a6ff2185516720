//! Input that means harm, or is damaged, ends in an error and never in a crash.

use crate::rules;
use memo_knowledge::{Graph, GraphErrorKind, GraphFormat, GraphOptions, LimitError, Limits, Rules};
use proptest::prelude::*;
use std::fmt::Write as _;

fn read(bytes: &[u8], format: GraphFormat) -> Result<Graph, memo_knowledge::GraphError> {
    Graph::read(bytes, format, &GraphOptions::default())
}

#[test]
fn nesting_does_not_exhaust_the_stack() {
    let deep = 200_000;
    let json = |open: &str, close: &str| open.repeat(deep) + &close.repeat(deep);
    for text in [
        json("[", "]"),
        "[".repeat(deep),
        json("{\"http://e/p\":", "}"),
        format!("{{\"@context\": {}}}", json("{\"a\":", "}")),
        format!("{{\"http://e/p\": {{\"@type\": \"@json\", \"@value\": {}}}}}", json("[", "]")),
    ] {
        let error = read(text.as_bytes(), GraphFormat::JsonLd).unwrap_err();
        assert!(matches!(error.kind, GraphErrorKind::Nesting { .. }), "{error}");
    }
    let lists = format!("<http://e/s> <http://e/p> {}{} .", "( ".repeat(deep), ") ".repeat(deep));
    let _ = read(lists.as_bytes(), GraphFormat::Turtle);
    let nodes = format!(
        "<http://e/s> {}<http://e/p> 1{} .",
        "<http://e/p> [ ".repeat(deep),
        " ]".repeat(deep)
    );
    assert_eq!(read(nodes.as_bytes(), GraphFormat::Turtle).unwrap().len(), deep + 1);
    let mut xml = String::from(
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">",
    );
    xml += &"<e:a><e:p>".repeat(20_000);
    xml += &"</e:p></e:a>".repeat(20_000);
    assert_eq!(read((xml + "</rdf:RDF>").as_bytes(), GraphFormat::RdfXml).unwrap().len(), 40_000);
    for text in [
        format!("a = {}", "[".repeat(deep)),
        format!("a{} = 1", ".a".repeat(deep)),
        format!("[{}a", "a.".repeat(deep)),
    ] {
        assert!(Rules::parse(&text, "deep.toml").is_err());
    }
}

#[test]
fn definitions_of_a_context_that_follow_each_other_do_not_exhaust_the_stack() {
    let chain = |length: usize| {
        let mut text = String::from("{\"@context\": {");
        for n in 0..length {
            let _ = write!(text, "\"t{n}\": \"t{}:x\", ", n + 1);
        }
        write!(text, "\"t{length}\": \"http://e/\"}}, \"@id\": \"http://e/s\", \"t0\": 1}}")
            .unwrap();
        text
    };
    let graph = read(chain(4_000).as_bytes(), GraphFormat::JsonLd).unwrap();
    assert_eq!(graph.len(), 1);
    let error = read(chain(100_000).as_bytes(), GraphFormat::JsonLd).unwrap_err();
    assert!(matches!(error.kind, GraphErrorKind::Nesting { limit: 4096, .. }), "{error}");
    // The key may be hidden behind an escape.
    let hidden = chain(100_000).replace("@context", "\\u0040context");
    assert!(read(hidden.as_bytes(), GraphFormat::JsonLd).is_err());
}

#[test]
fn half_a_file_is_an_error_in_every_format_that_can_tell() {
    let xml = "<?xml version=\"1.0\"?>\n<!-- <a> -->\n<!DOCTYPE rdf:RDF [<!ENTITY x \"http://e/\">]>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">\n<e:a><e:p>1</e:p></e:a>\n<e:b><e:p>2</e:p></e:b>\n</rdf:RDF>\n";
    assert_eq!(read(xml.as_bytes(), GraphFormat::RdfXml).unwrap().len(), 4);
    let whole = xml.trim_end().len();
    let body = xml.find("<e:a>").unwrap();
    for end in body..whole {
        assert!(read(&xml.as_bytes()[..end], GraphFormat::RdfXml).is_err(), "{}", &xml[..end]);
    }
    let json = "{\"@id\": \"http://e/a\", \"http://e/p\": [1, 2]}";
    for end in 1..json.len() {
        assert!(read(&json.as_bytes()[..end], GraphFormat::JsonLd).is_err(), "{}", &json[..end]);
    }
}

#[test]
fn entities_of_xml_do_not_explode() {
    let mut text = String::from("<!DOCTYPE x [<!ENTITY e0 \"lol\">");
    for n in 1..40 {
        let _ = write!(text, "<!ENTITY e{n} \"&e{0};&e{0};\">", n - 1);
    }
    text += "]><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\"><e:a><e:p>&e39;</e:p></e:a></rdf:RDF>";
    let error = read(text.as_bytes(), GraphFormat::RdfXml).unwrap_err();
    assert!(matches!(error.kind, GraphErrorKind::Entities { .. }), "{error}");
    let body = |references: usize| {
        let (entity, text) = ("x".repeat(10_000), "&e;".repeat(references));
        format!(
            "<!DOCTYPE x [<!ENTITY e \"{entity}\">]><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\"><e:a><e:p>{text}</e:p></e:a></rdf:RDF>"
        )
    };
    assert!(read(body(3).as_bytes(), GraphFormat::RdfXml).unwrap().to_text().len() > 30_000);
    let error = read(body(200_000).as_bytes(), GraphFormat::RdfXml).unwrap_err();
    assert!(matches!(error.kind, GraphErrorKind::Entities { .. }), "{error}");
}

#[test]
fn a_sentence_that_fits_in_too_many_ways_meets_a_limit_by_name() {
    let variables =
        |count: usize| (0..count).map(|n| format!("{{v{n}}}")).collect::<Vec<_>>().join(" ");
    let text = format!("{}x fin.", "a ".repeat(80));
    let limits = Limits { tried: 50_000, ..Limits::default() };
    // What failed once is not tried again, so ten variables have no more than a few ways at each place.
    let once = rules(&format!("[[rule]]\nwhen = \"{} fin.\"\nthen = \"a\"\n", variables(10)));
    assert!(once.matches(&text, &(), &limits).unwrap().texts.is_empty());
    // With repetition, each place depends on others.
    let twice = format!("{0} {0} x x fin.", variables(10));
    let twice = rules(&format!("[[rule]]\nname = \"wild\"\nwhen = \"{twice}\"\nthen = \"a\"\n"));
    let error = twice.matches(&text, &(), &limits).unwrap_err();
    assert!(
        matches!(&error, LimitError::Tried { rule, sentence: 0, .. } if rule.contains("\"wild\"")),
        "{error}"
    );
}

#[test]
fn what_is_too_long_to_be_a_sentence_is_left_out() {
    let rules = rules("[[rule]]\nwhen = \"{x}'s {y}\"\nthen = \"{x} {y}\"\n");
    let text = "a's".repeat(1_000_000);
    assert!(rules.matches(&text, &(), &Limits::default()).unwrap().texts.is_empty());
}

proptest! {
    #[test]
    fn no_bytes_break_a_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in GraphFormat::ALL {
            if let Ok(graph) = read(&bytes, format) {
                let again = Graph::from_text(&graph.to_text());
                prop_assert_eq!(again.unwrap(), graph);
            }
        }
    }

    #[test]
    fn no_almost_right_file_breaks_a_reader(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "<http://e/a>", "<a>", "\"x\"", "\"x\"@en", "_:b", "[", "]", "(", ")", ".", ";", ",", " ", "\n", "\t",
            "@prefix e: <http://e/> .", "e:a", "a", "{", "}", "\"@id\"", "\"@context\"", ":", "\"http://e/p\"", "1", "true",
            "\\", "\"", "^^", "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">", "</rdf:RDF>", "é",
            "\"@graph\"", "\"@list\"", "null", "%", "#", "\u{feff}", "<<", ">>",
        ]), 0..40)
    ) {
        let text = parts.concat();
        for format in GraphFormat::ALL {
            if let Ok(graph) = read(text.as_bytes(), format) {
                prop_assert_eq!(&Graph::from_text(&graph.to_text()).unwrap(), &graph);
                prop_assert_eq!(read(text.as_bytes(), format).unwrap(), graph);
            }
        }
        let _ = Graph::from_text(&text);
    }

    #[test]
    fn no_text_breaks_rules(text in "\\PC{0,80}", file in "\\PC{0,60}") {
        let _ = Rules::parse(&file, "any.toml");
        let rules = rules("[[rule]]\nwhen = \"{x}a{y}\"\nthen = \"{x}{y}\"\n[[rule]]\nwhen = \"e {x}.\"\nthen = \"{x}\"\n");
        let found = rules.matches(&text, &(), &Limits::default()).unwrap();
        for found in found.texts {
            prop_assert!(text.get(found.sentence).is_some());
        }
    }

    #[test]
    fn no_almost_right_rules_break_the_parser(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "[[rule]]\n", "[templates]\n", "when = ", "then = ", "say = ", "unless = ", "where = ", "when_any = ", "name = ",
            "\"{x} is {y}.\"\n", "[\"{x}\", \"p\", \"{y}\"]\n", "[[\"{x}\", \"p\", \"{y}\"]]\n", "\"{x}\"\n", "{ x = \"known\" }\n",
            "p = ", "true\n", "1\n", "[]\n", "\"\"\n", "speak = ", "\"{{\"\n",
        ]), 0..16)
    ) {
        let text = parts.concat();
        if let Ok(rules) = Rules::parse(&text, "any.toml") {
            for rule in 0..rules.len() {
                prop_assert!(!rules.info(rule).text.is_empty());
            }
            let (mut both, count) = (rules.clone(), rules.len());
            if both.extend(rules).is_ok() {
                prop_assert_eq!(both.len(), 2 * count);
            }
        }
    }
}
