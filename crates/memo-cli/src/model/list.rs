//! `memo docs`, `show`, `log`, `trace`, `stats` and `digest`: what a model holds.

use super::open;
use crate::args::model::{ModelOptions, ShowOptions, TraceOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled, thousands};
use crate::progress::Progress;
use memo_store::{Document, FILE_LABEL, Transaction, fitting};
use serde::Serialize;
use std::fmt::{Display, Formatter};

#[derive(Serialize)]
struct Docs {
    documents: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    state: &'static str,
    version: Option<u32>,
    tokens: u64,
    labels: std::collections::BTreeMap<String, String>,
    time: String,
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
            let labels: Vec<String> = labels.map(|(k, v)| format!("{k}={v}")).collect();
            let version = row.version.map_or_else(String::new, |version| version.to_string());
            let line = format!(
                "{:<width$}  {:>10}  {version:>3}  {:<11}  {}",
                row.id,
                thousands(row.tokens),
                row.state,
                labels.join(" ")
            );
            let style = if row.state == "live" { anstyle::Style::new() } else { FAINT };
            writeln!(f, "{}", styled(style, line.trim_end()))?;
        }
        Ok(())
    }
}

pub(crate) fn docs(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let store = open(&options.model, progress)?;
    let documents = store.documents()?.into_iter().map(|document| {
        let current = document.place.map(|place| place.version);
        let version = document.versions.iter().find(|v| Some(v.number) == current);
        Row {
            state: document.state(),
            version: current,
            tokens: version.map_or(0, |version| version.tokens),
            time: version.map_or_else(String::new, |version| memo_store::utc(version.time)),
            labels: document.labels,
            id: document.id,
        }
    });
    Ok(Box::new(Docs { documents: documents.collect() }))
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    document: Document,
    state: &'static str,
    text: Option<String>,
}

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Document { id, labels, versions, .. } = &self.document;
        writeln!(f, "{}  {}", styled(TITLE, id), styled(FAINT, self.state))?;
        for (key, value) in labels {
            writeln!(f, "  {key} = {value}")?;
        }
        for version in versions {
            let what = match version.forgotten {
                Some(transaction) => format!("forgotten in transaction {transaction}"),
                None => format!("{} tokens", thousands(version.tokens)),
            };
            let (number, from) = (version.number, version.transaction);
            let time = memo_store::utc(version.time);
            let line = format!("version {number}  {time}  transaction {from}, {what}");
            writeln!(f, "  {}", styled(FAINT, line))?;
        }
        match &self.text {
            Some(text) => writeln!(f, "\n{}", text.trim_end()),
            None => Ok(()),
        }
    }
}

pub(crate) fn show(options: &ShowOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let store = open(&options.model, progress)?;
    let document = store.document(&options.document)?;
    let text = if options.version.is_some() || document.place.is_some() {
        Some(store.text(&options.document, options.version)?)
    } else {
        None
    };
    Ok(Box::new(Shown { state: document.state(), document, text }))
}

#[derive(Serialize)]
struct Log {
    transactions: Vec<Transaction>,
}

impl Display for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for t in &self.transactions {
            let names: Vec<&str> = t.ops.iter().take(3).map(|op| op.document.as_str()).collect();
            let more = t.ops.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let undone = match (t.undoes, t.undone_by) {
                (Some(id), _) => format!("  undoes {id}"),
                (_, Some(id)) => format!("  undone by {id}"),
                _ => String::new(),
            };
            let reason = t.reason.as_ref().map_or_else(String::new, |r| format!("  “{r}”"));
            writeln!(
                f,
                "{:>5}  {}  {:<9} {}{more}{}",
                t.id,
                styled(FAINT, memo_store::utc(t.time)),
                styled(GOOD, format!("{:<9}", t.kind.name())),
                names.join(", "),
                styled(FAINT, format!("{undone}{reason}"))
            )?;
        }
        Ok(())
    }
}

pub(crate) fn log(options: &ModelOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    Ok(Box::new(Log { transactions: open(&options.model, progress)?.log()? }))
}

pub(crate) fn trace(
    options: &TraceOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let store = open(&options.model, progress)?;
    Ok(Box::new(Log { transactions: store.trace(&options.document)? }))
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
        let memo_store::Stats { engine, tokenizer, heads, layers, .. } = &self.stats;
        writeln!(f, "  engine      {engine}, {heads} heads, {layers} layers, {tokenizer}")?;
        writeln!(
            f,
            "  documents   {}  {}",
            thousands(self.stats.documents as u64),
            styled(FAINT, format!("{} tokens", thousands(self.stats.tokens)))
        )?;
        let each = self
            .stats
            .bytes_per_token
            .map_or_else(String::new, |b| format!(", {} bytes a token", thousands(b as u64)));
        writeln!(
            f,
            "  memory      {}  {}",
            mib(self.stats.bytes),
            styled(
                FAINT,
                format!(
                    "cells {}, tables {}{each}",
                    mib(self.stats.cell_bytes),
                    mib(self.stats.table_bytes)
                )
            )
        )?;
        if let (Some(load), Some(recall)) = (self.stats.load, self.stats.predicted_recall) {
            let full = ((load * 20.0).round() as usize).min(20);
            let style = if load <= 1.0 { GOOD } else { anstyle::AnsiColor::Red.on_default() };
            writeln!(
                f,
                "  load        {}{} {:.1} %",
                styled(style, "█".repeat(full)),
                styled(FAINT, "░".repeat(20 - full)),
                100.0 * load
            )?;
            writeln!(f, "  recall      about {:.2} % expected", 100.0 * recall)?;
            if load > 1.0 {
                let needed = fitting(self.stats.tokens).parameters() >> 20;
                writeln!(
                    f,
                    "  too full: `memo rebuild {} --memory {needed}MiB` makes room",
                    self.model
                )?;
            }
        }
        Ok(())
    }
}

pub(crate) fn stats(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let stats = open(&options.model, progress)?.stats()?;
    Ok(Box::new(Stats { model: options.model.display().to_string(), stats }))
}

#[derive(Serialize)]
struct Digest {
    digest: String,
}

impl Display for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.digest)
    }
}

pub(crate) fn digest(
    options: &ModelOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut store = open(&options.model, progress)?;
    progress.step("hashing");
    Ok(Box::new(Digest { digest: store.digest()?.to_string() }))
}
