//! Forgetting, before it is done: what would go, what would stay, and the room that it needs.

use super::{ContentKind, Document, DocumentState, ModelCopy, Snapshot, cut};
use crate::error::Error;
use crate::knowledge::in_words;
use crate::ledger::Content;
use crate::record::{DocumentRecord, Role, VersionRecord};
use crate::selection::{Cut, Selected, Selection};
use memo_knowledge::Graph;
use serde::Serialize;

/// What a forget would do. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ForgetPreview {
    /// The documents that would go, or lose a text.
    pub documents: Vec<PreviewDocument>,
    /// How often the text stands in them; none if whole documents would go.
    pub places: Option<u64>,
    /// Tokens that would leave the memory.
    pub tokens: u64,
    /// Live documents that share a passage with documents that would go; they would still know it.
    pub shared: Vec<String>,
    /// Copies made earlier, and originals, which would still contain it.
    pub copies: Vec<ModelCopy>,
    /// Bytes that must be free on the disk meanwhile, about.
    pub bytes_needed: u64,
    /// Bytes that are free on the disk, if the system says so.
    pub bytes_free: Option<u64>,
    /// The last transaction of the model that was looked at.
    pub transaction: u64,
}

/// What a forget would do to a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviewDocument {
    /// The document.
    pub document: String,
    /// Whether it is in the memory.
    pub state: DocumentState,
    /// What it holds.
    pub kind: ContentKind,
    /// The versions that would be scrubbed.
    pub versions: Vec<u32>,
    /// Whether nothing of it would be left.
    pub whole: bool,
    /// How often the newest of these versions contains the text; 0 if whole documents would go.
    pub places: u64,
    /// Tokens that would leave the memory.
    pub tokens: u64,
    /// The first places with what stands around them or, if whole documents would go, how it begins.
    pub excerpts: Vec<String>,
}

/// Places of a document that are shown, and characters: on either side of a text, of the text, and of a beginning.
const SHOWN: usize = 3;
const AROUND: usize = 32;
const INSIDE: usize = 96;
const BEGINNING: usize = 80;

impl Snapshot {
    /// What forgetting a selection would do. Fails where the forget itself would.
    pub fn preview_forget(&self, what: &Selection) -> Result<ForgetPreview, Error> {
        let Selected { documents: selected, cut } = self.select(what)?;
        let mut documents = Vec::new();
        for (document, versions) in &selected {
            documents.push(self.preview_document(document, versions, cut.as_ref())?);
        }
        let shared = if cut.is_none() { self.sharing(&selected)? } else { Vec::new() };
        let (bytes_needed, bytes_free) = self.room_to_forget()?;
        Ok(ForgetPreview {
            places: cut.map(|_| documents.iter().map(|document| document.places).sum()),
            tokens: documents.iter().map(|document| document.tokens).sum(),
            documents,
            shared,
            copies: self.copies_with(&selected)?,
            bytes_needed,
            bytes_free,
            transaction: self.transaction,
        })
    }

    fn preview_document(
        &self,
        record: &DocumentRecord,
        versions: &[u32],
        cut: Option<&Cut>,
    ) -> Result<PreviewDocument, Error> {
        let ledger = self.ledger("documents")?;
        let live = record.live().filter(|version| versions.contains(&version.number));
        let newest = record.versions.iter().rfind(|v| versions.contains(&v.number));
        let shown = newest.map(|version| ledger.sound_content(record, version)).transpose()?;
        let damaged = matches!(shown, Some(None));
        let shown = shown.flatten().unwrap_or(Content { parts: Vec::new(), role: Role::Text });
        let (mut whole, mut tokens, mut places) = (true, live.map_or(0, |v| v.tokens), 0);
        let excerpts = match cut {
            None if damaged => vec!["(its tokens are damaged)".to_owned()],
            None => {
                let tokens = shown.parts.iter().flatten().take(4 * BEGINNING + 8);
                let tokens: Vec<u32> = tokens.copied().collect();
                vec![beginning(&self.tokenizer.decode(&tokens))]
            }
            Some(cut) => {
                let rest = match record.current() {
                    Some(version) if !versions.contains(&version.number) => Some(version.tokens),
                    Some(version) => self.rest(record, version, cut)?.map(|rest| rest.tokens()),
                    None => None,
                };
                whole = rest.is_none();
                tokens = tokens.saturating_sub(rest.unwrap_or(0));
                match cut {
                    Cut::Text(text) => {
                        places = self.occurrences(&shown, text).len() as u64;
                        let parts = shown.parts.iter().map(|part| self.tokenizer.decode(part));
                        parts.flat_map(|part| around(&part, text)).take(SHOWN).collect()
                    }
                    Cut::Facts(pattern) => {
                        let mut facts = Graph::from_text(&self.blueprint.text(&shown))?.facts();
                        facts.retain(|fact| pattern.matches(fact));
                        places = facts.len() as u64;
                        facts.iter().take(SHOWN).map(in_words).collect()
                    }
                }
            }
        };
        let Document { id: document, state, kind, .. } = Document::from(record.clone());
        let versions = versions.to_vec();
        Ok(PreviewDocument { document, state, kind, versions, whole, places, tokens, excerpts })
    }

    /// What is left of a version with every occurrence of a text, or facts, cut out, encoded anew; `None` if that is nothing, or if
    /// it was an edit or rules: what is left of these is neither. Of a graph all triples go that have the text.
    pub(crate) fn rest(
        &self,
        document: &DocumentRecord,
        version: &VersionRecord,
        what: &Cut,
    ) -> Result<Option<Content>, Error> {
        let content = self.ledger("documents")?.content(document, version)?;
        let text = match (what, version.role) {
            (_, Role::Graph) => return self.rest_of_graph(&content, what),
            (Cut::Text(text), Role::Text) => text,
            _ => return Ok(None),
        };
        let mut parts = Vec::new();
        for part in &content.parts {
            let bytes = self.tokenizer.decode(part);
            let pieces = cut(&bytes, text.as_bytes());
            if pieces.len() == 1 && pieces[0].len() == bytes.len() {
                parts.push(part.clone());
                continue;
            }
            for piece in pieces {
                let tokens = self.encode(&piece)?;
                if !tokens.is_empty() {
                    parts.push(tokens);
                }
            }
        }
        Ok((!parts.is_empty()).then_some(Content { parts, role: Role::Text }))
    }

    fn rest_of_graph(&self, content: &Content, what: &Cut) -> Result<Option<Content>, Error> {
        let text = self.blueprint.text(content);
        let mut graph = Graph::from_text(&text)?;
        match what {
            Cut::Facts(pattern) => {
                graph.remove(pattern);
            }
            Cut::Text(cut) => {
                let lines: Vec<&str> = text.lines().filter(|line| !line.contains(cut)).collect();
                graph = Graph::from_text(&lines.join("\n"))?;
            }
        }
        let parts = vec![self.tokenizer.encode(&graph.to_text())?];
        Ok((!graph.is_empty()).then_some(Content { parts, role: Role::Graph }))
    }

    /// The copies and originals that may contain versions that are to go: those made since the first of them came.
    pub(crate) fn copies_with(
        &self,
        going: &[(DocumentRecord, Vec<u32>)],
    ) -> Result<Vec<ModelCopy>, Error> {
        let came = going.iter().flat_map(|(document, versions)| {
            document.versions.iter().filter(|version| versions.contains(&version.number))
        });
        let first = came.map(|version| version.transaction).min().unwrap_or(u64::MAX);
        let copies = self.ledger("copies")?.copies()?.into_iter().map(ModelCopy::from);
        Ok(copies.filter(|copy| copy.transaction >= first).collect())
    }
}

/// The beginning of a document's bytes, as text.
fn beginning(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    first(text.trim_start(), BEGINNING)
}

/// Each place of a text in some bytes, with what stands around it.
fn around(bytes: &[u8], text: &str) -> Vec<String> {
    let places = memchr::memmem::find_iter(bytes, text.as_bytes()).take(SHOWN);
    let excerpt = |at: usize| {
        // Four bytes a character at most; a character that this cuts is not shown.
        let start = at.saturating_sub(4 * AROUND);
        let before = String::from_utf8_lossy(&bytes[start..at]);
        let before = before.trim_start_matches('\u{fffd}');
        let skipped = before.chars().count().saturating_sub(AROUND);
        let dots = if start > 0 || skipped > 0 { "…" } else { "" };
        let before: String = before.chars().skip(skipped).collect();
        let end = at + text.len();
        let after = &bytes[end..bytes.len().min(end + 4 * AROUND + 8)];
        let after = String::from_utf8_lossy(after);
        format!("{dots}{before}{}{}", first(text, INSIDE), first(&after, AROUND))
    };
    places.map(excerpt).collect()
}

/// The first characters of a text, and dots if there are more.
fn first(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
