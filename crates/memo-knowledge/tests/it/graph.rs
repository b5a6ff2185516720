//! Graphs: names, formats, and what is kept.

use crate::{facts, triple};
use memo_knowledge::{
    Graph, GraphError, GraphErrorKind, GraphFormat, GraphOptions, Triple, TriplePattern,
};

fn read_in(text: &str, format: GraphFormat, language: Option<&str>) -> Result<Graph, GraphError> {
    Graph::read(text.as_bytes(), format, &GraphOptions { language: language.map(String::from) })
}

fn read(text: &str, format: GraphFormat) -> Graph {
    read_in(text, format, None).unwrap()
}

const LABELS: &str = r#"
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
:Q90 rdfs:label "Paris"@en, "Parigi"@it, "Paname" ; foaf:name "City of Light" .
:Q38 skos:prefLabel "Italy"@en-GB ; rdfs:label "Italie"@fr .
:P36 rdfs:label "capital"@en .
:Q38 :P36 :Rome_the%20city .
:Q142 :P36 :Q90 ; :population 68000000 ; :motto "Liberté,\n  égalité"@fr .
:Q142 :seat [ rdfs:label "a room" ; :in :Q90 ] .
<http://example.org/list/> :has :Q38 .
"#;

#[test]
fn things_are_called_as_their_labels_say() {
    let names = |language| {
        let graph = read_in(LABELS, GraphFormat::Turtle, language).unwrap();
        let capital =
            TriplePattern { object: None, predicate: Some("capital".into()), subject: None };
        let facts = graph.facts();
        let found: Vec<String> =
            facts.iter().filter(|fact| capital.matches(fact)).map(ToString::to_string).collect();
        found.join("; ")
    };
    assert_eq!(names(None), "Italy, capital, Rome the city; Q142, capital, Paname");
    assert_eq!(names(Some("it")), "Italy, capital, Rome the city; Q142, capital, Parigi");
    assert_eq!(names(Some("EN")), "Italy, capital, Rome the city; Q142, capital, Paris");
    assert_eq!(names(Some("fr")), "Italie, capital, Rome the city; Q142, capital, Paname");
}

#[test]
fn a_report_counts_what_is_a_fact_and_what_is_not() {
    let graph = read_in(LABELS, GraphFormat::Turtle, Some("en")).unwrap();
    let expected = facts(
        "Italy, capital, Rome the city
         Q142, capital, Paris
         Q142, population, 68000000
         list, has, Italy",
    );
    let mut facts = graph.facts();
    let motto = Triple::new("Q142", "motto", "Liberté, égalité");
    assert!(facts.contains(&motto));
    facts.retain(|fact| *fact != motto);
    assert_eq!(facts, expected);
    let report = graph.report();
    assert_eq!((report.triples, report.facts, report.labels, report.blank), (15, 5, 8, 3));
    assert!(report.same_name.is_empty());
}

#[test]
fn names_that_several_things_share_are_reported() {
    let text =
        "<http://a/x>\tp\tone\n<http://b/x>\tp\ttwo\nx\tp\tthree\nx\tp\tthree\n\"x\"\tp\tfour";
    let error = read_in(text, GraphFormat::Table, None).unwrap_err();
    assert_eq!(error.line, Some(5));
    let text = text.replace("\"x\"", "y");
    let report = read(&text, GraphFormat::Table).report();
    assert_eq!(report.same_name, ["x"]);
    assert_eq!((report.triples, report.duplicates, report.facts), (4, 1, 4));
}

#[test]
fn every_format_says_the_same() {
    let turtle = "@prefix e: <http://e/> . e:Ada e:born_in e:London ; e:year 1815 .";
    let triples = "<http://e/Ada> <http://e/born_in> <http://e/London> .\n<http://e/Ada> <http://e/year> \"1815\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n";
    let quads = "<http://e/Ada> <http://e/born_in> <http://e/London> <http://g/1> .\n<http://e/Ada> <http://e/year> \"1815\"^^<http://www.w3.org/2001/XMLSchema#integer> <http://g/2> .\n";
    let json = r#"{"@context": {"@vocab": "http://e/"}, "@graph": [{"@id": "http://e/g", "@graph": [{"@id": "http://e/Ada", "born_in": {"@id": "http://e/London"}, "year": 1815}]}]}"#;
    let xml = r#"<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"><rdf:Description rdf:about="http://e/Ada"><e:born_in rdf:resource="http://e/London"/><e:year rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1815</e:year></rdf:Description></rdf:RDF>"#;
    let expected = read(turtle, GraphFormat::Turtle);
    assert_eq!(expected.facts(), facts("Ada, born in, London\nAda, year, 1815"));
    for (text, format) in [
        (triples, GraphFormat::NTriples),
        (quads, GraphFormat::NQuads),
        (json, GraphFormat::JsonLd),
        (xml, GraphFormat::RdfXml),
    ] {
        assert_eq!(read(text, format), expected, "{format}");
    }
    for table in [
        "Subject\tPredicate\tObject\nAda\tborn in\tLondon\n\nAda\tyear\t1815",
        "\u{feff}Ada,born  in,London\r\nAda,year,\"1815\"\r\n",
        "subject;predicate;object\nAda;born in;London\nAda;year;1815\n",
    ] {
        assert_eq!(read(table, GraphFormat::Table).facts(), expected.facts(), "{table}");
    }
}

#[test]
fn a_format_is_known_by_the_name_of_its_file() {
    for (name, format) in [
        ("a.TTL", Some(GraphFormat::Turtle)),
        ("a.b.nt", Some(GraphFormat::NTriples)),
        ("a.nq", Some(GraphFormat::NQuads)),
        ("a.jsonld", Some(GraphFormat::JsonLd)),
        ("a.rdf", Some(GraphFormat::RdfXml)),
        ("a.owl", Some(GraphFormat::RdfXml)),
        ("a.csv", Some(GraphFormat::Table)),
        ("a.tsv", Some(GraphFormat::Table)),
        ("a.txt", Some(GraphFormat::Table)),
        ("ttl", None),
        ("a.json", None),
    ] {
        assert_eq!(GraphFormat::of_name(name), format, "{name}");
    }
}

#[test]
fn errors_say_where_and_what_to_do() {
    for (text, format, message) in [
        ("a\tb\tc\na\tb\n", GraphFormat::Table, "table, line 2: this row has 2 columns; write"),
        ("a,b,c\n\na,,c\n", GraphFormat::Table, "table, line 3: the predicate \"\" is empty"),
        ("a\tb\t<c\n", GraphFormat::Table, "table, line 1: the object \"<c\" begins with `<`"),
        ("<a> <b> .\n", GraphFormat::NTriples, "N-Triples, line 1: "),
        ("<http://a> <http://b> <http://c> .\n\n<a", GraphFormat::Turtle, "Turtle, line 3: "),
        ("{\n\"@id\": ", GraphFormat::JsonLd, "JSON-LD, line 2: "),
        ("<rdf:RDF>\n<x", GraphFormat::RdfXml, "RDF/XML, line "),
        (
            r#"{"@context": "https://schema.org", "name": "x"}"#,
            GraphFormat::JsonLd,
            "JSON-LD: its context is at another address",
        ),
    ] {
        let error = read_in(text, format, None).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let error = Graph::read(b"a\tb\tc\n\xff\tb\tc", GraphFormat::Table, &GraphOptions::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "table, line 2: this is not UTF-8; save the file in that encoding"
    );
    let error = read_in("", GraphFormat::Turtle, Some("a language")).unwrap_err();
    assert!(matches!(error.kind, GraphErrorKind::Language { .. }));
    let error = Graph::from_text("a\tb\tc\nd\te\n").unwrap_err();
    assert_eq!((error.format, error.line), (None, Some(2)));
}

#[test]
fn the_text_form_is_sorted_lines_with_the_language_first() {
    let graph = read_in(LABELS, GraphFormat::Turtle, Some("pt-BR")).unwrap();
    let text = graph.to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# language: pt-br");
    assert!(lines[1..].is_sorted());
    assert_eq!(lines.len(), 1 + graph.len());
    let again = Graph::from_text(&text).unwrap();
    assert_eq!(again, graph);
    assert_eq!(again.to_text(), text);
    assert_eq!(Graph::from_text("").unwrap(), Graph::default());
}

#[test]
fn what_is_removed_leaves_nothing_behind_and_what_stays_keeps_its_name() {
    let of = |subject: Option<&str>, object: Option<&str>| TriplePattern {
        subject: subject.map(String::from),
        predicate: None,
        object: object.map(String::from),
    };
    let mut graph = read_in(LABELS, GraphFormat::Turtle, Some("en")).unwrap();
    assert_eq!(graph.remove(&of(Some("nothing"), None)), 0);
    assert_eq!(graph.remove(&of(Some("Italy"), None)), 1);
    // Italy is still in a list, so it is still called Italy.
    assert!(graph.facts().contains(&triple("list, has, Italy")));
    assert_eq!(graph.remove(&of(None, Some("Italy"))), 1);
    assert!(!graph.to_text().contains("Ital"));
    assert_eq!(graph.remove(&TriplePattern::default()), 5);
    assert!(graph.is_empty());
}

#[test]
fn names_are_inserted_as_they_are_said() {
    let mut graph = Graph::default();
    assert!(graph.insert(&Triple::new(" New   York ", "in", "USA")));
    assert!(!graph.insert(&triple("New York, in, USA")));
    assert!(!graph.insert(&Triple::new("", "in", "USA")));
    assert!(graph.insert(&Triple::new("<odd>", "_:odd", "\"odd")));
    assert_eq!(
        graph.facts(),
        [Triple::new("<odd>", "_:odd", "\"odd"), triple("New York, in, USA")]
    );
    assert_eq!(Graph::from_text(&graph.to_text()).unwrap(), graph);
    assert_eq!(
        graph.remove(&TriplePattern { subject: Some("<odd>".into()), ..Default::default() }),
        1
    );
    assert_eq!(graph.to_text(), "New York\tin\tUSA\n");
}
