//! Everything that can go wrong with a model directory, one variant each.

use crate::damage::Damage;
use crate::room::shown;
use std::path::PathBuf;

/// Why a model directory refused. Nothing has changed when an operation returns one of these, unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory that could not be used.
    #[error("{path}: {reason}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// A directory that is not a model.
    #[error("{path} is not a model (there is no model.toml in it); `memo init` makes one")]
    NotAModel {
        /// The directory.
        path: PathBuf,
    },
    /// A model that would be made where something is already.
    #[error("{path} exists already; choose another name or remove it first")]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A model that another process is writing.
    #[error(
        "{path} is being written by process {pid} since {since}; wait for it, or stop it first"
    )]
    Busy {
        /// The directory.
        path: PathBuf,
        /// The writer's process, as far as it said so.
        pid: u32,
        /// When it began, in UTC.
        since: String,
        /// The socket at which it lets others use the model, if it does.
        socket: Option<PathBuf>,
    },
    /// A model whose files another process has been reading for too long.
    #[error(
        "{path} has been read by another process for {seconds} seconds without a pause; try again"
    )]
    Reading {
        /// The directory.
        path: PathBuf,
        /// How long this process has waited.
        seconds: u64,
    },
    /// A file that does not hold what it should.
    #[error("{path} is damaged: {what}; {help}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what way.
        what: Damage,
        /// What to do.
        help: &'static str,
    },
    /// A file of another version of the format.
    #[error("{path} has format {found}; this program reads format {known}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// A frozen model of an older program: it has no texts that its memory could be made anew from.
    #[error(
        "{path} was frozen by an older version of this program, whose memories this one does not read; freeze the model that it \
         was made from again"
    )]
    FrozenFormat {
        /// The model directory.
        path: PathBuf,
    },
    /// The ledger's database failed.
    #[error("the ledger {path} failed: {reason}{}", if full(reason) { "; make room on the disk and try again" } else { "" })]
    Ledger {
        /// The database file.
        path: PathBuf,
        /// Why.
        reason: Box<redb::Error>,
    },
    /// The observer said so.
    #[error("it was stopped; nothing has changed")]
    Stopped,
    /// No document of this id.
    #[error("there is no document {0:?}; `memo docs` lists them")]
    NoDocument(String),
    /// No class of this name.
    #[error("the lexicon has no class {0:?}")]
    NoClass(String),
    /// No lexicon.
    #[error("the model has no lexicon; `memo rebuild --lexicon FILE` gives it one")]
    NoLexicon,
    /// No transaction of this number.
    #[error("there is no transaction {0}; `memo log` lists them")]
    NoTransaction(u64),
    /// A change that makes no sense for the document as it is.
    #[error("document {id:?} {why}")]
    State {
        /// The document.
        id: String,
        /// What is in the way.
        why: String,
    },
    /// A rollback that cannot be done.
    #[error("transaction {transaction} cannot be rolled back: {why}")]
    Rollback {
        /// The transaction.
        transaction: u64,
        /// What is in the way.
        why: String,
    },
    /// No document that fits a filter.
    #[error("no document fits; `memo docs` lists them with their labels")]
    NoneFits,
    /// A forget for which the disk has no room.
    #[error(
        "forgetting needs about {} free on the disk of {path}, and {} are free; make room and try again: nothing has \
         changed",
        shown(*.needed), shown(*.free)
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// Bytes that are needed, about.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A forget that was recorded and could not be finished.
    #[error(
        "transaction {transaction} forgets {}, but not all of it is scrubbed from {path} yet ({reason}); make room, about \
         {}, then `memo forget MODEL --finish` or any other change finishes it; to readers it is gone already",
        .documents.join(", "), shown(*.needed)
    )]
    Pending {
        /// The directory.
        path: PathBuf,
        /// The transaction.
        transaction: u64,
        /// The documents that it forgets, or cuts text out of.
        documents: Vec<String>,
        /// Bytes that finishing it needs, about.
        needed: u64,
        /// Why it was not finished.
        reason: Box<Error>,
    },
    /// Text that is nowhere in the model.
    #[error("no document contains this text")]
    NotFound,
    /// An edit that no allowed weight makes win.
    #[error(
        "the target does not win after this prompt even with weight {0}; nothing was changed (a longer prompt is more \
         specific)"
    )]
    EditFails(i32),
    /// Something that was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Two models that cannot be merged.
    #[error("cannot merge: {0}")]
    Merge(String),
    /// A document that both of two models to be merged have, with different contents.
    #[error(
        "cannot merge: document {0:?} has another content there; choose ours, theirs or rename"
    )]
    Conflict(String),
    /// Something that needs the texts of a model that has none.
    #[error(
        "{path} is frozen: it has no texts, so it has no {what}; ask the model that it was made from"
    )]
    NoTexts {
        /// The directory.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
    },
    /// A frozen model that would be changed.
    #[error("{path} is frozen: it can be read, but not changed")]
    Frozen {
        /// The directory.
        path: PathBuf,
    },
    /// A model of an engine that model directories no longer have.
    #[error(
        "{path} has the engine {engine:?}; model directories have the sparse engine only (the dense one is a library: \
         `memo::dense` in Rust, `memo_lm.DenseMemo` in Python)"
    )]
    Engine {
        /// The directory.
        path: PathBuf,
        /// Its engine.
        engine: String,
    },
    /// An option with a value that it cannot have.
    #[error("{name} must be {expected}")]
    Option {
        /// The option's name.
        name: &'static str,
        /// What it must be, as in "between 0 and 1".
        expected: String,
    },
    /// The engine refused.
    #[error(transparent)]
    Memory(#[from] memo::sparse::Error),
    /// The tokenizer refused.
    #[error(transparent)]
    Tokenizer(#[from] memo_text::TokenizerError),
    /// A graph that cannot be read.
    #[error(transparent)]
    Graph(#[from] memo_knowledge::GraphError),
    /// Rules that cannot be read.
    #[error(transparent)]
    Rules(#[from] memo_knowledge::RulesError),
}

impl Error {
    /// The damage if this is about tokens of the ledger, which leaves the rest of it usable; or else the error.
    pub(crate) fn damaged_tokens(self) -> Result<Damage, Self> {
        match self {
            Error::Damaged { what: what @ Damage::Tokens { .. }, .. } => Ok(what),
            other => Err(other),
        }
    }
}

/// Whether the database failed for want of room on the disk.
fn full(reason: &redb::Error) -> bool {
    matches!(reason, redb::Error::Io(error) if error.kind() == std::io::ErrorKind::StorageFull)
}

/// Names the path in an error of the system.
pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |reason| Error::Io { path, reason }
}
