//! `memo complete`, `recall`, `score`, `explain` and `find`: what a model says, and why.

use super::{given, open};
use crate::args::model::{CompleteOptions, ExplainOptions, FileOptions, TextOptions};
use crate::output::{FAINT, GOOD, Report, TITLE, styled, thousands};
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use anyhow::{Context, bail};
use memo::readout::{Backoff, Choice, Generator, ReadOut, Scratch, argmax_all, score as score_all};
use memo::sparse::Memory;
use memo_store::Reader;
use memo_text::{Encoding, Item, ReadOptions, StreamDecoder};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// A continuation, and how sure the memory was of each token.
#[derive(Serialize)]
struct Completed {
    prompt: String,
    completion: String,
    tokens: usize,
    ended: bool,
    probabilities: Vec<f64>,
    tokens_per_second: f64,
    #[serde(skip)]
    pieces: Vec<String>,
    #[serde(skip)]
    streamed: bool,
}

/// The colour of a token by how sure the memory is of it.
fn tint(probability: f64) -> Style {
    match probability {
        p if p > 0.8 => AnsiColor::Green.on_default(),
        p if p > 0.3 => AnsiColor::Yellow.on_default(),
        _ => AnsiColor::Red.on_default(),
    }
}

impl Display for Completed {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if self.streamed {
            return writeln!(f);
        }
        write!(f, "{}", styled(FAINT, &self.prompt))?;
        for (piece, probability) in self.pieces.iter().zip(&self.probabilities) {
            write!(f, "{}", styled(tint(*probability), piece))?;
        }
        if self.completion.ends_with('\n') { Ok(()) } else { writeln!(f) }
    }
}

/// Opens a model for reading; a sparse one.
fn reader(path: &Path, progress: &Progress) -> anyhow::Result<Reader> {
    progress.step("opening");
    Ok(Reader::open(path)?)
}

fn sparse(reader: &Reader) -> anyhow::Result<&Memory> {
    reader.memory().sparse().context("this needs the sparse engine; this model has the dense one")
}

pub(crate) fn complete(
    options: &CompleteOptions,
    progress: &Progress,
    json: bool,
) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let prompt = given(&options.prompt)?;
    let tokenizer = reader.tokenizer();
    let Some(memory) = reader.memory().sparse() else {
        let completion = reader.complete(&prompt, options.tokens as usize)?;
        return Ok(Box::new(Completed {
            tokens: tokenizer.encode(&completion)?.len(),
            pieces: vec![completion.clone()],
            prompt,
            completion,
            ended: false,
            probabilities: vec![1.0],
            tokens_per_second: 0.0,
            streamed: false,
        }));
    };
    let context = tokenizer.encode(&prompt)?;
    let readout = Backoff::default();
    let choice = Choice {
        temperature: options.temperature,
        top_k: options.top_k,
        top_p: options.top_p,
        seed: options.seed,
        stop: Vec::new(),
    };
    progress.step("recalling");
    let (mut text, mut scratch) = (context.clone(), Scratch::default());
    let mut stream = StreamDecoder::new(tokenizer);
    let (mut pieces, mut probabilities) = (Vec::new(), Vec::new());
    let streamed = options.stream && !json;
    let mut completion = String::new();
    let mut stopped = false;
    let start = Instant::now();
    if streamed {
        anstream::print!("{}", styled(FAINT, &prompt));
    }
    for token in Generator::new(memory, &readout, &context, choice).take(options.tokens as usize) {
        let token = token?;
        let window = readout.window(memory);
        let seen = &text[text.len().saturating_sub(window)..];
        let probability = readout.distribution(memory, seen, &mut scratch)?.probability(token);
        text.push(token);
        let piece = stream.push(token);
        completion.push_str(&piece);
        if let Some(at) = options.stop.iter().filter_map(|stop| completion.find(stop)).min() {
            // What the last piece has before the stop still counts.
            let kept = piece.len().saturating_sub(completion.len() - at);
            let kept = (0..=kept).rev().find(|&k| piece.is_char_boundary(k)).unwrap_or(0);
            pieces.push(piece[..kept].to_owned());
            probabilities.push(probability);
            completion.truncate(at);
            stopped = true;
            break;
        }
        if streamed {
            anstream::print!("{}", styled(tint(probability), &piece));
            std::io::stdout().flush()?;
        }
        pieces.push(piece);
        probabilities.push(probability);
    }
    let tokens = probabilities.len();
    Ok(Box::new(Completed {
        prompt,
        completion,
        tokens,
        ended: !stopped && tokens < options.tokens as usize,
        tokens_per_second: tokens as f64 / start.elapsed().as_secs_f64().max(1e-9),
        probabilities,
        pieces,
        streamed,
    }))
}

/// The tokens of the documents in a file, folder or standard input.
fn read(path: &Path, reader: &Reader) -> anyhow::Result<Vec<Vec<u32>>> {
    let raw = reader.tokenizer().name() == "bytes";
    let encoding = if raw { Encoding::Raw } else { Encoding::Utf8 };
    let mut texts = Vec::new();
    for item in memo_text::Reader::open(path, ReadOptions { encoding, ..ReadOptions::default() })? {
        if let Item::Document(document) = item? {
            texts.push(reader.tokenizer().encode_bytes(document.content.as_bytes())?);
        }
    }
    if texts.is_empty() {
        bail!("{}: nothing to read; give a text that is not empty", path.display());
    }
    Ok(texts)
}

#[derive(Serialize)]
struct Recalled {
    tokens: usize,
    evaluated: usize,
    correct: usize,
    recall: f64,
    tokens_per_second: f64,
}

impl Display for Recalled {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "recall {}  {}",
            styled(GOOD, format!("{:.2} %", 100.0 * self.recall)),
            styled(
                FAINT,
                format!(
                    "{} of {} tokens, each from those before it; {} tokens/s",
                    thousands(self.correct as u64),
                    thousands(self.evaluated as u64),
                    thousands(self.tokens_per_second as u64)
                )
            )
        )
    }
}

pub(crate) fn recall(
    options: &FileOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let texts = read(&options.file, &reader)?;
    let (mut correct, mut evaluated, mut tokens) = (0, 0, 0);
    let start = Instant::now();
    for text in &texts {
        progress.step(format!("recalling {} tokens", thousands(text.len() as u64)));
        let best: Vec<u32> = match (reader.memory().sparse(), reader.memory().dense()) {
            (Some(memory), _) => argmax_all(memory, &Backoff::default(), text)?,
            (_, Some(memory)) => {
                let along = memory.predict_along(text)?;
                std::iter::once(u32::MAX).chain(along.iter().map(|p| p.token)).collect()
            }
            _ => bail!("a model has one engine"),
        };
        // The first token has nothing before it to be recalled from.
        correct += text.iter().zip(&best).skip(1).filter(|(a, b)| a == b).count();
        evaluated += text.len().saturating_sub(1);
        tokens += text.len();
    }
    Ok(Box::new(Recalled {
        tokens,
        evaluated,
        correct,
        recall: if evaluated == 0 { 1.0 } else { correct as f64 / evaluated as f64 },
        tokens_per_second: evaluated as f64 / start.elapsed().as_secs_f64().max(1e-9),
    }))
}

#[derive(Serialize)]
struct Scored {
    tokens: usize,
    log_likelihood: f64,
    perplexity: f64,
}

impl Display for Scored {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "perplexity {}  {}",
            styled(GOOD, format!("{:.2}", self.perplexity)),
            styled(
                FAINT,
                format!(
                    "log-likelihood {:.2} of {} tokens, ends included",
                    self.log_likelihood,
                    thousands(self.tokens as u64)
                )
            )
        )
    }
}

pub(crate) fn score(options: &FileOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let reader = reader(&options.model, progress)?;
    let memory = sparse(&reader)?;
    let (mut log_likelihood, mut tokens) = (0.0, 0);
    for text in read(&options.file, &reader)? {
        progress.step(format!("scoring {} tokens", thousands(text.len() as u64)));
        let scores = score_all(memory, &Backoff::default(), &text)?;
        log_likelihood += scores.iter().sum::<f64>();
        tokens += scores.len();
    }
    let perplexity = (-log_likelihood / tokens as f64).exp();
    Ok(Box::new(Scored { tokens, log_likelihood, perplexity }))
}

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
