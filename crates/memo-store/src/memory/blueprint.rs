//! What all memories of a model are made with.

use crate::config::ModelConfig;
use crate::error::Error;
use crate::ledger::Content;
use memo::lexicon::Lexicon;
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use memo_text::Tokenizer;
use std::sync::Arc;

/// The settings of a model's memory, its tokenizer, and the words of its vocabulary, with its lexicon, if it has contexts that need
/// them.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) settings: Settings,
    pub(crate) words: Option<Arc<Words>>,
    pub(crate) tokenizer: Tokenizer,
}

impl Blueprint {
    pub(crate) fn new(
        config: &ModelConfig,
        tokenizer: &Tokenizer,
        lexicon: Option<Arc<Lexicon>>,
    ) -> Self {
        let settings = config.memory.clone();
        let words = (!settings.words.is_empty() || lexicon.is_some()).then(|| {
            let words = Words::new(tokenizer.pieces());
            Arc::new(match lexicon {
                Some(lexicon) => words.with_lexicon(lexicon),
                None => words,
            })
        });
        Blueprint { settings, words, tokenizer: tokenizer.clone() }
    }

    /// The lexicon that contexts are generalised by.
    pub(crate) fn lexicon(&self) -> Option<&Arc<Lexicon>> {
        self.words.as_ref()?.lexicon()
    }

    /// The text of a content.
    pub(crate) fn text(&self, content: &Content) -> String {
        content.parts.iter().map(|part| self.tokenizer.decode_lossy(part)).collect()
    }

    /// A memory that has nothing in it.
    pub(crate) fn empty(&self) -> Result<Memory, Error> {
        Ok(Memory::with_words(self.settings.clone(), self.words.clone())?)
    }
}
