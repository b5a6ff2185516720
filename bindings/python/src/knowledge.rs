//! Facts and rules, as Python gives them.

use crate::error::Refusal;
use memo_knowledge::{Graph, GraphFormat, GraphOptions, Triple, TriplePattern};

/// Subject, predicate and object, of which None is anything.
pub(crate) type Pattern = (Option<String>, Option<String>, Option<String>);

/// Subject, predicate and object.
pub(crate) type Fact = (String, String, String);

pub(crate) fn pattern((subject, predicate, object): Pattern) -> TriplePattern {
    TriplePattern { subject, predicate, object }
}

pub(crate) fn triples(facts: Vec<Fact>) -> Vec<Triple> {
    let triple = |(subject, predicate, object)| Triple { subject, predicate, object };
    facts.into_iter().map(triple).collect()
}

pub(crate) fn format(name: &str) -> Result<GraphFormat, Refusal> {
    let format: Result<GraphFormat, String> = name.parse();
    format.map_err(|one| Refusal::invalid(format!("format must be {one}, not {name:?}")))
}

/// The graph of a file's bytes. Without a format, the file's name says it.
pub(crate) fn graph(
    data: &[u8],
    name: &str,
    format_name: Option<&str>,
    language: Option<String>,
) -> Result<Graph, Refusal> {
    let format = match format_name {
        Some(name) => format(name)?,
        None => GraphFormat::of_name(name).ok_or_else(|| {
            let why = format!(
                "{name}: its name does not say what format it has; format= does: turtle, n-triples, n-quads, json-ld, rdf-xml \
                 or table"
            );
            Refusal::invalid(why)
        })?,
    };
    Graph::read(data, format, &GraphOptions { language })
        .map_err(|e| Refusal::invalid(e.to_string()))
}
