//! Globs that find files: `notes/**/*.md`.
//!
//! A glob is matched name by name, so that a walk enters only folders that may hold a match. `*`, `?`, `[a-f]` and
//! `{md,txt}` stay within a name; `**` stands for any number of folders. As in a shell, a wildcard does not stand for
//! the dot at the beginning of a hidden name.

use super::CorpusErrorKind;
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Component, Path, PathBuf};

/// The part of a glob from its first wildcard on.
pub(super) struct Glob(Vec<Part>);

enum Part {
    /// `**`
    Folders,
    /// A name, with or without wildcards.
    Name { matcher: GlobMatcher, hidden: bool },
}

impl Glob {
    /// The folder before the first wildcard, and the glob of what is in it; `None` if there is no wildcard.
    pub(super) fn parse(path: &Path) -> Option<Result<(PathBuf, Self), CorpusErrorKind>> {
        let wild =
            |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let mut parts = path.components().skip_while(|part| !wild(part)).peekable();
        parts.peek()?;
        let folder = path.components().take_while(|part| !wild(part)).collect();
        let parts: Result<_, _> =
            parts.map(|part| Part::parse(part.as_os_str().to_str())).collect();
        Some(parts.map(|parts| (folder, Self(parts))))
    }

    /// Whether a file matches, by its path inside the folder.
    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        matches(&self.0, &names, false)
    }

    /// Whether a folder may hold a file that matches, by its path inside the folder.
    pub(super) fn may_match_in(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        matches(&self.0, &names, true)
    }
}

impl Part {
    fn parse(part: Option<&str>) -> Result<Self, CorpusErrorKind> {
        let wrong = |reason: String| CorpusErrorKind::Glob { reason };
        let part = part.ok_or_else(|| wrong("it is not valid UTF-8".to_owned()))?;
        match part {
            "**" => Ok(Self::Folders),
            _ if part.contains("**") => {
                Err(wrong("** stands for folders, alone between slashes".to_owned()))
            }
            _ => {
                let glob = GlobBuilder::new(part).backslash_escape(false).build();
                let glob = glob.map_err(|error| wrong(error.kind().to_string()))?;
                Ok(Self::Name { matcher: glob.compile_matcher(), hidden: part.starts_with('.') })
            }
        }
    }
}

/// Whether names match; with `within`, whether they may be the beginning of names that do.
fn matches(parts: &[Part], names: &[&str], within: bool) -> bool {
    match (parts, names) {
        ([], names) => names.is_empty() && !within,
        (_, []) if within => true,
        ([Part::Folders, rest @ ..], names) => {
            matches(rest, names, within)
                || matches!(names, [name, more @ ..]
                    if !name.starts_with('.') && matches(parts, more, within))
        }
        (_, []) => false,
        ([Part::Name { matcher, hidden }, rest @ ..], [name, more @ ..]) => {
            (*hidden || !name.starts_with('.'))
                && matcher.is_match(name)
                && matches(rest, more, within)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> (PathBuf, Glob) {
        Glob::parse(Path::new(text)).unwrap().ok().unwrap()
    }

    #[test]
    fn names_match_one_by_one() {
        for (text, yes, no) in [
            ("*.md", &["a.md", "f[1].md"][..], &["x/a.md", "a.txt", ".e.md"][..]),
            ("**/*.md", &["a.md", "x/a.md", "x/y/a.md"], &[".h/a.md", "x/.e.md", "a.txt"]),
            ("x/**/[a-c].md", &["a.md", "y/c.md"], &["d.md", "y/z/dd.md"]),
            ("**", &["a", "x/y/a"], &[".a", "x/.y/a"]),
            ("**/.*", &[".a", "x/.a"], &["a", ".x/.a"]),
            ("?/.git/*", &["a/.git/config"], &["ab/.git/config", "a/b/config"]),
            ("*.{md,txt}", &["a.md", "a.txt"], &["a.rs"]),
            ("[!a].md", &["b.md"], &["a.md"]),
        ] {
            let (_, glob) = glob(text);
            assert!(yes.iter().all(|path| glob.matches(path)), "{text}");
            assert!(!no.iter().any(|path| glob.matches(path)), "{text}");
        }
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let enters = |text: &str, path: &str| glob(text).1.may_match_in(path);
        assert!(enters("n/*/b/*.md", "a") && enters("n/*/b/*.md", "a/b"));
        assert!(!enters("n/*/b/*.md", "a/c") && !enters("n/*.md", "a.md"));
        assert!(enters("n/**/*.md", "a/b/c") && !enters("n/**/*.md", "a/.git"));
    }

    #[test]
    fn the_folder_ends_before_the_first_wildcard() {
        for (text, folder) in [("a/../b/*.md", "a/../b"), ("*.md", ""), ("/x/y?/z", "/x")] {
            assert_eq!(glob(text).0, Path::new(folder));
        }
        assert!(Glob::parse(Path::new("a/b.md")).is_none());
        for wrong in ["a/***", "a**/b", "a/[.md", "a/*{"] {
            assert!(matches!(Glob::parse(Path::new(wrong)), Some(Err(_))), "{wrong}");
        }
    }
}
