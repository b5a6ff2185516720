//! `memo verify`, `rebuild`, `merge`, `backup`, `freeze`, `export` and `import`.

use super::{close, open, snapshot};
use crate::args::model::{
    ExportOptions, ImportOptions, MergeOptions, ModelOptions, RebuildOptions, ToOptions,
};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::printed::{Printed, WithPath};
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{
    DigestReport, Error, FreezeReport, MergeReport, RebuildReport, Store, VerifyReport,
};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

fn print_verified(report: &VerifyReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let details = format!("{} documents, {} versions", report.documents, report.versions);
    writeln!(f, "{}  {}", styled(GOOD, "everything is right"), styled(FAINT, details))?;
    writeln!(f, "  {}", styled(FAINT, format!("digest {}", report.digest)))
}

pub(crate) fn verify(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("verifying");
    let report = model.verify(&progress.observer())?;
    if !report.damage.is_empty() {
        bail!("{} is damaged:\n  {}", options.model.display(), report.damage.join("\n  "));
    }
    Ok(Box::new(Printed::new(report, print_verified)))
}

fn print_rebuilt(done: &WithPath<RebuildReport>, f: &mut Formatter<'_>) -> std::fmt::Result {
    let RebuildReport { bytes, digest } = &done.result;
    let size = format!("{:.1} MiB", *bytes as f64 / 1_048_576.0);
    writeln!(f, "{} {}  {}", styled(GOOD, "rebuilt"), done.path, styled(FAINT, size))?;
    writeln!(f, "  {}", styled(FAINT, format!("digest {digest}")))
}

pub(crate) fn rebuild(
    options: &RebuildOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    // Before a model is opened for long.
    let lexicon = match options.lexicon.as_deref() {
        Some(path) if path == Path::new("none") => Some(None),
        Some(path) => Some(Some(super::create::lexicon(path)?)),
        None => None,
    };
    let mut store = match open(&options.model, progress) {
        Ok(store) => store,
        // Rebuilding repairs a damaged checkpoint, so the model is opened without reading it.
        Err(error) => match error.downcast_ref::<Error>() {
            Some(Error::Damaged { .. } | Error::Memory(_)) => Store::open_anew(&options.model)?,
            _ => return Err(error),
        },
    };
    progress.step("rebuilding");
    let result = match lexicon {
        Some(lexicon) => store.rebuild_with_lexicon(lexicon)?,
        None => store.rebuild()?,
    };
    let path = options.model.display().to_string();
    Ok(Box::new(Printed::new(WithPath { path, result }, print_rebuilt)))
}

fn print_merged(done: &WithPath<MergeReport>, f: &mut Formatter<'_>) -> std::fmt::Result {
    let MergeReport { added, same, conflicts, renamed, .. } = &done.result;
    let details = format!(
        "{} new, {} the same, {} in conflict, {} renamed",
        added.len(),
        same.len(),
        conflicts.len(),
        renamed.len()
    );
    writeln!(f, "{}  {}", styled(GOOD, "merged"), styled(FAINT, details))
}

pub(crate) fn merge(
    options: &MergeOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let same = |a: &Path, b: &Path| a.canonicalize().ok().zip(b.canonicalize().ok());
    if same(&options.model, &options.other).is_some_and(|(a, b)| a == b) {
        bail!("{} cannot be merged with itself; give two models", options.model.display());
    }
    let mut store = open(&options.model, progress)?;
    let mut other = open(&options.other, progress)?;
    progress.step("merging");
    let reason = options.reason.reason.as_deref();
    let result = match store.merge(&mut other, options.conflict.into(), reason) {
        Err(Error::Conflict(id)) => bail!(
            "cannot merge: document {id:?} has another content in {}; --conflict ours keeps the one here, --conflict \
             theirs takes that one as a new version, --conflict rename takes it under another id",
            options.other.display()
        ),
        merged => merged?,
    };
    close(store, progress)?;
    let path = options.model.display().to_string();
    Ok(Box::new(Printed::new(WithPath { path, result }, print_merged)))
}

/// The path of a copy, and the digest of its original.
#[derive(Serialize)]
struct CopyOutput {
    #[serde(skip)]
    what: &'static str,
    path: String,
    #[serde(flatten)]
    digest: Option<DigestReport>,
}

impl Display for CopyOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} {}", styled(GOOD, self.what), self.path)?;
        match &self.digest {
            Some(report) => {
                writeln!(f, "  {}", styled(FAINT, format!("digest {}", report.digest)))
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn backup(options: &ToOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("copying");
    store.backup(&options.to)?;
    let (path, digest) = (options.to.display().to_string(), Some(store.digest_report()?));
    Ok(Box::new(CopyOutput { what: "backed up to", path, digest }))
}

fn print_frozen(done: &WithPath<FreezeReport>, f: &mut Formatter<'_>) -> std::fmt::Result {
    let FreezeReport { bytes, positions, recall_before, recall_after } = &done.result;
    let details = format!("{:.1} MiB", *bytes as f64 / 1_048_576.0);
    writeln!(f, "{} {}  {}", styled(GOOD, "froze to"), done.path, styled(FAINT, details))?;
    writeln!(
        f,
        "  recall {:.2} % → {:.2} %  {}",
        100.0 * recall_before,
        100.0 * recall_after,
        styled(FAINT, format!("of {} positions", thousands(*positions as u64)))
    )
}

pub(crate) fn freeze(options: &ToOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("freezing");
    let result = store.freeze(&options.to)?;
    let path = options.to.display().to_string();
    Ok(Box::new(Printed::new(WithPath { path, result }, print_frozen)))
}

pub(crate) fn export(
    options: &ExportOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("exporting");
    store.export(&options.to, !options.without_texts)?;
    let (path, digest) = (options.to.display().to_string(), Some(store.digest_report()?));
    Ok(Box::new(CopyOutput { what: "exported to", path, digest }))
}

pub(crate) fn import(
    options: &ImportOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    if !options.from.join("model.json").is_file() {
        bail!(
            "{} is not an export (there is no model.json in it); `memo export` makes one",
            options.from.display()
        );
    }
    progress.step("importing");
    Store::import(&options.from, &options.model)?;
    let path = options.model.display().to_string();
    Ok(Box::new(CopyOutput { what: "imported", path, digest: None }))
}
