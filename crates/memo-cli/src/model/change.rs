//! `memo forget`, `retire`, `restore`, `replace`, `edit` and `rollback`.

use super::{close, given, open};
use crate::args::model::{
    DocumentOptions, EditOptions, ForgetOptions, ReplaceOptions, RollbackOptions,
};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::printed::Printed;
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{ChangeReport, EditReport, ForgottenVersion, Receipt, TransactionKind};
use memo_text::{Corpus, CorpusOptions};
use std::fmt::Formatter;

fn print_change(report: &ChangeReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let done = match report.kind {
        TransactionKind::Retire => "retired",
        TransactionKind::Restore => "restored",
        TransactionKind::Replace => "replaced in",
        TransactionKind::Rollback => "rolled back",
        other => other.name(),
    };
    let names = report.documents.join(", ");
    let details = format!("transaction {}, digest {}", report.transaction, report.digest_after);
    writeln!(f, "{} {names}\n  {}", styled(GOOD, done), styled(FAINT, details))
}

fn changed(report: ChangeReport) -> Box<dyn Report> {
    Box::new(Printed::new(report, print_change))
}

fn print_receipt(receipt: &Receipt, f: &mut Formatter<'_>) -> std::fmt::Result {
    let names = receipt.documents.join(", ");
    let (tokens, transaction) = (thousands(receipt.tokens), receipt.transaction);
    let details = format!("{tokens} tokens, transaction {transaction}");
    writeln!(f, "{} {names}  {}", styled(GOOD, "forgot"), styled(FAINT, details))?;
    for ForgottenVersion { document, version, digest } in &receipt.forgotten {
        let proof = format!("{document}, version {version}: keyed digest {}…", &digest[..16]);
        writeln!(f, "  {}", styled(FAINT, proof))?;
    }
    writeln!(f, "  {}", styled(FAINT, format!("digest after {}", receipt.digest_after)))?;
    if !receipt.shared.is_empty() {
        writeln!(f, "  these still know passages of it: {}", receipt.shared.join(", "))?;
    }
    for copy in &receipt.copies {
        writeln!(f, "  a copy made earlier may still contain it: {}", copy.path)?;
    }
    Ok(())
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
        store.forget(&ids, reason)?
    };
    close(store, progress)?;
    Ok(Box::new(Printed::new(receipt, print_receipt)))
}

pub(crate) fn retire(
    options: &DocumentOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    Ok(changed(store.retire(&options.document, options.reason.reason.as_deref())?))
}

pub(crate) fn restore(
    options: &DocumentOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    Ok(changed(store.restore(&options.document, options.reason.reason.as_deref())?))
}

pub(crate) fn replace(
    options: &ReplaceOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    Ok(changed(store.replace(&options.old, &options.new, options.doc.as_deref(), reason)?))
}

fn print_edit(report: &EditReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let (Some(transaction), Some(document)) = (report.transaction, &report.document) else {
        let why = "the target wins already; nothing was changed";
        return writeln!(f, "{}", styled(FAINT, why));
    };
    let details = format!("transaction {transaction}, weight {}, as {document}", report.weight);
    writeln!(f, "{}  {}", styled(GOOD, "edited"), styled(FAINT, details))
}

pub(crate) fn edit(options: &EditOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    let report = store.edit(&options.prompt, &options.target, reason)?;
    Ok(Box::new(Printed::new(report, print_edit)))
}

pub(crate) fn rollback(
    options: &RollbackOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    Ok(changed(store.rollback(options.transaction, options.reason.reason.as_deref())?))
}
