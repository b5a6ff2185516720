//! What a model knows by rule: the facts that its graphs state, and the facts and texts that follow from documents and rules.
//!
//! Graphs and rules are documents. What they say, and what follows, is no document but a function of those that are live, and of
//! the lexicon: [`Knowledge`]. It is never stored. The memory has its statements in the same transaction as the documents that they
//! follow from; a [`KnowledgeChange`] has what comes and what goes, so that a model that forgot a document, or a rule, is one that never had it.

mod derivation;
mod extract;
mod statement;

pub use self::derivation::DerivationStep;
pub(crate) use self::derivation::in_words;
pub(crate) use self::statement::Written;

use self::extract::{Extracted, Extractor, Origin};
use self::statement::Statement;

use crate::error::Error;
use crate::ledger::{Content, Ledger};
use crate::memory::{Blueprint, NewContents};
use crate::progress::Observer;
use crate::record::{DocumentRecord, Place, Role, VersionRecord};
use memo_knowledge::{Conclusions, LimitError, Limits, Rules, Triple};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

/// A version of a document: its number, and the version's.
type VersionKey = (u64, u32);

/// What live documents state, and what follows.
pub(crate) struct Knowledge {
    rules: Rules,
    /// What documents say, those that say anything.
    extracted: BTreeMap<VersionKey, Arc<Extracted>>,
    /// Names of subjects and objects of graphs.
    entities: BTreeSet<String>,
    /// What documents say, in order and each once, with the documents that say it.
    facts: Vec<Triple>,
    speakers: Vec<Vec<VersionKey>>,
    texts: BTreeMap<String, VersionKey>,
    conclusions: Conclusions,
}

/// What becomes of knowledge in a change.
#[derive(Clone, Default)]
pub(crate) struct KnowledgeChange {
    pub(crate) before: Option<Arc<Knowledge>>,
    pub(crate) after: Option<Arc<Knowledge>>,
}

/// Where contents of documents are found.
#[derive(Clone, Copy)]
pub(crate) struct Contents<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) new: &'a NewContents<'a>,
}

impl<'a> Contents<'a> {
    pub(crate) fn get(
        &self,
        document: &DocumentRecord,
        version: &VersionRecord,
    ) -> Result<Cow<'a, Content>, Error> {
        match self.new.get(&(document.number, version.number)) {
            Some(content) => Ok(Cow::Borrowed(content)),
            None => Ok(Cow::Owned(self.ledger.content(document, version)?)),
        }
    }
}

/// Tokens of documents that are read at once for what they say.
const AT_ONCE: u64 = 1 << 20;

impl Knowledge {
    /// What live documents know; `None` if there is neither a graph nor a rule among them.
    pub(crate) fn of_live(
        contents: Contents<'_>,
        blueprint: &Blueprint,
        changed: &HashMap<u64, &DocumentRecord>,
        observer: &Observer,
    ) -> Result<Option<Arc<Self>>, Error> {
        let coming = changed.values().any(|document| document.live().is_some_and(knows));
        if !coming && !contents.ledger.knows()? {
            return Ok(None);
        }
        let documents = contents.ledger.documents()?.into_iter();
        let others = documents.filter(|document| !changed.contains_key(&document.number));
        let mut documents: Vec<DocumentRecord> =
            others.chain(changed.values().map(|document| (*document).clone())).collect();
        documents.retain(|document| document.live().is_some());
        if !documents.iter().any(|document| document.live().is_some_and(knows)) {
            return Ok(None);
        }
        documents.sort_by(|a, b| a.id.cmp(&b.id));
        let mut rules = Rules::default();
        let (mut extracted, mut entities) = (BTreeMap::new(), BTreeSet::new());
        for document in &documents {
            let Some(version) = document.live() else { continue };
            match version.role {
                Role::Rules => {
                    let content = contents.get(document, version)?;
                    rules.extend(parse_rules(&blueprint.text(&content), &document.id)?)?;
                }
                Role::Graph => {
                    let graph = Extracted::of_graph(
                        &document.id,
                        &blueprint.text(&*contents.get(document, version)?),
                    )?;
                    entities.extend(graph.entities());
                    extracted.insert((document.number, version.number), Arc::new(graph));
                }
                Role::Text | Role::Edit { .. } => {}
            }
        }
        if rules.reads_text() {
            let extractor = Extractor { rules: &rules, entities: &entities, blueprint };
            let texts = documents.iter().filter_map(|document| {
                let version = document.live().filter(|version| version.role == Role::Text)?;
                Some((document, version))
            });
            extracted.extend(extractor.read(contents, texts, observer)?);
        }
        Self::conclude(rules, extracted, entities, observer).map(Some)
    }

    /// What is known after texts moved, none of which is a graph or rules; `None` if it is the same.
    fn after_texts(
        &self,
        contents: Contents<'_>,
        blueprint: &Blueprint,
        moves: &[(&DocumentRecord, Option<Place>)],
        observer: &Observer,
    ) -> Result<Option<Arc<Self>>, Error> {
        let mut extracted = self.extracted.clone();
        let mut differs = false;
        for (document, before) in moves {
            if let Some(place) = before {
                differs |= extracted.remove(&(document.number, place.version)).is_some();
            }
        }
        if self.rules.reads_text() {
            let extractor = Extractor { rules: &self.rules, entities: &self.entities, blueprint };
            let texts = moves.iter().filter_map(|(document, _)| {
                let version = document.live().filter(|version| version.role == Role::Text)?;
                Some((*document, version))
            });
            let more = extractor.read(contents, texts, observer)?;
            differs |= !more.is_empty();
            extracted.extend(more);
        }
        if !differs {
            return Ok(None);
        }
        let (rules, entities) = (self.rules.clone(), self.entities.clone());
        Self::conclude(rules, extracted, entities, observer).map(Some)
    }

    fn conclude(
        rules: Rules,
        extracted: BTreeMap<VersionKey, Arc<Extracted>>,
        entities: BTreeSet<String>,
        observer: &Observer,
    ) -> Result<Arc<Self>, Error> {
        let mut stated: BTreeMap<&Triple, Vec<VersionKey>> = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (key, extracted) in &extracted {
            for (triple, _) in &extracted.triples {
                let speakers = stated.entry(triple).or_default();
                if speakers.last() != Some(key) {
                    speakers.push(*key);
                }
            }
            for (text, _) in &extracted.texts {
                texts.entry(text.clone()).or_insert(*key);
            }
        }
        let facts: Vec<Triple> = stated.keys().map(|triple| (*triple).clone()).collect();
        let speakers = stated.into_values().collect();
        let mut observe = |_: usize| match observer.tokens("deriving", 0, 0) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let conclusions = rules.conclude(&facts, &Limits::default(), &mut observe)?;
        Ok(Arc::new(Knowledge { rules, extracted, entities, facts, speakers, texts, conclusions }))
    }

    /// Everything that the memory has of it, in order, with its weight: as many times as documents state it, once if it follows.
    fn statements(&self) -> BTreeMap<Statement<'_>, i32> {
        let mut all: BTreeMap<Statement<'_>, i32> = BTreeMap::new();
        for (fact, speakers) in self.facts.iter().zip(&self.speakers) {
            all.insert(Statement::Fact(fact), speakers.len() as i32);
        }
        all.extend(self.conclusions.triples.iter().map(|c| (Statement::Fact(&c.what), 1)));
        all.extend(self.texts.keys().map(|text| (Statement::Text(text), 1)));
        all.extend(self.conclusions.texts.iter().map(|c| (Statement::Text(&c.what), 1)));
        all
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// All facts: those that documents say, with them, then those that follow.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (&Triple, Vec<&str>)> {
        let stated = self.facts.iter().zip(&self.speakers);
        let stated = stated.map(|(fact, speakers)| (fact, self.names(speakers)));
        stated.chain(self.conclusions.triples.iter().map(|c| (&c.what, Vec::new())))
    }

    /// The texts that follow, each once.
    pub(crate) fn texts(&self) -> BTreeSet<&str> {
        let matched = self.texts.keys().map(String::as_str);
        matched.chain(self.conclusions.texts.iter().map(|c| c.what.as_str())).collect()
    }

    /// A text that follows and begins so.
    pub(crate) fn text_from(&self, beginning: &str) -> Option<&str> {
        let matched = self
            .texts
            .range::<str, _>((Bound::Included(beginning), Bound::Unbounded))
            .next()
            .map(|(text, _)| text.as_str());
        let concluded = &self.conclusions.texts;
        let at = concluded.partition_point(|concluded| concluded.what.as_str() < beginning);
        let concluded = concluded.get(at).map(|concluded| concluded.what.as_str());
        let begins = |text: &&str| !beginning.is_empty() && text.starts_with(beginning);
        matched.filter(begins).or(concluded.filter(begins))
    }

    /// How many facts and texts follow by each rule.
    pub(crate) fn counts(&self) -> Vec<(usize, usize)> {
        let mut counts = vec![(0, 0); self.rules.len()];
        for extracted in self.extracted.values() {
            for (_, origin) in &extracted.triples {
                if let Origin::Matched { rule, .. } = origin {
                    counts[*rule].0 += 1;
                }
            }
            for (_, origin) in &extracted.texts {
                if let Origin::Matched { rule, .. } = origin {
                    counts[*rule].1 += 1;
                }
            }
        }
        self.conclusions.triples.iter().for_each(|concluded| counts[concluded.rule].0 += 1);
        self.conclusions.texts.iter().for_each(|concluded| counts[concluded.rule].1 += 1);
        counts
    }

    fn names(&self, speakers: &[VersionKey]) -> Vec<&str> {
        speakers.iter().filter_map(|key| Some(self.extracted.get(key)?.document.as_str())).collect()
    }
}

impl KnowledgeChange {
    /// All that live documents know, coming to a memory that has nothing.
    pub(crate) fn of_live(
        contents: Contents<'_>,
        blueprint: &Blueprint,
        changed: &HashMap<u64, &DocumentRecord>,
        observer: &Observer,
    ) -> Result<Self, Error> {
        let after = Knowledge::of_live(contents, blueprint, changed, observer)?;
        Ok(KnowledgeChange { before: None, after })
    }

    /// What moves of documents do to what was known before.
    pub(crate) fn of_moves(
        before: Option<Arc<Knowledge>>,
        contents: Contents<'_>,
        blueprint: &Blueprint,
        moves: &[(&DocumentRecord, Option<Place>)],
        observer: &Observer,
    ) -> Result<Self, Error> {
        let after = if moves.iter().any(|(document, before)| touches(document, *before)) {
            let changed = moves.iter().map(|(document, _)| (document.number, *document)).collect();
            Knowledge::of_live(contents, blueprint, &changed, observer)?
        } else if let Some(known) = &before {
            let after = known.after_texts(contents, blueprint, moves, observer)?;
            Some(after.unwrap_or_else(|| known.clone()))
        } else {
            None
        };
        Ok(KnowledgeChange { before, after })
    }

    /// What comes to the memory, with a positive weight, and what goes.
    pub(crate) fn written(&self, blueprint: &Blueprint) -> Result<Vec<Written>, Error> {
        if let (Some(before), Some(after)) = (&self.before, &self.after)
            && Arc::ptr_eq(before, after)
        {
            return Ok(Vec::new());
        }
        let mut change = self.after.as_ref().map(|known| known.statements()).unwrap_or_default();
        if let Some(before) = &self.before {
            for (statement, weight) in before.statements() {
                *change.entry(statement).or_default() -= weight;
            }
        }
        change.retain(|_, weight| *weight != 0);
        Written::all(change, blueprint)
    }
}

/// Whether a version is a graph or rules.
pub(crate) fn knows(version: &VersionRecord) -> bool {
    matches!(version.role, Role::Graph | Role::Rules)
}

/// Whether a document that moves is a graph or rules, where it was or where it is.
fn touches(document: &DocumentRecord, before: Option<Place>) -> bool {
    let places = [before, document.place].into_iter().flatten();
    places.filter_map(|place| document.version(place.version)).any(knows)
}

/// Rules of a document.
pub(crate) fn parse_rules(text: &str, id: &str) -> Result<Rules, Error> {
    Ok(Rules::parse(text, id)?)
}

impl From<LimitError> for Error {
    fn from(error: LimitError) -> Self {
        match error {
            LimitError::Stopped => Error::Stopped,
            other => Error::Invalid(other.to_string()),
        }
    }
}
