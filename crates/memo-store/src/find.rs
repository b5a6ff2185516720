//! Finding text: which documents contain it, and where.

use crate::error::Error;
use crate::ledger::Content;
use crate::memorize::current;
use crate::record::{Document, Version};
use crate::store::Store;
use memchr::memmem;

/// A place where a document contains a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The document.
    pub document: String,
    /// The version that counts.
    pub version: u32,
    /// Whether it is in the memory.
    pub live: bool,
    /// The bytes of the document's text before each occurrence.
    pub offsets: Vec<u64>,
}

impl Store {
    /// The documents whose current version contains a text.
    pub fn find(&self, text: &str) -> Result<Vec<Found>, Error> {
        if text.is_empty() {
            return Err(Error::Invalid("there is no text to find".to_owned()));
        }
        let mut found = Vec::new();
        for document in self.ledger.documents()? {
            let (Some(version), Some(place)) = (current(&document), document.place) else {
                continue;
            };
            let content = self.ledger.content(document.number, version)?;
            let offsets = self.occurrences(&content, text);
            if !offsets.is_empty() {
                let (document, version) = (document.id, place.version);
                found.push(Found { document, version, live: place.live, offsets });
            }
        }
        Ok(found)
    }

    /// Where a content contains a text, in bytes.
    pub(crate) fn occurrences(&self, content: &Content, text: &str) -> Vec<u64> {
        let mut offsets = Vec::new();
        let mut before = 0;
        for part in &content.parts {
            let bytes = self.tokenizer.decode(part);
            let places = memmem::find_iter(&bytes, text.as_bytes());
            offsets.extend(places.map(|at| before + at as u64));
            before += bytes.len() as u64 + 1;
        }
        offsets
    }

    /// All versions that still have tokens and contain a text: documents, and the numbers of such versions.
    pub(crate) fn versions_with(&self, text: &str) -> Result<Vec<(Document, Vec<u32>)>, Error> {
        let mut found = Vec::new();
        for document in self.ledger.documents()? {
            let mut versions = Vec::new();
            for version in document.versions.iter().filter(|v: &&Version| v.forgotten.is_none()) {
                let content = self.ledger.content(document.number, version)?;
                if !self.occurrences(&content, text).is_empty() {
                    versions.push(version.number);
                }
            }
            if !versions.is_empty() {
                found.push((document, versions));
            }
        }
        Ok(found)
    }
}

/// A content with every occurrence of a text cut out; the parts before and after it no longer touch.
pub(crate) fn cut(bytes: &[u8], text: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, text) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + text.len()..];
    }
    parts.push(rest.to_vec());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Bytes with every occurrence of a text replaced.
pub(crate) fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    out.extend_from_slice(rest);
    out
}
