//! The formats of files that hold triples.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A format of a file of triples.
///
/// ```
/// use memo_knowledge::GraphFormat;
///
/// assert_eq!(GraphFormat::of_name("cities.ttl"), Some(GraphFormat::Turtle));
/// assert_eq!(GraphFormat::of_name("cities.docx"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// Turtle (`.ttl`).
    Turtle,
    /// N-Triples (`.nt`).
    NTriples,
    /// N-Quads (`.nq`); all its graphs are taken together.
    NQuads,
    /// JSON-LD (`.jsonld`) that brings its context along; all its graphs are taken together.
    JsonLd,
    /// RDF/XML (`.rdf`, `.owl`).
    RdfXml,
    /// Subject, predicate and object in three columns, separated by tabs (`.tsv`, `.txt`), or by commas or semicolons (`.csv`).
    Table,
}

impl GraphFormat {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Turtle, Self::NTriples, Self::NQuads, Self::JsonLd, Self::RdfXml, Self::Table];

    /// Guesses the format from the end of a file's name.
    pub fn of_name(file_name: &str) -> Option<Self> {
        let (_, end) = file_name.rsplit_once('.')?;
        Some(match &*end.to_ascii_lowercase() {
            "ttl" | "turtle" => Self::Turtle,
            "nt" | "ntriples" => Self::NTriples,
            "nq" | "nquads" => Self::NQuads,
            "jsonld" => Self::JsonLd,
            "rdf" | "rdfs" | "owl" => Self::RdfXml,
            "tsv" | "txt" | "csv" => Self::Table,
            _ => return None,
        })
    }

    /// The format's name, as its specification has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turtle => "Turtle",
            Self::NTriples => "N-Triples",
            Self::NQuads => "N-Quads",
            Self::JsonLd => "JSON-LD",
            Self::RdfXml => "RDF/XML",
            Self::Table => "table",
        }
    }

    /// Tells whether [`Graph::write`](crate::Graph::write) writes it: all but RDF/XML, which has no way to write some predicates.
    pub fn is_written(self) -> bool {
        self != Self::RdfXml
    }
}

impl fmt::Display for GraphFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GraphFormat {
    type Err = String;

    /// A format by its name, whatever its case and however its words are joined: `n-triples` and `ntriples` are N-Triples. The
    /// error says what can be written.
    fn from_str(name: &str) -> Result<Self, String> {
        let bare = |name: &str| name.to_lowercase().replace(['-', '/', ' '], "");
        let named = Self::ALL.into_iter().find(|format| bare(format.name()) == bare(name));
        named.ok_or_else(|| {
            let plain = |format: Self| format.name().to_lowercase().replace('/', "-");
            format!("one of {}", Self::ALL.map(plain).join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_found_by_its_name() {
        assert_eq!("N-Triples".parse(), Ok(GraphFormat::NTriples));
        assert_eq!("rdfxml".parse(), Ok(GraphFormat::RdfXml));
        assert_eq!("rdf-xml".parse(), Ok(GraphFormat::RdfXml));
        let refused = "docx".parse::<GraphFormat>();
        let all = "one of turtle, n-triples, n-quads, json-ld, rdf-xml, table";
        assert_eq!(refused, Err(all.to_owned()));
    }
}
