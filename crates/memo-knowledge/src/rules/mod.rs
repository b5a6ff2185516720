//! Rules: how facts are said, which sentences state facts, and what follows from facts.
//!
//! A rules file is TOML that someone who does not program can read and write. `parse.rs` has its grammar. A rule has a `when`, a
//! text or triples, and what it makes, texts or triples; templates are rules from one triple to texts.

mod error;
mod parse;
mod pieces;
mod strata;
mod variables;

pub use error::RulesError;
pub(crate) use pieces::{Piece, fill};

use crate::text::{Finder, TextPattern};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The rules of one or several files, with numbers in the order of the files; templates come after a file's other rules.
///
/// ```
/// use memo_knowledge::{RuleKind, Rules};
///
/// let rules = Rules::parse(
///     r#"
///     [[rule]]
///     name = "birthplace"
///     when = "{x} was born in {y}."
///     then = ["{x}", "born in", "{y}"]
///     "#,
///     "people.toml",
/// )?;
/// assert_eq!(rules.info(0).kind, RuleKind::Extraction);
/// assert_eq!(rules.info(0).text, "when “{x} was born in {y}.” then ({x}, born in, {y})");
/// # Ok::<(), memo_knowledge::RulesError>(())
/// ```
#[derive(Debug, Default)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// For each rule that makes triples of triples, when it is applied: after those whose absence it asks for.
    pub(crate) strata: Vec<Vec<usize>>,
    /// Predicates that have a template.
    pub(crate) spoken: BTreeSet<String>,
    /// What finds sentences, made when it is first needed.
    pub(crate) finder: OnceLock<Finder>,
}

/// What a rule is, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    /// The name that its file gives it, or "rule 1" and so on; of a template, its predicate.
    pub name: String,
    /// What it makes of what.
    pub kind: RuleKind,
    /// The rules document.
    pub source: String,
    /// The rule in one line.
    pub text: String,
}

/// What a rule makes of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Texts of sentences.
    Text,
    /// Triples of sentences, and perhaps texts too.
    Extraction,
    /// Triples of triples, and perhaps texts too.
    Inference,
    /// Texts of triples.
    Speech,
    /// Texts of the triples of one predicate.
    Template,
    /// Texts of the triples of all predicates that have no template.
    Speak,
}

/// A rule as it is applied.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) kind: RuleKind,
    pub(crate) source: String,
    pub(crate) text: String,
    /// How many variables it has.
    pub(crate) variables: usize,
    pub(crate) when: When,
    pub(crate) unless: Vec<Atom>,
    pub(crate) then: Vec<Atom>,
    pub(crate) say: Vec<Vec<Piece>>,
}

/// What a rule asks for.
#[derive(Clone, Debug)]
pub(crate) enum When {
    /// A sentence that fits one of the patterns.
    Text(Vec<TextPattern>),
    /// Facts that fit all of the triples.
    Triples(Vec<Atom>),
}

/// A triple with variables.
pub(crate) type Atom = [Slot; 3];

/// A term of a triple with variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Variable(usize),
    Name(String),
}

impl Rule {
    /// The rule as errors name it.
    pub(crate) fn title(&self) -> String {
        match self.kind {
            RuleKind::Template => format!("the template of {:?} in {}", self.name, self.source),
            RuleKind::Speak => format!("`speak` in {}", self.source),
            _ => format!("the rule {:?} in {}", self.name, self.source),
        }
    }

    /// The triples that it asks for; none if it asks for a text.
    pub(crate) fn atoms(&self) -> &[Atom] {
        match &self.when {
            When::Text(_) => &[],
            When::Triples(atoms) => atoms,
        }
    }
}

impl Rules {
    /// Reads a rules file. `source` is the document that errors and [`RuleInfo`] name.
    pub fn parse(text: &str, source: &str) -> Result<Self, RulesError> {
        let rules =
            parse::parse(text, source).map_err(|problem| problem.in_document(source, text))?;
        Self::of(rules)
    }

    /// Adds the rules of another file after these.
    ///
    /// Fails, and leaves these as they are, if a rule of the two together asks for the absence of what follows from itself.
    pub fn extend(&mut self, other: Self) -> Result<(), RulesError> {
        let both = self.rules.iter().cloned().chain(other.rules).collect();
        *self = Self::of(both)?;
        Ok(())
    }

    fn of(rules: Vec<Rule>) -> Result<Self, RulesError> {
        let strata = strata::of(&rules)?;
        let templates = rules.iter().filter(|rule| rule.kind == RuleKind::Template);
        let spoken = templates.map(|rule| rule.name.clone()).collect();
        Ok(Self { rules, strata, spoken, finder: OnceLock::new() })
    }

    /// Tells whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Counts rules. A template counts as one for each predicate, `speak` as one.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Describes a rule by its number, below [`len`](Self::len).
    ///
    /// # Panics
    /// If there is no rule of that number.
    pub fn info(&self, rule: usize) -> RuleInfo {
        let rule = &self.rules[rule];
        RuleInfo {
            name: rule.name.clone(),
            kind: rule.kind,
            source: rule.source.clone(),
            text: rule.text.clone(),
        }
    }

    /// Tells whether a rule asks for sentences of texts.
    pub fn reads_text(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.when, When::Text(_)))
    }

    /// Tells whether a rule asks for names that a graph knows.
    pub fn uses_known(&self) -> bool {
        let known = |rule: &Rule| match &rule.when {
            When::Text(patterns) => patterns.iter().any(TextPattern::uses_known),
            When::Triples(_) => false,
        };
        self.rules.iter().any(known)
    }
}

impl Clone for Rules {
    fn clone(&self) -> Self {
        let (rules, strata, spoken) =
            (self.rules.clone(), self.strata.clone(), self.spoken.clone());
        Self { rules, strata, spoken, finder: OnceLock::new() }
    }
}
