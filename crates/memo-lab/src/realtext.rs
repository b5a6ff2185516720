//! What a sparse memory does with real text: recall, robustness, perplexity, rates, and exact forgetting.

use memo::random::{Purpose, Stream};
use memo::readout::{ReadOut, Scratch, score};
use memo::sparse::{Error, Memory, Passage, Settings, Shape, Size};
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// The text and the memory to try it on.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
    /// The documents to memorize, tokenised.
    pub memorized: &'a [Vec<u32>],
    /// Text that is not memorized; none leaves out perplexity.
    pub held_out: &'a [u32],
    /// Tokens in the vocabulary.
    pub vocabulary: u32,
    /// The end token.
    pub end: u32,
    /// The token that stands for words outside the vocabulary, if the tokenizer has one.
    pub unknown: Option<u32>,
    /// Size of the memory.
    pub size: Size,
    /// Slots of the memory.
    pub shape: Shape,
    /// Seed of the memory and of the samples.
    pub seed: u64,
    /// Positions to try for recall; 0 is all.
    pub sample: usize,
}

/// What came out. Rates are in tokens a second; sizes are in bytes a memorized token.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Tokens memorized, document ends included.
    pub tokens: usize,
    /// Cells of the memory.
    pub parameters: u64,
    /// Cells a token.
    pub parameters_per_token: f64,
    /// Bytes held a token: cells and tables.
    pub bytes_per_token: f64,
    /// Of these, cells (wide rows included).
    pub cell_bytes_per_token: f64,
    /// Of these, tables.
    pub table_bytes_per_token: f64,
    /// Positions that recall was tried at.
    pub recall_positions: usize,
    /// The share of them whose token is the most probable one.
    pub recall: f64,
    /// The same with one of the last eight tokens of the prompt replaced.
    pub recall_damaged_prompt: f64,
    /// Perplexity of the text that was held out.
    pub held_out_perplexity: Option<f64>,
    /// The same over its known words only.
    pub held_out_perplexity_known: Option<f64>,
    /// Writing, all cores.
    pub memorize_tokens_per_second: f64,
    /// Full distributions, all cores.
    pub retrieve_tokens_per_second: f64,
    /// Scoring the held-out text, all cores.
    pub score_tokens_per_second: Option<f64>,
    /// Recall of the half that is kept: before the other half is forgotten, and after.
    pub recall_kept_half: [f64; 2],
    /// Recall of the half that is forgotten: before, and after.
    pub recall_forgotten_half: [f64; 2],
    /// Whether, after forgetting, the digest equals that of a memory that never saw that half.
    pub forget_exact: bool,
}

/// Tokens of prompt before a position of recall.
const PROMPT: usize = 64;

/// Runs the experiment.
pub fn run(experiment: &Experiment<'_>, readout: &dyn ReadOut) -> Result<Report, Error> {
    let Experiment { memorized, held_out, vocabulary, end, seed, .. } = *experiment;
    let settings = Settings::new(vocabulary, end, seed, &experiment.shape, experiment.size)?;
    let mut memory = Memory::new(settings.clone())?;
    let passages: Vec<Passage<'_>> = memorized.iter().map(|d| Passage::whole(d, 1)).collect();
    let tokens: usize = memorized.iter().map(|d| d.len() + 1).sum();
    let start = Instant::now();
    memory.write(&passages)?;
    let memorize_seconds = start.elapsed().as_secs_f64();

    let documents: Vec<&[u32]> = memorized.iter().map(Vec::as_slice).collect();
    let positions = sample(&documents, experiment.sample, seed);
    let start = Instant::now();
    let recalled = recall(&memory, readout, &positions)?;
    let retrieve_seconds = start.elapsed().as_secs_f64();
    let damaged = recall_damaged(&memory, readout, &positions, seed)?;

    let start = Instant::now();
    let scores = score(&memory, readout, held_out)?;
    let score_seconds = start.elapsed().as_secs_f64();
    let known = |p: &usize| Some(held_out[*p]) != experiment.unknown;
    let perplexity = |chosen: &dyn Fn(&usize) -> bool| {
        let chosen: Vec<usize> = (0..held_out.len()).filter(|p| chosen(p)).collect();
        let sum: f64 = chosen.iter().map(|&p| scores[p]).sum();
        (!chosen.is_empty()).then(|| (-sum / chosen.len() as f64).exp())
    };

    let held = memory.held();
    let per_token = |bytes: usize| bytes as f64 / tokens as f64;
    let report = Report {
        tokens,
        parameters: settings.parameters(),
        parameters_per_token: settings.parameters() as f64 / tokens as f64,
        bytes_per_token: per_token(held.total()),
        cell_bytes_per_token: per_token(held.cells + held.wide),
        table_bytes_per_token: per_token(held.tables),
        recall_positions: positions.len(),
        recall: recalled,
        recall_damaged_prompt: damaged,
        held_out_perplexity: perplexity(&|_| true),
        held_out_perplexity_known: perplexity(&known),
        memorize_tokens_per_second: tokens as f64 / memorize_seconds,
        retrieve_tokens_per_second: positions.len() as f64 / retrieve_seconds,
        score_tokens_per_second: (!held_out.is_empty())
            .then(|| held_out.len() as f64 / score_seconds),
        recall_kept_half: [0.0; 2],
        recall_forgotten_half: [0.0; 2],
        forget_exact: false,
    };
    drop(memory);
    forget_half(experiment, readout, &settings, report)
}

/// Memorizes the text as two halves, forgets the second, and compares with a memory of the first alone.
fn forget_half(
    experiment: &Experiment<'_>,
    readout: &dyn ReadOut,
    settings: &Settings,
    mut report: Report,
) -> Result<Report, Error> {
    let (kept, forgotten) = halves(experiment.memorized);
    let count = experiment.sample / 2;
    let kept_positions = sample(&kept, count, experiment.seed);
    let forgotten_positions = sample(&forgotten, count, experiment.seed);
    let write = |memory: &mut Memory, half: &[&[u32]], weight| {
        memory.write(&half.iter().map(|d| Passage::whole(d, weight)).collect::<Vec<_>>())
    };
    let mut memory = Memory::new(settings.clone())?;
    write(&mut memory, &kept, 1)?;
    let never = memory.digest()?;
    write(&mut memory, &forgotten, 1)?;
    report.recall_kept_half[0] = recall(&memory, readout, &kept_positions)?;
    report.recall_forgotten_half[0] = recall(&memory, readout, &forgotten_positions)?;
    write(&mut memory, &forgotten, -1)?;
    report.recall_kept_half[1] = recall(&memory, readout, &kept_positions)?;
    report.recall_forgotten_half[1] = recall(&memory, readout, &forgotten_positions)?;
    report.forget_exact = memory.digest()? == never;
    Ok(report)
}

/// The documents in two halves; a single document is cut in the middle.
fn halves(documents: &[Vec<u32>]) -> (Vec<&[u32]>, Vec<&[u32]>) {
    if let [document] = documents {
        let (a, b) = document.split_at(document.len() / 2);
        return (vec![a], vec![b]);
    }
    let (a, b) = documents.split_at(documents.len() / 2);
    (a.iter().map(Vec::as_slice).collect(), b.iter().map(Vec::as_slice).collect())
}

/// A position of a document: what comes before, and what should be recalled.
type Position<'a> = (&'a [u32], u32);

/// Positions with at least a few tokens before them: all, or a random sample.
fn sample<'a>(documents: &[&'a [u32]], count: usize, seed: u64) -> Vec<Position<'a>> {
    // A prompt of fewer than 16 tokens may be ambiguous; documents that short are tried at their last token.
    let first = |d: &[u32]| PROMPT.min(d.len().saturating_sub(1));
    let open: Vec<(&[u32], usize)> =
        documents.iter().filter(|d| !d.is_empty()).map(|d| (*d, d.len() - first(d))).collect();
    let whole: usize = open.iter().map(|(_, positions)| positions).sum();
    let position = |mut index: usize| {
        for &(document, positions) in &open {
            if index < positions {
                let p = first(document) + index;
                return Some((&document[p.saturating_sub(PROMPT)..p], document[p]));
            }
            index -= positions;
        }
        None
    };
    if count == 0 || count >= whole {
        return open
            .iter()
            .flat_map(|&(d, _)| {
                (first(d)..d.len()).map(move |p| (&d[p.saturating_sub(PROMPT)..p], d[p]))
            })
            .collect();
    }
    let mut reader = Stream::new(seed, Purpose::Sampling, 1).reader();
    (0..count).filter_map(|_| position(reader.below(whole as u64) as usize)).collect()
}

fn recall(
    memory: &Memory,
    readout: &dyn ReadOut,
    positions: &[Position<'_>],
) -> Result<f64, Error> {
    share(positions, |(prompt, token), scratch| {
        Ok(readout.distribution(memory, prompt, scratch)?.best() == *token)
    })
}

/// Recall with one of the last eight prompt tokens replaced by a random one.
fn recall_damaged(
    memory: &Memory,
    readout: &dyn ReadOut,
    positions: &[Position<'_>],
    seed: u64,
) -> Result<f64, Error> {
    let settings = memory.settings();
    let mut reader = Stream::new(seed, Purpose::Sampling, 2).reader();
    let damaged: Vec<(Vec<u32>, u32)> = positions
        .iter()
        .filter(|(prompt, _)| !prompt.is_empty())
        .map(|(prompt, token)| {
            let mut prompt = prompt.to_vec();
            let place = prompt.len() - 1 - reader.below(prompt.len().min(8) as u64) as usize;
            let other = |reader: &mut memo::random::Reader| {
                reader.below(u64::from(settings.vocabulary)) as u32
            };
            let mut wrong = other(&mut reader);
            while wrong == settings.end || (wrong == prompt[place] && settings.vocabulary > 2) {
                wrong = other(&mut reader);
            }
            prompt[place] = wrong;
            (prompt, *token)
        })
        .collect();
    share(&damaged, |(prompt, token), scratch| {
        Ok(readout.distribution(memory, prompt, scratch)?.best() == *token)
    })
}

/// The share of items for which something holds.
fn share<T: Sync>(
    items: &[T],
    holds: impl Fn(&T, &mut Scratch) -> Result<bool, Error> + Sync,
) -> Result<f64, Error> {
    let held: Vec<bool> = items
        .par_iter()
        .map_init(Scratch::default, |scratch, item| holds(item, scratch))
        .collect::<Result<_, _>>()?;
    Ok(held.iter().filter(|held| **held).count() as f64 / held.len().max(1) as f64)
}
