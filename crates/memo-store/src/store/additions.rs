//! Graphs and rules come as documents, with a report of what they say and what follows.

use super::{NewDocument, Store};
use crate::error::Error;
use crate::snapshot::RulesPreview;
use memo_knowledge::{Graph, GraphReport};
use serde::Serialize;

/// New statements of rules that are shown.
const SHOWN: usize = 10;

/// What adding a graph did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AddedGraph {
    /// The document that holds it.
    pub document: String,
    /// The transaction; none if the document held the same graph before.
    pub transaction: Option<u64>,
    /// Facts by names, each counted once.
    pub facts: usize,
    /// Triples, each counted once.
    pub triples: usize,
    /// Triples that cannot be asked for because they have a blank node, which has no name.
    pub blank: usize,
    /// Names that several things share, at most ten: facts about these are taken as facts about one.
    pub same_name: Vec<String>,
}

/// What adding rules did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AddedRules {
    /// What follows from them that was not known before.
    #[serde(flatten)]
    pub preview: RulesPreview,
    /// The document that holds them.
    pub document: String,
    /// The transaction; none if the document held the same rules before.
    pub transaction: Option<u64>,
}

impl Store {
    /// Adds a graph as a document. Without an id it gets one from its content.
    pub fn add_graph(
        &mut self,
        graph: &Graph,
        id: Option<&str>,
        reason: Option<&str>,
    ) -> Result<AddedGraph, Error> {
        let document = NewDocument::graph(graph);
        let document = id.into_iter().fold(document, NewDocument::with_id);
        let report = self.memorize([document], reason)?;
        let GraphReport { facts, triples, blank, same_name, .. } = graph.report();
        let named = [report.added, report.updated, report.unchanged].into_iter().flatten().next();
        let (document, transaction) = (named.unwrap_or_default(), report.transaction);
        Ok(AddedGraph { document, transaction, facts, triples, blank, same_name })
    }

    /// Adds rules as a document, and says what follows from them.
    pub fn add_rules(
        &mut self,
        id: &str,
        text: &str,
        reason: Option<&str>,
    ) -> Result<AddedRules, Error> {
        let preview = self.preview_rules(id, text, SHOWN, &self.observer.clone())?;
        let report = self.memorize([NewDocument::rules(text).with_id(id)], reason)?;
        Ok(AddedRules { preview, document: id.to_owned(), transaction: report.transaction })
    }
}
