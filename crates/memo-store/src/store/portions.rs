//! Memorizing by several processes, of which each writes a portion of the memory.
//!
//! Every process is given all documents, hashes all contexts, and writes the entries of its own partitions; nothing is added up
//! afterwards. So a single long text is divided as well as many short ones, and the memory is the one that a single process
//! makes, bit for bit.

use super::Store;
use super::memorize::{MemorizeReport, NewDocument};
use crate::checkpoint;
use crate::error::Error;
use crate::files;
use memo::sparse::{Memory, Span};
use std::path::{Path, PathBuf};

impl Store {
    /// Writes portion `index` of `count` of a memory of documents to a file; the model itself does not change.
    pub fn write_portion(
        &self,
        documents: impl IntoIterator<Item = NewDocument>,
        (index, count): (usize, usize),
        to: &Path,
    ) -> Result<(), Error> {
        let scope = checkpoint::portion_scope(index, count)?;
        let contents = self.contents(documents)?;
        let spans: Vec<Span<'_>> =
            contents.iter().flat_map(|(_, _, content)| content.spans(1)).collect();
        let mut memory = self.blueprint.empty()?;
        memory.write_within(&scope, &spans)?;
        let beside = checkpoint::write(to, &memory, 0, &self.observer)?;
        files::rename(&beside, to)
    }

    /// Memorizes documents as [`Store::memorize`] does, and takes the memory of them from portions that
    /// [`Store::write_portion`] wrote of the same documents. Their files can be removed when the model is closed.
    pub fn memorize_portions(
        &mut self,
        documents: impl IntoIterator<Item = NewDocument>,
        portions: &[PathBuf],
        reason: Option<&str>,
    ) -> Result<MemorizeReport, Error> {
        let contents = self.contents(documents)?;
        let memory = checkpoint::open_portions(portions, &self.blueprint)?;
        let mut counts = vec![0; memory.unigrams().len()];
        for span in contents.iter().flat_map(|(_, _, content)| content.spans(1)) {
            memory.check(std::slice::from_ref(&span))?;
            span.document.iter().for_each(|&token| counts[token as usize] += 1);
            counts[self.blueprint.settings.end as usize] += 1;
        }
        if counts != memory.unigrams() {
            let why =
                "the portions are not of these documents, or one is missing; write them again";
            return Err(Error::Invalid(why.to_owned()));
        }
        self.memorize_contents(contents, Some(&memory), reason)
    }
}

/// Whether a memory has nothing in it.
pub(super) fn is_empty(memory: &Memory) -> bool {
    memory.cells() == 0 && memory.positions() == 0
}
