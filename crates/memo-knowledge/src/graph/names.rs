//! The names of terms: labels, ends of IRIs, and values.

use super::Graph;
use super::term::{NAME_IRI, Term, TermKind, percent_decoded};
use crate::triple::collapse;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Predicates whose literals name their subject, the one that counts first.
const LABELS: [&str; 5] = [
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
];

/// Tells whether a triple names its subject: a literal, by one of the label predicates, of what has no name of its own.
pub(super) fn is_label([subject, predicate, object]: &[Term; 3]) -> bool {
    matches!(subject.kind(), TermKind::Iri(_) | TermKind::Blank)
        && matches!(object.kind(), TermKind::Literal(_))
        && matches!(predicate.kind(), TermKind::Iri(iri) if LABELS.contains(&iri))
}

/// The labels of a graph that were chosen as names.
pub(super) struct Names {
    labels: FxHashMap<Term, String>,
}

impl Names {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut best: FxHashMap<&Term, (usize, usize, String, String)> = FxHashMap::default();
        for triple in graph.triples.iter().filter(|triple| is_label(triple)) {
            let [subject, predicate, object] = triple;
            let Some(literal) = object.literal() else { continue };
            let name = collapse(literal.value());
            if name.is_empty() {
                continue;
            }
            let property = match predicate.kind() {
                TermKind::Iri(iri) => LABELS.iter().position(|&label| label == iri),
                _ => None,
            };
            let rank = language_rank(literal.language(), graph.language());
            let language = literal.language().unwrap_or_default().to_owned();
            let label = (rank, property.unwrap_or(LABELS.len()), language, name.into_owned());
            let known = best.entry(subject).or_insert_with(|| label.clone());
            if label < *known {
                *known = label;
            }
        }
        let labels = best.into_iter().map(|(term, label)| (term.clone(), label.3)).collect();
        Self { labels }
    }

    /// The name of a term; `None` if it has none.
    pub(super) fn of<'a>(&'a self, term: &'a Term) -> Option<Cow<'a, str>> {
        let name = match term.kind() {
            TermKind::Blank => return None,
            TermKind::Name(name) => return Some(Cow::Borrowed(name)),
            TermKind::Literal(_) => Cow::Owned(collapse(term.literal()?.value()).into_owned()),
            TermKind::Iri(iri) => match self.labels.get(term) {
                Some(label) => Cow::Borrowed(&**label),
                None => end_of(iri),
            },
        };
        (!name.is_empty()).then_some(name)
    }

    pub(super) fn of_triple<'a>(&'a self, triple: &'a [Term; 3]) -> [Option<Cow<'a, str>>; 3] {
        let [subject, predicate, object] = triple;
        [self.of(subject), self.of(predicate), self.of(object)]
    }

    /// The first names that several terms of a graph share. Literals are no things of their own, so they do not count.
    pub(super) fn shared(&self, graph: &Graph, most: usize) -> Vec<String> {
        let mut terms: BTreeMap<Cow<'_, str>, (&Term, bool)> = BTreeMap::new();
        for term in graph.triples.iter().filter(|triple| !is_label(triple)).flatten() {
            if matches!(term.kind(), TermKind::Iri(_) | TermKind::Name(_))
                && let Some(name) = self.of(term)
            {
                let known = terms.entry(name).or_insert((term, false));
                known.1 |= known.0 != term;
            }
        }
        let shared = terms.into_iter().filter(|(_, (_, shared))| *shared);
        shared.take(most).map(|(name, _)| name.into_owned()).collect()
    }
}

/// How well a label's language goes with the chosen one; 0 is best.
fn language_rank(language: Option<&str>, chosen: Option<&str>) -> usize {
    let is = |wanted: &str, within: bool| {
        language.is_some_and(|language| {
            let rest = language.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || (within && rest.starts_with('-')))
        })
    };
    match chosen {
        Some(chosen) if is(chosen, false) => 0,
        Some(chosen) if is(chosen, true) => 1,
        _ if language.is_none() => 2,
        _ if is("en", false) => 3,
        _ if is("en", true) => 4,
        _ => 5,
    }
}

/// The end of an IRI as a name: after its last `#` or `/`, decoded, with spaces for `_`.
fn end_of(iri: &str) -> Cow<'_, str> {
    if let Some(name) = iri.strip_prefix(NAME_IRI) {
        return percent_decoded(name);
    }
    // What ends in a slash is named by what stands before it.
    let iri = iri.trim_end_matches(['#', '/']);
    let end = iri.rfind(['#', '/']).map_or(iri, |at| &iri[at + 1..]);
    let name = percent_decoded(end);
    Cow::Owned(collapse(&name.replace('_', " ")).into_owned())
}
