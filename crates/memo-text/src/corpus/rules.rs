//! Rules that choose among the files of a folder: ignore files, the caller's includes and excludes, and model
//! directories.

use super::{CorpusError, CorpusErrorKind, CorpusOptions};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The ignore files of a folder; later ones take precedence.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// What a caller includes and excludes, in the notation of a `.gitignore`, by the path inside the folder that was given.
#[derive(Clone)]
pub(super) struct Selection {
    include: Gitignore,
    exclude: Gitignore,
}

impl Selection {
    pub(super) fn new(options: &CorpusOptions) -> Result<Self, CorpusError> {
        Ok(Self { include: listed(&options.include)?, exclude: listed(&options.exclude)? })
    }

    /// Whether a file is to be read, or a folder entered.
    pub(super) fn contains(&self, inside: &str, is_folder: bool) -> bool {
        !self.exclude.matched(inside, is_folder).is_ignore()
            && (is_folder
                || self.include.is_empty()
                || self.include.matched_path_or_any_parents(inside, false).is_ignore())
    }
}

fn listed(globs: &[String]) -> Result<Gitignore, CorpusError> {
    let mut builder = GitignoreBuilder::new(".");
    let wrong = |glob: &str, error: ignore::Error| {
        let reason = error.to_string();
        CorpusErrorKind::Glob { reason }.at(PathBuf::from(glob))
    };
    for glob in globs {
        builder.add_line(None, glob).map_err(|error| wrong(glob, error))?;
    }
    builder.build().map_err(|error| wrong(&globs.join(", "), error))
}

/// The ignore files of a folder; `None` if it has none. Lines that cannot be parsed are ignored, as git does.
pub(super) fn of_folder(folder: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for name in IGNORE_FILES {
        let path = folder.join(name);
        if path.is_file() {
            builder.add(path);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// The ignore files above a folder in its git repository, the outermost first. Outside a repository there are none.
pub(super) fn above(folder: &Path) -> Vec<Gitignore> {
    let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    let above = folder.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    let mut rules: Vec<Gitignore> = above.filter_map(of_folder).collect();
    rules.reverse();
    rules
}

/// Whether ignore files, the outermost first, exclude a path. The innermost that mentions it decides.
pub(super) fn is_ignored<'a>(
    rules: impl DoubleEndedIterator<Item = &'a Gitignore>,
    path: &Path,
    is_folder: bool,
) -> bool {
    let decided = rules.rev().find_map(|rules| match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    });
    decided.unwrap_or(false)
}

/// Whether a folder is a model: its `model.toml` begins with a check of the rest, or lies beside a ledger.
pub(super) fn is_model(folder: &Path) -> bool {
    const CHECK: &[u8] = b"check = ";
    let path = folder.join("model.toml");
    if !path.is_file() {
        return false;
    }
    let mut head = [0; CHECK.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    (read.is_ok() && head == CHECK) || folder.join("ledger.redb").exists()
}
