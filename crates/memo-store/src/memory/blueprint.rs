//! What all memories of a model are made with.

use crate::config::ModelConfig;
use crate::error::Error;
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use memo_text::Tokenizer;
use std::sync::Arc;

/// The settings of a model's memory, and the words of its vocabulary if it has contexts of words.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) settings: Settings,
    pub(crate) words: Option<Arc<Words>>,
}

impl Blueprint {
    pub(crate) fn new(config: &ModelConfig, tokenizer: &Tokenizer) -> Self {
        let settings = config.memory.clone();
        let words = (!settings.words.is_empty()).then(|| Arc::new(Words::new(tokenizer.pieces())));
        Blueprint { settings, words }
    }

    /// A memory that has nothing in it.
    pub(crate) fn empty(&self) -> Result<Memory, Error> {
        Ok(Memory::with_words(self.settings.clone(), self.words.clone())?)
    }
}
