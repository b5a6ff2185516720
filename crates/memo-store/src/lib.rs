//! The model directory: a memory that can be trusted for years.
//!
//! A model is a directory. Its *ledger* (`ledger.redb`, a transactional database) is the truth: documents with
//! their versions and tokens, and every transaction. The *memory*, cells and tables, is a sum over the documents that
//! are live; `memory.*` is a checkpoint of it, which opening completes from the ledger and which
//! [`Store::rebuild`] recreates bit for bit.
//!
//! - What is acknowledged survives a kill at any instant; anything else is whole or absent.
//! - Every change is a transaction with a recorded inverse, so it can be rolled back, except forgetting.
//! - Forgetting subtracts a text from the memory exactly, and then copies the ledger without it, so that no byte of
//!   the text is left in the directory. Opening finishes a forget that was interrupted.
//! - One writer at a time, and any number of readers, which never wait for a change, never write, and take no lock for
//!   longer than it takes to open the files.
//!
//! Everything that can be asked of a model is a method of [`Snapshot`]; everything that changes one, of [`Store`]. What
//! either gives back is defined here once, with `serde`, for all who show it.
//!
//! ```
//! use memo_store::{CompletionOptions, NewDocument, NewModel, Snapshot, Store};
//!
//! let home = tempfile::tempdir()?;
//! let path = home.path().join("notes.memo");
//! let mut store = Store::create(&path, &NewModel::default())?;
//! let text = "The owl reads at night. The cat sleeps.";
//! store.memorize([NewDocument::text(text).with_id("note")], None)?;
//! let reader = Snapshot::open(&path)?;
//! let receipt = store.forget(&["note"], None)?;
//! assert_eq!(receipt.documents, ["note"]);
//! assert_eq!(reader.complete("The owl reads", &CompletionOptions::greedy(3))?.completion, " at night.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod config;
mod damage;
mod error;
mod files;
pub mod handover;
mod knowledge;
mod ledger;
mod lexicon;
mod lock;
mod mapped;
mod memory;
mod progress;
mod record;
mod room;
mod selection;
mod snapshot;
mod source;
mod store;
mod time;

pub use self::config::{ModelConfig, NewModel};
pub use self::damage::Damage;
pub use self::error::Error;
pub use self::files::discard_unfinished;
pub use self::knowledge::DerivationStep;
pub use self::progress::{Observer, Progress, Unit};
pub use self::record::{CopyKind, ForgottenVersion, Place, TransactionKind};
pub use self::selection::{DocumentFilter, Selection};
pub use self::snapshot::{
    Beside, Breakdown, Candidate, CandidateShares, ClassMembers, ClosestPassages, Completion,
    CompletionChoice, CompletionOptions, CompletionStream, CompletionToken, CompletionTokens,
    ContentKind, ContextBreakdown, ContextUnit, ContinuedPrompt, CountedToken, DigestReport,
    Document, DocumentChange, DocumentDiff, DocumentMatches, DocumentState, DocumentText, Excerpt,
    Explanation, Fact, Facts, FindOptions, FinishReason, ForgetPreview, GeneralCandidate,
    GeneralSource, GeneralUnit, GraphStats, LexiconStats, MatchKind, MatchedContext, MemoryFill,
    MixtureShares, ModelCopy, ModelDiff, Passage, PreviewDocument, PromptDiff, PromptMatch,
    PromptToken, Proof, ReadOptions, RecallReport, Rule, RulesPreview, ScoreReport, SlotEvidence,
    SlotStats, Snapshot, Source, Stats, Stretch, StretchSource, TextMatch, TextMatches, TokenScore,
    Transaction, VerifyReport, Version, WordClass, fresh_seed,
};
pub use self::source::{FILE_LABEL, FileConflict};
pub use self::store::{
    AddedGraph, AddedRules, ChangeReport, Conflict, EditReport, FreezeReport, KnownPlace,
    MemorizeReport, MergeReport, NewDocument, OWN_GRAPH, RebuildReport, Receipt, RememberOutcome,
    RememberReport, RenamedDocument, SOURCE_LABEL, Store, Together,
};
pub use self::time::Timestamp;
