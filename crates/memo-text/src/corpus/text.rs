//! A whole file as one content.

use super::sniff::{Sniffed, text_only};
use super::{Content, CorpusErrorKind, Encoding};
use std::io::{BufRead, Read};

/// Reads all of `read`.
pub(super) fn read(
    read: impl BufRead,
    encoding: Encoding,
    max: u64,
) -> Result<Content, CorpusErrorKind> {
    if encoding == Encoding::Raw {
        return Ok(Content::Raw(read_all(read, max)?));
    }
    let Sniffed { read, mark } = text_only(read)?;
    Ok(Content::Text(decode(read_all(read, max)?, mark)?))
}

/// Reads to the end, but never much more than `max` bytes, even from an endless stream.
fn read_all(read: impl Read, max: u64) -> Result<Vec<u8>, CorpusErrorKind> {
    let mut bytes = Vec::new();
    let limit = max.saturating_add(1);
    read.take(limit).read_to_end(&mut bytes).map_err(CorpusErrorKind::Io)?;
    if bytes.len() as u64 > max {
        return Err(CorpusErrorKind::TooLarge { max });
    }
    Ok(bytes)
}

/// The text of bytes that begin at an offset of their file.
pub(super) fn decode(bytes: Vec<u8>, start: u64) -> Result<String, CorpusErrorKind> {
    String::from_utf8(bytes).map_err(|bad| CorpusErrorKind::InvalidUtf8 {
        offset: start + bad.utf8_error().valid_up_to() as u64,
    })
}
