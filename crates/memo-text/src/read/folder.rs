//! A walk through a folder, the same everywhere: in the order of the files' paths.
//!
//! Each folder is listed and sorted when the walk reaches it. If a folder's name is compared with a
//! `/` at its end, walking depth first gives exactly the order of the whole paths as strings, so
//! `a-b` comes before `a/x`, and no more than the lists on the way down are kept.

use super::{ReadError, SkipReason, Skipped};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// A folder that is being walked.
pub(super) struct Folder {
    /// What is left of each folder on the way down, the next one last.
    open: Vec<Vec<Found>>,
}

/// Something in a folder.
struct Found {
    path: PathBuf,
    /// Its path from the root of the walk, with `/`; a folder's ends in one.
    id: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Skip(SkipReason),
    /// Its name is not UTF-8.
    Unnamed,
}

/// What the walk meets.
pub(super) enum Entry {
    File { path: PathBuf, id: String },
    Skipped(Skipped),
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self { open: vec![list(path, "")?] })
    }

    pub(super) fn next(&mut self) -> Option<Result<Entry, ReadError>> {
        loop {
            let Some(Found { path, id, kind }) = self.open.last_mut()?.pop() else {
                self.open.pop();
                continue;
            };
            match kind {
                Kind::File => return Some(Ok(Entry::File { path, id })),
                Kind::Skip(reason) => {
                    return Some(Ok(Entry::Skipped(Skipped { source: path.into(), reason })));
                }
                Kind::Unnamed => return Some(Err(ReadError::Name { path })),
                Kind::Folder => match list(&path, &id) {
                    Ok(found) => self.open.push(found),
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

/// What is in a folder, the first in order last.
fn list(path: &Path, id: &str) -> Result<Vec<Found>, ReadError> {
    let failed = |e| ReadError::io(path, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let kind = kind(entry.file_type().map_err(failed)?, name.to_str());
        let slash = if kind == Kind::Folder { "/" } else { "" };
        let id = format!("{id}{}{slash}", name.to_string_lossy());
        found.push(Found { path: entry.path(), id, kind });
    }
    found.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(found)
}

fn kind(file: FileType, name: Option<&str>) -> Kind {
    match name {
        None => Kind::Unnamed,
        Some(name) if name.starts_with('.') => Kind::Skip(SkipReason::Hidden),
        Some(_) if file.is_symlink() => Kind::Skip(SkipReason::Symlink),
        Some(_) if file.is_dir() => Kind::Folder,
        Some(_) if file.is_file() => Kind::File,
        Some(_) => Kind::Skip(SkipReason::Special),
    }
}
