//! The paths of `memo memorize`: files, folders and globs, and the names that their documents get.
//!
//! A document's id says where it stood below what was given: a file has its name, a file of a folder its path inside
//! that folder, and a file that a glob found its path inside the folder before the first wildcard. So `notes` and
//! `"notes/**/*"` name the same documents, wherever they are given from, and giving them again changes nothing.

use anyhow::{Context, bail};
use glob::MatchOptions;
use memo_text::{Document, Item, ReadError, ReadOptions, Reader, SkipReason, Skipped};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Something to read.
pub(super) struct Given {
    path: PathBuf,
    /// The folder of a file that a glob found, inside the glob's fixed folder; ids begin with it.
    found_in: Option<String>,
}

/// What was given, with globs replaced by the files that they find. A path that exists is never a glob.
pub(super) fn expand(paths: &[PathBuf]) -> anyhow::Result<Vec<Given>> {
    let mut given = Vec::new();
    for path in paths {
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
        match pattern {
            Some(pattern) if path.symlink_metadata().is_err() => given.extend(find(pattern)?),
            _ => given.push(Given { path: path.clone(), found_in: None }),
        }
    }
    Ok(given)
}

/// The files that a glob finds, in the order of their paths. As in a folder, hidden names are passed over unless the
/// glob names them, and symbolic links are.
fn find(pattern: &str) -> anyhow::Result<Vec<Given>> {
    let options = MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..MatchOptions::new()
    };
    let fixed = fixed(Path::new(pattern));
    let matches = glob::glob_with(pattern, options).map_err(|error| {
        anyhow::anyhow!("{pattern}: not a glob: {} at {}", error.msg, error.pos)
    })?;
    let mut found = Vec::new();
    for path in matches {
        let path = path.map_err(|error| {
            anyhow::anyhow!("{}: cannot read: {}", error.path().display(), error.error())
        })?;
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            let inside = without_dots(&path);
            let folder = inside.strip_prefix(&fixed).unwrap_or(&inside).parent();
            let folder = folder
                .unwrap_or(Path::new(""))
                .components()
                .map(|part| part.as_os_str().to_str().map(|name| format!("{name}/")));
            let folder: Option<String> = folder.collect();
            let folder = folder.with_context(|| {
                format!("{}: the name is not valid UTF-8; rename it", path.display())
            })?;
            found.push(Given { path, found_in: Some(folder) });
        }
    }
    if found.is_empty() {
        bail!(
            "{pattern}: no file matches; * stays within a name, **/ goes through folders, and a hidden name needs its dot"
        );
    }
    Ok(found)
}

/// The folders before the first wildcard.
fn fixed(pattern: &Path) -> PathBuf {
    let plain =
        |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    without_dots(pattern).components().take_while(plain).collect()
}

/// The same path without `./`, which a glob's matches may or may not begin with.
fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

impl Given {
    /// Its documents.
    pub(super) fn read(
        self,
        options: ReadOptions,
    ) -> Result<impl Iterator<Item = Result<Item, ReadError>>, ReadError> {
        let found_in = self.found_in;
        Ok(Reader::open(self.path, options)?.map(move |item| match (item, &found_in) {
            (Ok(Item::Document(document)), Some(folder)) => {
                let id = format!("{folder}{}", document.id);
                Ok(Item::Document(Document { id, ..document }))
            }
            // What was pointed at is refused; what was found beside text is passed over.
            (Err(ReadError::Binary { path }), Some(_)) => {
                Ok(Item::Skipped(Skipped { source: path.into(), reason: SkipReason::Binary }))
            }
            (item, _) => item,
        }))
    }
}

/// The ids that were given out, and the files that have them.
#[derive(Default)]
pub(super) struct Names(HashMap<String, PathBuf>);

impl Names {
    /// Whether this document was not read before: files may be reached in two ways. Two files of one name are refused, because
    /// one would become a version of the other.
    pub(super) fn is_new(&mut self, document: &Document) -> anyhow::Result<bool> {
        let path = &document.source.path;
        let Some(before) = self.0.insert(document.id.clone(), path.clone()) else {
            return Ok(true);
        };
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if whole(path) == whole(&before) {
            return Ok(false);
        }
        bail!(
            "{} and {} would both be the document {:?}; give the folder that holds both, or memorize them one by one \
             with --id",
            before.display(),
            path.display(),
            document.id
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(home: &Path, patterns: &[&str]) -> anyhow::Result<Vec<String>> {
        let paths: Vec<PathBuf> = patterns.iter().map(|pattern| home.join(pattern)).collect();
        let (mut ids, mut names) = (Vec::new(), Names::default());
        for given in expand(&paths)? {
            for item in given.read(ReadOptions::default())? {
                if let Item::Document(document) = item?
                    && names.is_new(&document)?
                {
                    ids.push(document.id);
                }
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// A folder of folders with notes, and things that are no notes.
    fn folder() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for name in [
            "n/a.md",
            "n/b.txt",
            "n/x/a.md",
            "n/x/y/c.md",
            "n/.hidden/d.md",
            "n/.e.md",
            "n/f[1].md",
        ] {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        std::fs::write(home.path().join("n/z.md"), b"\0\x01").unwrap();
        home
    }

    #[test]
    fn globs_find_files_and_name_them_as_their_folder_would() {
        let home = folder();
        let ids = |patterns: &[&str]| ids(home.path(), patterns).unwrap();
        assert_eq!(ids(&["n/*.md"]), ["a.md", "f[1].md"]);
        assert_eq!(ids(&["n/**/*.md"]), ["a.md", "f[1].md", "x/a.md", "x/y/c.md"]);
        assert_eq!(ids(&["n/x/**/[a-c].md"]), ["a.md", "y/c.md"]);
        assert_eq!(ids(&["n/.hidden/?.md"]), ["d.md"]);
        assert_eq!(ids(&["n/**/*"]), ids(&["n"]));
        // A file of that very name wins, and a file that is reached twice is read once.
        assert_eq!(ids(&["n/f[1].md"]), ["f[1].md"]);
        assert_eq!(ids(&["n", "n/a.md", "n/*.txt"]), ids(&["n"]));
    }

    #[test]
    fn what_finds_nothing_and_what_collides_is_refused() {
        let home = folder();
        let refused = |patterns: &[&str]| ids(home.path(), patterns).unwrap_err().to_string();
        assert!(refused(&["n/*.rst"]).contains("no file matches"));
        assert!(refused(&["n/***.md"]).contains("not a glob"));
        let both = refused(&["n/a.md", "n/x/a.md"]);
        assert!(both.contains("would both be the document \"a.md\""), "{both}");
    }
}
