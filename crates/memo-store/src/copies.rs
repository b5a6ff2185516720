//! Backup: a consistent copy of a model that is in use.

use crate::checkpoint;
use crate::error::{Error, io};
use crate::files;
use crate::record::{Copy, CopyKind};
use crate::store::Store;
use std::path::Path;

impl Store {
    /// Writes a copy of the model where nothing is yet. The copy is a model like any other.
    pub fn backup(&mut self, to: &Path) -> Result<(), Error> {
        self.whole()?;
        if to.exists() {
            return Err(Error::Exists { path: to.to_owned() });
        }
        let beside = files::unfinished(to);
        let _ = std::fs::remove_dir_all(&beside);
        std::fs::create_dir_all(&beside).map_err(io(&beside))?;
        let made = self.copy_into(&beside).and_then(|()| files::rename(&beside, to));
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&beside);
        }
        made?;
        self.ledger.add_copy(&Copy {
            kind: CopyKind::Backup,
            path: to.display().to_string(),
            time: files::now(),
            transaction: self.applied,
        })
    }

    fn copy_into(&mut self, directory: &Path) -> Result<(), Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(directory, mode).map_err(io(directory))?;
        }
        if let Some(json) = self.tokenizer.to_json()? {
            files::write_bytes(&directory.join("tokenizer.json"), json.as_bytes())?;
        }
        self.ledger.copy_to(&directory.join("ledger.redb"), &[], |_| (), |_| ())?;
        checkpoint::write(directory, &mut self.memory, self.applied)?;
        self.model.write(directory)
    }
}
