//! Facts and rules come and change: graphs and rules are documents, memorized like any other.

use super::Store;
use super::transaction::ChangeReport;
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{Role, TransactionKind};
use memo_knowledge::{Graph, Triple, TriplePattern};

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
        let nameless = |Triple { subject, predicate, object }: &Triple| {
            [subject, predicate, object].into_iter().any(|name| name.trim().is_empty())
        };
        if facts.is_empty() || facts.iter().any(nameless) {
            let why = "a fact needs a subject, a predicate and an object";
            return Err(Error::Invalid(why.to_owned()));
        }
        let mut change = self.begin(TransactionKind::Replace, reason)?;
        let mut missing: Vec<&Triple> = facts.iter().collect();
        let mut own = None;
        for document in self.ledger()?.documents()? {
            let Some(version) = document.live().filter(|v| v.role == Role::Graph) else { continue };
            let text = self.blueprint.text(&self.ledger()?.content(&document, version)?);
            let mut graph = Graph::from_text(&text)?;
            let stated: Vec<&Triple> = facts
                .iter()
                .filter(|fact| graph.facts().iter().any(|t| about(fact).matches(t)))
                .collect();
            if document.id == OWN_GRAPH {
                own = Some((document, graph, stated));
                continue;
            }
            if stated.is_empty() {
                continue;
            }
            for fact in &stated {
                graph.remove(&about(fact));
                graph.insert(fact);
            }
            missing.retain(|fact| !stated.contains(fact));
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
        missing
            .extend(stated.into_iter().filter(|fact| !missing.contains(fact)).collect::<Vec<_>>());
        if !missing.is_empty() {
            for fact in missing {
                graph.remove(&about(fact));
                graph.insert(fact);
            }
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

/// Whatever is said of a fact's subject and predicate.
fn about(fact: &Triple) -> TriplePattern {
    let Triple { subject, predicate, .. } = fact;
    TriplePattern {
        subject: Some(subject.clone()),
        predicate: Some(predicate.clone()),
        object: None,
    }
}
