//! Finding text: which documents contain it, and where.

use super::Snapshot;
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{DocumentRecord, VersionRecord};
use memchr::memmem;
use serde::Serialize;

const WHAT: &str = "text to search";

/// Where a text occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextMatches {
    /// The documents that contain it.
    pub documents: Vec<DocumentMatches>,
    /// How often it occurs in all.
    pub count: usize,
}

/// Where a document contains a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DocumentMatches {
    /// The document.
    pub document: String,
    /// The version that counts.
    pub version: u32,
    /// Whether it is in the memory.
    pub live: bool,
    /// How often it contains the text.
    pub count: usize,
    /// The bytes of the document's text before each occurrence, of the first thousand.
    pub offsets: Vec<u64>,
}

/// Occurrences of a text whose places are given.
const MOST: usize = 1000;

impl Snapshot {
    /// The documents whose current version contains a text.
    pub fn find(&self, text: &str) -> Result<TextMatches, Error> {
        if text.is_empty() {
            return Err(Error::Invalid("there is no text to find".to_owned()));
        }
        let normal = self.normal(text)?;
        let ledger = self.ledger(WHAT)?;
        let mut documents = Vec::new();
        for document in ledger.documents()? {
            let (Some(version), Some(place)) = (document.current(), document.place) else {
                continue;
            };
            let content = ledger.content(&document, version)?;
            let mut offsets = self.occurrences(&content, text);
            if let (true, Some(normal)) = (offsets.is_empty(), &normal) {
                offsets = self.occurrences(&content, normal);
            }
            if !offsets.is_empty() {
                let count = offsets.len();
                offsets.truncate(MOST);
                let (document, version, live) = (document.id, place.version, place.live);
                documents.push(DocumentMatches { document, version, live, count, offsets });
            }
        }
        let count = documents.iter().map(|found| found.count).sum();
        Ok(TextMatches { documents, count })
    }

    /// The documents with a version that consists of these tokens.
    pub fn with_tokens(&self, tokens: &[u32]) -> Result<Vec<String>, Error> {
        let ledger = self.ledger(WHAT)?;
        let digest = ledger.digest(&Content::text(tokens.to_vec()));
        let same =
            |version: &VersionRecord| version.digest == digest && version.forgotten.is_none();
        let documents = ledger.documents()?.into_iter();
        Ok(documents.filter(|d| d.versions.iter().any(same)).map(|d| d.id).collect())
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

    /// The tokens of bytes that were a document's, or a part of it.
    pub(crate) fn encode(&self, bytes: &[u8]) -> Result<Vec<u32>, Error> {
        match self.tokenizer.encode_bytes(bytes) {
            // A cut may go through the middle of a character.
            Err(memo_text::TokenizerError::NotUtf8 { .. }) => {
                Ok(self.tokenizer.encode(&String::from_utf8_lossy(bytes))?)
            }
            encoded => Ok(encoded?),
        }
    }

    /// The form of a text that documents have whose tokenizer does not keep every character, if that is another.
    pub(crate) fn normal(&self, text: &str) -> Result<Option<String>, Error> {
        let normal = self.tokenizer.decode_lossy(&self.tokenizer.encode(text)?);
        let other = normal != text && !normal.trim().is_empty() && !normal.contains('\u{fffd}');
        Ok(other.then_some(normal))
    }

    /// All versions that still have tokens and contain a text: documents, and the numbers of such versions.
    pub(crate) fn versions_with(
        &self,
        text: &str,
    ) -> Result<Vec<(DocumentRecord, Vec<u32>)>, Error> {
        let ledger = self.ledger(WHAT)?;
        let mut found = Vec::new();
        for document in ledger.documents()? {
            let mut versions = Vec::new();
            for version in document.versions.iter().filter(|v| v.forgotten.is_none()) {
                let content = ledger.content(&document, version)?;
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

/// Bytes with every occurrence of a text cut out; what stood before and after it no longer touches.
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
