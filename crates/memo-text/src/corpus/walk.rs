//! A walk through a folder in the order of the files' paths, which is the same on every system.
//!
//! Each folder is listed and sorted when the walk reaches it. If a folder's name is compared with a `/` at its end,
//! walking depth first gives exactly the order of the whole paths as strings, so `a-b` comes before `a/x`, and no more
//! than the lists on the way down are kept. Symbolic links are not followed, so a walk ends and stays inside its folder.

use super::glob::Glob;
use super::rules::{self, Selection};
use super::{CorpusErrorKind, Skip, SkipReason};
use ignore::gitignore::Gitignore;
use std::fs::{self, FileType};
use std::io;
use std::path::PathBuf;

/// A folder that is being walked.
pub(super) struct Walk {
    filter: Filter,
    /// The folders on the way down.
    levels: Vec<Level>,
    /// The ignore files above the folder that was given.
    above: Vec<Gitignore>,
}

/// The filters of a walk.
pub(super) struct Filter {
    /// Only files that match.
    pub(super) glob: Option<Glob>,
    pub(super) selection: Selection,
    /// Whether ignore files count.
    pub(super) ignore: bool,
}

/// A folder that is open.
struct Level {
    /// The entries that are left, in reverse order.
    entries: Vec<Entry>,
    rules: Option<Gitignore>,
}

/// Something in a folder.
struct Entry {
    file: FoundFile,
    kind: Kind,
}

/// A file that a walk found.
pub(super) struct FoundFile {
    /// The path as messages show it.
    pub(super) path: PathBuf,
    pub(super) canonical: PathBuf,
    /// Its path from the folder that was given, with `/`; a folder's ends in one.
    pub(super) inside: String,
}

enum Kind {
    File,
    Folder,
    Skip(SkipReason),
}

impl Walk {
    /// Starts at a folder, given by the path that messages show and by its canonical path.
    pub(super) fn new(path: PathBuf, canonical: PathBuf, filter: Filter) -> io::Result<Self> {
        let above = if filter.ignore { rules::above(&canonical) } else { Vec::new() };
        let mut walk = Self { filter, levels: Vec::new(), above };
        let level = walk.list(&FoundFile { path, canonical, inside: String::new() })?;
        walk.levels.push(level);
        Ok(walk)
    }

    /// The entries of a folder.
    fn list(&self, folder: &FoundFile) -> io::Result<Level> {
        let rules = self.filter.ignore.then(|| rules::of_folder(&folder.canonical)).flatten();
        let mut entries = Vec::new();
        for entry in fs::read_dir(&folder.canonical)? {
            let entry = entry?;
            let (name, file_type) = (entry.file_name(), entry.file_type()?);
            let mut file = FoundFile {
                path: folder.path.join(&name),
                canonical: entry.path(),
                inside: format!("{}{}", folder.inside, name.to_string_lossy()),
            };
            let named = name.to_str().is_some();
            if let Some(kind) = self.kind(&file, file_type, named, rules.as_ref()) {
                if file_type.is_dir() {
                    file.inside.push('/');
                }
                entries.push(Entry { file, kind });
            }
        }
        entries.sort_by(|a, b| b.file.inside.cmp(&a.file.inside));
        Ok(Level { entries, rules })
    }

    /// What to do with an entry of a folder; `None` if the filters leave it out.
    fn kind(
        &self,
        file: &FoundFile,
        file_type: FileType,
        named: bool,
        rules: Option<&Gitignore>,
    ) -> Option<Kind> {
        let FoundFile { canonical, inside, .. } = file;
        let is_folder = file_type.is_dir();
        match &self.filter.glob {
            Some(glob) if is_folder && !glob.may_match_in(inside) => return None,
            Some(glob) if !is_folder && !glob.matches(inside) => return None,
            None if inside.rsplit('/').next().is_some_and(|name| name.starts_with('.')) => {
                return Some(Kind::Skip(SkipReason::Hidden));
            }
            _ => {}
        }
        if !self.filter.selection.contains(inside, is_folder) {
            return None;
        }
        let outer = self.levels.iter().filter_map(|level| level.rules.as_ref());
        let rules = self.above.iter().chain(outer.chain(rules));
        Some(if rules::is_ignored(rules, canonical, is_folder) {
            Kind::Skip(SkipReason::Ignored)
        } else if !named {
            Kind::Skip(SkipReason::Failure(CorpusErrorKind::Name))
        } else if is_folder && rules::is_model(canonical) {
            Kind::Skip(SkipReason::Model)
        } else if is_folder {
            Kind::Folder
        } else if file_type.is_file() {
            Kind::File
        } else if file_type.is_symlink() {
            Kind::Skip(SkipReason::Symlink)
        } else {
            Kind::Skip(SkipReason::Special)
        })
    }
}

impl Iterator for Walk {
    type Item = Result<FoundFile, Skip>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(Entry { file, kind }) = self.levels.last_mut()?.entries.pop() else {
                self.levels.pop();
                continue;
            };
            let reason = match kind {
                Kind::File => return Some(Ok(file)),
                Kind::Skip(reason) => reason,
                Kind::Folder => match self.list(&file) {
                    Ok(level) => {
                        self.levels.push(level);
                        continue;
                    }
                    Err(error) => SkipReason::Failure(CorpusErrorKind::Io(error)),
                },
            };
            return Some(Err(Skip { location: file.path.into(), reason }));
        }
    }
}
