//! A whole file as one document.

use super::sniff::{Sniffed, text_only};
use super::{
    Content, Document, Encoding, Item, ReadError, ReadOptions, SkipReason, Skipped, Source,
};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

/// Reads all of `read` as the document `id`.
pub(super) fn read(
    read: impl BufRead,
    path: PathBuf,
    id: String,
    options: &ReadOptions,
) -> Result<Item, ReadError> {
    let content = if options.encoding == Encoding::Raw {
        Content::Raw(read_all(read, &path, options.max_bytes)?)
    } else {
        let Sniffed { read, mark } = text_only(read, &path)?;
        let bytes = read_all(read, &path, options.max_bytes)?;
        Content::Text(decode(bytes, options.encoding).map_err(|at| ReadError::InvalidUtf8 {
            place: path.clone().into(),
            offset: mark + at,
        })?)
    };
    Ok(document(id, content, path.into(), Vec::new(), options))
}

/// Reads to the end, but never much more than `max` bytes, even from an endless stream.
fn read_all(read: impl Read, path: &Path, max: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let limit = max.saturating_add(1);
    read.take(limit).read_to_end(&mut bytes).map_err(|e| ReadError::io(path, e))?;
    if bytes.len() as u64 > max {
        return Err(ReadError::TooLarge { place: path.to_owned().into(), max });
    }
    Ok(bytes)
}

/// The text of some bytes, or the offset of the first that is not UTF-8.
pub(super) fn decode(bytes: Vec<u8>, encoding: Encoding) -> Result<String, u64> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(bad) if encoding == Encoding::Utf8Lossy => {
            Ok(String::from_utf8_lossy(bad.as_bytes()).into_owned())
        }
        Err(bad) => Err(bad.utf8_error().valid_up_to() as u64),
    }
}

/// The finished document, unless there is nothing in it. Its own labels come before everyone's.
pub(super) fn document(
    id: String,
    content: Content,
    source: Source,
    own_labels: Vec<String>,
    options: &ReadOptions,
) -> Item {
    if content.as_bytes().is_empty() {
        return Item::Skipped(Skipped { source, reason: SkipReason::Empty });
    }
    let mut labels: Vec<String> = Vec::new();
    for label in own_labels.into_iter().chain(options.labels.iter().cloned()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    Item::Document(Document { id, content, source, labels })
}
