//! Backup: a consistent copy of a model that is in use.

use crate::checkpoint;
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::files;
use crate::record::{Copy, CopyKind};
use crate::store::{Store, private};
use std::collections::HashSet;
use std::path::Path;

impl Store {
    /// Writes a copy of the model where nothing is yet. The copy is a model like any other.
    pub fn backup(&mut self, to: &Path) -> Result<(), Error> {
        self.whole()?;
        self.copy_to_new(to, CopyKind::Backup, |store, directory| {
            let ledger = directory.join("ledger.redb");
            store.view.ledger.copy_to(&ledger, &HashSet::new(), |_| (), |_| ())?;
            if let Engine::Sparse(memory) = &mut store.view.memory {
                checkpoint::write(directory, memory, store.view.applied, &store.watch)?;
            }
            store.view.model.write(directory)
        })
    }

    /// Notes that a copy is made, before it is: a receipt that names one too many is the safe error.
    pub(crate) fn note_copy(&self, to: &Path, kind: CopyKind) -> Result<(), Error> {
        let path = std::path::absolute(to).map_err(io(to))?.display().to_string();
        self.view.ledger.add_copy(&Copy {
            kind,
            path,
            time: files::now(),
            transaction: self.view.applied,
        })
    }

    /// Makes a directory with the tokenizer and whatever `fill` adds, whole or not at all.
    pub(crate) fn copy_to_new(
        &mut self,
        to: &Path,
        kind: CopyKind,
        fill: impl FnOnce(&mut Self, &Path) -> Result<(), Error>,
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
        let beside = files::unfinished_directory(to);
        let _ = std::fs::remove_dir_all(&beside);
        std::fs::create_dir_all(&beside).map_err(io(&beside))?;
        let make = || {
            private(&beside)?;
            if let Some(json) = self.view.tokenizer.to_json()? {
                files::write_bytes(&beside.join("tokenizer.json"), json.as_bytes())?;
            }
            Ok(())
        };
        let made =
            make().and_then(|()| fill(self, &beside)).and_then(|()| files::rename(&beside, to));
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&beside);
        }
        made
    }
}
