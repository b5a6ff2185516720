//! Graphs: what files of triples say, as terms and by names.
//!
//! A graph holds its terms as they were given, so that nothing is lost between two imports of the same file, and gives facts by
//! names, as people say them. Its [text form](Graph::to_text) is what a model stores: one triple a line, sorted.

mod error;
mod format;
mod json;
mod names;
mod read;
mod table;
mod term;
mod write;
mod xml;

pub use error::{GraphError, GraphErrorKind};
pub use format::GraphFormat;

use crate::triple::{Triple, TriplePattern, collapse};
use names::Names;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use term::Term;

/// The most bytes of one file of triples: 1 GiB.
pub const MAX_BYTES: usize = 1 << 30;

/// What stands before the language in the first line of the text form.
const LANGUAGE_LINE: &str = "# language: ";

/// How a file of triples is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// The language of labels that name things, for example `en`; `None` takes labels without a language first.
    pub language: Option<String>,
}

/// Triples, sorted and each once.
///
/// ```
/// use memo_knowledge::{Graph, GraphFormat, GraphOptions, Triple};
///
/// let turtle = r#"
///     @prefix ex: <http://example.org/> .
///     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
///     ex:Q142 rdfs:label "France"@en, "Francia"@it ; ex:capital ex:Paris .
/// "#;
/// let options = GraphOptions { language: Some("it".into()) };
/// let graph = Graph::read(turtle.as_bytes(), GraphFormat::Turtle, &options)?;
/// assert_eq!(graph.facts(), [Triple::new("Francia", "capital", "Paris")]);
/// assert_eq!(Graph::from_text(&graph.to_text())?, graph);
/// # Ok::<(), memo_knowledge::GraphError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    language: Option<String>,
    triples: BTreeSet<[Term; 3]>,
    /// How many triples of the file were there already.
    duplicates: usize,
}

/// What was read from a file of triples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphReport {
    /// Triples, each counted once.
    pub triples: usize,
    /// Triples of the file that were there already.
    pub duplicates: usize,
    /// Facts by names, each counted once.
    pub facts: usize,
    /// Triples that give a name to their subject, which are no facts.
    pub labels: usize,
    /// Triples left out of the facts because they have a blank node, which has no name.
    pub blank: usize,
    /// Names that several terms share, at most ten: facts about these are taken as facts about one.
    pub same_name: Vec<String>,
}

impl PartialEq for Graph {
    /// Compares what graphs say, not how often a file said it.
    fn eq(&self, other: &Self) -> bool {
        self.language == other.language && self.triples == other.triples
    }
}

impl Eq for Graph {}

impl Graph {
    /// Reads a file of triples.
    pub fn read(
        bytes: &[u8],
        format: GraphFormat,
        options: &GraphOptions,
    ) -> Result<Self, GraphError> {
        let error = |kind| GraphError { format: Some(format), line: None, kind };
        if bytes.len() > MAX_BYTES {
            let kind = GraphErrorKind::TooLong { bytes: bytes.len(), limit: MAX_BYTES };
            return Err(error(kind));
        }
        let language = options.language.as_deref().map(language_tag).transpose().map_err(error)?;
        let mut graph = Self { language, ..Self::default() };
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut triples = Vec::new();
        let mut take = |triple| triples.push(triple);
        match format {
            GraphFormat::Table => table::read(bytes, &mut take)?,
            _ => read::read(bytes, format, &mut take)?,
        }
        let count = triples.len();
        triples.sort_unstable();
        graph.triples = triples.into_iter().collect();
        graph.duplicates = count - graph.triples.len();
        Ok(graph)
    }

    /// Reads the text form: see [`to_text`](Self::to_text). Lines may come in any order.
    pub fn from_text(text: &str) -> Result<Self, GraphError> {
        let mut graph = Self::default();
        for (at, line) in text.lines().enumerate() {
            let error = |kind| GraphError { format: None, line: Some(at as u64 + 1), kind };
            if let (0, Some(language)) = (at, line.strip_prefix(LANGUAGE_LINE)) {
                graph.language = Some(language_tag(language).map_err(error)?);
            } else if !line.is_empty() {
                let triple = table::row(line.split('\t')).map_err(error)?;
                graph.triples.insert(triple);
            }
        }
        Ok(graph)
    }

    /// Gives the text form: a triple a line, subject, predicate and object with tabs between them, sorted.
    ///
    /// A term is `<iri>`, a literal in quotation marks as in N-Triples, `_:blank`, or a plain name. If a language was chosen, the
    /// first line is `# language:` and its tag.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(language) = &self.language {
            text.extend([LANGUAGE_LINE, language, "\n"]);
        }
        text + &self.rows()
    }

    /// Counts what there is.
    pub fn report(&self) -> GraphReport {
        let names = Names::new(self);
        let is_blank = |triple: &&[Term; 3]| triple.iter().any(Term::is_blank);
        let labels = self.triples.iter().filter(|triple| names::is_label(triple)).count();
        GraphReport {
            triples: self.triples.len(),
            duplicates: self.duplicates,
            facts: self.facts().len(),
            labels,
            blank: self.triples.iter().filter(is_blank).count(),
            same_name: names.shared(self, 10),
        }
    }

    /// Gives the facts by names, sorted and each once.
    ///
    /// An IRI is named by its label in this graph (`skos:prefLabel`, `rdfs:label`, `name` of schema.org, `foaf:name`) in the
    /// chosen language, else by one without a language, else in English, else by the first there is; without a label, by the
    /// end of the IRI. A literal is its value. Labels of IRIs, and triples with a blank node, are no facts.
    pub fn facts(&self) -> Vec<Triple> {
        let names = Names::new(self);
        let fact = |triple: &[Term; 3]| {
            if names::is_label(triple) {
                return None;
            }
            let [subject, predicate, object] =
                names.of_triple(triple).map(|name| name.map(String::from));
            Some(Triple { subject: subject?, predicate: predicate?, object: object? })
        };
        let mut facts: Vec<Triple> = self.triples.iter().filter_map(fact).collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// Counts triples, each once.
    pub fn len(&self) -> usize {
        self.triples.len()
    }

    /// Tells whether there is no triple.
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// The language of labels that name things, if one was chosen.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// Removes the triples that a pattern asks for by names, and says how many there were.
    ///
    /// Labels stay as long as a triple needs them, for a fact that is left keeps its names. Those of terms that are in no other
    /// triple any more go too, and are not counted.
    pub fn remove(&mut self, pattern: &TriplePattern) -> usize {
        let everything = *pattern == TriplePattern::default();
        self.remove_where(everything, |names| pattern.matches_names(names))
    }

    /// States facts anew: whatever is said of the subject and predicate of each goes, in one pass, and the facts come instead. Of
    /// several facts with the same subject and predicate, the last. Says how many triples went.
    ///
    /// ```
    /// use memo_knowledge::{Graph, Triple};
    ///
    /// let mut graph = Graph::from_text("France\tcapital\tLyon\nFrance\tcapital\tNice\nSpain\tcapital\tMadrid\n")?;
    /// assert_eq!(graph.restate([&Triple::new("France", "capital", "Paris")]), 2);
    /// assert_eq!(graph.to_text(), "France\tcapital\tParis\nSpain\tcapital\tMadrid\n");
    /// # Ok::<(), memo_knowledge::GraphError>(())
    /// ```
    pub fn restate<'a>(&mut self, facts: impl IntoIterator<Item = &'a Triple>) -> usize {
        let facts: BTreeMap<(Cow<'_, str>, Cow<'_, str>), &Triple> = facts
            .into_iter()
            .map(|fact| ((collapse(&fact.subject), collapse(&fact.predicate)), fact))
            .collect();
        let gone = self.remove_where(false, |names| match names {
            [Some(subject), Some(predicate), _] => {
                facts.contains_key(&(Cow::Borrowed(subject), Cow::Borrowed(predicate)))
            }
            _ => false,
        });
        for fact in facts.values() {
            self.insert(fact);
        }
        gone
    }

    /// Removes triples by their names. With `everything`, all labels go too.
    fn remove_where(
        &mut self,
        everything: bool,
        is_asked: impl Fn([Option<&str>; 3]) -> bool,
    ) -> usize {
        let names = Names::new(self);
        let asked = |triple: &&[Term; 3]| {
            let found = names.of_triple(triple);
            let [subject, predicate, object] = &found;
            !names::is_label(triple)
                && is_asked([subject.as_deref(), predicate.as_deref(), object.as_deref()])
        };
        let gone: Vec<[Term; 3]> = self.triples.iter().filter(asked).cloned().collect();
        for triple in &gone {
            self.triples.remove(triple);
        }
        let mut unused: BTreeSet<&Term> = gone.iter().flatten().collect();
        for triple in self.triples.iter().filter(|triple| !names::is_label(triple)) {
            for term in triple {
                unused.remove(term);
            }
        }
        self.triples.retain(|triple| {
            !names::is_label(triple) || !(everything || unused.contains(&triple[0]))
        });
        gone.len()
    }

    /// Adds a triple of plain names, and says whether it was not there. Nothing is added if a name is empty.
    pub fn insert(&mut self, triple: &Triple) -> bool {
        let names = [&triple.subject, &triple.predicate, &triple.object];
        let [Some(subject), Some(predicate), Some(object)] =
            names.map(|name| Term::of_any_name(name))
        else {
            return false;
        };
        self.triples.insert([subject, predicate, object])
    }
}

/// A language tag in lower case.
fn language_tag(language: &str) -> Result<String, GraphErrorKind> {
    let tag = language.trim().to_ascii_lowercase();
    let fits = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if tag.split('-').all(fits) {
        return Ok(tag);
    }
    Err(GraphErrorKind::Language { language: language.chars().take(40).collect() })
}
