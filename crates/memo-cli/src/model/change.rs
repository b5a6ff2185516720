//! `memo retire`, `restore`, `replace`, `edit` and `rollback`.

use super::open;
use crate::args::model::{DocumentOptions, EditOptions, ReplaceOptions, RollbackOptions};
use crate::output::{FAINT, GOOD, Report, styled};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{ChangeReport, EditReport, TransactionKind};
use std::fmt::Formatter;

fn print_change(report: &ChangeReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let done = match report.kind {
        TransactionKind::Forget => "forgot",
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

pub(super) fn changed(report: ChangeReport) -> Box<dyn Report> {
    Box::new(Printed::new(report, print_change))
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
    writeln!(f, "{}  {}", styled(GOOD, "edited"), styled(FAINT, details))?;
    if let (Some(replaced), Some(goes_on)) = (&report.replaced, &report.goes_on) {
        let place = format!("in place of {replaced:?}; the text goes on with {goes_on:?}");
        writeln!(f, "  {}", styled(FAINT, place))?;
    }
    if report.space_added {
        let why = "a space was put before the target; --exact keeps it as typed";
        writeln!(f, "  {}", styled(FAINT, why))?;
    }
    Ok(())
}

pub(crate) fn edit(options: &EditOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    let reason = options.reason.reason.as_deref();
    let (prompt, target) = (&options.prompt, &options.target);
    let report = if options.exact {
        store.edit(prompt, target, reason)?
    } else {
        store.edit_passage(prompt, target, reason)?
    };
    Ok(Box::new(Printed::new(report, print_edit)))
}

pub(crate) fn rollback(
    options: &RollbackOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    Ok(changed(store.rollback(options.transaction, options.reason.reason.as_deref())?))
}
