//! How large a model is, and what is in it.

use super::Snapshot;
use crate::error::Error;
use serde::Serialize;

/// A model in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stats {
    /// The tokenizer's name.
    pub tokenizer: String,
    /// Whether the model is frozen: a memory without texts, which cannot change.
    pub frozen: bool,
    /// Lengths of the contexts that the memory sees, in tokens.
    pub context_tokens: Vec<u32>,
    /// Lengths of the contexts that it sees in words; none if it sees tokens alone.
    pub context_words: Vec<u32>,
    /// The lexicon that contexts are generalised by, if there is one.
    pub lexicon: Option<LexiconStats>,
    /// Cells of the memory that are not zero.
    pub cells: u64,
    /// Bytes of the memory.
    pub bytes: u64,
    /// Live documents; none if the model is frozen, and so has no documents.
    pub documents: Option<u64>,
    /// Tokens that are memorized.
    pub tokens: u64,
    /// Bytes for each token.
    pub bytes_per_token: Option<f64>,
    /// The last transaction.
    pub transaction: u64,
}

/// A lexicon in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LexiconStats {
    /// How many words have a class.
    pub words: u64,
    /// How many classes each level has.
    pub classes: Vec<u32>,
    /// How many texts it was induced from.
    pub sources: u64,
    /// Its digest.
    pub digest: String,
}

impl Snapshot {
    /// The model in figures.
    pub fn stats(&self) -> Result<Stats, Error> {
        let memory = self.memory()?;
        let settings = memory.settings();
        let (documents, tokens) = if let Some(ledger) = &self.ledger {
            let documents = ledger.documents()?;
            let live = documents.iter().filter_map(|document| document.live());
            let tokens: Vec<u64> = live.map(|version| version.tokens).collect();
            (Some(tokens.len() as u64), tokens.iter().sum())
        } else {
            let ends = memory.unigrams()[settings.end as usize];
            (None, (memory.positions() - ends).max(0) as u64)
        };
        let bytes = memory.usage().total() as u64;
        Ok(Stats {
            tokenizer: self.config.tokenizer.clone(),
            frozen: self.config.frozen,
            context_tokens: settings.tokens.clone(),
            context_words: settings.words.clone(),
            lexicon: self.lexicon_stats(),
            cells: memory.cells(),
            bytes,
            documents,
            tokens,
            bytes_per_token: (tokens > 0).then(|| bytes as f64 / tokens as f64),
            transaction: self.transaction,
        })
    }

    /// Its lexicon in figures, if it has one.
    pub fn lexicon_stats(&self) -> Option<LexiconStats> {
        let (lexicon, settings) = self.lexicon().zip(self.config.memory.lexicon.as_ref())?;
        Some(LexiconStats {
            words: lexicon.len() as u64,
            classes: settings.classes.clone(),
            sources: lexicon.sources().len() as u64,
            digest: settings.digest.clone(),
        })
    }
}
