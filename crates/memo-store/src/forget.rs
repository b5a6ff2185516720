//! Forgetting: a text leaves the memory exactly, and then every byte of the directory.
//!
//! 1. The intent is recorded; the text is still there.
//! 2. Its contribution is subtracted from the memory.
//! 3. A checkpoint is written and older ones are removed.
//! 4. All that is alive is copied into a new ledger, which takes the old one's place.
//!
//! A kill between any two of these leaves a model whose opening does the rest. There is no inverse: an inverse would be
//! the text.

use crate::error::Error;
use crate::files;
use crate::find::cut;
use crate::ledger::Content;
use crate::memorize::{add_version, current, is_edit};
use crate::record::{Copy, Document, Forgotten, Kind, Place, Role, Transaction};
use crate::store::Store;
use crate::transact::Change;
use memo::sparse::Digest;
use memo_text::Encoding;
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// What a forget did, and what it could not reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receipt {
    /// The transaction.
    pub transaction: u64,
    /// The documents that were forgotten, or from which text was cut.
    pub documents: Vec<String>,
    /// Tokens that left the memory.
    pub tokens: u64,
    /// The digest of the memory afterwards.
    pub digest_after: Digest,
    /// For each version that was scrubbed, the digest of its tokens under the model's secret key.
    pub forgotten: Vec<Forgotten>,
    /// Live documents that share a passage with what was forgotten; they still know it.
    pub shared: Vec<String>,
    /// Copies made earlier, which still contain it.
    pub copies: Vec<Copy>,
    /// How long it took to record the intent and to subtract; serialized in seconds.
    #[serde(serialize_with = "seconds")]
    pub subtracting: Duration,
    /// How long it took to write the checkpoint and to copy the ledger; serialized in seconds.
    #[serde(serialize_with = "seconds")]
    pub scrubbing: Duration,
}

fn seconds<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(duration.as_secs_f64())
}

/// Two documents share a passage if they have this many tokens in a row in common: half a line or so.
const PASSAGE: usize = 8;
const PASSAGE_OF_BYTES: usize = 32;

/// In place of words that contained forgotten text.
const SCRUBBED: &str = "[forgotten]";

impl Store {
    /// Forgets a document with all its versions.
    pub fn forget_document(&mut self, id: &str, reason: Option<&str>) -> Result<Receipt, Error> {
        self.forget_documents(&[id], reason)
    }

    /// Forgets documents with all their versions, in one transaction and with one scrub.
    pub fn forget_documents(
        &mut self,
        ids: &[&str],
        reason: Option<&str>,
    ) -> Result<Receipt, Error> {
        // What could not be finished before is finished first.
        self.finish_forgets()?;
        let (mut changes, mut scrubbed) = (Vec::new(), Vec::new());
        for id in ids.iter().collect::<BTreeSet<_>>() {
            let mut document = self.document(id)?;
            let versions = document.versions.iter().filter(|v| v.forgotten.is_none());
            let left: Vec<u32> = versions.map(|version| version.number).collect();
            if left.is_empty() {
                let why = "was forgotten before".to_owned();
                return Err(Error::State { id: (*id).to_string(), why });
            }
            let before = document.place;
            document.place = None;
            changes.push(Change { document: document.clone(), before, content: None });
            scrubbed.push((document, left));
        }
        if changes.is_empty() {
            return Err(Error::Invalid("there is no document to forget".to_owned()));
        }
        let shared = self.sharing(&scrubbed)?;
        self.forget(reason, changes, &scrubbed, None, shared)
    }

    /// Forgets a text: cuts it out of every document that contains it, and makes each cut a document boundary. What
    /// remains is a new version; all versions that contained the text are scrubbed.
    pub fn forget_text(&mut self, text: &str, reason: Option<&str>) -> Result<Receipt, Error> {
        if text.trim().is_empty() {
            return Err(Error::Invalid("there is no text to forget".to_owned()));
        }
        if reason.is_some_and(|reason| reason.contains(text)) {
            let why = "the reason contains the text itself; say it in other words";
            return Err(Error::Invalid(why.to_owned()));
        }
        self.finish_forgets()?;
        let mut found = self.versions_with(text)?;
        let normal = self.normal(text)?;
        let mut text = text;
        if let (true, Some(normal)) = (found.is_empty(), &normal) {
            found = self.versions_with(normal)?;
            text = normal;
        }
        if found.is_empty() {
            return Err(Error::NotFound);
        }
        let transaction = self.view.ledger.last()? + 1;
        let mut changes = Vec::new();
        for (document, versions) in &found {
            let mut document = document.clone();
            let before = document.place;
            let affected = current(&document).filter(|v| versions.contains(&v.number)).cloned();
            let mut content = None;
            if let (Some(version), Some(place)) = (affected, before) {
                let rest =
                    self.without(&self.view.ledger.content(document.number, &version)?, text)?;
                // What is left of an edit is no edit.
                if rest.parts.is_empty() || is_edit(&version) {
                    document.place = None;
                } else {
                    let digest = self.view.ledger.digest(&rest);
                    add_version(&mut document, &rest, digest, transaction);
                    document.place = document.place.map(|new| Place { live: place.live, ..new });
                    content = Some(rest);
                }
            }
            changes.push(Change { document, before, content });
        }
        self.forget(reason, changes, &found, Some(text), Vec::new())
    }

    /// A content with every occurrence of a text cut out, and encoded anew.
    fn without(&self, content: &Content, text: &str) -> Result<Content, Error> {
        let mut parts = Vec::new();
        for part in &content.parts {
            let bytes = self.view.tokenizer.decode(part);
            let pieces = cut(&bytes, text.as_bytes());
            if pieces.len() == 1 && pieces[0].len() == bytes.len() {
                parts.push(part.clone());
                continue;
            }
            for piece in pieces {
                let tokens = self.encode(&piece)?;
                if !tokens.is_empty() {
                    parts.push(tokens);
                }
            }
        }
        Ok(Content { parts, role: Role::Text })
    }

    fn forget(
        &mut self,
        reason: Option<&str>,
        mut changes: Vec<Change>,
        scrubbed: &[(Document, Vec<u32>)],
        text: Option<&str>,
        shared: Vec<String>,
    ) -> Result<Receipt, Error> {
        let mut forgotten = Vec::new();
        let mut scrub = HashSet::new();
        let mut first = u64::MAX;
        for (document, versions) in scrubbed {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                scrub.insert((document.number, version.number));
                first = first.min(version.transaction);
                forgotten.push(Forgotten {
                    document: document.id.clone(),
                    version: version.number,
                    digest: version.digest.clone(),
                });
            }
        }
        let documents: Vec<String> = changes.iter().map(|c| c.document.id.clone()).collect();
        let tokens = changes.iter().map(left).sum();
        // From now on nothing may bring them back, even if scrubbing is interrupted.
        let id = self.view.applied + 1;
        for document in changes.iter_mut().map(|change| &mut change.document) {
            for version in &mut document.versions {
                if scrub.contains(&(document.number, version.number)) {
                    version.forgotten = Some(id);
                }
            }
        }
        let start = Instant::now();
        let transaction = self.transact(Kind::Forget, reason, changes, |transaction, _| {
            transaction.forgotten.clone_from(&forgotten);
            transaction.scrub = scrub.into_iter().collect();
            transaction.scrub_texts = text.map(str::to_owned).into_iter().collect();
            Ok(())
        })?;
        let subtracting = start.elapsed();
        self.finish_forgets()?;
        let scrubbing = start.elapsed().saturating_sub(subtracting);
        let mut copies = self.view.ledger.copies()?;
        copies.retain(|copy| copy.transaction >= first);
        Ok(Receipt {
            transaction: transaction.id,
            documents,
            tokens,
            digest_after: self.digest()?,
            forgotten,
            shared,
            copies,
            subtracting,
            scrubbing,
        })
    }

    /// Does what is left to do of forgets that were begun: checkpoint, then scrub.
    pub(crate) fn finish_forgets(&mut self) -> Result<(), Error> {
        if !self.view.ledger.forgetting()? {
            return Ok(());
        }
        let open: Vec<Transaction> =
            self.log()?.into_iter().filter(|t| !t.scrub.is_empty()).collect();
        if open.is_empty() {
            return Ok(());
        }
        self.checkpoint()?;
        let scrub: HashSet<(u64, u32)> = open.iter().flat_map(|t| t.scrub.clone()).collect();
        let texts: Vec<String> = open.iter().flat_map(|t| t.scrub_texts.clone()).collect();
        let gone = |words: &str| texts.iter().any(|text| words.contains(text.as_str()));
        let path = files::unfinished(&self.directory.join("ledger.redb"));
        self.view.ledger.copy_to(
            &path,
            &scrub,
            |transaction| {
                transaction.scrub.clear();
                transaction.scrub_texts.clear();
                if transaction.reason.as_deref().is_some_and(gone) {
                    transaction.reason = Some(SCRUBBED.to_owned());
                }
            },
            |document| {
                for version in &mut document.versions {
                    if scrub.contains(&(document.number, version.number)) {
                        // How text was cut is nobody's business any more.
                        version.parts.clear();
                    }
                }
                if document.versions.iter().all(|version| version.forgotten.is_some()) {
                    document.labels.clear();
                }
                document.labels.retain(|key, value| !gone(key) && !gone(value));
            },
        )?;
        self.view.ledger.replace_by(&path)
    }

    /// Live documents that have a passage in common with versions that are to go.
    fn sharing(&self, going: &[(Document, Vec<u32>)]) -> Result<Vec<String>, Error> {
        let passage = match self.view.tokenizer.encoding() {
            Encoding::Raw => PASSAGE_OF_BYTES,
            Encoding::Utf8 => PASSAGE,
        };
        let mut passages: HashSet<Vec<u32>> = HashSet::new();
        for (document, versions) in going {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                let content = self.view.ledger.content(document.number, version)?;
                for part in &content.parts {
                    passages.extend(part.windows(passage).map(<[u32]>::to_vec));
                }
            }
        }
        let goes: HashSet<u64> = going.iter().map(|(document, _)| document.number).collect();
        let mut shared = Vec::new();
        for other in self.view.ledger.documents()? {
            let live = other.place.is_some_and(|place| place.live);
            if !live || goes.contains(&other.number) {
                continue;
            }
            let Some(version) = current(&other) else { continue };
            let content = self.view.ledger.content(other.number, version)?;
            let mut windows = content.parts.iter().flat_map(|part| part.windows(passage));
            if windows.any(|window| passages.contains(window)) {
                shared.push(other.id);
            }
        }
        Ok(shared)
    }
}

/// Tokens that a change takes out of the memory.
fn left(change: &Change) -> u64 {
    let live = |place: Option<Place>| {
        let place = place.filter(|place| place.live)?;
        let version = change.document.versions.iter().find(|v| v.number == place.version)?;
        Some(version.tokens)
    };
    live(change.before).unwrap_or(0).saturating_sub(live(change.document.place).unwrap_or(0))
}

/// The transaction that scrubbed the version of a place, if one did.
pub(crate) fn scrubbed(document: &Document, place: Option<Place>) -> Option<u64> {
    let place = place?;
    document.versions.iter().find(|v| v.number == place.version)?.forgotten
}
