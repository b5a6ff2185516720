//! Facts and rules come and change: graphs and rules are documents, memorized like any other.

use super::Store;
use super::transaction::ChangeReport;
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{Role, TransactionKind};
use memo_knowledge::{Graph, Triple};
use std::collections::HashSet;

/// The graph that facts go to which no other graph has a place for.
pub const OWN_GRAPH: &str = "facts";

impl Store {
    /// Corrects facts, all in one transaction: each is what is said of its subject and predicate from then on. Every graph that says something
    /// else gets a new version; where none does, the fact goes to the graph named [`OWN_GRAPH`]. What follows by rule follows.
    pub fn correct_facts(
        &mut self,
        facts: &[Triple],
        reason: Option<&str>,
    ) -> Result<ChangeReport, Error> {
        let mut change = self.begin(TransactionKind::Replace, reason)?;
        let mut missing: Vec<&Triple> = facts.iter().collect();
        let mut own = None;
        for document in self.ledger()?.documents()? {
            let Some(version) = document.live().filter(|v| v.role == Role::Graph) else { continue };
            let text = self.blueprint.text(&self.ledger()?.content(&document, version)?);
            let mut graph = Graph::from_text(&text)?;
            let known = graph.facts();
            let known: HashSet<(&str, &str)> =
                known.iter().map(|t| (t.subject.as_str(), t.predicate.as_str())).collect();
            let stated: Vec<&Triple> = facts.iter().filter(|fact| says(&known, fact)).collect();
            if document.id == OWN_GRAPH {
                own = Some((document, graph, stated));
                continue;
            }
            if stated.is_empty() {
                continue;
            }
            missing.retain(|fact| !says(&known, fact));
            graph.restate(stated);
            let content = self.graph_content(&graph)?;
            let digest = self.ledger()?.digest(&content);
            if digest != version.digest {
                change.add_version(document, content, digest, true);
            }
        }
        let (document, mut graph, stated) = match own {
            Some(own) => own,
            None => match self.ledger()?.document(OWN_GRAPH)? {
                Some(document) => (document, Graph::default(), Vec::new()),
                None => (change.new_document(OWN_GRAPH.to_owned()), Graph::default(), Vec::new()),
            },
        };
        let known: HashSet<&Triple> = missing.iter().copied().collect();
        let more: Vec<&Triple> = stated.into_iter().filter(|fact| !known.contains(fact)).collect();
        missing.extend(more);
        if !missing.is_empty() {
            graph.restate(missing);
            let content = self.graph_content(&graph)?;
            let digest = self.ledger()?.digest(&content);
            if document.live().is_none_or(|version| version.digest != digest) {
                change.add_version(document, content, digest, false);
            }
        }
        if change.is_empty() {
            return Err(Error::Invalid("all of these facts are known already".to_owned()));
        }
        self.commit(&change)?;
        self.report(&change)
    }

    /// A graph as the ledger has it.
    pub(super) fn graph_content(&self, graph: &Graph) -> Result<Content, Error> {
        self.exact_content(&graph.to_text(), Role::Graph)
    }

    /// A text that must be read again as it was written.
    pub(super) fn exact_content(&self, text: &str, role: Role) -> Result<Content, Error> {
        let content = Content { parts: vec![self.tokenizer.encode(text)?], role };
        if self.blueprint.text(&content) != text {
            return Err(Error::Invalid(format!(
                "the tokenizer {:?} does not keep every character, as graphs and rules need; make a model with another, such as gpt2",
                self.config.tokenizer
            )));
        }
        Ok(content)
    }
}

/// Whether something is said of a fact's subject and predicate, of all of which something is.
fn says(known: &HashSet<(&str, &str)>, fact: &Triple) -> bool {
    known.contains(&(fact.subject.as_str(), fact.predicate.as_str()))
}
