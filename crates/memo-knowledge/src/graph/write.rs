//! Graphs as files for others.

use super::Graph;
use super::format::GraphFormat;
use super::table::HEADING;
use super::term::Term;
use oxjsonld::JsonLdSerializer;
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Triple};
use oxttl::TurtleSerializer;
use std::borrow::Cow;
use std::str::FromStr;

impl Graph {
    /// Writes all triples, labels included, in a format that others read. In RDF, plain names become
    /// IRIs: `urn:memo:` and the name. A table has tabs and a heading.
    ///
    /// RDF/XML is not written ([`GraphFormat::is_written`]); asked for it, this gives Turtle.
    ///
    /// ```
    /// use memo_knowledge::{Graph, GraphFormat, Triple};
    ///
    /// let mut graph = Graph::default();
    /// graph.insert(&Triple::new("Ada", "born in", "London"));
    /// let triples = graph.write(GraphFormat::NTriples);
    /// assert_eq!(triples, "<urn:memo:Ada> <urn:memo:born%20in> <urn:memo:London> .\n");
    /// ```
    pub fn write(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Table => format!("{}\n{}", HEADING.join("\t"), self.rows()),
            GraphFormat::NTriples | GraphFormat::NQuads => {
                self.lines(Term::to_rdf, [" ", " ", " .\n"])
            }
            GraphFormat::Turtle | GraphFormat::RdfXml => self.turtle(),
            GraphFormat::JsonLd => self.json_ld(),
        }
    }

    /// The rows of a table, without a heading: the text form.
    pub(super) fn rows(&self) -> String {
        self.lines(|term| term.as_str().into(), ["\t", "\t", "\n"])
    }

    fn lines(&self, written: impl Fn(&Term) -> Cow<'_, str>, after: [&str; 3]) -> String {
        let mut text = String::new();
        for triple in &self.triples {
            for (term, after) in triple.iter().zip(after) {
                text.push_str(&written(term));
                text.push_str(after);
            }
        }
        text
    }

    fn turtle(&self) -> String {
        let mut writer = TurtleSerializer::new().for_writer(Vec::new());
        // Writing to memory does not fail.
        for triple in self.rdf() {
            let _ = writer.serialize_triple(&triple);
        }
        text_of(writer.finish())
    }

    fn json_ld(&self) -> String {
        let mut writer = JsonLdSerializer::new().for_writer(Vec::new());
        for triple in self.rdf() {
            let _ = writer.serialize_quad(&triple.in_graph(GraphName::DefaultGraph));
        }
        text_of(writer.finish())
    }

    /// The triples as RDF, in the order of their subjects.
    fn rdf(&self) -> impl Iterator<Item = Triple> {
        // Each term was read as RDF or made from a name by percent-encoding, so each can be read again.
        self.triples.iter().filter_map(|[subject, predicate, object]| {
            let subject = subject.to_rdf();
            let subject = match NamedNode::from_str(&subject) {
                Ok(node) => NamedOrBlankNode::NamedNode(node),
                Err(_) => NamedOrBlankNode::BlankNode(subject.parse().ok()?),
            };
            let predicate = NamedNode::from_str(&predicate.to_rdf()).ok()?;
            Some(Triple::new(subject, predicate, oxrdf::Term::from_str(&object.to_rdf()).ok()?))
        })
    }
}

fn text_of(bytes: std::io::Result<Vec<u8>>) -> String {
    bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
