//! Documents and transactions, as they are shown.

use super::Snapshot;
use crate::error::Error;
use crate::record::{
    CopyKind, CopyRecord, DocumentRecord, ForgottenVersion, Place, Role, TransactionKind,
    TransactionRecord, VersionRecord,
};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A document and all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Document {
    /// Its name, unique in the model.
    pub id: String,
    /// Whether it is in the memory.
    pub state: DocumentState,
    /// What it holds: of the version that counts or, if none does, of the last one.
    pub kind: ContentKind,
    /// The version that counts; none if it was forgotten or rolled back.
    pub version: Option<u32>,
    /// Tokens of that version.
    pub tokens: u64,
    /// When that version came.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, format = DateTime))]
    pub time: Option<Timestamp>,
    /// Labels given by the user.
    pub labels: BTreeMap<String, String>,
    /// All versions, in order.
    pub versions: Vec<Version>,
}

/// Whether a document is in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum DocumentState {
    /// In the memory.
    Live,
    /// Out of the memory, and kept.
    Retired,
    /// Gone for good.
    Forgotten,
    /// The transaction that brought it was rolled back.
    #[serde(rename = "rolled back")]
    RolledBack,
}

impl DocumentState {
    /// Its name, in words.
    pub fn name(self) -> &'static str {
        match self {
            DocumentState::Live => "live",
            DocumentState::Retired => "retired",
            DocumentState::Forgotten => "forgotten",
            DocumentState::RolledBack => "rolled back",
        }
    }
}

/// What a version holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ContentKind {
    /// A text, memorized as a whole.
    Text,
    /// A prompt and the continuation that an edit gave it.
    Edit,
    /// A graph: facts.
    Graph,
    /// Rules that other documents are read by.
    Rules,
}

/// One version of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Version {
    /// From 1.
    pub number: u32,
    /// When it came.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub time: Timestamp,
    /// The number of its tokens.
    pub tokens: u64,
    /// The digest of its tokens under the model's secret key.
    pub digest: String,
    /// The transaction that brought it.
    pub transaction: u64,
    /// The tokens of each part; more than one where text was cut out.
    pub parts: Vec<u64>,
    /// What it holds.
    pub kind: ContentKind,
    /// The tokens of an edit's prompt.
    pub prompt_tokens: Option<u64>,
    /// How often an edit's continuation is written.
    pub weight: Option<i32>,
    /// The transaction that scrubbed its tokens, if one did.
    pub forgotten: Option<u64>,
}

/// A document with the text of one of its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DocumentText {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// The text; none if that version was forgotten, or no version counts.
    pub text: Option<String>,
}

/// One change of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Transaction {
    /// Its number, from 1.
    pub id: u64,
    /// When it was made.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub time: Timestamp,
    /// What kind of change it is.
    pub kind: TransactionKind,
    /// Why, in the user's words.
    pub reason: Option<String>,
    /// What it did, document by document.
    pub changes: Vec<DocumentChange>,
    /// The transaction that this one rolled back.
    pub undoes: Option<u64>,
    /// The transaction that rolled this one back.
    pub undone_by: Option<u64>,
    /// What it forgot: all that is left of it.
    pub forgotten: Vec<ForgottenVersion>,
    /// Whether it may be rolled back, if no later one depends on it.
    pub can_roll_back: bool,
    /// Whether it is a forget whose text is still to be scrubbed: the disk was full, or the program was killed.
    pub unfinished: bool,
}

/// What a transaction did to one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DocumentChange {
    /// The document.
    pub document: String,
    /// Where it was; none if it was not there.
    pub before: Option<Place>,
    /// Where it is afterwards; none if it is gone.
    pub after: Option<Place>,
}

/// A copy of a model, or the original that this one is a copy of: it may hold what was forgotten later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelCopy {
    /// What kind of copy.
    pub kind: CopyKind,
    /// Where it was when the copy was made.
    pub path: String,
    /// When the copy was made.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub time: Timestamp,
    /// The last transaction that both contain.
    pub transaction: u64,
}

impl From<DocumentRecord> for Document {
    fn from(record: DocumentRecord) -> Self {
        let forgotten = record.versions.iter().all(|version| version.forgotten.is_some());
        let state = match record.place {
            Some(place) if place.live => DocumentState::Live,
            Some(_) => DocumentState::Retired,
            None if forgotten => DocumentState::Forgotten,
            None => DocumentState::RolledBack,
        };
        let current = record.current();
        Document {
            state,
            kind: kind(current.or(record.versions.last())),
            version: record.place.map(|place| place.version),
            tokens: current.map_or(0, |version| version.tokens),
            time: current.map(|version| Timestamp(version.time)),
            versions: record.versions.iter().map(Version::from).collect(),
            id: record.id,
            labels: record.labels,
        }
    }
}

fn kind(version: Option<&VersionRecord>) -> ContentKind {
    match version.map(|version| version.role) {
        Some(Role::Edit { .. }) => ContentKind::Edit,
        Some(Role::Graph) => ContentKind::Graph,
        Some(Role::Rules) => ContentKind::Rules,
        Some(Role::Text) | None => ContentKind::Text,
    }
}

impl From<&VersionRecord> for Version {
    fn from(record: &VersionRecord) -> Self {
        let (prompt_tokens, weight) = match record.role {
            Role::Text | Role::Graph | Role::Rules => (None, None),
            Role::Edit { prompt, weight } => (Some(prompt), Some(weight)),
        };
        Version {
            number: record.number,
            time: Timestamp(record.time),
            tokens: record.tokens,
            digest: record.digest.clone(),
            transaction: record.transaction,
            parts: record.parts.clone(),
            kind: kind(Some(record)),
            prompt_tokens,
            weight,
            forgotten: record.forgotten,
        }
    }
}

impl From<TransactionRecord> for Transaction {
    fn from(record: TransactionRecord) -> Self {
        let changes = record.ops.into_iter().map(|op| DocumentChange {
            document: op.document,
            before: op.before,
            after: op.after,
        });
        let unfinished = !record.scrub.is_empty();
        Transaction {
            id: record.id,
            time: Timestamp(record.time),
            kind: record.kind,
            reason: record.reason,
            changes: changes.collect(),
            undoes: record.undoes,
            undone_by: record.undone_by,
            forgotten: record.forgotten,
            can_roll_back: record.kind != TransactionKind::Forget && record.undone_by.is_none(),
            unfinished,
        }
    }
}

impl From<CopyRecord> for ModelCopy {
    fn from(CopyRecord { kind, path, time, transaction }: CopyRecord) -> Self {
        ModelCopy { kind, path, time: Timestamp(time), transaction }
    }
}

const DOCUMENTS: &str = "documents";
const LOG: &str = "log of changes";

impl Snapshot {
    /// All documents that were ever here, by id.
    pub fn documents(&self) -> Result<Vec<Document>, Error> {
        Ok(self.ledger(DOCUMENTS)?.documents()?.into_iter().map(Document::from).collect())
    }

    /// One document.
    pub fn document(&self, id: &str) -> Result<Document, Error> {
        self.record(id).map(Document::from)
    }

    pub(crate) fn record(&self, id: &str) -> Result<DocumentRecord, Error> {
        let found = self.ledger(DOCUMENTS)?.document(id)?;
        found.ok_or_else(|| Error::NoDocument(id.to_owned()))
    }

    /// A document with the text of one of its versions or, if none is given, of the one that counts.
    pub fn show(&self, id: &str, version: Option<u32>) -> Result<DocumentText, Error> {
        let record = self.record(id)?;
        let number = version.or(record.place.map(|place| place.version));
        let forgotten =
            number.and_then(|n| record.version(n)).is_some_and(|v| v.forgotten.is_some());
        let text = match number {
            Some(_) if !forgotten => Some(self.text(id, number)?),
            _ => None,
        };
        Ok(DocumentText { document: record.into(), text })
    }

    /// The text of a document as it is now, or of one of its versions. Where text was cut out, parts are on lines of
    /// their own.
    pub fn text(&self, id: &str, version: Option<u32>) -> Result<String, Error> {
        let document = self.record(id)?;
        let state = |why: &str| Error::State { id: id.to_owned(), why: why.to_owned() };
        let number = version
            .or(document.place.map(|place| place.version))
            .ok_or_else(|| state("has no version now"))?;
        let version = document.version(number);
        let version = version.ok_or_else(|| state(&format!("has no version {number}")))?;
        if let Some(transaction) = version.forgotten {
            return Err(state(&format!("was forgotten in transaction {transaction}")));
        }
        let content = self.ledger(DOCUMENTS)?.content(&document, version)?;
        let parts: Vec<String> =
            content.parts.iter().map(|part| self.tokenizer.decode_lossy(part)).collect();
        Ok(parts.join("\n"))
    }

    /// All transactions, in order.
    pub fn log(&self) -> Result<Vec<Transaction>, Error> {
        let records = self.ledger(LOG)?.transactions(0)?;
        Ok(records.into_iter().map(Transaction::from).collect())
    }

    /// The transactions that changed a document, in order.
    pub fn history(&self, id: &str) -> Result<Vec<Transaction>, Error> {
        let document = self.record(id)?;
        let changed = |t: &TransactionRecord| t.ops.iter().any(|op| op.number == document.number);
        let records = self.ledger(LOG)?.transactions(0)?.into_iter();
        Ok(records.filter(changed).map(Transaction::from).collect())
    }
}
