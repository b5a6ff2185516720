//! Files that are there whole or not at all.

use crate::error::{Error, io};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// Reads bytes from some place of a file, whoever else reads from it.
pub(crate) fn read_at(file: &File, path: &Path, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
    #[cfg(unix)]
    let read = std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(not(unix))]
    let read = {
        use std::io::{Read, Seek, SeekFrom};
        let _ = file;
        // A handle of its own, because all clones of one share their place.
        File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(bytes)
        })
    };
    read.map_err(io(path))
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

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Milliseconds since 1970 as a date and time in UTC.
pub fn utc(milliseconds: u64) -> String {
    let (days, seconds) = (milliseconds / 86_400_000, milliseconds / 1000 % 86_400);
    // Days since 1 March of year 0, in cycles of 400 years (146,097 days).
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_709_251_199_000), "2024-02-29 23:59:59 UTC");
        assert_eq!(utc(4_102_444_800_000), "2100-01-01 00:00:00 UTC");
    }

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
