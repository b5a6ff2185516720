//! Facts and rules come and change: graphs and rules are documents, memorized like any other.

use super::Store;
use super::transaction::{ChangeReport, TransactionBuilder};
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{DocumentRecord, Role, TransactionKind};
use memo_knowledge::{Graph, Triple};
use std::collections::HashMap;

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
            let known = graph.facts();
            let mut said: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
            for fact in &known {
                said.entry(about(fact)).or_default().push(&fact.object);
            }
            missing.retain(|fact| !said.contains_key(&about(fact)));
            let differs = |fact: &&Triple| {
                said.get(&about(fact)).is_some_and(|objects| objects[..] != [fact.object.as_str()])
            };
            let stated: Vec<&Triple> = facts.iter().filter(differs).collect();
            graph.restate(stated);
            if document.id == OWN_GRAPH {
                own = Some((document, graph));
            } else {
                self.set_graph(&mut change, document, &graph)?;
            }
        }
        let (document, mut graph) = match own {
            Some(own) => own,
            None => match self.ledger()?.document(OWN_GRAPH)? {
                // Someone's text has that name.
                Some(document) if document.live().is_some() => {
                    let id = self.free_id(OWN_GRAPH, |_| Ok(false))?;
                    (change.new_document(id), Graph::default())
                }
                Some(document) => (document, Graph::default()),
                None => (change.new_document(OWN_GRAPH.to_owned()), Graph::default()),
            },
        };
        graph.restate(missing);
        if !graph.is_empty() || document.live().is_some() {
            self.set_graph(&mut change, document, &graph)?;
        }
        if change.is_empty() {
            return Err(Error::Invalid("all of these facts are known already".to_owned()));
        }
        self.commit(&change)?;
        self.report(&change)
    }

    /// Gives a document a version with a graph, unless it has that already.
    fn set_graph(
        &self,
        change: &mut TransactionBuilder,
        document: DocumentRecord,
        graph: &Graph,
    ) -> Result<(), Error> {
        let content = self.exact_content(&graph.to_text(), Role::Graph)?;
        let digest = self.ledger()?.digest(&content);
        if document.live().is_none_or(|version| version.digest != digest) {
            change.add_version(document, content, digest, false);
        }
        Ok(())
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

/// The subject and the predicate of a fact.
fn about(fact: &Triple) -> (&str, &str) {
    (&fact.subject, &fact.predicate)
}
