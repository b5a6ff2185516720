//! Forgetting: a text leaves the memory exactly, and then every byte of the directory.
//!
//! 1. The intent is recorded; the text is still there.
//! 2. Its contribution is subtracted from the memory.
//! 3. A checkpoint is written and older ones are removed.
//! 4. All that is alive is copied into a new ledger, which takes the old one's place.
//!
//! A kill between any two of these leaves a model whose opening does the rest. There is no inverse: an inverse would be
//! the text.

use super::Store;
use super::transaction::TransactionBuilder;
use crate::error::Error;
use crate::files;
use crate::ledger::{Content, FILE};
use crate::record::{DocumentRecord, ForgottenVersion, Role, TransactionKind, TransactionRecord};
use crate::snapshot::{ModelCopy, cut};
use memo::sparse::Digest;
use memo_text::Encoding;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

/// What a forget did, and what it could not reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The transaction.
    pub transaction: u64,
    /// The documents that were forgotten, or from which text was cut.
    pub documents: Vec<String>,
    /// Tokens that left the memory.
    pub tokens: u64,
    /// The digest of the memory afterwards.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_after: Digest,
    /// For each version that was scrubbed, the digest of its tokens under the model's secret key.
    pub forgotten: Vec<ForgottenVersion>,
    /// Live documents that share a passage with what was forgotten; they still know it.
    pub shared: Vec<String>,
    /// Copies made earlier, which still contain it.
    pub copies: Vec<ModelCopy>,
    /// How long it took to record the intent and to subtract.
    pub subtracting_seconds: f64,
    /// How long it took to write the checkpoint and to copy the ledger.
    pub scrubbing_seconds: f64,
}

/// A forget, and its proof: the memory is one that never saw what was forgotten.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Proof {
    /// What the forget did.
    pub receipt: Receipt,
    /// The digest of the memory before.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_before: Digest,
    /// The digest of a memory made of the other documents, which never saw those that were forgotten.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest_never_saw: Digest,
    /// Whether the memory has that digest afterwards.
    pub equal: bool,
}

/// Two documents share a passage if they have this many tokens in a row in common: half a line or so.
const PASSAGE: usize = 8;
const PASSAGE_OF_BYTES: usize = 32;

/// In place of words that contained forgotten text.
const SCRUBBED: &str = "[forgotten]";

impl Store {
    /// Forgets documents with all their versions, in one transaction and with one scrub.
    pub fn forget(&mut self, ids: &[&str], reason: Option<&str>) -> Result<Receipt, Error> {
        let mut change = self.begin_forget(reason)?;
        let mut scrubbed = Vec::new();
        for id in ids.iter().collect::<BTreeSet<_>>() {
            let document = self.record(id)?;
            let versions = document.versions.iter().filter(|v| v.forgotten.is_none());
            let left: Vec<u32> = versions.map(|version| version.number).collect();
            if left.is_empty() {
                let why = "was forgotten before".to_owned();
                return Err(Error::State { id: (*id).to_string(), why });
            }
            change.move_to(document.clone(), None);
            scrubbed.push((document, left));
        }
        if change.is_empty() {
            return Err(Error::Invalid("there is no document to forget".to_owned()));
        }
        let shared = self.sharing(&scrubbed)?;
        self.commit_forget(change, &scrubbed, shared)
    }

    /// Forgets documents, and proves it: makes a memory of the others, and compares digests.
    pub fn forget_with_proof(
        &mut self,
        ids: &[&str],
        reason: Option<&str>,
    ) -> Result<Proof, Error> {
        let digest_before = self.digest()?;
        // First what may fail or be stopped: until then nothing has changed.
        let digest_never_saw = self.digest_without(ids, &self.observer)?;
        let receipt = self.forget(ids, reason)?;
        let equal = receipt.digest_after == digest_never_saw;
        Ok(Proof { receipt, digest_before, digest_never_saw, equal })
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
        let mut change = self.begin_forget(reason)?;
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
        for (document, versions) in &found {
            let affected = document.current().filter(|version| versions.contains(&version.number));
            let Some(version) = affected else {
                change.move_to(document.clone(), document.place);
                continue;
            };
            let rest = self.without(&self.ledger()?.content(document, version)?, text)?;
            // What is left of an edit is no edit.
            if rest.parts.is_empty() || version.is_edit() {
                change.move_to(document.clone(), None);
            } else {
                let digest = self.ledger()?.digest(&rest);
                change.add_version(document.clone(), rest, digest, true);
            }
        }
        change.scrub_texts = vec![text.to_owned()];
        self.commit_forget(change, &found, Vec::new())
    }

    /// A content with every occurrence of a text cut out, and encoded anew.
    fn without(&self, content: &Content, text: &str) -> Result<Content, Error> {
        let mut parts = Vec::new();
        for part in &content.parts {
            let bytes = self.tokenizer.decode(part);
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

    /// Begins a forget; what an earlier one could not finish is finished first.
    fn begin_forget(&mut self, reason: Option<&str>) -> Result<TransactionBuilder, Error> {
        self.finish_forgets()?;
        self.begin(TransactionKind::Forget, reason)
    }

    fn commit_forget(
        &mut self,
        mut change: TransactionBuilder,
        scrubbed: &[(DocumentRecord, Vec<u32>)],
        shared: Vec<String>,
    ) -> Result<Receipt, Error> {
        let mut first = u64::MAX;
        for (document, versions) in scrubbed {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                change.scrub.push((document.number, version.number));
                first = first.min(version.transaction);
                change.forgotten.push(ForgottenVersion {
                    document: document.id.clone(),
                    version: version.number,
                    digest: version.digest.clone(),
                });
            }
        }
        // From now on nothing may bring them back, even if scrubbing is interrupted.
        let (id, scrub): (u64, HashSet<_>) = (change.id, change.scrub.iter().copied().collect());
        for document in change.documents_mut() {
            let number = document.number;
            for version in &mut document.versions {
                if scrub.contains(&(number, version.number)) {
                    version.forgotten = Some(id);
                }
            }
        }
        let (documents, tokens) = (change.names(), change.tokens_leaving());
        let start = Instant::now();
        self.commit(&change)?;
        let subtracted = start.elapsed();
        self.finish_forgets()?;
        let scrubbed = start.elapsed().saturating_sub(subtracted);
        let copies = self.ledger()?.copies()?.into_iter().map(ModelCopy::from);
        Ok(Receipt {
            transaction: change.id,
            documents,
            tokens,
            digest_after: self.digest()?,
            forgotten: change.forgotten,
            shared,
            copies: copies.filter(|copy| copy.transaction >= first).collect(),
            subtracting_seconds: subtracted.as_secs_f64(),
            scrubbing_seconds: scrubbed.as_secs_f64(),
        })
    }

    /// Finishes forgets that were begun: writes a checkpoint without the text, then a ledger without it.
    pub(super) fn finish_forgets(&mut self) -> Result<(), Error> {
        if !self.ledger()?.forgetting()? {
            return Ok(());
        }
        let transactions = self.ledger()?.transactions(0)?;
        let open: Vec<&TransactionRecord> =
            transactions.iter().filter(|t| !t.scrub.is_empty()).collect();
        if open.is_empty() {
            return Ok(());
        }
        self.checkpoint()?;
        let scrub: HashSet<(u64, u32)> = open.iter().flat_map(|t| t.scrub.clone()).collect();
        let texts: Vec<String> = open.iter().flat_map(|t| t.scrub_texts.clone()).collect();
        let gone = |words: &str| texts.iter().any(|text| words.contains(text.as_str()));
        let path = files::unfinished(&self.directory.join(FILE));
        self.ledger()?.copy_to(
            &path,
            &scrub,
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
            |transaction| {
                transaction.scrub.clear();
                transaction.scrub_texts.clear();
                if transaction.reason.as_deref().is_some_and(gone) {
                    transaction.reason = Some(SCRUBBED.to_owned());
                }
            },
        )?;
        match &mut self.snapshot.ledger {
            Some(ledger) => ledger.replace_by(&path),
            None => Ok(()),
        }
    }

    /// Live documents that have a passage in common with versions that are to go.
    fn sharing(&self, going: &[(DocumentRecord, Vec<u32>)]) -> Result<Vec<String>, Error> {
        let bytes = self.tokenizer.encoding() == Encoding::Raw;
        let passage = if bytes { PASSAGE_OF_BYTES } else { PASSAGE };
        let ledger = self.ledger()?;
        let mut passages: HashSet<Vec<u32>> = HashSet::new();
        for (document, versions) in going {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                let content = ledger.content(document, version)?;
                for part in &content.parts {
                    passages.extend(part.windows(passage).map(<[u32]>::to_vec));
                }
            }
        }
        let goes: HashSet<u64> = going.iter().map(|(document, _)| document.number).collect();
        let mut shared = Vec::new();
        for other in ledger.documents()? {
            let Some(version) = other.live().filter(|_| !goes.contains(&other.number)) else {
                continue;
            };
            let content = ledger.content(&other, version)?;
            let mut windows = content.parts.iter().flat_map(|part| part.windows(passage));
            if windows.any(|window| passages.contains(window)) {
                shared.push(other.id);
            }
        }
        Ok(shared)
    }
}
