//! Forgetting: a text leaves the memory exactly, and then every byte of the directory.
//!
//! 1. The intent is recorded; the text is still there.
//! 2. Its contribution is subtracted from the memory.
//! 3. A checkpoint is written, which takes over from the one before what has not changed, and all that is alive is copied into
//!    a new ledger.
//! 4. The checkpoint is put in place and older ones are removed; then the ledger takes the old one's place.
//!
//! A kill between any two of these leaves a model whose opening does the rest. There is no inverse: an inverse would be
//! the text. Because it must be finished, there must be room for it before it is recorded; if the disk is full all the
//! same, what is pending is said, and readers, to whom the text is gone already, go on.

use super::Store;
use super::transaction::TransactionBuilder;
use crate::error::Error;
use crate::files;
use crate::ledger::FILE;
use crate::record::{DocumentRecord, ForgottenVersion, TransactionKind, TransactionRecord};
use crate::selection::{Cut, Selected, Selection};
use crate::snapshot::ModelCopy;
use memo::sparse::Digest;
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;
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
    /// Documents among them that the model's lexicon was induced from: it still remembers which of their words stood together, until the
    /// model is rebuilt with another.
    pub lexicon_sources: Vec<String>,
    /// Copies made earlier and, if this model is a copy, its originals: they still contain it.
    pub copies: Vec<ModelCopy>,
    /// How long it took to record the intent and to subtract.
    pub subtracting_seconds: f64,
    /// How long it took to write the checkpoint and to copy the ledger.
    pub scrubbing_seconds: f64,
}

/// In place of words that contained forgotten text.
const SCRUBBED: &str = "[forgotten]";

impl Store {
    /// Forgets documents with all their versions, in one transaction and with one scrub.
    pub fn forget(&mut self, ids: &[&str], reason: Option<&str>) -> Result<Receipt, Error> {
        let ids = ids.iter().map(|&id| id.to_owned()).collect();
        self.forget_selection(&Selection::Documents(ids), reason)
    }

    /// Forgets a text: cuts it out of every document that contains it, and makes each cut a document boundary. What
    /// remains is a new version; all versions that contained the text are scrubbed.
    pub fn forget_text(&mut self, text: &str, reason: Option<&str>) -> Result<Receipt, Error> {
        self.forget_selection(&Selection::Text(text.to_owned()), reason)
    }

    /// Forgets what [`Snapshot::preview_forget`](crate::Snapshot::preview_forget) shows of a selection.
    pub fn forget_selection(
        &mut self,
        what: &Selection,
        reason: Option<&str>,
    ) -> Result<Receipt, Error> {
        let mut receipts = self.forget_each([(what, reason)])?;
        receipts.pop().unwrap_or(Err(Error::NotFound))
    }

    /// Forgets several selections, each in a transaction of its own, with one scrub for all: that is what takes long. One that cannot be
    /// forgotten has its own error, and the others are forgotten all the same. When this returns, all that it has receipts for is gone from every
    /// byte; an error of the scrub is one for all.
    ///
    /// ```
    /// # use memo_store::{NewDocument, NewModel, Selection, Store};
    /// # let home = tempfile::tempdir()?;
    /// # let mut store = Store::create(&home.path().join("notes.memo"), &NewModel::default())?;
    /// store.memorize([NewDocument::text("The owl reads.").with_id("owl")], None)?;
    /// let [owl, cat] = ["owl", "cat"].map(|id| Selection::Documents(vec![id.to_owned()]));
    /// let receipts = store.forget_each([(&owl, Some("asked for")), (&cat, None)])?;
    /// assert!(receipts[0].is_ok() && receipts[1].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget_each<'a>(
        &mut self,
        requests: impl IntoIterator<Item = (&'a Selection, Option<&'a str>)>,
    ) -> Result<Vec<Result<Receipt, Error>>, Error> {
        self.finish_forgets()?;
        let requests: Vec<_> = requests.into_iter().collect();
        let subtract = |store: &mut Self| -> Vec<Result<Receipt, Error>> {
            requests.iter().map(|(what, reason)| store.subtract(what, *reason)).collect()
        };
        // A memory that is not there cannot be gone back to.
        let mut receipts = if requests.len() > 1 && self.memory().is_ok() {
            self.together(subtract)?
        } else {
            subtract(self)
        };
        let start = Instant::now();
        self.finish_forgets()?;
        for receipt in receipts.iter_mut().flatten() {
            receipt.scrubbing_seconds = start.elapsed().as_secs_f64();
        }
        Ok(receipts)
    }

    /// Records that a selection is forgotten, and subtracts it from the memory.
    fn subtract(&mut self, what: &Selection, reason: Option<&str>) -> Result<Receipt, Error> {
        let Selected { documents, cut } = self.select(what)?;
        let mut change = self.begin(TransactionKind::Forget, reason)?;
        let Some(cut) = cut else {
            for (document, _) in &documents {
                change.move_to(document.clone(), None);
            }
            let shared = self.sharing(&documents)?;
            return self.commit_forget(change, &documents, shared);
        };
        let given = |reason: &str| matches!(what, Selection::Text(given) if reason.contains(given));
        let cuts = |reason: &str| matches!(&cut, Cut::Text(text) if reason.contains(text));
        if reason.is_some_and(|reason| cuts(reason) || given(reason)) {
            let why = "the reason contains the text itself; say it in other words";
            return Err(Error::Invalid(why.to_owned()));
        }
        for (document, versions) in &documents {
            let affected = document.current().filter(|version| versions.contains(&version.number));
            let Some(version) = affected else {
                change.move_to(document.clone(), document.place);
                continue;
            };
            match self.rest(document, version, &cut)? {
                None => change.move_to(document.clone(), None),
                Some(rest) => {
                    let digest = self.ledger()?.digest(&rest);
                    change.add_version(document.clone(), rest, digest, true);
                }
            }
        }
        if let Cut::Text(text) = cut {
            change.scrub_texts = vec![text];
        }
        self.commit_forget(change, &documents, Vec::new())
    }

    fn commit_forget(
        &mut self,
        mut change: TransactionBuilder,
        scrubbed: &[(DocumentRecord, Vec<u32>)],
        shared: Vec<String>,
    ) -> Result<Receipt, Error> {
        self.check_room_to_forget()?;
        let copies = self.copies_with(scrubbed)?;
        let lexicon_sources = self.lexicon_sources(scrubbed)?;
        for (document, versions) in scrubbed {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                change.scrub.push((document.number, version.number));
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
        Ok(Receipt {
            transaction: change.id,
            documents,
            tokens,
            digest_after: self.digest()?,
            forgotten: change.forgotten,
            shared,
            lexicon_sources,
            copies,
            subtracting_seconds: subtracted.as_secs_f64(),
            scrubbing_seconds: 0.0,
        })
    }

    /// The documents of which the lexicon was induced from a version that goes.
    fn lexicon_sources(&self, going: &[(DocumentRecord, Vec<u32>)]) -> Result<Vec<String>, Error> {
        let Some(lexicon) = self.lexicon().filter(|lexicon| !lexicon.sources().is_empty()) else {
            return Ok(Vec::new());
        };
        let mut sources = Vec::new();
        for (document, versions) in going {
            for version in document.versions.iter().filter(|v| versions.contains(&v.number)) {
                // Whether the lexicon has words of a text that is damaged cannot be known.
                let Some(content) = self.ledger()?.sound_content(document, version)? else {
                    continue;
                };
                let text = content.parts.iter().map(|part| self.tokenizer.decode_lossy(part));
                if lexicon.is_from(text.collect::<String>().as_bytes()) {
                    sources.push(document.id.clone());
                    break;
                }
            }
        }
        Ok(sources)
    }

    /// Finishes forgets that were begun. If the disk does not let it, says what is pending.
    pub(super) fn finish_forgets(&mut self) -> Result<(), Error> {
        if !self.ledger()?.forgetting()? {
            return Ok(());
        }
        let transactions = self.ledger()?.transactions(0)?;
        let open: Vec<TransactionRecord> =
            transactions.into_iter().filter(|t| !t.scrub.is_empty()).collect();
        let Some(first) = open.first() else { return Ok(()) };
        self.scrub(&open).map_err(|reason| match reason {
            Error::Io { .. } | Error::Ledger { .. } => Error::Pending {
                path: self.directory.clone(),
                transaction: first.id,
                documents: first.ops.iter().map(|op| op.document.clone()).collect(),
                needed: self.room_to_forget().map_or(0, |(needed, _)| needed),
                reason: Box::new(reason),
            },
            other => other,
        })
    }

    /// Writes a checkpoint and a ledger without what was forgotten, both at the same time, and puts first the one and then the
    /// other in place.
    fn scrub(&mut self, open: &[TransactionRecord]) -> Result<(), Error> {
        let path = files::unfinished(&self.directory.join(FILE));
        let written = std::thread::scope(|scope| {
            let copying = scope.spawn(|| self.copy_ledger_without(&path, open));
            let checkpoint = self.write_next_checkpoint();
            let copied = copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            checkpoint.and_then(|beside| copied.map(|()| beside))
        });
        let published = written.and_then(|beside| self.publish_checkpoint(&beside));
        if published.is_err() {
            // They would only take space.
            let _ = files::remove_unfinished(&self.directory);
        }
        published?;
        match &mut self.snapshot.ledger {
            Some(ledger) => ledger.replace_by(&path),
            None => Ok(()),
        }
    }

    /// Copies all of the ledger but what was forgotten.
    fn copy_ledger_without(&self, path: &Path, open: &[TransactionRecord]) -> Result<(), Error> {
        let scrub: HashSet<(u64, u32)> = open.iter().flat_map(|t| t.scrub.clone()).collect();
        let texts: Vec<String> = open.iter().flat_map(|t| t.scrub_texts.clone()).collect();
        let gone = |words: &str| texts.iter().any(|text| words.contains(text.as_str()));
        self.ledger()?.copy_to(
            path,
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
        )
    }
}
