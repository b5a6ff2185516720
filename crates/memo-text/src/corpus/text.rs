//! A whole file as one content.

use super::docx::DocxError;
use super::sniff::{Sniffed, text_only};
use super::{Content, CorpusErrorKind, Encoding, docx, html};
use std::io::{BufRead, Read};
use std::path::Path;

/// How a file holds its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As it is.
    Plain,
    /// Between tags.
    Html,
    /// In an archive.
    Docx,
}

impl Format {
    /// Returns the format that a file's name says.
    pub(super) fn of(path: &Path) -> Self {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match end.as_deref() {
            Some("html" | "htm" | "xhtml") => Format::Html,
            Some("docx") => Format::Docx,
            _ => Format::Plain,
        }
    }
}

/// Reads all of `read`.
pub(super) fn read(
    read: impl BufRead,
    format: Format,
    encoding: Encoding,
    max: u64,
) -> Result<Content, CorpusErrorKind> {
    if encoding == Encoding::Raw {
        return Ok(Content::Raw(read_all(read, max)?));
    }
    if format == Format::Docx {
        let text = docx::text(&read_all(read, max)?, max).map_err(|error| match error {
            DocxError::Damaged(reason) => CorpusErrorKind::Word { reason },
            DocxError::TooLarge => CorpusErrorKind::TooLarge { max },
        })?;
        return Ok(Content::Text(text));
    }
    let Sniffed { read, mark } = text_only(read)?;
    let text = decode(read_all(read, max)?, mark)?;
    Ok(Content::Text(if format == Format::Html { html::text(&text) } else { text }))
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
