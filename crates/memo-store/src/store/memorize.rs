//! Documents come, get new versions, are retired and come back.

use super::Store;
use super::transaction::{Addition, ChangeReport};
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{Place, Role, TransactionKind};
use memo::sparse::Memory;
use memo_knowledge::Graph;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// A document to memorize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDocument {
    pub(crate) id: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) text: Option<String>,
    pub(crate) tokens: Vec<u32>,
    pub(crate) role: Option<Role>,
}

impl NewDocument {
    /// A document with this text.
    pub fn text(text: impl Into<String>) -> Self {
        NewDocument { text: Some(text.into()), ..NewDocument::default() }
    }

    /// A document with these tokens, without an end token.
    pub fn tokens(tokens: Vec<u32>) -> Self {
        NewDocument { tokens, ..NewDocument::default() }
    }

    /// A graph: its facts can be asked for, and its text is not memorized.
    pub fn graph(graph: &Graph) -> Self {
        NewDocument { role: Some(Role::Graph), ..Self::text(graph.to_text()) }
    }

    /// Rules, by which other documents are read: what follows from them is known, and their text is not memorized.
    pub fn rules(text: impl Into<String>) -> Self {
        NewDocument { role: Some(Role::Rules), ..Self::text(text) }
    }

    /// Gives it an id. Without one, it gets one from its content and the model's secret key; merging knows it by its
    /// content.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        NewDocument { id: Some(id.into()), ..self }
    }

    /// Gives it a label.
    #[must_use]
    pub fn with_label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }
}

/// What memorizing did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemorizeReport {
    /// The transaction; none if nothing had to change.
    pub transaction: Option<u64>,
    /// Documents that were given.
    pub documents: usize,
    /// Documents that are new.
    pub added: Vec<String>,
    /// Documents that got a new version.
    pub updated: Vec<String>,
    /// Documents that were here with the same content.
    pub unchanged: Vec<String>,
    /// Tokens that were memorized.
    pub tokens: u64,
    /// How long it took.
    pub seconds: f64,
    /// How fast it was.
    pub tokens_per_second: f64,
}

/// A content under its id, or one that it will get from its digest, and its labels.
pub(super) type Incoming = (Option<String>, BTreeMap<String, String>, Content);

impl Store {
    /// Memorizes documents in one transaction: all of them or, if one is refused, none.
    ///
    /// A known id with the same content changes nothing; with another content it makes a new version, and the old one
    /// leaves the memory. A retired or rolled-back document comes back with what is given.
    pub fn memorize(
        &mut self,
        documents: impl IntoIterator<Item = NewDocument>,
        reason: Option<&str>,
    ) -> Result<MemorizeReport, Error> {
        let contents = self.contents(documents)?;
        self.memorize_contents(contents, None, reason)
    }

    /// What documents have to be memorized as.
    pub(super) fn contents(
        &self,
        documents: impl IntoIterator<Item = NewDocument>,
    ) -> Result<Vec<Incoming>, Error> {
        let mut contents = Vec::new();
        for NewDocument { id, labels, text, tokens, role } in documents {
            let content = match (text, role) {
                (Some(text), Some(role)) => self.exact_content(&text, role)?,
                (Some(text), None) => Content::text(self.tokenizer.encode(&text)?),
                (None, _) => Content::text(tokens),
            };
            contents.push((id, labels, content));
        }
        Ok(contents)
    }

    /// Memorizes contents. `made` is a memory of all of them, which is added instead of writing them.
    pub(super) fn memorize_contents(
        &mut self,
        contents: Vec<Incoming>,
        made: Option<&Memory>,
        reason: Option<&str>,
    ) -> Result<MemorizeReport, Error> {
        let start = Instant::now();
        for span in contents.iter().flat_map(|(_, _, content)| content.spans(1)) {
            self.memory()?.check(&[span])?;
        }
        let mut report = MemorizeReport { documents: contents.len(), ..MemorizeReport::default() };
        let mut change = self.begin(TransactionKind::Memorize, reason)?;
        let mut given: HashMap<String, String> = HashMap::new();
        // What was made and is here already, or given twice, and old versions.
        let (mut without, mut positions) = (Vec::new(), 0);
        for (id, labels, content) in contents {
            let digest = self.ledger()?.digest(&content);
            let id = id.unwrap_or_else(|| id_of(&digest));
            check_id(&id)?;
            if let Some(before) = given.insert(id.clone(), digest.clone()) {
                if before == digest {
                    without.push(content);
                    continue;
                }
                let why = "was given twice with different contents".to_owned();
                return Err(Error::State { id, why });
            }
            let known = self.ledger()?.document(&id)?;
            if let Some((document, version)) = known.as_ref().and_then(|d| Some((d, d.live()?))) {
                if version.digest == digest {
                    report.unchanged.push(id);
                    without.push(content);
                    continue;
                }
                if made.is_some() {
                    without.push(self.ledger()?.content(document, version)?);
                }
            }
            if known.is_none() { &mut report.added } else { &mut report.updated }.push(id.clone());
            report.tokens += content.tokens();
            positions += content.spans(1).map(|span| span.positions.len() as u64).sum::<u64>();
            let mut document = known.unwrap_or_else(|| change.new_document(id));
            document.labels.extend(labels);
            change.add_version(document, content, digest, false);
        }
        if !change.is_empty() {
            // What follows by rule from documents is not in a memory of them alone.
            let made = made.filter(|_| matches!(self.known(), Ok(None)));
            let addition =
                made.map(|memory| Addition { memory, without, positions, takes_over: true });
            self.commit_adding(&change, addition)?;
            report.transaction = Some(change.id);
        }
        report.seconds = start.elapsed().as_secs_f64();
        report.tokens_per_second = report.tokens as f64 / report.seconds.max(1e-9);
        Ok(report)
    }

    /// Takes a document out of the memory and keeps it in the ledger.
    pub fn retire(&mut self, id: &str, reason: Option<&str>) -> Result<ChangeReport, Error> {
        self.set_live(id, reason, TransactionKind::Retire, false)
    }

    /// Brings a retired document back.
    pub fn restore(&mut self, id: &str, reason: Option<&str>) -> Result<ChangeReport, Error> {
        self.set_live(id, reason, TransactionKind::Restore, true)
    }

    fn set_live(
        &mut self,
        id: &str,
        reason: Option<&str>,
        kind: TransactionKind,
        live: bool,
    ) -> Result<ChangeReport, Error> {
        let document = self.record(id)?;
        let state = |why: &str| Error::State { id: id.to_owned(), why: why.to_owned() };
        let before = document.place.ok_or_else(|| state("is not in the model any more"))?;
        if before.live == live {
            return Err(state(if live { "is live already" } else { "is retired already" }));
        }
        let mut change = self.begin(kind, reason)?;
        change.move_to(document, Some(Place { live, ..before }));
        self.commit(&change)?;
        self.report(&change)
    }
}

/// The id of a document that was given none, by the digest of its first content. The digest is under the model's secret
/// key, so that an id, which stays after a forget, does not give away what was forgotten.
pub(super) fn id_of(digest: &str) -> String {
    format!("doc-{}", &digest[..16])
}

/// Refuses ids that would make trouble in listings and file names.
fn check_id(id: &str) -> Result<(), Error> {
    if id.is_empty() || id.len() > 1024 || id.chars().any(char::is_control) {
        let shown: String = id.chars().take(40).collect();
        return Err(Error::Invalid(format!(
            "{shown:?} cannot be an id: it must have 1 to 1024 bytes and no control characters"
        )));
    }
    Ok(())
}
