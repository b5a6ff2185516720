//! Questions to what is known by rule: facts, answers, derivations, and what rules would derive.

use super::Snapshot;
use crate::error::Error;
use crate::knowledge::{Contents, DerivationStep, Knowledge, parse_rules};
use crate::ledger::Content;
use crate::memory::NewContents;
use crate::progress::Observer;
use crate::record::{DocumentRecord, Place, Role, VersionRecord};
use memo::sparse::{Direction, Question};
use memo_knowledge::{RuleKind, Triple, TriplePattern};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A fact, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fact {
    /// What it is about.
    pub subject: String,
    /// What is said of it.
    pub predicate: String,
    /// What that is.
    pub object: String,
    /// How often the memory was told: by how many documents, or once if it follows by rule.
    pub count: i64,
    /// The documents that say so; none if it follows by rule, or if the model is frozen.
    pub documents: Vec<String>,
    /// The rule that it follows by.
    pub rule: Option<String>,
}

/// Facts that answer a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Facts {
    /// The facts, those that were stated most often first.
    pub facts: Vec<Fact>,
    /// How many there are in all.
    pub total: usize,
    /// The probability that the memory took another question's answer for one of these; 0 if documents were asked instead.
    pub noise: f64,
}

/// Rules of a model, or of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it does: `text`, `extraction`, `inference` or `speech`.
    pub kind: String,
    /// The document that has it.
    pub document: String,
    /// What it says, on one line.
    pub text: String,
    /// How many facts follow by it.
    pub facts: usize,
    /// How many texts follow by it.
    pub texts: usize,
}

/// What rules would derive. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RulesPreview {
    /// The rules of the file, with what follows by each.
    pub rules: Vec<Rule>,
    /// Facts that would be new.
    pub facts: usize,
    /// Texts that would be new.
    pub texts: usize,
    /// The first of the new ones: texts, and facts with bars between their parts.
    pub examples: Vec<String>,
}

const FACTS: &str = "facts";

impl Snapshot {
    /// What its documents know by rule; `None` if no graph and no rules are among them.
    pub(crate) fn known(&self) -> Result<Option<Arc<Knowledge>>, Error> {
        if let Some(known) = self.knowledge.get() {
            return Ok(known.clone());
        }
        let new = NewContents::new();
        let contents = Contents { ledger: self.ledger(FACTS)?, new: &new };
        let none = HashMap::new();
        let known = Knowledge::of_live(contents, &self.blueprint, &none, &Observer::default())?;
        Ok(self.knowledge.get_or_init(|| known).clone())
    }

    /// Facts that fit a pattern, at most `most` of them. If the predicate is given and one of subject and object, the memory is asked,
    /// and documents only name themselves; else documents are. Names are taken as they are written or, if there is none such, whatever
    /// their case.
    pub fn ask(&self, pattern: &TriplePattern, most: usize) -> Result<Facts, Error> {
        let known = match &self.ledger {
            Some(_) => self.known()?,
            None => None,
        };
        let answers = self.answers(pattern, most, known.as_deref())?;
        if !answers.facts.is_empty() {
            return Ok(answers);
        }
        match known.as_deref().and_then(|known| as_named(known, pattern)) {
            Some(named) => self.answers(&named, most, known.as_deref()),
            None => Ok(answers),
        }
    }

    fn answers(
        &self,
        pattern: &TriplePattern,
        most: usize,
        known: Option<&Knowledge>,
    ) -> Result<Facts, Error> {
        let TriplePattern { subject, predicate: Some(predicate), object } = pattern else {
            return self.facts_of_documents(pattern, most, known);
        };
        let (name, asked) = match (subject, object) {
            (Some(subject), None) => (subject, Direction::Object),
            (None, Some(object)) => (object, Direction::Subject),
            _ => return self.facts_of_documents(pattern, most, known),
        };
        let (known_tokens, predicate_tokens) =
            (self.tokenizer.encode(name)?, self.tokenizer.encode(predicate)?);
        let question = Question { known: &known_tokens, predicate: &predicate_tokens, asked };
        let memory = self.memory()?;
        // All of them: which were stated most often is known only then.
        let answers = memory.answers(&question, usize::MAX)?;
        let total = answers.len();
        let facts = answers.into_iter().take(most).map(|answer| {
            let (name, answer_name) = (name.clone(), self.tokenizer.decode_lossy(&answer.tokens));
            let (subject, object) = match asked {
                Direction::Object => (name, answer_name),
                Direction::Subject => (answer_name, name),
            };
            let triple = Triple { subject, predicate: predicate.clone(), object };
            with_sources(triple, answer.count, known)
        });
        Ok(Facts { facts: facts.collect(), total, noise: memory.answer_noise() })
    }

    fn facts_of_documents(
        &self,
        pattern: &TriplePattern,
        most: usize,
        known: Option<&Knowledge>,
    ) -> Result<Facts, Error> {
        self.ledger(FACTS)?;
        let (mut facts, mut total) = (Vec::new(), 0);
        for (triple, documents) in known.into_iter().flat_map(Knowledge::facts) {
            if pattern.matches(triple) {
                total += 1;
                if facts.len() < most {
                    let count = documents.len().max(1) as i64;
                    facts.push(with_sources(triple.clone(), count, known));
                }
            }
        }
        Ok(Facts { facts, total, noise: 0.0 })
    }

    /// Why a statement is known: a text that rules say, or a fact, with bars between its parts. Of a text that only begins such ones, the
    /// first. Nothing if no rule and no graph says it.
    pub fn why(&self, statement: &str) -> Result<Vec<DerivationStep>, Error> {
        let Some(known) = self.known()? else { return Ok(Vec::new()) };
        let statement = statement.trim();
        if let [subject, predicate, object] =
            statement.split('|').map(str::trim).collect::<Vec<_>>()[..]
        {
            let [subject, predicate, object] = [subject, predicate, object].map(str::to_owned);
            return Ok(known.why_fact(&Triple { subject, predicate, object }));
        }
        Ok(known.text_from(statement).map(|text| known.why_text(text)).unwrap_or_default())
    }

    /// Why rules say what follows a prompt; nothing if they do not. A text of theirs that begins as the prompt's last sentence does, and goes on
    /// with `next`.
    pub(crate) fn why_next(&self, prompt: &str, next: &str) -> Result<Vec<DerivationStep>, Error> {
        if self.ledger.is_none() {
            return Ok(Vec::new());
        }
        let Some(known) = self.known()? else { return Ok(Vec::new()) };
        let said = format!("{prompt}{next}");
        for start in starts(prompt) {
            if let Some(text) = known.text_from(&said[start..]) {
                return Ok(known.why_text(text));
            }
        }
        Ok(Vec::new())
    }

    /// The rules of the model, with what follows by each.
    pub fn rules(&self) -> Result<Vec<Rule>, Error> {
        Ok(self.known()?.map(|known| list(&known, None)).unwrap_or_default())
    }

    /// What rules would derive if they came to the model under an id. Fails where adding them would.
    pub fn preview_rules(
        &self,
        id: &str,
        text: &str,
        examples: usize,
        observer: &Observer,
    ) -> Result<RulesPreview, Error> {
        parse_rules(text, id)?;
        let ledger = self.ledger(FACTS)?;
        let content = Content { parts: vec![self.tokenizer.encode(text)?], role: Role::Rules };
        let mut document = ledger.document(id)?.unwrap_or_else(|| DocumentRecord {
            id: id.to_owned(),
            number: u64::MAX,
            labels: BTreeMap::new(),
            versions: Vec::new(),
            place: None,
        });
        document.versions.push(VersionRecord {
            number: u32::MAX,
            time: 0,
            tokens: content.tokens(),
            digest: String::new(),
            transaction: 0,
            parts: vec![content.tokens()],
            role: Role::Rules,
            forgotten: None,
        });
        document.place = Some(Place { version: u32::MAX, live: true });
        let new = NewContents::from([((document.number, u32::MAX), &content)]);
        let contents = Contents { ledger, new: &new };
        let changed = HashMap::from([(document.number, &document)]);
        let after = Knowledge::of_live(contents, &self.blueprint, &changed, observer)?;
        let before = self.known()?;
        let known = |known: &Option<Arc<Knowledge>>| -> (BTreeSet<String>, BTreeSet<String>) {
            known.as_ref().map_or_else(Default::default, |known| {
                let facts = known.facts().map(|(fact, _)| crate::knowledge::in_words(fact));
                (facts.collect(), known.texts().into_iter().map(str::to_owned).collect())
            })
        };
        let ((facts_before, texts_before), (facts, texts)) = (known(&before), known(&after));
        let new_facts: Vec<&String> = facts.difference(&facts_before).collect();
        let new_texts: Vec<&String> = texts.difference(&texts_before).collect();
        let shown = new_texts.iter().chain(&new_facts).take(examples).map(|s| (*s).clone());
        Ok(RulesPreview {
            rules: after.map(|known| list(&known, Some(id))).unwrap_or_default(),
            facts: new_facts.len(),
            texts: new_texts.len(),
            examples: shown.collect(),
        })
    }
}

/// A fact with the documents that say it, or the rule that it follows by.
fn with_sources(triple: Triple, count: i64, known: Option<&Knowledge>) -> Fact {
    let steps = known.map(|known| known.why_fact(&triple)).unwrap_or_default();
    let (documents, rule) = match steps.into_iter().next() {
        Some(step) => (step.documents, step.rule),
        None => (Vec::new(), None),
    };
    let Triple { subject, predicate, object } = triple;
    Fact { subject, predicate, object, count, documents, rule }
}

/// A pattern with the names that a model has for those of it that differ in case.
fn as_named(known: &Knowledge, pattern: &TriplePattern) -> Option<TriplePattern> {
    let mut named = pattern.clone();
    let same = |name: &Option<String>, other: &str| {
        name.as_deref().is_some_and(|name| name.to_lowercase() == other.to_lowercase())
    };
    let mut found =
        [pattern.subject.is_none(), pattern.predicate.is_none(), pattern.object.is_none()];
    for (triple, _) in known.facts() {
        let Triple { subject, predicate, object } = triple;
        let fields = [
            (&pattern.subject, [subject, object], &mut named.subject),
            (&pattern.predicate, [predicate, predicate], &mut named.predicate),
            (&pattern.object, [object, subject], &mut named.object),
        ];
        for (i, (given, names, name)) in fields.into_iter().enumerate() {
            if let (false, Some(other)) = (found[i], names.into_iter().find(|n| same(given, n))) {
                *name = Some(other.clone());
                found[i] = true;
            }
        }
        if found == [true; 3] {
            return (named != *pattern).then_some(named);
        }
    }
    None
}

/// Where the last few sentences of a prompt may begin, the last one first, and where the prompt does.
fn starts(prompt: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let ends = prompt.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | '\n'));
    for (at, c) in ends {
        let rest = &prompt[at + c.len_utf8()..];
        let start = prompt.len() - rest.trim_start().len();
        if start > 0 && start < prompt.len() && starts.last() != Some(&start) {
            starts.push(start);
        }
    }
    starts.reverse();
    starts.truncate(8);
    starts
}

/// Rules, of all documents or of one, with what follows by each.
fn list(known: &Knowledge, document: Option<&str>) -> Vec<Rule> {
    let counts = known.counts();
    let rules = (0..known.rules().len()).map(|number| {
        let info = known.rules().info(number);
        let (facts, texts) = counts[number];
        let kind = match info.kind {
            RuleKind::Text => "text",
            RuleKind::Extraction => "extraction",
            RuleKind::Inference => "inference",
            RuleKind::Speech | RuleKind::Template | RuleKind::Speak => "speech",
        };
        let (name, text, document) = (info.name, info.text, info.source);
        Rule { name, kind: kind.to_owned(), document, text, facts, texts }
    });
    rules.filter(|rule| document.is_none_or(|document| rule.document == document)).collect()
}
