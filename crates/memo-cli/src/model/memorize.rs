//! `memo memorize`: reads a whole corpus and checks it against the model before anything is changed.

use super::sync::FolderSync;
use super::{close, create, open};
use crate::args::model::MemorizeOptions;
use crate::output::{Coded, FAINT, GOOD, INCOMPLETE, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{FILE_LABEL, FileConflict, MemorizeReport, NewDocument, NewModel, Store};
use memo_text::{Corpus, CorpusDocument, CorpusEntry, CorpusOptions, Skip, SkipReason, Tokenizer};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;

/// The number of bytes from which tokenizing takes long enough to show progress.
const LONG: usize = 4 << 20;

/// The number of entries of a list that are printed; `--json` has all of them.
const SHOWN: usize = 20;

#[derive(Serialize)]
struct MemorizeOutput {
    #[serde(flatten)]
    report: MemorizeReport,
    retired: Vec<String>,
    skipped: Vec<Skipped>,
    model: String,
    made: bool,
}

/// A file, folder or line that was not read.
#[derive(Serialize)]
struct Skipped {
    source: String,
    reason: String,
    /// Whether reading it was attempted and failed.
    failed: bool,
    /// Whether the summary only counts it, without its name.
    #[serde(skip)]
    counted: bool,
}

impl From<Skip> for Skipped {
    fn from(skip: Skip) -> Self {
        Skipped {
            source: skip.location.to_string(),
            reason: skip.reason.to_string(),
            failed: skip.reason.is_failure(),
            counted: matches!(skip.reason, SkipReason::Hidden | SkipReason::Ignored),
        }
    }
}

/// The lines of the summary about what was skipped.
fn listed(skipped: &[Skipped]) -> Vec<String> {
    let counted = skipped.iter().filter(|skipped| skipped.counted).count();
    let mut lines: Vec<String> = skipped
        .iter()
        .filter(|skipped| !skipped.counted)
        .map(|skipped| format!("{}: {}", skipped.source, skipped.reason))
        .collect();
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    lines.extend((more > 0).then(|| format!("{more} more")));
    lines.extend((counted > 0).then(|| format!("{counted} hidden or ignored")));
    lines
}

impl Display for MemorizeOutput {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for line in listed(&self.skipped) {
            writeln!(f, "{} {line}", styled(FAINT, "skipped"))?;
        }
        if self.made {
            writeln!(f, "{} {}", styled(GOOD, "made"), self.model)?;
        }
        let MemorizeReport { documents, tokens, added, updated, unchanged, .. } = &self.report;
        let known = format!(
            "{} new, {} changed, {} known already",
            thousands(added.len() as u64),
            thousands(updated.len() as u64),
            thousands(unchanged.len() as u64)
        );
        writeln!(
            f,
            "{} {}, {} tokens  {}",
            styled(GOOD, "memorized"),
            counted(*documents, "document"),
            thousands(*tokens),
            styled(FAINT, known)
        )?;
        if let Some(transaction) = self.report.transaction {
            let rate = thousands(self.report.tokens_per_second as u64);
            let details = format!("transaction {transaction}, {rate} tokens/s");
            writeln!(f, "  {}", styled(FAINT, details))?;
        }
        if !self.retired.is_empty() {
            let what = counted(self.retired.len(), "document");
            let names = &self.retired[..self.retired.len().min(SHOWN)];
            let more = if self.retired.len() > SHOWN { ", …" } else { "" };
            let names = styled(FAINT, format!("{}{more}", names.join(", ")));
            writeln!(f, "{} {what} whose text is gone  {names}", styled(GOOD, "retired"))?;
        }
        Ok(())
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(count as u64))
}

/// The documents of a corpus, encoded.
#[derive(Default)]
struct CorpusContents {
    documents: Vec<NewDocument>,
    skipped: Vec<Skipped>,
}

pub(crate) fn memorize(
    options: &MemorizeOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut sync = if options.sync { Some(FolderSync::new(&options.paths)?) } else { None };
    let existing =
        if options.model.exists() { Some(open(&options.model, progress)?) } else { None };
    let tokenizer = tokenizer(options, existing.as_ref())?;
    let CorpusContents { documents, skipped } = read(options, &tokenizer, sync.as_mut(), progress)?;
    let (made, count) = (existing.is_none(), documents.len());
    if count == 0 && (made || sync.is_none()) {
        let given: Vec<String> = options.paths.iter().map(|p| p.display().to_string()).collect();
        let mut why = listed(&skipped);
        if why.is_empty() {
            why.push("there is no file".to_owned());
        }
        bail!("there is nothing to memorize in {}:\n  {}", given.join(", "), why.join("\n  "));
    }
    if options.id.is_some() && count > 1 {
        bail!("--id names one document, and there are {count}");
    }
    let mut retired = Vec::new();
    let report = if let Some(mut store) = existing {
        if !options.replace {
            refuse(&store.file_conflicts(&documents)?)?;
        }
        if let Some(sync) = sync {
            retired = sync.gone(store.documents()?);
        }
        let done = store.memorize(documents, options.reason.reason.as_deref())?;
        for id in &retired {
            let reason = options.reason.reason.as_deref();
            store.retire(id, reason.or(Some("its text is gone")))?;
        }
        close(store, progress)?;
        done
    } else {
        let new = NewModel { tokenizer, ..create::new_model(&options.tokenizer)? };
        Store::create_filled(&options.model, &new, |store| {
            store.observe(progress.callback());
            anyhow::Ok(store.memorize(documents, options.reason.reason.as_deref())?)
        })?
    };
    let incomplete = skipped.iter().any(|skipped| skipped.failed);
    let model = options.model.display().to_string();
    let report = MemorizeOutput { report, retired, skipped, model, made };
    Ok(Box::new(Coded { report, code: if incomplete { INCOMPLETE } else { 0 } }))
}

/// The tokenizer of the model, or of the one that will be made. A model keeps its tokenizer for good.
fn tokenizer(options: &MemorizeOptions, existing: Option<&Store>) -> anyhow::Result<Tokenizer> {
    let Some(store) = existing else { return create::tokenizer(&options.tokenizer) };
    if options.tokenizer.lexicon.is_some() {
        bail!(
            "{} is there already; `memo rebuild {} --lexicon FILE` gives it a lexicon",
            options.model.display(),
            options.model.display()
        );
    }
    let has = store.tokenizer();
    if options.tokenizer.tokenizer.is_some() || options.tokenizer.vocab_from.is_some() {
        let asked = create::tokenizer(&options.tokenizer)?;
        if asked.name() != has.name() || asked.to_json()? != has.to_json()? {
            let (model, has) = (options.model.display(), has.name());
            bail!(
                "{model} was made with the tokenizer {has}, and keeps it; --tokenizer is for a new model"
            );
        }
    }
    Ok(has.clone())
}

/// Refuses to replace documents that were read from other files.
fn refuse(conflicts: &[FileConflict]) -> anyhow::Result<()> {
    if conflicts.is_empty() {
        return Ok(());
    }
    let shown = conflicts.iter().take(SHOWN).map(|FileConflict { document, live, new }| {
        format!("\n  {document}: memorized from {live}, now in {new}")
    });
    bail!(
        "{} of other files would be replaced:{}\n--prefix NAME/ gives the documents of this run ids of their own; \
         --replace makes them new versions",
        counted(conflicts.len(), "document"),
        shown.collect::<String>()
    );
}

/// Reads and encodes the documents that were asked for.
fn read(
    options: &MemorizeOptions,
    tokenizer: &Tokenizer,
    mut sync: Option<&mut FolderSync>,
    progress: &Progress,
) -> anyhow::Result<CorpusContents> {
    let mut reading = CorpusContents::default();
    let how = CorpusOptions { encoding: tokenizer.encoding(), ..options.corpus.options() };
    for entry in Corpus::open(&options.paths, how)? {
        let entry = entry?;
        if let Some(sync) = &mut sync {
            sync.read(&entry);
        }
        match entry {
            CorpusEntry::Skipped(skip) => reading.skipped.push(skip.into()),
            CorpusEntry::Document(document) => {
                let ids = encode(&document, tokenizer, progress)?;
                let CorpusDocument { id, labels, source, location, .. } = document;
                // A text from a pipe has no name, so its id is made from its content.
                let nameless = source.is_none() && location.line.is_none();
                let id = options.id.clone().or((!nameless || options.corpus.names()).then_some(id));
                let source = source.map(|source| (FILE_LABEL.to_owned(), source));
                let labels = labels.into_iter().chain(options.labels.iter().cloned());
                let labelled = |new: NewDocument, (key, value)| new.with_label(key, value);
                let new = NewDocument::tokens(ids);
                let new = if let Some(id) = id { new.with_id(id) } else { new };
                reading.documents.push(labels.chain(source).fold(new, labelled));
            }
        }
    }
    Ok(reading)
}

fn encode(
    document: &CorpusDocument,
    tokenizer: &Tokenizer,
    progress: &Progress,
) -> anyhow::Result<Vec<u32>> {
    let bytes = document.content.as_bytes();
    let what = format!("reading {}", document.id);
    if bytes.len() > LONG {
        progress.begin(what, bytes.len() as u64, true);
    } else {
        progress.step(what);
    }
    Ok(tokenizer.encode_bytes_watched(bytes, &mut |done| {
        progress.at(done as u64);
        ControlFlow::Continue(())
    })?)
}
