//! Models in a folder: which there are, by what names, and whether one is still the same.
//!
//! A name that a client gives is looked up among the names that are there, and never becomes part of a path.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The longest name, in bytes.
const LONGEST: usize = 128;

/// Whether a directory is a model.
pub fn is_model(path: &Path) -> bool {
    path.join("model.toml").is_file()
}

/// The name of a model in a directory: that of the directory, without `.memo`. `None` if it cannot be one.
pub fn name_of(path: &Path) -> Option<String> {
    let directory = path.file_name()?.to_str()?;
    let name = directory.strip_suffix(".memo").unwrap_or(directory);
    let usable = !name.is_empty()
        && !directory.starts_with('.')
        && name.len() <= LONGEST
        && !name.chars().any(char::is_control);
    usable.then(|| name.to_owned())
}

/// Whether a model may be made under a name: letters of ASCII, digits, `-`, `_` and `.`, not at the beginning.
pub(super) fn is_new_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.len() <= 64
        && name.bytes().all(inner)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && !name.ends_with('.')
        && name.strip_suffix(".memo").is_none()
}

/// The models of a folder by their names. Links are not followed: what is elsewhere is not in the folder. Of `notes.memo` and `notes`,
/// which have the same name, it is the first.
pub fn models_in(folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let Some(name) = name_of(&path).filter(|_| is_directory && is_model(&path)) else {
            continue;
        };
        let plain = path.extension().is_none_or(|ending| ending != "memo");
        if !(plain && found.contains_key(&name)) {
            found.insert(name, path);
        }
    }
    Ok(found)
}

/// What tells a directory from another one that took its place; `None` if there is none.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let there = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    Some((there.dev(), there.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    path.is_dir().then_some((0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_directories_and_say_nothing_of_paths() {
        assert_eq!(name_of(Path::new("a/notes.memo")).as_deref(), Some("notes"));
        assert_eq!(name_of(Path::new("notes")).as_deref(), Some("notes"));
        assert_eq!(
            name_of(Path::new("Ein Brief & mehr.memo")).as_deref(),
            Some("Ein Brief & mehr")
        );
        for hostile in ["a/..", "/", ".hidden.memo", ".memo", "line\nbreak.memo", "bell\u{7}.memo"]
        {
            assert_eq!(name_of(Path::new(hostile)), None, "{hostile:?}");
        }
        assert_eq!(name_of(Path::new(&"x".repeat(LONGEST + 1))), None);
        for good in ["notes", "a", "Notes-2026_v1.2"] {
            assert!(is_new_name(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "", ".", "..", "../x", "a/b", "a\\b", "-x", "_x", "a b", "ü", "x.memo", "x.", "a\0",
            &long,
        ] {
            assert!(!is_new_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_has_the_models_that_are_in_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("models");
        let make = |path: &str| {
            std::fs::create_dir_all(home.path().join(path)).unwrap();
            std::fs::write(home.path().join(path).join("model.toml"), "").unwrap();
        };
        for path in
            ["models/b.memo", "models/a", "models/b", "models/.x.memo-unfinished", "elsewhere.memo"]
        {
            make(path);
        }
        std::fs::create_dir(folder.join("no-model")).unwrap();
        std::fs::write(folder.join("file.memo"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(home.path().join("elsewhere.memo"), folder.join("link.memo"))
            .unwrap();
        let found = models_in(&folder).unwrap();
        let expected = [("a", folder.join("a")), ("b", folder.join("b.memo"))];
        assert_eq!(found, expected.map(|(name, path)| (name.to_owned(), path)).into());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_took_another_s_place_is_another() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("m"), home.path().join("other"));
        std::fs::create_dir(&path).unwrap();
        std::fs::create_dir(&other).unwrap();
        let first = identity(&path);
        assert!(first.is_some() && identity(&path) == first);
        std::fs::remove_dir(&path).unwrap();
        assert_eq!(identity(&path), None);
        std::fs::rename(&other, &path).unwrap();
        assert_ne!(identity(&path), first);
    }
}
