//! Files that are there whole or not at all.

use crate::error::{Error, io};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The name under which a file is written before it is whole. Opening a model for writing removes such files.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

/// The same for a directory, under a name that is nobody else's.
pub(crate) fn unfinished_directory(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.memo-unfinished"))
}

/// The directories of this process that are not whole yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes the directories that are being made: models, copies and exports that are not whole. For a process that is told to
/// end and does so at once, because nothing becomes whole any more afterwards.
pub fn discard_unfinished() {
    let making = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for directory in making.iter() {
        // Another thread may still be writing into it.
        let gone = || std::fs::remove_dir_all(directory).is_ok() || !directory.exists();
        for _ in 0..50 {
            if gone() {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
    std::mem::forget(making);
}

/// Makes a directory that only its owner can look into, with all that `fill` puts into it, or none at all.
pub(crate) fn create_directory<T, E: From<Error>>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    if path.exists() {
        return Err(Error::Exists { path: path.to_owned() }.into());
    }
    let beside = unfinished_directory(path);
    let _making = making(path, &beside)?;
    let unfinished = || UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished().insert(beside.clone());
    let make = || {
        private(&beside)?;
        let made = fill(&beside)?;
        // Locks belong to who holds them, not to the model.
        let _ = std::fs::remove_file(beside.join("lock"));
        // One or the other: it is renamed, or it is discarded.
        let mut unfinished = unfinished();
        rename(&beside, path)?;
        unfinished.remove(&beside);
        Ok(made)
    };
    let made: Result<T, E> = make();
    if made.is_err() {
        let _ = std::fs::remove_dir_all(&beside);
        unfinished().remove(&beside);
    }
    made
}

/// Makes an empty directory `beside` in which only this process makes `path`; waits for another one that does. The system holds the lock
/// for as long as the file is open, so what a process leaves that was killed is in nobody's way.
fn making(path: &Path, beside: &Path) -> Result<Option<File>, Error> {
    loop {
        std::fs::create_dir_all(beside).map_err(io(beside))?;
        let lock = match File::open(beside) {
            // Another process has finished just now.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            // Where directories cannot be locked, processes must not make the same one at a time.
            opened => opened.ok().filter(|lock| lock.lock().is_ok()),
        };
        let own = lock.as_ref().is_none_or(|lock| is_at(lock, beside));
        if path.exists() {
            if own {
                let _ = std::fs::remove_dir_all(beside);
            }
            return Err(Error::Exists { path: path.to_owned() });
        }
        if own {
            for entry in std::fs::read_dir(beside).map_err(io(beside))?.flatten() {
                let left = entry.path();
                let removed =
                    std::fs::remove_file(&left).or_else(|_| std::fs::remove_dir_all(&left));
                removed.map_err(io(&left))?;
            }
            return Ok(lock);
        }
    }
}

/// Whether a file is still the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        match (file.metadata(), std::fs::metadata(path)) {
            (Ok(open), Ok(there)) => id(open) == id(there),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Lets nobody else look into a directory.
fn private(directory: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(directory, mode).map_err(io(directory))?;
    }
    let _ = directory;
    Ok(())
}

/// Writes a file beside its place, syncs it, and renames it into place.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), Error>,
) -> Result<(), Error> {
    rename(&write_beside(path, write)?, path)
}

/// Writes a file beside its place and syncs it; tells where it is.
pub(crate) fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let temporary = unfinished(path);
    let mut file = File::create(&temporary).map_err(io(&temporary))?;
    let written = write(&mut file).and_then(|()| file.sync_all().map_err(io(&temporary)));
    if let Err(error) = written {
        // The half-written file would only take space.
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    Ok(temporary)
}

/// Writes bytes as a whole file.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, |file| file.write_all(bytes).map_err(io(path)))
}

/// Renames a file that was synced, and syncs the directory, so that the name survives too.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(io(to))?;
    // The parent of a bare name is empty.
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new(".")))
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    File::open(path).and_then(|directory| directory.sync_all()).map_err(io(path))?;
    let _ = path;
    Ok(())
}

/// Removes files that an interrupted write left. They may hold text that was meant to be forgotten.
pub(crate) fn remove_unfinished(directory: &Path) -> Result<(), Error> {
    for entry in std::fs::read_dir(directory).map_err(io(directory))? {
        let path = entry.map_err(io(directory))?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            let removed = if path.is_dir() {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            };
            removed.map_err(io(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_what_was_there() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        write_bytes(&path, b"old").unwrap();
        let failed = write_whole(&path, |file| {
            file.write_all(b"half").unwrap();
            Err(Error::NotFound)
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
