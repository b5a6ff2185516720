//! Graphs among the documents: how much each says, and as files for other programs.

use super::{ContentKind, DocumentState, Snapshot};
use crate::error::Error;
use memo_knowledge::{Graph, GraphFormat};
use serde::Serialize;

/// A graph in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GraphStats {
    /// The document that holds it.
    pub document: String,
    /// Facts by names, each counted once.
    pub facts: usize,
    /// Triples, labels among them.
    pub triples: usize,
}

impl Snapshot {
    /// The live graphs, by the names of their documents.
    pub fn graphs(&self) -> Result<Vec<GraphStats>, Error> {
        let mut graphs = Vec::new();
        for document in self.live_graphs()? {
            let graph = Graph::from_text(&self.text(&document, None)?)?;
            graphs.push(GraphStats { document, facts: graph.facts().len(), triples: graph.len() });
        }
        Ok(graphs)
    }

    /// A graph as a file of a format has it, or all live graphs as one.
    ///
    /// Fails if the document is no graph, or if the format is only read.
    pub fn export_graph(
        &self,
        document: Option<&str>,
        format: GraphFormat,
    ) -> Result<String, Error> {
        if !format.is_written() {
            let expected = format!("a format that is written, which {format} is not");
            return Err(Error::Option { name: "format", expected });
        }
        let documents = match document {
            Some(id) => vec![id.to_owned()],
            None => self.live_graphs()?,
        };
        let mut lines = String::new();
        for id in documents {
            if self.document(&id)?.kind != ContentKind::Graph {
                return Err(Error::State { id, why: "is no graph".to_owned() });
            }
            let text = self.text(&id, None)?;
            let triples = text.lines().filter(|line| !line.starts_with("# "));
            triples.for_each(|line| lines.extend([line, "\n"]));
        }
        Ok(Graph::from_text(&lines)?.write(format))
    }

    fn live_graphs(&self) -> Result<Vec<String>, Error> {
        let documents = self.documents()?.into_iter();
        let graphs =
            documents.filter(|d| d.kind == ContentKind::Graph && d.state == DocumentState::Live);
        Ok(graphs.map(|document| document.id).collect())
    }
}
