//! The lexicon of a model: a file beside `model.toml`, named by its digest, which `model.toml` has.
//!
//! It is not in the ledger because frozen models, which have none, are read by it too. A model changes its lexicon by writing the new
//! file first, then `model.toml`; whichever of the two a kill leaves, the file that `model.toml` names is there.

use crate::damage::Damage;
use crate::error::{Error, io};
use crate::files;
use memo::lexicon::Lexicon;
use memo::sparse::{LexiconSettings, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What names of lexicon files begin with.
const PREFIX: &str = "lexicon-";

fn path(directory: &Path, settings: &LexiconSettings) -> PathBuf {
    let digest: String = settings.digest.chars().take(16).collect();
    directory.join(format!("{PREFIX}{digest}"))
}

/// Writes a lexicon into a model's directory.
pub(crate) fn write(directory: &Path, lexicon: Option<&Lexicon>) -> Result<(), Error> {
    let Some(lexicon) = lexicon else { return Ok(()) };
    files::write_bytes(&path(directory, &LexiconSettings::of(lexicon)), &lexicon.to_bytes())
}

/// Reads the lexicon that settings name, if they name one.
pub(crate) fn read(directory: &Path, settings: &Settings) -> Result<Option<Arc<Lexicon>>, Error> {
    let Some(expected) = &settings.lexicon else { return Ok(None) };
    let path = path(directory, expected);
    let damaged = |what: Damage| Error::Damaged {
        path: path.clone(),
        what,
        help: "restore it from a backup, or put the lexicon that the model was made with in its place",
    };
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(damaged(Damage::Missing));
        }
        read => read.map_err(io(&path))?,
    };
    let lexicon =
        Lexicon::from_bytes(&bytes).map_err(|error| damaged(Damage::Syntax(error.to_string())))?;
    if LexiconSettings::of(&lexicon) != *expected {
        return Err(damaged(Damage::Checksum("it")));
    }
    Ok(Some(Arc::new(lexicon)))
}

/// Removes lexicons that settings do not name: an interrupted change leaves one.
pub(crate) fn remove_others(directory: &Path, settings: &Settings) -> Result<(), Error> {
    let kept = settings.lexicon.as_ref().map(|lexicon| path(directory, lexicon));
    for entry in std::fs::read_dir(directory).map_err(io(directory))? {
        let path = entry.map_err(io(directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PREFIX) && Some(&path) != kept.as_ref() {
            std::fs::remove_file(&path).map_err(io(&path))?;
        }
    }
    Ok(())
}
