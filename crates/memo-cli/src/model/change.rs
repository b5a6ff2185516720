//! `memo forget`, `retire`, `restore`, `replace`, `edit` and `rollback`.

use super::{close, given, open};
use crate::args::model::{
    DocumentOptions, EditOptions, ForgetOptions, ReplaceOptions, RollbackOptions,
};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{Forgotten, Transaction};
use memo_text::{Corpus, CorpusOptions};
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// What most changes report.
#[derive(Serialize)]
struct Changed {
    transaction: u64,
    kind: &'static str,
    documents: Vec<String>,
    digest_after: String,
}

impl Display for Changed {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let names = self.documents.join(", ");
        let details = format!("transaction {}, digest {}", self.transaction, self.digest_after);
        writeln!(f, "{} {names}\n  {}", styled(GOOD, self.kind), styled(FAINT, details))
    }
}

fn changed(transaction: Transaction, digest: impl Display) -> Box<dyn Report> {
    let mut documents: Vec<String> = transaction.ops.into_iter().map(|op| op.document).collect();
    documents.sort_unstable();
    documents.dedup();
    Box::new(Changed {
        transaction: transaction.id,
        kind: match transaction.kind.name() {
            "retire" => "retired",
            "restore" => "restored",
            "replace" => "replaced in",
            "rollback" => "rolled back",
            other => other,
        },
        documents,
        digest_after: digest.to_string(),
    })
}

#[derive(Serialize)]
struct Receipt {
    documents: Vec<String>,
    tokens: u64,
    transaction: u64,
    digest_after: String,
    forgotten: Vec<Forgotten>,
    shared: Vec<String>,
    copies: Vec<memo_store::Copy>,
    subtracting_seconds: f64,
    scrubbing_seconds: f64,
}

impl Display for Receipt {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let names = self.documents.join(", ");
        writeln!(f, "{} {names}  {}", styled(GOOD, "forgot"), {
            styled(
                FAINT,
                format!("{} tokens, transaction {}", thousands(self.tokens), self.transaction),
            )
        })?;
        for forgotten in &self.forgotten {
            let Forgotten { document, version, digest } = forgotten;
            let proof = format!("{document}, version {version}: keyed digest {}…", &digest[..16]);
            writeln!(f, "  {}", styled(FAINT, proof))?;
        }
        writeln!(f, "  {}", styled(FAINT, format!("digest after {}", self.digest_after)))?;
        if !self.shared.is_empty() {
            writeln!(f, "  these still know passages of it: {}", self.shared.join(", "))?;
        }
        for copy in &self.copies {
            writeln!(f, "  a copy made earlier may still contain it: {}", copy.path)?;
        }
        Ok(())
    }
}

pub(crate) fn forget(
    options: &ForgetOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    let mut ids = options.doc.clone();
    if let Some(path) = &options.file {
        let (encoding, strict) = (store.tokenizer().encoding(), true);
        let how = CorpusOptions { encoding, strict, ..CorpusOptions::default() };
        for document in Corpus::open([path], how)?.documents()? {
            let tokens = store.tokenizer().encode_bytes(document.content.as_bytes())?;
            let found = store.with_tokens(&tokens)?;
            if found.is_empty() {
                let location = document.location;
                bail!("no document has the content of {location}; `memo find` searches for parts");
            }
            ids.extend(found);
        }
        if ids.is_empty() {
            bail!("{}: there is no text in it", path.display());
        }
    }
    progress.step("forgetting");
    let receipt = if let Some(text) = &options.text {
        store.forget_text(&given(text)?, reason)?
    } else {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        store.forget_documents(&ids, reason)?
    };
    close(store, progress)?;
    Ok(Box::new(Receipt {
        documents: receipt.documents,
        tokens: receipt.tokens,
        transaction: receipt.transaction,
        digest_after: receipt.digest_after.to_string(),
        forgotten: receipt.forgotten,
        shared: receipt.shared,
        copies: receipt.copies,
        subtracting_seconds: receipt.subtracting.as_secs_f64(),
        scrubbing_seconds: receipt.scrubbing.as_secs_f64(),
    }))
}

pub(crate) fn retire(
    options: &DocumentOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let done = store.retire(&options.document, options.reason.reason.as_deref())?;
    Ok(changed(done, store.digest()?))
}

pub(crate) fn restore(
    options: &DocumentOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let done = store.restore(&options.document, options.reason.reason.as_deref())?;
    Ok(changed(done, store.digest()?))
}

pub(crate) fn replace(
    options: &ReplaceOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    let done = store.replace(&options.old, &options.new, options.doc.as_deref(), reason)?;
    Ok(changed(done, store.digest()?))
}

#[derive(Serialize)]
struct Edited {
    transaction: Option<u64>,
    document: Option<String>,
    weight: i32,
    digest_after: String,
}

impl Display for Edited {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (Some(transaction), Some(document)) = (self.transaction, &self.document) else {
            return writeln!(
                f,
                "{}",
                styled(FAINT, "the target wins already; nothing was changed")
            );
        };
        let details = format!("transaction {transaction}, weight {}, as {document}", self.weight);
        writeln!(f, "{}  {}", styled(GOOD, "edited"), styled(FAINT, details))
    }
}

pub(crate) fn edit(options: &EditOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    let done = store.edit(&options.prompt, &options.target, reason)?;
    Ok(Box::new(Edited {
        transaction: done.transaction,
        document: done.document,
        weight: done.weight,
        digest_after: store.digest()?.to_string(),
    }))
}

pub(crate) fn rollback(
    options: &RollbackOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let done = store.rollback(options.transaction, options.reason.reason.as_deref())?;
    Ok(changed(done, store.digest()?))
}
