//! Finding text: which documents contain it, and where.

use super::Snapshot;
use crate::error::Error;
use crate::ledger::Content;
use crate::record::{DocumentRecord, VersionRecord};
use memchr::{memchr_iter, memmem, memrchr_iter};
use regex::bytes::{Regex, RegexBuilder};
use serde::Serialize;
use std::ops::Range;

const WHAT: &str = "text to search";

/// How a text is searched for, and what is shown of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindOptions {
    /// Whether `Owl` finds `owl`.
    pub ignore_case: bool,
    /// Lines to show before and after that of a match.
    pub context: usize,
}

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
    /// Where: the first thousand occurrences.
    pub matches: Vec<TextMatch>,
}

/// One occurrence of a text, and what stands around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextMatch {
    /// The bytes of the document's text before it.
    pub offset: u64,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// The beginning of its line, and lines before that if they were asked for; of long lines, the end.
    pub before: String,
    /// The occurrence itself.
    #[serde(rename = "match")]
    pub matching: String,
    /// The rest of its line, and lines after that if they were asked for; of long lines, the beginning.
    pub after: String,
}

/// Occurrences of a text whose places are given.
const MOST: usize = 1000;

/// The most bytes on either side of a match, for each line that is shown there.
const AROUND: usize = 200;

impl Snapshot {
    /// The documents whose current version contains a text.
    pub fn find(&self, text: &str) -> Result<TextMatches, Error> {
        self.find_with(text, &FindOptions::default())
    }

    /// The same, searched for and shown in another way.
    pub fn find_with(&self, text: &str, options: &FindOptions) -> Result<TextMatches, Error> {
        if text.is_empty() {
            return Err(Error::Invalid("there is no text to find".to_owned()));
        }
        let asked = Pattern::new(text, options.ignore_case)?;
        let normal = self.normal(text)?;
        let normal =
            normal.as_deref().map(|text| Pattern::new(text, options.ignore_case)).transpose()?;
        let ledger = self.ledger(WHAT)?;
        let mut documents = Vec::new();
        for document in ledger.documents()? {
            let (Some(version), Some(place)) = (document.current(), document.place) else {
                continue;
            };
            let content = ledger.content(&document, version)?;
            let (bytes, parts) = self.joined(&content);
            let mut found = asked.places(&bytes, &parts);
            if let (true, Some(normal)) = (found.is_empty(), &normal) {
                found = normal.places(&bytes, &parts);
            }
            if !found.is_empty() {
                let count = found.len();
                found.truncate(MOST);
                let matches = shown(&bytes, found, options.context);
                let (document, version, live) = (document.id, place.version, place.live);
                documents.push(DocumentMatches { document, version, live, count, matches });
            }
        }
        let count = documents.iter().map(|found| found.count).sum();
        Ok(TextMatches { documents, count })
    }

    /// The text of a content, parts on lines of their own, and where each of them lies.
    fn joined(&self, content: &Content) -> (Vec<u8>, Vec<Range<usize>>) {
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        for part in &content.parts {
            if !parts.is_empty() {
                bytes.push(b'\n');
            }
            let start = bytes.len();
            bytes.extend(self.tokenizer.decode(part));
            parts.push(start..bytes.len());
        }
        (bytes, parts)
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

/// What is searched for.
enum Pattern<'t> {
    Exact(Box<memmem::Finder<'t>>),
    AnyCase(Regex),
}

impl<'t> Pattern<'t> {
    fn new(text: &'t str, ignore_case: bool) -> Result<Self, Error> {
        if !ignore_case {
            return Ok(Pattern::Exact(Box::new(memmem::Finder::new(text))));
        }
        let any_case = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        let refused = |_| Error::Invalid("a text this long is found only in its own case".into());
        Ok(Pattern::AnyCase(any_case.map_err(refused)?))
    }

    /// Where it stands, in bytes; what was cut apart does not touch.
    fn places(&self, bytes: &[u8], parts: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for part in parts {
            let within = &bytes[part.clone()];
            match self {
                Pattern::Exact(finder) => {
                    let len = finder.needle().len();
                    let found = finder.find_iter(within).map(|at| part.start + at);
                    places.extend(found.map(|at| at..at + len));
                }
                Pattern::AnyCase(regex) => places.extend(
                    regex.find_iter(within).map(|m| part.start + m.start()..part.start + m.end()),
                ),
            }
        }
        places
    }
}

/// Occurrences with their lines, and as many more lines as are wanted.
fn shown(bytes: &[u8], places: Vec<Range<usize>>, context: usize) -> Vec<TextMatch> {
    let most = AROUND * (context + 1);
    let (mut line, mut counted) = (1, 0);
    let mut matches = Vec::new();
    for place in places {
        line += memchr_iter(b'\n', &bytes[counted..place.start]).count() as u64;
        counted = place.start;
        let (before, after) = (&bytes[..place.start], &bytes[place.end..]);
        let start = memrchr_iter(b'\n', before).nth(context).map_or(0, |at| at + 1);
        let end = memchr_iter(b'\n', after).nth(context).unwrap_or(after.len());
        let start = boundary(before, start.max(before.len().saturating_sub(most)));
        let end = boundary(after, end.min(most));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        matches.push(TextMatch {
            offset: place.start as u64,
            line,
            before: text(&before[start..]),
            matching: text(&bytes[place]),
            after: text(&after[..end]),
        });
    }
    matches
}

/// The next place from here on that is not within a character.
fn boundary(bytes: &[u8], from: usize) -> usize {
    let within = bytes[from..].iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80);
    from + within.count()
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
