//! Why something is known: a chain from a statement back to sentences and triples that documents have.

use super::Knowledge;
use super::extract::Origin;
use memo_knowledge::Triple;
use serde::Serialize;

/// A step of a derivation. What it follows from is what comes next and is one deeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DerivationStep {
    /// How deep it is: 0 is what was asked for.
    pub depth: usize,
    /// The statement: a text, or subject, predicate and object with bars between.
    pub statement: String,
    /// The rule that it follows by; none if a document states it.
    pub rule: Option<String>,
    /// The rule, as it is written.
    pub rule_text: Option<String>,
    /// The documents that state it, or have the sentence.
    pub documents: Vec<String>,
    /// The sentence that the rule found it in.
    pub sentence: Option<String>,
}

/// Steps of a derivation, at most: one that shares its reasons again and again could be long.
const LONGEST: usize = 200;

impl Knowledge {
    /// Why a fact is known; nothing if it is not.
    pub(crate) fn why_fact(&self, fact: &Triple) -> Vec<DerivationStep> {
        let mut steps = Vec::new();
        if let Some(number) = self.number(fact) {
            self.explain_fact(number, 0, &mut steps);
        }
        steps
    }

    /// Why a text is known; nothing if no rule says it.
    pub(crate) fn why_text(&self, text: &str) -> Vec<DerivationStep> {
        let mut steps = Vec::new();
        if let Some(key) = self.texts.get(text) {
            let extracted = self.extracted.get(key);
            let origin = extracted
                .and_then(|extracted| extracted.texts.iter().find(|(other, _)| other == text));
            if let (Some(extracted), Some((_, origin))) = (extracted, origin) {
                let documents = vec![extracted.document.clone()];
                steps.push(self.step(0, text.to_owned(), documents, origin));
            }
        } else if let Ok(at) =
            self.conclusions.texts.binary_search_by(|concluded| concluded.what.as_str().cmp(text))
        {
            let concluded = &self.conclusions.texts[at];
            steps.push(self.concluded_step(0, text.to_owned(), concluded.rule));
            for &from in &concluded.from {
                self.explain_fact(from, 1, &mut steps);
            }
        }
        steps
    }

    /// The number of a fact: those that documents say come first, then those that follow.
    fn number(&self, fact: &Triple) -> Option<usize> {
        let stated = self.facts.binary_search(fact).ok();
        stated.or_else(|| {
            let concluded = &self.conclusions.triples;
            let at = concluded.binary_search_by(|concluded| concluded.what.cmp(fact)).ok()?;
            Some(self.facts.len() + at)
        })
    }

    fn explain_fact(&self, number: usize, depth: usize, steps: &mut Vec<DerivationStep>) {
        if steps.len() >= LONGEST {
            return;
        }
        if let Some(fact) = self.facts.get(number) {
            let documents: Vec<String> =
                self.names(&self.speakers[number]).into_iter().map(str::to_owned).collect();
            let extracted = self.speakers[number].iter().filter_map(|key| self.extracted.get(key));
            let origins = extracted
                .flat_map(|extracted| extracted.triples.iter().filter(|(other, _)| other == fact));
            // That a graph states it is the better reason.
            let origin = origins.min_by_key(|(_, origin)| matches!(origin, Origin::Matched { .. }));
            if let Some((_, origin)) = origin {
                steps.push(self.step(depth, in_words(fact), documents, origin));
            }
        } else if let Some(concluded) = self.conclusions.triples.get(number - self.facts.len()) {
            steps.push(self.concluded_step(depth, in_words(&concluded.what), concluded.rule));
            for &from in &concluded.from {
                self.explain_fact(from, depth + 1, steps);
            }
        }
    }

    fn step(
        &self,
        depth: usize,
        statement: String,
        documents: Vec<String>,
        origin: &Origin,
    ) -> DerivationStep {
        match origin {
            Origin::Stated => DerivationStep {
                depth,
                statement,
                rule: None,
                rule_text: None,
                documents,
                sentence: None,
            },
            Origin::Matched { rule, sentence } => DerivationStep {
                documents,
                sentence: Some(sentence.clone()),
                ..self.concluded_step(depth, statement, *rule)
            },
        }
    }

    fn concluded_step(&self, depth: usize, statement: String, rule: usize) -> DerivationStep {
        let rule = self.rules.info(rule);
        DerivationStep {
            depth,
            statement,
            rule: Some(rule.name),
            rule_text: Some(rule.text),
            documents: Vec::new(),
            sentence: None,
        }
    }
}

/// A fact as it is shown.
pub(crate) fn in_words(Triple { subject, predicate, object }: &Triple) -> String {
    format!("{subject} | {predicate} | {object}")
}
