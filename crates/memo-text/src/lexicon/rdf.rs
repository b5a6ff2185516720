//! Thesauri in SKOS and ontologies in RDFS, as Turtle or N-Triples.
//!
//! A concept's labels (`skos:prefLabel`, `altLabel`, `hiddenLabel`, `rdfs:label`) are words. It stands below those that `skos:broader` names (or that name
//! it by `skos:narrower`); if there are none, `rdfs:subClassOf`; if there are none, `rdf:type`. A class is called by its preferred label, else by the end
//! of its IRI; where two have the same name, they get those ends as well. Terms of RDF, RDFS, OWL and SKOS themselves are no classes, nor is what has neither
//! an IRI nor a label.

use super::entries::Entries;
use super::error::At;
use super::hierarchy::Hierarchy;
use super::inflect::Part;
use super::{
    LexiconError, LexiconErrorKind, LexiconFormat, LexiconOptions, LexiconSkipReason, Location,
    OnConflict, place,
};
use memo::lexicon::MAX_BYTES;
use oxrdf::{NamedOrBlankNode, Term, Triple};
use oxttl::{NTriplesParser, TurtleParser, TurtleSyntaxError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";
const OWL: &str = "http://www.w3.org/2002/07/owl#";
const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";
/// What relative IRIs are relative to, if the file does not say.
const BASE: &str = "lexicon:/";

pub(super) fn read(
    text: &str,
    format: LexiconFormat,
    path: &Path,
    options: &LexiconOptions,
) -> Result<Entries, LexiconError> {
    let mut graph = Graph::default();
    let name = if format == LexiconFormat::Turtle { "Turtle" } else { "N-Triples" };
    let mut take = |triple: Result<Triple, TurtleSyntaxError>| {
        let triple = triple.map_err(|error| {
            let line = error.location().start.line + 1;
            let problem = error.message().to_owned();
            LexiconErrorKind::Syntax { format: name, problem }.at(place(path, line))
        });
        triple.map(|triple| graph.take(&triple))
    };
    if format == LexiconFormat::Turtle {
        let parser = TurtleParser::new().with_base_iri(BASE).unwrap_or_default();
        parser.for_slice(text).try_for_each(&mut take)?;
    } else {
        NTriplesParser::new().for_slice(text).try_for_each(&mut take)?;
    }
    graph.entries(path, options)
}

/// What is used of a graph.
#[derive(Default)]
struct Graph {
    numbers: HashMap<String, u32>,
    concepts: Vec<Concept>,
}

#[derive(Default)]
struct Concept {
    /// Its IRI; empty if it has none.
    iri: String,
    /// Labels with their languages, in the order of the file.
    labels: Vec<Label>,
    /// What it is below by each of the properties, the one that counts first.
    above: [Vec<u32>; 3],
}

struct Label {
    text: String,
    language: Option<String>,
    preferred: bool,
}

impl Graph {
    fn number(&mut self, iri: &str, blank: bool) -> u32 {
        let key = if blank { format!("_:{iri}") } else { iri.to_owned() };
        *self.numbers.entry(key).or_insert_with(|| {
            let iri = if blank { String::new() } else { iri.to_owned() };
            self.concepts.push(Concept { iri, ..Concept::default() });
            self.concepts.len() as u32 - 1
        })
    }

    fn take(&mut self, triple: &Triple) {
        let predicate = triple.predicate.as_str();
        let (skos, rdfs) = (predicate.strip_prefix(SKOS), predicate.strip_prefix(RDFS));
        let subject = |graph: &mut Self| match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => graph.number(node.as_str(), false),
            NamedOrBlankNode::BlankNode(node) => graph.number(node.as_str(), true),
        };
        let preferred = skos == Some("prefLabel") || rdfs == Some("label");
        if preferred || matches!(skos, Some("altLabel" | "hiddenLabel")) {
            if let Term::Literal(literal) = &triple.object {
                let concept = subject(self) as usize;
                let language = literal.language().map(str::to_ascii_lowercase);
                let text = literal.value().to_owned();
                self.concepts[concept].labels.push(Label { text, language, preferred });
            }
            return;
        }
        let property = match (skos, rdfs) {
            (Some("broader" | "narrower"), _) => 0,
            (_, Some("subClassOf")) => 1,
            _ if predicate.strip_prefix(RDF) == Some("type") => 2,
            _ => return,
        };
        let object = match &triple.object {
            Term::NamedNode(node) => (node.as_str(), false),
            Term::BlankNode(node) => (node.as_str(), true),
            Term::Literal(_) => return,
        };
        if [RDF, RDFS, OWL, SKOS].iter().any(|vocabulary| object.0.starts_with(vocabulary)) {
            return;
        }
        let (subject, object) = (subject(self), self.number(object.0, object.1));
        let (below, above) =
            if skos == Some("narrower") { (object, subject) } else { (subject, object) };
        let list = &mut self.concepts[below as usize].above[property];
        if !list.contains(&above) {
            list.push(above);
        }
    }

    fn entries(&self, path: &Path, options: &LexiconOptions) -> Result<Entries, LexiconError> {
        let whole = || Location::from(path.to_owned());
        let on_conflict = options.on_conflict.unwrap_or(OnConflict::First);
        let mut entries = Entries::new(on_conflict);
        let language = options.language.as_deref().map(str::to_ascii_lowercase);
        let language = language.as_deref();
        self.check_language(language, path)?;
        let names = self.names(language);
        let mut parents = Vec::with_capacity(self.concepts.len());
        for (at, concept) in self.concepts.iter().enumerate() {
            let known = |&above: &u32| {
                let above = &self.concepts[above as usize];
                !above.iri.is_empty() || !above.labels.is_empty()
            };
            let lists = concept.above.iter();
            let mut lists =
                lists.map(|list| list.iter().copied().filter(known).collect::<Vec<_>>());
            let above = lists.find(|list| !list.is_empty()).unwrap_or_default();
            parents.push(match (&*above, on_conflict) {
                ([], _) => None,
                ([one], _) => Some(*one),
                ([first, ..], OnConflict::First) => {
                    entries.skip(LexiconSkipReason::LaterParent, &names[at]);
                    Some(*first)
                }
                (_, OnConflict::Drop) => {
                    entries.skip(LexiconSkipReason::UncertainParent, &names[at]);
                    None
                }
                ([first, second, ..], OnConflict::Error) => {
                    let name = |concept: u32| names[concept as usize].clone();
                    let (concept, first, second) = (names[at].clone(), name(*first), name(*second));
                    return Err(LexiconErrorKind::Parents { concept, first, second }.at(whole()));
                }
            });
        }
        let (hierarchy, tops) = Hierarchy::new(parents);
        for top in tops {
            entries.skip(LexiconSkipReason::Circle, &names[top as usize]);
        }
        let levels = hierarchy.cut(&options.depths, options.levels);
        for (at, concept) in self.concepts.iter().enumerate() {
            for label in &concept.labels {
                if !label.is_in(language) {
                    entries.skip(LexiconSkipReason::OtherLanguage, &label.text);
                    continue;
                }
                let class = |level: &Vec<Option<u32>>| {
                    level[at].map_or("", |class| names[class as usize].as_str())
                };
                entries.add(&label.text, levels.iter().map(class), Part::Any, whole)?;
            }
        }
        if options.inflect {
            entries.inflect([]);
        }
        Ok(entries)
    }

    /// A language that no label is in is a slip.
    fn check_language(&self, language: Option<&str>, path: &Path) -> Result<(), LexiconError> {
        let Some(chosen) = language else { return Ok(()) };
        let mut present: BTreeMap<&str, usize> = BTreeMap::new();
        for label in self.concepts.iter().flat_map(|concept| &concept.labels) {
            if label.is_in(language) {
                return Ok(());
            }
            *present.entry(label.language.as_deref().unwrap_or_default()).or_default() += 1;
        }
        if present.is_empty() {
            return Ok(());
        }
        let listed =
            present.iter().take(20).map(|(language, count)| format!("{language} ({count})"));
        let (language, present) = (chosen.to_owned(), listed.collect::<Vec<_>>().join(", "));
        Err(LexiconErrorKind::Language { language, present }.at_path(path))
    }

    /// What concepts are called, no two the same.
    fn names(&self, language: Option<&str>) -> Vec<String> {
        let wanted: Vec<String> =
            self.concepts.iter().map(|concept| concept.name(language)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        wanted.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        let mut taken: HashSet<String> = HashSet::new();
        let mut names = Vec::with_capacity(wanted.len());
        for (at, (concept, name)) in self.concepts.iter().zip(&wanted).enumerate() {
            let end = local(&concept.iri);
            let mut chosen = if counts[name.as_str()] > 1 && end != name && !end.is_empty() {
                tidy(&format!("{name} ({end})"))
            } else {
                name.clone()
            };
            if taken.contains(&chosen) || (chosen != *name && counts.contains_key(chosen.as_str()))
            {
                chosen = format!("{} #{at}", chosen.chars().take(40).collect::<String>());
            }
            taken.insert(chosen.clone());
            names.push(chosen);
        }
        names
    }
}

impl Concept {
    /// Its preferred label, else the end of its IRI, else any label.
    fn name(&self, language: Option<&str>) -> String {
        let rank = |label: &&Label| {
            let other = if language.is_some() {
                label.language.is_none()
            } else {
                label.language.is_some()
            };
            (!label.preferred, other)
        };
        let labels = self.labels.iter().filter(|label| label.is_in(language));
        // The first of the best, as the file has them.
        let best = labels.min_by_key(rank).filter(|label| label.preferred || self.iri.is_empty());
        let name = best.map_or_else(|| tidy(local(&self.iri)), |label| tidy(&label.text));
        if name.is_empty() { tidy(&self.iri) } else { name }
    }
}

impl Label {
    fn is_in(&self, language: Option<&str>) -> bool {
        let (Some(wanted), Some(has)) = (language, &self.language) else { return true };
        has.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}

/// The end of an IRI, which people read.
fn local(iri: &str) -> &str {
    let iri = iri.trim_end_matches(['/', '#']);
    iri.rsplit(['#', '/', ':']).next().unwrap_or_default()
}

/// A name that a class can have: without control characters, and not too long.
fn tidy(name: &str) -> String {
    let plain: String =
        name.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let plain = plain.trim();
    let end = (0..=plain.len().min(MAX_BYTES)).rev().find(|&at| plain.is_char_boundary(at));
    plain[..end.unwrap_or(0)].trim_end().to_owned()
}
