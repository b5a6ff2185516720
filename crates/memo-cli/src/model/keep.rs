//! `memo verify`, `rebuild`, `merge`, `backup`, `freeze`, `export` and `import`.

use super::size::asked;
use super::{advise, close, load, open};
use crate::args::model::{
    ConflictKind, ExportOptions, FreezeOptions, ImportOptions, MergeOptions, ModelOptions,
    RebuildOptions, ToOptions,
};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{Conflict, Error, Store};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

#[derive(Serialize)]
struct Verified {
    documents: usize,
    versions: usize,
    digest: String,
    damage: Vec<String>,
}

impl Display for Verified {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let details = format!("{} documents, {} versions", self.documents, self.versions);
        writeln!(f, "{}  {}", styled(GOOD, "everything is right"), styled(FAINT, details))?;
        writeln!(f, "  {}", styled(FAINT, format!("digest {}", self.digest)))
    }
}

pub(crate) fn verify(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("verifying");
    let verified = store.verify()?;
    if !verified.damage.is_empty() {
        bail!("{} is damaged:\n  {}", options.model.display(), verified.damage.join("\n  "));
    }
    Ok(Box::new(Verified {
        documents: verified.documents,
        versions: verified.versions,
        digest: verified.digest.to_string(),
        damage: verified.damage,
    }))
}

/// What commands report that make something.
#[derive(Serialize)]
struct Made {
    what: &'static str,
    path: String,
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<u64>,
}

impl Display for Made {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let cells = self.parameters.map_or_else(String::new, |p| format!("{} cells", thousands(p)));
        writeln!(f, "{} {}  {}", styled(GOOD, self.what), self.path, styled(FAINT, cells))?;
        match &self.digest {
            Some(digest) => writeln!(f, "  {}", styled(FAINT, format!("digest {digest}"))),
            None => Ok(()),
        }
    }
}

pub(crate) fn rebuild(
    options: &RebuildOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let size = asked(&options.size);
    let mut store = match open(&options.model, progress) {
        Ok(store) => store,
        // A damaged checkpoint is what rebuilding is for.
        Err(error) => match error.downcast_ref::<Error>() {
            Some(Error::Damaged { .. } | Error::Memory(_)) => Store::open_anew(&options.model)?,
            _ => return Err(error),
        },
    };
    progress.step("rebuilding");
    store.rebuild(size)?;
    Ok(Box::new(Made {
        what: "rebuilt",
        path: options.model.display().to_string(),
        digest: Some(store.digest()?.to_string()),
        parameters: store.model().sparse().map(memo::sparse::Settings::parameters),
    }))
}

#[derive(Serialize)]
struct Merged {
    transaction: Option<u64>,
    added: Vec<String>,
    same: Vec<String>,
    conflicts: Vec<String>,
    renamed: Vec<(String, String)>,
    digest_after: String,
    model: String,
    load: Option<f64>,
}

impl Display for Merged {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let details = format!(
            "{} new, {} the same, {} in conflict, {} renamed",
            self.added.len(),
            self.same.len(),
            self.conflicts.len(),
            self.renamed.len()
        );
        writeln!(f, "{}  {}", styled(GOOD, "merged"), styled(FAINT, details))?;
        advise(f, &self.model, self.load)
    }
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
    let conflict = match options.conflict {
        ConflictKind::Refuse => Conflict::Refuse,
        ConflictKind::Ours => Conflict::Ours,
        ConflictKind::Theirs => Conflict::Theirs,
        ConflictKind::Rename => Conflict::Rename,
    };
    progress.step("merging");
    let merged = store.merge(&mut other, conflict, options.reason.reason.as_deref())?;
    let digest_after = store.digest()?.to_string();
    let load = load(&store);
    close(store, progress)?;
    Ok(Box::new(Merged {
        model: options.model.display().to_string(),
        load,
        transaction: merged.transaction,
        added: merged.added,
        same: merged.same,
        conflicts: merged.conflicts,
        renamed: merged.renamed,
        digest_after,
    }))
}

pub(crate) fn backup(options: &ToOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("copying");
    store.backup(&options.to)?;
    let digest = Some(store.digest()?.to_string());
    let path = options.to.display().to_string();
    Ok(Box::new(Made { what: "backed up to", path, digest, parameters: None }))
}

#[derive(Serialize)]
struct Frozen {
    path: String,
    bits: u32,
    bytes: u64,
    positions: usize,
    recall_before: f64,
    recall_after: f64,
}

impl Display for Frozen {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Frozen { path, bits, bytes, positions, recall_before, recall_after } = self;
        let plural = if *bits == 1 { "bit" } else { "bits" };
        let details = format!("{bits} {plural} a cell, {:.1} MiB", *bytes as f64 / 1_048_576.0);
        writeln!(f, "{} {path}  {}", styled(GOOD, "froze to"), styled(FAINT, details))?;
        writeln!(
            f,
            "  recall {:.2} % → {:.2} %  {}",
            100.0 * recall_before,
            100.0 * recall_after,
            styled(FAINT, format!("of {} positions", thousands(*positions as u64)))
        )
    }
}

pub(crate) fn freeze(
    options: &FreezeOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("freezing");
    let frozen = store.freeze(&options.to, options.bits)?;
    Ok(Box::new(Frozen {
        path: options.to.display().to_string(),
        bits: frozen.bits,
        bytes: frozen.bytes,
        positions: frozen.positions,
        recall_before: frozen.recall_before,
        recall_after: frozen.recall_after,
    }))
}

pub(crate) fn export(
    options: &ExportOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("exporting");
    store.export(&options.to, !options.without_texts)?;
    let digest = Some(store.digest()?.to_string());
    let path = options.to.display().to_string();
    Ok(Box::new(Made { what: "exported to", path, digest, parameters: None }))
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
    Ok(Box::new(Made { what: "imported", path, digest: None, parameters: None }))
}
