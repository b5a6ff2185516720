//! What to forget: documents by name, documents that fit a filter, or a text wherever it stands.
//!
//! A [`Selection`] is resolved in one place, for the forget itself and for its preview, so that what is shown is what goes.

use crate::error::Error;
use crate::record::{DocumentRecord, Role};
use crate::snapshot::Snapshot;
use crate::time::Timestamp;
use globset::GlobBuilder;
use memo_knowledge::{Graph, TriplePattern};
use std::collections::{BTreeMap, BTreeSet};

/// What to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Documents with all their versions, by id.
    Documents(Vec<String>),
    /// All documents that fit, with all their versions.
    Filter(DocumentFilter),
    /// A text, cut out of every document that contains it.
    Text(String),
    /// Facts that fit a pattern, taken out of every graph that states them.
    Facts(TriplePattern),
}

/// What documents have in common. Each condition that is given narrows the choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Labels that a document has, each with this value.
    pub labels: BTreeMap<String, String>,
    /// A glob of its id: `*` and `?` stay within a name, `**` stands for any number of folders.
    pub glob: Option<String>,
    /// A time before which the version that counts was memorized.
    pub before: Option<Timestamp>,
}

/// The documents of a selection, each with the numbers of the versions to scrub.
pub(crate) struct Selected {
    pub(crate) documents: Vec<(DocumentRecord, Vec<u32>)>,
    /// What is cut out of them; none if whole documents go.
    pub(crate) cut: Option<Cut>,
}

/// What is cut out of documents.
pub(crate) enum Cut {
    /// A text, in the form that the documents have.
    Text(String),
    Facts(TriplePattern),
}

impl Snapshot {
    /// The documents that there are to forget of a selection; an error if there are none.
    pub(crate) fn select(&self, what: &Selection) -> Result<Selected, Error> {
        match what {
            Selection::Documents(ids) => self.select_documents(ids),
            Selection::Filter(filter) => self.select_fitting(filter),
            Selection::Text(text) => self.select_text(text),
            Selection::Facts(pattern) => self.select_facts(pattern),
        }
    }

    fn select_documents(&self, ids: &[String]) -> Result<Selected, Error> {
        let mut documents = Vec::new();
        for id in ids.iter().collect::<BTreeSet<_>>() {
            let document = self.record(id)?;
            let left = left(&document);
            if left.is_empty() {
                let why = "was forgotten before".to_owned();
                return Err(Error::State { id: id.clone(), why });
            }
            documents.push((document, left));
        }
        if documents.is_empty() {
            return Err(Error::Invalid("there is no document to forget".to_owned()));
        }
        Ok(Selected { documents, cut: None })
    }

    fn select_fitting(&self, filter: &DocumentFilter) -> Result<Selected, Error> {
        let DocumentFilter { labels, glob, before } = filter;
        if *filter == DocumentFilter::default() {
            return Err(Error::Invalid("a filter needs a label, a glob or an age".to_owned()));
        }
        let glob = glob.as_deref().map(|glob| {
            let mut built = GlobBuilder::new(glob);
            let built = built.literal_separator(true).backslash_escape(false).build();
            built
                .map(|glob| glob.compile_matcher())
                .map_err(|e| Error::Option { name: "glob", expected: format!("a glob: {e}") })
        });
        let glob = glob.transpose()?;
        let fits = |document: &DocumentRecord| {
            let version = document.current().or(document.versions.last());
            labels.iter().all(|(key, value)| document.labels.get(key) == Some(value))
                && glob.as_ref().is_none_or(|glob| glob.is_match(&document.id))
                && before.is_none_or(|before| version.is_some_and(|v| v.time < before.0))
        };
        let documents = self.ledger("documents")?.documents()?.into_iter();
        let documents = documents.filter(fits).map(|document| {
            let left = left(&document);
            (document, left)
        });
        let documents: Vec<_> = documents.filter(|(_, left)| !left.is_empty()).collect();
        if documents.is_empty() {
            return Err(Error::NoneFits);
        }
        Ok(Selected { documents, cut: None })
    }

    fn select_text(&self, text: &str) -> Result<Selected, Error> {
        if text.trim().is_empty() {
            return Err(Error::Invalid("there is no text to forget".to_owned()));
        }
        let mut text = text.to_owned();
        let mut documents = self.versions_with(&text)?;
        if let (true, Some(normal)) = (documents.is_empty(), self.normal(&text)?) {
            documents = self.versions_with(&normal)?;
            text = normal;
        }
        if documents.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(Selected { documents, cut: Some(Cut::Text(text)) })
    }

    fn select_facts(&self, pattern: &TriplePattern) -> Result<Selected, Error> {
        if *pattern == TriplePattern::default() {
            let why = "a subject, a predicate or an object is needed";
            return Err(Error::Invalid(why.to_owned()));
        }
        let ledger = self.ledger("facts")?;
        let mut documents = Vec::new();
        for document in ledger.documents()? {
            let mut with = Vec::new();
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                if version.role == Role::Graph {
                    let text = self.blueprint.text(&ledger.content(&document, version)?);
                    if Graph::from_text(&text)?.facts().iter().any(|fact| pattern.matches(fact)) {
                        with.push(version.number);
                    }
                }
            }
            if !with.is_empty() {
                documents.push((document, with));
            }
        }
        if documents.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(Selected { documents, cut: Some(Cut::Facts(pattern.clone())) })
    }
}

/// The versions of a document that were not forgotten.
fn left(document: &DocumentRecord) -> Vec<u32> {
    let left = document.versions.iter().filter(|version| version.forgotten.is_none());
    left.map(|version| version.number).collect()
}
