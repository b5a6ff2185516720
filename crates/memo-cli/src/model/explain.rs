//! `memo explain` and `memo find`: why a model says something, and where a text stands.

use super::complete::tint;
use super::{given, open};
use crate::args::model::{ExplainOptions, TextOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled};
use crate::progress::Progress;
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
    evidence: Vec<Evidence>,
    sources: Vec<Source>,
}

#[derive(Serialize)]
struct Evidence {
    layer: u32,
    head: u32,
    context_tokens: u32,
    count: f32,
    noise: f32,
    total: i64,
}

#[derive(Serialize)]
struct Source {
    document: String,
    version: u32,
    offset: u64,
    match_tokens: u64,
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
                    styled(GOOD, &source.document),
                    styled(
                        FAINT,
                        format!("token {}, {} match", source.offset, source.match_tokens)
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
        let sources = candidate.sources.into_iter().map(|source| {
            // The matching words, and what follows them.
            let shown = context.len().saturating_sub((source.match_tokens as usize).min(12));
            let mut words = store.tokenizer().decode_lossy(&context[shown..]);
            words.push_str(&candidate.text);
            Source {
                document: source.document,
                version: source.version,
                offset: source.offset,
                match_tokens: source.match_tokens,
                words: words.trim().replace('\n', " ⏎ "),
            }
        });
        let sources = sources.collect();
        let evidence = candidate.evidence.iter().map(|e| Evidence {
            layer: e.layer,
            head: e.head,
            context_tokens: e.context_tokens,
            count: e.count,
            noise: e.noise,
            total: e.total,
        });
        Candidate {
            token: candidate.token,
            text: candidate.text.clone(),
            probability: candidate.probability,
            evidence: evidence.collect(),
            sources,
        }
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
