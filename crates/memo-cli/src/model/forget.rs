//! `memo forget`: shows what will go, asks, and forgets.
//!
//! A forget cannot be undone. On a terminal the command lists what will go and asks for confirmation. Elsewhere a single
//! document given by name is forgotten at once, and anything else needs `--yes`.

use super::change::changed;
use super::{given, open, snapshot};
use crate::args::model::{ForgetOptions, WhatOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled, thousands};
use crate::printed::Printed;
use crate::progress::Progress;
use anyhow::{bail, ensure};
use memo_store::{
    ChangeReport, CopyKind, DocumentFilter, ForgetPreview, ForgottenVersion, ModelCopy,
    PreviewDocument, Receipt, Selection, Snapshot, TransactionKind,
};
use memo_text::{Corpus, CorpusOptions};
use std::collections::BTreeMap;
use std::fmt::Formatter;
use std::io::IsTerminal;
use std::path::Path;

pub(crate) fn forget(
    options: &ForgetOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let ForgetOptions { model: path, what, dry_run, yes, .. } = options;
    if what.finish {
        return finish(path, progress);
    }
    let text = what.text.as_deref().map(given).transpose()?;
    let reason = options.reason.reason.as_deref();
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let asks = terminal && !json && !yes;
    let mut seen = None;
    if *dry_run || !(*yes || !asks && what.doc.len() == 1) {
        let model = snapshot(path, progress)?;
        let selection = select(what, text.as_deref(), &model)?;
        progress.step("looking at what would go");
        let preview = model.preview_forget(&selection)?;
        if *dry_run {
            return Ok(Box::new(Printed::new(preview, print_preview)));
        }
        let named = matches!(selection, Selection::Documents(_));
        if asks {
            ensure!(progress.suspended(|| ask(&preview))?, "nothing was forgotten");
        } else if !named || preview.documents.len() > 1 {
            bail!(
                "this would go for good: {}; --dry-run shows it, --yes forgets it",
                sum(&preview)
            );
        }
        seen = Some(preview.transaction);
    }
    let mut store = open(path, progress)?;
    if seen.is_some_and(|seen| seen != store.transaction()) {
        bail!("{} has changed meanwhile, so nothing was forgotten; try again", path.display());
    }
    let selection = select(what, text.as_deref(), &store)?;
    progress.step("forgetting");
    let receipt = store.forget_selection(&selection, reason)?;
    super::close(store, progress)?;
    Ok(Box::new(Printed::new(receipt, print_receipt)))
}

/// Finishes a forget that a full disk or a kill interrupted. Opening the model for writing does that.
fn finish(path: &Path, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let log = snapshot(path, progress)?.log()?;
    let Some(forget) = log.into_iter().find(|transaction| transaction.unfinished) else {
        bail!("{} has no forget to finish", path.display());
    };
    let digest_after = open(path, progress)?.digest()?;
    let documents = forget.changes.into_iter().map(|change| change.document).collect();
    let (transaction, kind) = (forget.id, TransactionKind::Forget);
    Ok(changed(ChangeReport { transaction, kind, documents, digest_after }))
}

/// The store's selection for the options.
fn select(what: &WhatOptions, text: Option<&str>, model: &Snapshot) -> anyhow::Result<Selection> {
    if let Some(text) = text {
        return Ok(Selection::Text(text.to_owned()));
    }
    if let Some(pattern) = &what.fact {
        return Ok(Selection::Facts(pattern.clone()));
    }
    if let Some(path) = &what.file {
        return Ok(Selection::Documents(with_content(path, model)?));
    }
    if !what.doc.is_empty() {
        return Ok(Selection::Documents(what.doc.clone()));
    }
    let mut labels = BTreeMap::new();
    for (key, value) in &what.label {
        if labels.insert(key.clone(), value.clone()).is_some_and(|other| other != *value) {
            bail!("no document has two values of the label {key}");
        }
    }
    Ok(Selection::Filter(DocumentFilter {
        labels,
        glob: what.glob.clone(),
        before: what.older_than,
    }))
}

/// The documents with the content of a file.
fn with_content(path: &Path, model: &Snapshot) -> anyhow::Result<Vec<String>> {
    let (encoding, strict) = (model.tokenizer().encoding(), true);
    let how = CorpusOptions { encoding, strict, ..CorpusOptions::default() };
    let mut ids = Vec::new();
    for document in Corpus::open([path], how)?.documents()? {
        let tokens = model.tokenizer().encode_bytes(document.content.as_bytes())?;
        let found = model.with_tokens(&tokens)?;
        if found.is_empty() {
            let location = document.location;
            bail!("no document has the content of {location}; `memo find` searches for parts");
        }
        ids.extend(found);
    }
    ensure!(!ids.is_empty(), "{}: there is no text in it", path.display());
    Ok(ids)
}

/// Shows what would be forgotten and asks for confirmation; no answer means no.
fn ask(preview: &ForgetPreview) -> anyhow::Result<bool> {
    struct Shown<'a>(&'a ForgetPreview);
    impl std::fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
            print_preview(self.0, f)
        }
    }
    anstream::eprint!("{}Forget this for good? [y/N] ", Shown(preview));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// The number of documents that are listed one by one.
const SHOWN: usize = 10;

fn print_preview(preview: &ForgetPreview, f: &mut Formatter<'_>) -> std::fmt::Result {
    for document in preview.documents.iter().take(SHOWN) {
        let PreviewDocument { document: id, versions, whole, places, tokens, .. } = document;
        let details = match preview.places {
            Some(_) if *whole => format!("all of it, {}", counted(*places, "place")),
            Some(_) => counted(*places, "place"),
            None => counted(*tokens, "token"),
        };
        let details = match versions.len() {
            1 => details,
            many => format!("{details}, {many} versions"),
        };
        writeln!(f, "{}  {}", styled(TITLE, id), styled(FAINT, details))?;
        for excerpt in &document.excerpts {
            writeln!(f, "  {}", excerpt.trim().replace('\n', " ⏎ "))?;
        }
    }
    if let Some(more) = preview.documents.len().checked_sub(SHOWN + 1) {
        writeln!(f, "and {} more", counted(more as u64 + 1, "document"))?;
    }
    writeln!(f, "{}", styled(FAINT, format!("would go for good: {}", sum(preview))))?;
    if !preview.shared.is_empty() {
        writeln!(f, "  these would still know passages of it: {}", preview.shared.join(", "))?;
    }
    print_copies(&preview.copies, f)?;
    let (needed, free) = (preview.bytes_needed, preview.bytes_free);
    if let Some(free) = free.filter(|free| *free < needed) {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let (needed, free) = (mb(needed), mb(free));
        writeln!(f, "  it needs about {needed:.1} MB on the disk, and {free:.1} MB are free")?;
    }
    Ok(())
}

/// The number of places and documents that would go.
fn sum(preview: &ForgetPreview) -> String {
    let documents = counted(preview.documents.len() as u64, "document");
    match preview.places {
        // The text around a cut is encoded again, possibly in more tokens than before, so their number is not shown.
        Some(places) => format!("{} in {documents}", counted(places, "place")),
        None => format!("{documents}, {} of the memory", counted(preview.tokens, "token")),
    }
}

fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(n), if n == 1 { "" } else { "s" })
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
    if !receipt.lexicon_sources.is_empty() {
        let names = receipt.lexicon_sources.join(", ");
        writeln!(
            f,
            "  the lexicon was induced from {names}, and remembers which of its words are alike;"
        )?;
        writeln!(f, "  `memo rebuild MODEL --lexicon FILE` takes another, `--lexicon none` none")?;
    }
    print_copies(&receipt.copies, f)
}

fn print_copies(copies: &[ModelCopy], f: &mut Formatter<'_>) -> std::fmt::Result {
    for ModelCopy { kind, path, .. } in copies {
        if *kind == CopyKind::Original {
            writeln!(f, "  this model is a copy; its original may still contain it: {path}")?;
        } else {
            writeln!(f, "  a copy made earlier may still contain it: {path}")?;
        }
    }
    Ok(())
}
