//! A snapshot: a model as it is at one time, and everything that can be asked of it.
//!
//! The same type serves a model that is open for reading ([`Snapshot::open`]), one that is frozen, the state of a model
//! before a long change ([`Store::snapshot`](crate::Store::snapshot)), and the model that a [`Store`](crate::Store) is about to
//! change, which dereferences to it. Reading takes no lock for longer than it takes to open the files, and never writes.

mod attribution;
mod breakdown;
mod closest;
mod complete;
mod diff;
mod documents;
mod explain;
mod find;
mod general;
mod graphs;
mod healing;
mod knowledge;
mod lexicon;
mod loops;
mod matched;
mod open;
mod preview;
mod prove;
mod reading;
mod score;
mod search;
mod shared;
mod stats;
mod stop;
mod verify;

pub use self::attribution::{Stretch, StretchSource};
pub use self::breakdown::{
    Breakdown, CandidateShares, ContextBreakdown, CountedToken, MemoryFill, PromptToken, SlotStats,
};
pub use self::closest::{ClosestPassages, Passage};
pub use self::complete::{
    Beside, Completion, CompletionChoice, CompletionOptions, CompletionStream, CompletionToken,
    CompletionTokens, FinishReason, MixtureShares, fresh_seed,
};
pub use self::diff::{DocumentDiff, ModelDiff, PromptDiff};
pub use self::documents::{
    ContentKind, Document, DocumentChange, DocumentState, DocumentText, ModelCopy, Transaction,
    Version,
};
pub use self::explain::{
    Candidate, ContextUnit, Excerpt, Explanation, MatchedContext, SlotEvidence, Source,
};
pub use self::find::{DocumentMatches, FindOptions, TextMatch, TextMatches};
pub use self::general::{GeneralCandidate, GeneralSource, GeneralUnit};
pub use self::graphs::GraphStats;
pub use self::knowledge::{Fact, Facts, Rule, RulesPreview};
pub use self::lexicon::{ClassMembers, WordClass};
pub use self::matched::{ContinuedPrompt, MatchKind, PromptMatch};
pub use self::preview::{ForgetPreview, PreviewDocument};
pub use self::prove::Proof;
pub use self::reading::ReadOptions;
pub use self::score::{RecallReport, ScoreReport, TokenScore};
pub use self::stats::{LexiconStats, Stats};
pub use self::verify::{DigestReport, VerifyReport};

pub(crate) use self::find::{cut, replaced};
pub(crate) use self::verify::CHUNK;

use crate::checkpoint;
use crate::config::ModelConfig;
use crate::damage::Damage;
use crate::error::Error;
use crate::knowledge::Knowledge;
use crate::ledger::Ledger;
use crate::memory::Blueprint;
use memo::lexicon::Lexicon;
use memo::sparse::Memory;
use memo_text::Tokenizer;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A model as it is at one time.
pub struct Snapshot {
    pub(crate) directory: PathBuf,
    pub(crate) config: ModelConfig,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) blueprint: Blueprint,
    /// A frozen model has none.
    pub(crate) ledger: Option<Ledger>,
    pub(crate) memory: MemoryState,
    /// What its documents know by rule, derived when first needed.
    pub(crate) knowledge: OnceLock<Option<Arc<Knowledge>>>,
    /// The last transaction that it contains.
    pub(crate) transaction: u64,
}

/// A memory, or why there is none.
pub(crate) enum MemoryState {
    Ready(Box<Memory>),
    /// A transaction was recorded, or half of one was written and could not be undone, for this reason.
    Lost(String),
    /// It cannot be made from the ledger, because tokens of a live document are damaged. The rest of the ledger can be read.
    Unmade(Damage),
}

impl Snapshot {
    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What the model is.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Its tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Its lexicon, if contexts are generalised by one.
    pub fn lexicon(&self) -> Option<&Arc<Lexicon>> {
        self.blueprint.lexicon()
    }

    /// The last transaction that it contains.
    pub fn transaction(&self) -> u64 {
        self.transaction
    }

    /// Its memory. Fails if the memory lacks a transaction that was recorded, because its tables turned out to be damaged, or if
    /// it cannot be made from the ledger, because tokens there are.
    pub fn memory(&self) -> Result<&Memory, Error> {
        match &self.memory {
            MemoryState::Ready(memory) => Ok(memory),
            MemoryState::Lost(reason) => Err(self.lost(reason)),
            MemoryState::Unmade(damage) => Err(self.ledger("documents")?.damaged(damage.clone())),
        }
    }

    /// The error of a memory that was lost.
    pub(crate) fn lost(&self, reason: &str) -> Error {
        let what = Damage::Behind(reason.to_owned());
        Error::Damaged { path: self.directory.clone(), what, help: checkpoint::HELP }
    }

    /// Its ledger, to answer for `what`. Fails if the model is frozen.
    pub(crate) fn ledger(&self, what: &'static str) -> Result<&Ledger, Error> {
        let path = || self.directory.clone();
        self.ledger.as_ref().ok_or_else(|| Error::NoTexts { path: path(), what })
    }
}
