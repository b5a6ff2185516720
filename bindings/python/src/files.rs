//! Files that are there whole or not at all.

use crate::error::{Kind, Refusal};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::Path;

/// What is wrong with a file.
pub(crate) fn name(path: &Path, what: impl Display) -> String {
    format!("{}: {what}", path.display())
}

/// A file that cannot be written.
pub(crate) fn storage(path: &Path) -> impl Fn(io::Error) -> Refusal + '_ {
    move |error| Refusal::new(Kind::Storage, name(path, error))
}

/// Writes a file under another name beside its place, syncs it, and renames it into place.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&File) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let storage = storage(path);
    // The parent of a bare name is empty.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".memo-").suffix(".tmp");
    // Readable as any other file that the user makes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(parent).map_err(&storage)?;
    write(file.as_file())?;
    file.as_file().sync_all().map_err(&storage)?;
    file.persist(path).map_err(|error| storage(error.error))?;
    // The name too is to survive.
    #[cfg(unix)]
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(&storage)?;
    Ok(())
}
