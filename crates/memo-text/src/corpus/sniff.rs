//! Detection of encodings and binary files from the first bytes of a file.

use super::CorpusErrorKind;
use std::io::{self, BufRead, Cursor, Read};

/// The number of bytes that are searched for a NUL. Text has none, and nearly every binary format has one this early.
const HEAD: u64 = 8 << 10;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text without its byte order mark, and the length of that mark.
pub(super) struct Sniffed<R> {
    pub(super) read: io::Chain<Cursor<Vec<u8>>, R>,
    pub(super) mark: u64,
}

/// Inspects the head of a file, refuses what is not UTF-8 text, and removes a UTF-8 byte order mark.
pub(super) fn text_only<R: BufRead>(mut read: R) -> Result<Sniffed<R>, CorpusErrorKind> {
    let mut head = Vec::new();
    read.by_ref().take(HEAD).read_to_end(&mut head).map_err(CorpusErrorKind::Io)?;

    // UTF-32 first: its little-endian mark starts with that of UTF-16.
    let encoding = match head.as_slice() {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        _ => None,
    };
    if let Some(encoding) = encoding {
        return Err(CorpusErrorKind::OtherEncoding { encoding });
    }
    if head.starts_with(b"%PDF-") {
        return Err(CorpusErrorKind::Pdf);
    }
    if head.contains(&0) {
        return Err(CorpusErrorKind::Binary);
    }
    let mark = if head.starts_with(UTF8_MARK) { UTF8_MARK.len() as u64 } else { 0 };
    let mut head = Cursor::new(head);
    head.set_position(mark);
    Ok(Sniffed { read: head.chain(read), mark })
}
