//! The ledger's records: documents with their versions, and transactions, as they are stored.
//!
//! A transaction is a list of [`OpRecord`]s, each moving one document from one [`Place`] to another: not there, in the
//! memory with one of its versions, or retired. What it does to the memory, what undoes it, and which later
//! transactions depend on it, all follow from these places.
//!
//! The JSON of these types is the ledger's format: their fields keep their names.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A document and all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentRecord {
    /// Its name, unique in the model.
    pub(crate) id: String,
    /// Its number, never used twice.
    pub(crate) number: u64,
    /// Labels given by the user.
    pub(crate) labels: BTreeMap<String, String>,
    /// All versions, in order.
    pub(crate) versions: Vec<VersionRecord>,
    /// Where it is now; `None` if what brought it here was rolled back, or if it was forgotten.
    pub(crate) place: Option<Place>,
}

impl DocumentRecord {
    /// The version with this number.
    pub(crate) fn version(&self, number: u32) -> Option<&VersionRecord> {
        self.versions.iter().find(|version| version.number == number)
    }

    /// The version that counts.
    pub(crate) fn current(&self) -> Option<&VersionRecord> {
        self.version(self.place?.version)
    }

    /// The version that is in the memory.
    pub(crate) fn live(&self) -> Option<&VersionRecord> {
        self.version(self.place.filter(|place| place.live)?.version)
    }
}

/// Where a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Place {
    /// Which of its versions counts, from 1.
    pub version: u32,
    /// Whether that version is in the memory; if not, the document is retired.
    pub live: bool,
}

/// One version of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VersionRecord {
    /// From 1.
    pub(crate) number: u32,
    /// When it came, in milliseconds since 1970.
    pub(crate) time: u64,
    /// The number of its tokens.
    pub(crate) tokens: u64,
    /// The digest of its tokens under the model's secret key.
    pub(crate) digest: String,
    /// The transaction that brought it.
    pub(crate) transaction: u64,
    /// The tokens of each part; a part has no neighbours. More than one where text was cut out.
    pub(crate) parts: Vec<u64>,
    /// What is written of it.
    pub(crate) role: Role,
    /// The transaction that scrubbed its tokens, if one did.
    pub(crate) forgotten: Option<u64>,
}

impl VersionRecord {
    /// Positions that it takes in the memory, the ends of its parts included.
    pub(crate) fn positions(&self) -> u64 {
        match self.role {
            Role::Text | Role::Edit { .. } => self.tokens + self.parts.len() as u64,
            Role::Graph | Role::Rules => 0,
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.role == Role::Text
    }
}

/// What is written of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// All of it, once.
    Text,
    /// Only what follows the first `prompt` tokens, `weight` times.
    Edit {
        /// Tokens of the prompt.
        prompt: u64,
        /// How often the target is written.
        weight: i32,
    },
    /// None of its text, but the facts that it states, as a graph.
    Graph,
    /// None of it: rules, which other documents are read by.
    Rules,
}

/// What a transaction does to one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpRecord {
    /// The document.
    pub(crate) document: String,
    /// Its number.
    pub(crate) number: u64,
    /// Where it was.
    pub(crate) before: Option<Place>,
    /// Where it is afterwards.
    pub(crate) after: Option<Place>,
}

impl OpRecord {
    /// The op that undoes this one.
    pub(crate) fn inverse(&self) -> OpRecord {
        OpRecord { before: self.after, after: self.before, ..self.clone() }
    }
}

/// What kind of change a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TransactionKind {
    /// Documents came, or new versions of them.
    Memorize,
    /// Documents or text went for good.
    Forget,
    /// A document left the memory and is kept.
    Retire,
    /// A retired document came back.
    Restore,
    /// Text was replaced.
    Replace,
    /// A prompt was given another continuation.
    Edit,
    /// Documents of another model came.
    Merge,
    /// An earlier transaction was undone.
    Rollback,
}

impl TransactionKind {
    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            TransactionKind::Memorize => "memorize",
            TransactionKind::Forget => "forget",
            TransactionKind::Retire => "retire",
            TransactionKind::Restore => "restore",
            TransactionKind::Replace => "replace",
            TransactionKind::Edit => "edit",
            TransactionKind::Merge => "merge",
            TransactionKind::Rollback => "rollback",
        }
    }
}

/// One change of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TransactionRecord {
    /// Its number, from 1.
    pub(crate) id: u64,
    /// When, in milliseconds since 1970.
    pub(crate) time: u64,
    /// What kind of change.
    pub(crate) kind: TransactionKind,
    /// Why, in the user's words.
    pub(crate) reason: Option<String>,
    /// What it did, document by document.
    pub(crate) ops: Vec<OpRecord>,
    /// The transaction that this one rolled back.
    pub(crate) undoes: Option<u64>,
    /// The transaction that rolled this one back.
    pub(crate) undone_by: Option<u64>,
    /// What was forgotten: all that is left of it.
    pub(crate) forgotten: Vec<ForgottenVersion>,
    /// Versions whose tokens are still to be scrubbed. Empty once a forget is finished.
    pub(crate) scrub: Vec<(u64, u32)>,
    /// Texts that are still to be scrubbed from labels and reasons.
    pub(crate) scrub_texts: Vec<String>,
}

/// All that is left of a forgotten version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ForgottenVersion {
    /// The document it was in.
    pub document: String,
    /// The version.
    pub version: u32,
    /// The digest of the version's tokens under the model's secret key.
    pub digest: String,
}

/// A copy of the model that was made and may hold what is forgotten later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopyRecord {
    /// What kind of copy.
    pub(crate) kind: CopyKind,
    /// Where it was made.
    pub(crate) path: String,
    /// When, in milliseconds since 1970.
    pub(crate) time: u64,
    /// The last transaction that it contains.
    pub(crate) transaction: u64,
}

/// The kind of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum CopyKind {
    /// A backup.
    Backup,
    /// Merged into another model.
    Merged,
    /// A frozen model.
    Frozen,
    /// An export.
    Exported,
    /// The model that this one is a copy of.
    Original,
}
