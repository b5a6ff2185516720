//! Backup: a consistent copy of a model that is in use.

use super::{Store, write_tokenizer};
use crate::checkpoint;
use crate::error::{Error, io};
use crate::files;
use crate::ledger::{FILE, Ledger};
use crate::lexicon;
use crate::record::{CopyKind, CopyRecord};
use crate::time::Timestamp;
use std::collections::HashSet;
use std::path::Path;

impl Store {
    /// Writes a copy of the model where nothing is yet. The copy is a model like any other.
    pub fn backup(&mut self, to: &Path) -> Result<(), Error> {
        self.memory()?;
        // A copy must not make damage look sound.
        self.ledger()?.check_contents()?;
        self.copy_to_new(to, CopyKind::Backup, |store, directory| {
            write_tokenizer(directory, &store.tokenizer)?;
            lexicon::write(directory, store.lexicon().map(|lexicon| &**lexicon))?;
            store.ledger()?.copy_to(&directory.join(FILE), &HashSet::new(), |_| (), |_| ())?;
            let original = store.copy_record(&store.directory, CopyKind::Original)?;
            Ledger::make_copy(directory, &original)?;
            store.write_checkpoint_to(directory)?;
            store.config.write(directory)
        })
    }

    /// Writes the memory into another directory.
    pub(super) fn write_checkpoint_to(&self, directory: &Path) -> Result<(), Error> {
        let path = directory.join(checkpoint::name(self.transaction));
        let memory = self.memory()?;
        let beside = checkpoint::write(&path, memory, self.transaction, &self.observer)?;
        files::rename(&beside, &path)
    }

    /// Notes that a copy is made, before it is: a receipt that names one too many is the safe error.
    pub(super) fn note_copy(&self, to: &Path, kind: CopyKind) -> Result<(), Error> {
        self.ledger()?.add_copy(&self.copy_record(to, kind)?)
    }

    /// The record of a copy that is made now.
    fn copy_record(&self, path: &Path, kind: CopyKind) -> Result<CopyRecord, Error> {
        let path = std::path::absolute(path).map_err(io(path))?.display().to_string();
        let (time, transaction) = (Timestamp::now().0, self.transaction);
        Ok(CopyRecord { kind, path, time, transaction })
    }

    /// Makes a directory with all that `fill` puts into it, whole or not at all.
    pub(super) fn copy_to_new(
        &mut self,
        to: &Path,
        kind: CopyKind,
        fill: impl FnOnce(&Self, &Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if to.exists() {
            return Err(Error::Exists { path: to.to_owned() });
        }
        let absolute = |path: &Path| std::path::absolute(path).map_err(io(path));
        if absolute(to)?.starts_with(absolute(&self.directory)?) {
            let why = "is inside the model; what is forgotten later would stay there";
            return Err(Error::Invalid(format!("{} {why}", to.display())));
        }
        self.note_copy(to, kind)?;
        files::create_directory(to, |beside| fill(self, beside))
    }
}
