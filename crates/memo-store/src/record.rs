//! What the ledger keeps: documents with their versions, and transactions.
//!
//! A transaction is a list of [`Op`]s, each moving one document from one [`Place`] to another: not there, in the
//! memory with one of its versions, or retired. What it does to the memory, what undoes it, and what later
//! transactions stand in the way of that, all follow from these places.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A document and all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its name, unique in the model.
    pub id: String,
    /// Its number, never used twice.
    pub(crate) number: u64,
    /// Labels given by the user.
    pub labels: BTreeMap<String, String>,
    /// All versions, in order.
    pub versions: Vec<Version>,
    /// Where it is now; `None` if what brought it here was rolled back, or if it was forgotten.
    pub place: Option<Place>,
}

impl Document {
    /// In a word: `live`, `retired`, `forgotten`, or `rolled back`.
    pub fn state(&self) -> &'static str {
        let forgotten = self.versions.iter().all(|version| version.forgotten.is_some());
        match self.place {
            Some(place) if place.live => "live",
            Some(_) => "retired",
            None if forgotten => "forgotten",
            None => "rolled back",
        }
    }
}

/// Where a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which of its versions counts, from 1.
    pub version: u32,
    /// Whether that version is in the memory; if not, the document is retired.
    pub live: bool,
}

/// One version of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// From 1.
    pub number: u32,
    /// When it came, in milliseconds since 1970.
    pub time: u64,
    /// How many tokens it has.
    pub tokens: u64,
    /// The digest of its tokens under the model's secret key.
    pub digest: String,
    /// The transaction that brought it.
    pub transaction: u64,
    /// The tokens of each part; a part has no neighbours. More than one where text was cut out.
    pub parts: Vec<u64>,
    /// What is written of it.
    pub role: Role,
    /// The transaction that scrubbed its tokens, if one did.
    pub forgotten: Option<u64>,
}

/// What is written of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// All of it, once.
    Text,
    /// Only what follows the first `prompt` tokens, `weight` times.
    Edit {
        /// Tokens of the prompt.
        prompt: u64,
        /// How often the target is written.
        weight: i32,
    },
}

/// What a transaction does to one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// The document.
    pub document: String,
    /// Its number.
    pub(crate) number: u64,
    /// Where it was.
    pub before: Option<Place>,
    /// Where it is afterwards.
    pub after: Option<Place>,
}

impl Op {
    /// The op that undoes this one.
    pub(crate) fn inverse(&self) -> Op {
        Op { before: self.after, after: self.before, ..self.clone() }
    }
}

/// What kind of change a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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

impl Kind {
    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Memorize => "memorize",
            Kind::Forget => "forget",
            Kind::Retire => "retire",
            Kind::Restore => "restore",
            Kind::Replace => "replace",
            Kind::Edit => "edit",
            Kind::Merge => "merge",
            Kind::Rollback => "rollback",
        }
    }
}

/// One change of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its number, from 1.
    pub id: u64,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// What kind of change.
    pub kind: Kind,
    /// Why, in the user's words.
    pub reason: Option<String>,
    /// What it did, document by document.
    pub ops: Vec<Op>,
    /// The transaction that this one rolled back.
    pub undoes: Option<u64>,
    /// The transaction that rolled this one back.
    pub undone_by: Option<u64>,
    /// What was forgotten: all that is left of it.
    pub forgotten: Vec<Forgotten>,
    /// Versions whose tokens are still to be scrubbed. Empty once a forget is finished.
    pub(crate) scrub: Vec<(u64, u32)>,
    /// Texts that are still to be scrubbed from labels and reasons.
    pub(crate) scrub_texts: Vec<String>,
}

/// All that is left of a forgotten text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The document it was in.
    pub document: String,
    /// The version.
    pub version: u32,
    /// The digest of the version's tokens under the model's secret key.
    pub digest: String,
}

/// A copy of the model that was made and may hold what is forgotten later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// What kind of copy.
    pub kind: CopyKind,
    /// Where it was made.
    pub path: String,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The last transaction that it contains.
    pub transaction: u64,
}

/// What kind of copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CopyKind {
    /// A backup.
    Backup,
    /// Merged into another model.
    Merged,
    /// A frozen model.
    Frozen,
    /// An export.
    Exported,
}
