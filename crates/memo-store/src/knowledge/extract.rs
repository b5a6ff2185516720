//! What one document says: the facts of a graph, or what rules find in a text.

use super::{AT_ONCE, Contents, VersionKey};
use crate::error::Error;
use crate::ledger::Content;
use crate::memory::Blueprint;
use crate::progress::Observer;
use crate::record::{DocumentRecord, VersionRecord};
use memo::words::each_unit;
use memo_knowledge::{Graph, Limits, Rules, Triple, Vocabulary};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What was found in a document.
pub(crate) struct Extracted {
    /// Its name.
    pub(crate) document: String,
    pub(crate) triples: Vec<(Triple, Origin)>,
    pub(crate) texts: Vec<(String, Origin)>,
}

/// How a document says something.
pub(crate) enum Origin {
    /// It is a graph.
    Stated,
    /// A rule finds it in a sentence.
    Matched { rule: usize, sentence: String },
}

impl Extracted {
    /// What a graph states.
    pub(crate) fn of_graph(document: &str, text: &str) -> Result<Self, Error> {
        let triples = Graph::from_text(text)?.facts().into_iter();
        Ok(Extracted {
            document: document.to_owned(),
            triples: triples.map(|triple| (triple, Origin::Stated)).collect(),
            texts: Vec::new(),
        })
    }

    /// The names of subjects and objects.
    pub(crate) fn entities(&self) -> impl Iterator<Item = String> + '_ {
        self.triples.iter().flat_map(|(t, _)| [t.subject.clone(), t.object.clone()])
    }

    fn is_empty(&self) -> bool {
        self.triples.is_empty() && self.texts.is_empty()
    }
}

/// Reads what rules find in texts.
pub(crate) struct Extractor<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) entities: &'a BTreeSet<String>,
    pub(crate) blueprint: &'a Blueprint,
}

impl Extractor<'_> {
    /// What documents say, those that say anything. One pass over their tokens, on all cores.
    pub(crate) fn read<'a>(
        &self,
        contents: Contents<'_>,
        documents: impl Iterator<Item = (&'a DocumentRecord, &'a VersionRecord)> + Clone,
        observer: &Observer,
    ) -> Result<Vec<(VersionKey, Arc<Extracted>)>, Error> {
        let total = documents.clone().map(|(_, version)| version.tokens).sum();
        let (mut extracted, mut held, mut tokens, mut done) = (Vec::new(), Vec::new(), 0, 0);
        let mut documents = documents.peekable();
        while let Some((document, version)) = documents.next() {
            held.push((document, version, contents.get(document, version)?));
            tokens += version.tokens;
            if tokens < AT_ONCE && documents.peek().is_some() {
                continue;
            }
            observer.tokens("deriving", done, total)?;
            let found = held.par_iter().map(|(document, version, content)| {
                Ok(((document.number, version.number), Arc::new(self.extract(document, content)?)))
            });
            let found: Vec<(VersionKey, Arc<Extracted>)> = found.collect::<Result<_, Error>>()?;
            extracted.extend(found.into_iter().filter(|(_, extracted)| !extracted.is_empty()));
            held.clear();
            done += std::mem::take(&mut tokens);
        }
        Ok(extracted)
    }

    fn extract(&self, document: &DocumentRecord, content: &Content) -> Result<Extracted, Error> {
        let document = document.id.clone();
        let mut extracted = Extracted { document, triples: Vec::new(), texts: Vec::new() };
        for part in &content.parts {
            let text = self.blueprint.tokenizer.decode_lossy(part);
            let found = self.rules.matches(&text, self, &Limits::default())?;
            let origin = |rule: usize, sentence: std::ops::Range<usize>| Origin::Matched {
                rule,
                sentence: text[sentence].to_owned(),
            };
            let triples = found.triples.into_iter();
            extracted.triples.extend(triples.map(|m| (m.what, origin(m.rule, m.sentence))));
            let texts = found.texts.into_iter();
            extracted.texts.extend(texts.map(|m| (m.what, origin(m.rule, m.sentence))));
        }
        Ok(extracted)
    }
}

impl Vocabulary for Extractor<'_> {
    fn is_known(&self, name: &str) -> bool {
        self.entities.contains(name)
    }

    /// Words have a class if the last of them has: "old harbour" is where a harbour is.
    fn has_class(&self, words: &str, class: &str) -> bool {
        let Some(lexicon) = self.blueprint.lexicon() else { return false };
        let mut last = None;
        each_unit(words.as_bytes(), |unit, _| last = Some(unit));
        let Some(unit) = last else { return false };
        (0..lexicon.levels()).any(|level| {
            let wanted = lexicon.find(level, class);
            wanted.is_some() && lexicon.class(level, unit) == wanted
        })
    }
}
