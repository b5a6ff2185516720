//! `memo explain` and `memo find`: why a model says something, and where a text stands.

use super::complete::tint;
use super::{given, open};
use crate::args::model::{ExplainOptions, TextOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::progress::Progress;
use memo_store::{Heard, Origin};
use serde::Serialize;
use std::fmt::{Display, Formatter};

#[derive(Serialize)]
struct Explained {
    prediction: String,
    candidates: Vec<Candidate>,
    #[serde(skip)]
    prompt: String,
}

#[derive(Serialize)]
struct Candidate {
    token: u32,
    text: String,
    probability: f64,
    evidence: Vec<Heard>,
    sources: Vec<Source>,
}

#[derive(Serialize)]
struct Source {
    #[serde(flatten)]
    at: Origin,
    words: String,
}

impl Display for Explained {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", styled(TITLE, format!("after {:?}", self.prompt)))?;
        for candidate in &self.candidates {
            let bar = "█".repeat((candidate.probability * 20.0).round() as usize);
            let text = format!("{:?}", candidate.text);
            writeln!(
                f,
                "  {:<16} {:>6.2} %  {}",
                styled(tint(candidate.probability), format!("{text:<16}")),
                100.0 * candidate.probability,
                styled(tint(candidate.probability), bar)
            )?;
            for e in &candidate.evidence {
                let block = if e.context_tokens == 1 { "token" } else { "tokens" };
                let place = if e.head == 0 { "last" } else { "older" };
                let details = format!(
                    "{place} {} {block}: {:.1} ± {:.2} of {} times",
                    e.context_tokens, e.count, e.noise, e.total
                );
                writeln!(f, "      {}", styled(FAINT, details))?;
            }
            for source in &candidate.sources {
                writeln!(
                    f,
                    "      {} {}  {}",
                    styled(GOOD, &source.at.document),
                    styled(
                        FAINT,
                        format!("token {}, {} match", source.at.offset, source.at.match_tokens)
                    ),
                    source.words
                )?;
            }
        }
        Ok(())
    }
}

pub(crate) fn explain(
    options: &ExplainOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let store = open(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    progress.step("explaining");
    let why = store.explain(&prompt, options.candidates as usize)?;
    let context = store.tokenizer().encode(&prompt)?;
    let candidates = why.candidates.into_iter().map(|candidate| {
        let sources = candidate.sources.into_iter().map(|at| {
            // The matching words, and what follows them.
            let shown = context.len().saturating_sub((at.match_tokens as usize).min(12));
            let mut words = store.tokenizer().decode_lossy(&context[shown..]);
            words.push_str(&candidate.text);
            Source { at, words: words.trim().replace('\n', " ⏎ ") }
        });
        let sources = sources.collect();
        let memo_store::Candidate { token, text, probability, evidence, .. } = candidate;
        Candidate { token, text, probability, evidence, sources }
    });
    let candidates = candidates.collect();
    Ok(Box::new(Explained { prediction: why.prediction, candidates, prompt }))
}

#[derive(Serialize)]
struct Found {
    documents: Vec<FoundIn>,
    count: usize,
}

#[derive(Serialize)]
struct FoundIn {
    document: String,
    version: u32,
    live: bool,
    count: usize,
    offsets: Vec<u64>,
}

impl Display for Found {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for found in &self.documents {
            let offsets: Vec<String> = found.offsets.iter().take(8).map(u64::to_string).collect();
            let more = if found.offsets.len() > 8 { ", …" } else { "" };
            let retired = if found.live { "" } else { ", retired" };
            let details = format!("at byte {}{more}{retired}", offsets.join(", "));
            writeln!(f, "{:>6}  {}  {}", found.count, found.document, styled(FAINT, details))?;
        }
        let plural = if self.documents.len() == 1 { "document" } else { "documents" };
        writeln!(
            f,
            "{}",
            styled(FAINT, format!("{} in {} {plural}", self.count, self.documents.len()))
        )
    }
}

pub(crate) fn find(options: &TextOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let store = open(&options.model, progress)?;
    progress.step("searching");
    let found = store.find(&given(&options.text)?)?;
    let documents: Vec<FoundIn> = found
        .into_iter()
        .map(|found| FoundIn {
            document: found.document,
            version: found.version,
            live: found.live,
            count: found.offsets.len(),
            offsets: found.offsets,
        })
        .collect();
    let count = documents.iter().map(|found| found.count).sum();
    Ok(Box::new(Found { documents, count }))
}
