//! `memo docs`, `show`, `log`, `trace`, `stats` and `digest`: listings of a model's contents.

use super::snapshot;
use crate::args::model::{ModelOptions, ShowOptions, TraceOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled, thousands};
use crate::printed::Printed;
use crate::progress::Progress;
use memo_store::{
    DigestReport, Document, DocumentState, DocumentText, FILE_LABEL, LexiconStats, Transaction,
};
use serde::Serialize;
use std::fmt::{Display, Formatter};

#[derive(Serialize)]
struct Docs {
    documents: Vec<Document>,
}

impl Display for Docs {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let width =
            self.documents.iter().map(|row| row.id.chars().count()).max().unwrap_or(0).max(8);
        let head =
            format!("{:<width$}  {:>10}  {:>3}  {:<11}  labels", "document", "tokens", "v", "");
        writeln!(f, "{}", styled(TITLE, head.trim_end()))?;
        for row in &self.documents {
            // Paths are long; `memo show` has them.
            let labels = row.labels.iter().filter(|(key, _)| *key != FILE_LABEL);
            let labels: Vec<String> =
                labels.map(|(k, v)| format!("{}={}", one_line(k), one_line(v))).collect();
            let version = row.version.map_or_else(String::new, |version| version.to_string());
            let line = format!(
                "{:<width$}  {:>10}  {version:>3}  {:<11}  {}",
                row.id,
                thousands(row.tokens),
                row.state.name(),
                labels.join(" ")
            );
            let style =
                if row.state == DocumentState::Live { anstyle::Style::new() } else { FAINT };
            writeln!(f, "{}", styled(style, line.trim_end()))?;
        }
        Ok(())
    }
}

/// A text with its control characters written out: it may come from anybody, and a terminal would obey them.
fn one_line(text: &str) -> String {
    let shown = |char: char| {
        if char.is_control() { char.escape_default().to_string() } else { char.to_string() }
    };
    text.chars().map(shown).collect()
}

pub(crate) fn docs(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    Ok(Box::new(Docs { documents: snapshot(&options.model, progress)?.documents()? }))
}

fn print_document(shown: &DocumentText, f: &mut Formatter<'_>) -> std::fmt::Result {
    let Document { id, state, labels, versions, .. } = &shown.document;
    writeln!(f, "{}  {}", styled(TITLE, id), styled(FAINT, state.name()))?;
    for (key, value) in labels {
        writeln!(f, "  {} = {}", one_line(key), one_line(value))?;
    }
    for version in versions {
        let what = match version.forgotten {
            Some(transaction) => format!("forgotten in transaction {transaction}"),
            None => format!("{} tokens", thousands(version.tokens)),
        };
        let (number, time, from) = (version.number, version.time, version.transaction);
        let line = format!("version {number}  {time}  transaction {from}, {what}");
        writeln!(f, "  {}", styled(FAINT, line))?;
    }
    match &shown.text {
        Some(text) if text.ends_with('\n') => write!(f, "\n{text}"),
        Some(text) => writeln!(f, "\n{text}"),
        None => Ok(()),
    }
}

fn print_text(shown: &DocumentText, f: &mut Formatter<'_>) -> std::fmt::Result {
    f.write_str(shown.text.as_deref().unwrap_or_default())
}

pub(crate) fn show(options: &ShowOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    // A text that is not there is an error, because `--text` asked for it.
    let shown = if options.text || options.version.is_some() {
        let document = model.document(&options.document)?;
        let text = Some(model.text(&options.document, options.version)?);
        DocumentText { document, text }
    } else {
        model.show(&options.document, None)?
    };
    Ok(Box::new(Printed::new(shown, if options.text { print_text } else { print_document })))
}

#[derive(Serialize)]
struct Log {
    transactions: Vec<Transaction>,
}

impl Display for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for t in &self.transactions {
            let names: Vec<&str> =
                t.changes.iter().take(3).map(|change| change.document.as_str()).collect();
            let more = t.changes.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let undone = match (t.undoes, t.undone_by) {
                (Some(id), _) => format!("  undoes {id}"),
                (_, Some(id)) => format!("  undone by {id}"),
                _ => String::new(),
            };
            let reason = t.reason.as_ref().map(|r| format!("  “{}”", one_line(r)));
            let reason = reason.unwrap_or_default();
            let unfinished = if t.unfinished {
                "  not finished: `memo forget MODEL --finish` does that"
            } else {
                ""
            };
            writeln!(
                f,
                "{:>5}  {}  {:<9} {}{more}{}",
                t.id,
                styled(FAINT, t.time),
                styled(GOOD, format!("{:<9}", t.kind.name())),
                names.join(", "),
                styled(FAINT, format!("{undone}{reason}{unfinished}"))
            )?;
        }
        Ok(())
    }
}

pub(crate) fn log(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    Ok(Box::new(Log { transactions: snapshot(&options.model, progress)?.log()? }))
}

pub(crate) fn trace(
    options: &TraceOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    Ok(Box::new(Log { transactions: model.history(&options.document)? }))
}

#[derive(Serialize)]
struct Stats {
    model: String,
    #[serde(flatten)]
    stats: memo_store::Stats,
}

impl Display for Stats {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / 1_048_576.0);
        writeln!(f, "{}", styled(TITLE, &self.model))?;
        let memo_store::Stats { tokenizer, frozen, context_words, .. } = &self.stats;
        let words = if context_words.is_empty() { "tokens alone" } else { "tokens and words" };
        let frozen = if *frozen { ", frozen" } else { "" };
        writeln!(f, "  model       {tokenizer}, {words}{frozen}")?;
        if let Some(LexiconStats { words, classes, .. }) = &self.stats.lexicon {
            let classes: Vec<String> = classes.iter().map(|&n| thousands(n.into())).collect();
            let classes = format!("{} classes", classes.join(" and "));
            writeln!(f, "  lexicon     {} words  {}", thousands(*words), styled(FAINT, classes))?;
        }
        let documents = self.stats.documents.map_or_else(|| "none kept".to_owned(), thousands);
        writeln!(
            f,
            "  documents   {documents}  {}",
            styled(FAINT, format!("{} tokens", thousands(self.stats.tokens)))
        )?;
        let each = self.stats.bytes_per_token;
        let each = each.map(|bytes| format!("{} bytes a token", thousands(bytes.round() as u64)));
        let (memory, each) = (mib(self.stats.bytes), each.unwrap_or_default());
        writeln!(f, "  memory      {memory}  {}", styled(FAINT, each))
    }
}

pub(crate) fn stats(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let stats = snapshot(&options.model, progress)?.stats()?;
    Ok(Box::new(Stats { model: options.model.display().to_string(), stats }))
}

fn print_digest(report: &DigestReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    writeln!(f, "{}", report.digest)
}

pub(crate) fn digest(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    progress.step("hashing");
    Ok(Box::new(Printed::new(model.digest_report()?, print_digest)))
}
