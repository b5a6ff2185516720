//! Backup: a consistent copy of a model that is in use.

use crate::checkpoint;
use crate::engine::Engine;
use crate::error::{Error, io};
use crate::files;
use crate::record::{Copy, CopyKind};
use crate::store::{Store, private};
use std::path::Path;

impl Store {
    /// Writes a copy of the model where nothing is yet. The copy is a model like any other.
    pub fn backup(&mut self, to: &Path) -> Result<(), Error> {
        self.whole()?;
        self.copy_to_new(to, |store, directory| {
            store.ledger.copy_to(&directory.join("ledger.redb"), &[], |_| (), |_| ())?;
            if let Engine::Sparse(memory) = &mut store.memory {
                checkpoint::write(directory, memory, store.applied)?;
            }
            store.model.write(directory)
        })?;
        self.ledger.add_copy(&Copy {
            kind: CopyKind::Backup,
            path: to.display().to_string(),
            time: files::now(),
            transaction: self.applied,
        })
    }

    /// Makes a directory with the tokenizer and whatever `fill` adds, whole or not at all.
    pub(crate) fn copy_to_new(
        &mut self,
        to: &Path,
        fill: impl FnOnce(&mut Self, &Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if to.exists() {
            return Err(Error::Exists { path: to.to_owned() });
        }
        let beside = files::unfinished(to);
        let _ = std::fs::remove_dir_all(&beside);
        std::fs::create_dir_all(&beside).map_err(io(&beside))?;
        let make = || {
            private(&beside)?;
            if let Some(json) = self.tokenizer.to_json()? {
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
