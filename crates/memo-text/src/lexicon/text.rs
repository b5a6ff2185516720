//! The text of a file, whatever is in the file.

use super::error::At;
use super::{LexiconError, LexiconErrorKind, place};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest line of a table: words and classes have 200 bytes each at most.
pub(super) const MAX_LINE: usize = 64 << 10;

/// How far a NUL is looked for.
const HEAD: usize = 8 << 10;

/// Reads a file of UTF-8, without a byte order mark.
pub(super) fn read(path: &Path, max: u64) -> Result<String, LexiconError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(max.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| LexiconErrorKind::Io(error).at_path(path))?;
    checked(bytes, path, max)
}

/// The text of a file's bytes.
pub(super) fn checked(bytes: Vec<u8>, path: &Path, max: u64) -> Result<String, LexiconError> {
    if bytes.len() as u64 > max {
        return Err(LexiconErrorKind::TooLarge { max }.at_path(path));
    }
    // UTF-32 first: its little-endian mark starts with that of UTF-16.
    let problem = match bytes.as_slice() {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            Some(LexiconErrorKind::OtherEncoding { encoding: "UTF-32" })
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some(LexiconErrorKind::OtherEncoding { encoding: "UTF-16" })
        }
        // gzip and zstd, which may have no NUL near their start.
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(LexiconErrorKind::Binary),
        bytes if bytes[..bytes.len().min(HEAD)].contains(&0) => Some(LexiconErrorKind::Binary),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(problem.at_path(path));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|&byte| byte == b'\n').count() as u64;
        LexiconErrorKind::InvalidUtf8.at(place(path, line))
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    let start = text.trim_start();
    if start.starts_with("<?xml") || start.starts_with("<rdf:RDF") {
        return Err(LexiconErrorKind::Xml.at_path(path));
    }
    Ok(text)
}

/// The lines of a table, with their numbers. One that is too long is an error.
pub(super) fn lines<'t>(
    text: &'t str,
    path: &Path,
) -> impl Iterator<Item = Result<(&'t str, u64), LexiconError>> {
    text.lines().zip(1..).map(move |(line, number)| {
        if line.len() > MAX_LINE {
            return Err(LexiconErrorKind::LongLine { max: MAX_LINE }.at(place(path, number)));
        }
        Ok((line, number))
    })
}
