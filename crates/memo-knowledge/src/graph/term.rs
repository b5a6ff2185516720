//! Terms in their canonical text, which is how a graph holds them.
//!
//! A term is `<iri>`, `"literal"`, `"literal"@language` or `"literal"^^<type>`, `_:blank`, or a plain name: anything that does not
//! begin like one of those. Plain names come from tables and from people, who have no IRIs. In RDF they are `urn:memo:` and the
//! name, percent-encoded. No canonical text has a tab or a line break, so terms with tabs between them sort as lines do.

use super::error::GraphErrorKind;
use crate::triple::collapse;
use oxrdf::{BlankNode, Literal, NamedNode};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr;

/// What stands before the name in the IRI of a plain name.
pub(super) const NAME_IRI: &str = "urn:memo:";

/// A term as canonical text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Term(Box<str>);

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TermKind<'a> {
    /// An IRI, without its brackets.
    Iri(&'a str),
    /// A literal, still escaped.
    Literal(&'a str),
    Blank,
    Name(&'a str),
}

/// Where a term stands in its triple.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Subject,
    Predicate,
    Object,
}

impl Position {
    fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Predicate => "predicate",
            Self::Object => "object",
        }
    }
}

impl Term {
    /// The canonical text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn kind(&self) -> TermKind<'_> {
        let text = &*self.0;
        match text.as_bytes() {
            [b'<', ..] => TermKind::Iri(&text[1..text.len() - 1]),
            [b'"', ..] => TermKind::Literal(text),
            [b'_', b':', ..] => TermKind::Blank,
            _ => TermKind::Name(text),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.kind() == TermKind::Blank
    }

    /// The literal that this is, if it is one.
    pub(super) fn literal(&self) -> Option<Literal> {
        let TermKind::Literal(text) = self.kind() else { return None };
        Literal::from_str(text).ok()
    }

    /// Reads a term from text. `position` decides what may stand there.
    pub(super) fn parse(text: &str, position: Position) -> Result<Self, GraphErrorKind> {
        let refused = |problem: &str| {
            let term = text.chars().take(80).collect();
            let problem = problem.to_owned();
            Err(GraphErrorKind::Term { position: position.name(), term, problem })
        };
        let text = text.trim();
        if text.starts_with('<') {
            return match NamedNode::from_str(text) {
                Ok(node) => Ok(Self::iri(&node)),
                Err(_) => refused(
                    "begins with `<` but is no IRI; write `<http://…>`, or a name that begins otherwise",
                ),
            };
        }
        if text.starts_with('"') {
            let Ok(literal) = Literal::from_str(text) else {
                return refused(
                    "begins with a quotation mark but is no literal; write `\"…\"`, or a name that begins otherwise",
                );
            };
            if position != Position::Object {
                return refused(
                    "is a literal, which only an object can be; write it as a name, without quotation marks",
                );
            }
            return Ok(Self::of_literal(&literal));
        }
        if text.starts_with("_:") {
            return match BlankNode::from_str(text) {
                Ok(_) if position == Position::Predicate => {
                    refused("is a blank node, which no predicate can be; give it a name")
                }
                Ok(node) => Ok(Self(node.to_string().into())),
                Err(_) => refused(
                    "begins with `_:` but is no blank node; write a name that begins otherwise",
                ),
            };
        }
        match Self::name(text) {
            Some(term) => Ok(term),
            None if text.is_empty() => refused("is empty; write a name, or leave the row out"),
            None => refused("has control characters; leave them out"),
        }
    }

    /// A plain name; `None` if it is empty or would be read as something else.
    pub(super) fn name(text: &str) -> Option<Self> {
        let name = collapse(text);
        let ambiguous = name.is_empty()
            || name.starts_with(['<', '"'])
            || name.starts_with("_:")
            || name.contains(char::is_control);
        (!ambiguous).then(|| Self(name.into()))
    }

    /// A term for any name that is not empty: plain, or as its IRI.
    pub(super) fn of_any_name(text: &str) -> Option<Self> {
        let name = collapse(text);
        let iri = || (!name.is_empty()).then(|| Self(format!("<{}>", iri_of_name(&name)).into()));
        Self::name(&name).or_else(iri)
    }

    /// An IRI, or the plain name that it was made of.
    pub(super) fn iri(node: &NamedNode) -> Self {
        if let Some(encoded) = node.as_str().strip_prefix(NAME_IRI) {
            let name = percent_decoded(encoded);
            if iri_of_name(&name) == node.as_str()
                && let Some(term) = Self::name(&name)
                && *term.0 == *name
            {
                return term;
            }
        }
        Self(["<", node.as_str(), ">"].concat().into())
    }

    pub(super) fn of_literal(literal: &Literal) -> Self {
        Self(literal.to_string().into())
    }

    pub(super) fn of_blank(node: &BlankNode) -> Self {
        Self(node.to_string().into())
    }

    pub(super) fn blank(number: usize) -> Self {
        Self(format!("_:b{number}").into())
    }

    /// The term in N-Triples: what it is, with the IRI of a plain name.
    pub(super) fn to_rdf(&self) -> Cow<'_, str> {
        match self.kind() {
            TermKind::Name(name) => Cow::Owned(format!("<{}>", iri_of_name(name))),
            _ => Cow::Borrowed(&self.0),
        }
    }
}

/// The IRI of a plain name: all but letters and digits of ASCII and `-._~` is percent-encoded.
fn iri_of_name(name: &str) -> String {
    let mut iri = String::with_capacity(NAME_IRI.len() + name.len());
    iri.push_str(NAME_IRI);
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            iri.push(char::from(byte));
        } else {
            let _ = write!(iri, "%{byte:02X}");
        }
    }
    iri
}

/// A text with its `%XX` decoded, or as it is where that is no UTF-8.
pub(super) fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digit = |at: usize| tail.get(at).and_then(|&byte| char::from(byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            bytes.push((high * 16 + low) as u8);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_told_apart_by_how_they_begin() {
        let kind = |text: &str| Term::parse(text, Position::Object).unwrap();
        assert_eq!(kind(" New   York ").kind(), TermKind::Name("New York"));
        assert_eq!(kind("<http://a/b>").kind(), TermKind::Iri("http://a/b"));
        assert_eq!(kind(r#""a\tb"@EN"#).as_str(), r#""a\tb"@en"#);
        assert_eq!(kind(r#""x"^^<http://www.w3.org/2001/XMLSchema#string>"#).as_str(), r#""x""#);
        assert!(kind("_:b7").is_blank());
        assert_eq!(kind("a_:b").kind(), TermKind::Name("a_:b"));
    }

    #[test]
    fn what_could_be_two_things_is_refused_with_its_remedy() {
        for (text, position, part) in [
            ("", Position::Subject, "is empty"),
            ("<a", Position::Subject, "no IRI"),
            ("<a> b", Position::Subject, "no IRI"),
            ("\"a\" b", Position::Object, "no literal"),
            ("\"a\"", Position::Subject, "only an object"),
            ("_:", Position::Subject, "no blank node"),
            ("_:a", Position::Predicate, "no predicate"),
            ("a\u{1}b", Position::Object, "control"),
        ] {
            let error = Term::parse(text, position).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_name_comes_back_from_its_iri() {
        for name in ["born in", "Zürich", "50%", "a/b#c", "x"] {
            let term = Term::name(name).unwrap();
            let node = NamedNode::from_str(&term.to_rdf()).unwrap();
            assert_eq!(Term::iri(&node), term);
        }
        let odd = Term::of_any_name("<odd>").unwrap();
        assert_eq!(odd.kind(), TermKind::Iri("urn:memo:%3Codd%3E"));
        assert_eq!(percent_decoded("a%2"), "a%2");
        assert_eq!(percent_decoded("%FF"), "%FF");
    }
}
