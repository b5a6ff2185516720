//! Memories of the superposed engine, as tests make them.

use memo::superposed::{Memory, Settings, Shape};

/// Default slots; the end token is the last of the vocabulary.
pub(crate) fn settings(vocabulary: u32, parameters: u64) -> Settings {
    Settings::new(vocabulary, vocabulary - 1, 11, &Shape::default(), parameters).unwrap()
}

/// A memory of one text at 92 parameters a token.
pub(crate) fn memory_of(text: &[u32], vocabulary: u32) -> Memory {
    let mut memory = Memory::new(settings(vocabulary, 92 * text.len() as u64)).unwrap();
    memory.memorize(text).unwrap();
    memory
}
