//! What a memory does with a text: recall, robustness, perplexity, rates, and exact forgetting.
//!
//! Tokens go in, a [`Report`] comes out. The command line reads files, tokenizes them and prints the report; the lab
//! draws it for texts of different kinds.

mod model;
mod positions;

use self::model::{Bytes, Dense, Model, Sparse};
use self::positions::{Position, damaged, sample};
use crate::readout::Backoff;
use crate::sparse;
use crate::words::Words;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// The text and the memory to try it on.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
    /// The documents to memorize, tokenized.
    pub memorized: &'a [Vec<u32>],
    /// Documents that are not memorized; none leaves out perplexity.
    pub held_out: &'a [Vec<u32>],
    /// Tokens in the vocabulary.
    pub vocabulary: u32,
    /// The end token.
    pub end: u32,
    /// The token that stands for words outside the vocabulary, if the tokenizer has one.
    pub unknown: Option<u32>,
    /// Words of the vocabulary, with a lexicon or without; none for a memory of tokens alone.
    pub words: Option<Arc<Words>>,
    /// Seed of the memory and of the samples.
    pub seed: u64,
    /// Positions to try for recall; 0 is all.
    pub sample: usize,
}

/// What came out. Rates are in tokens a second; sizes are in bytes a memorized token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Tokens memorized, document ends included.
    pub tokens: usize,
    /// Cells of the memory; in the sparse engine, those that are not zero.
    pub parameters: u64,
    /// Cells a token.
    pub parameters_per_token: f64,
    /// Bytes held a token: cells and tables.
    pub bytes_per_token: f64,
    /// Of these, cells.
    pub cell_bytes_per_token: f64,
    /// Of these, the vocabulary's own counts; for the dense engine, codes and projections.
    pub table_bytes_per_token: f64,
    /// Positions that recall was tried at.
    pub recall_positions: usize,
    /// The share of them whose token is the most probable one.
    pub recall: f64,
    /// The same with one of the last eight tokens of the prompt replaced.
    pub recall_damaged_prompt: f64,
    /// Perplexity of the text that was held out, if the engine has probabilities.
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
    /// Whether, after forgetting, the digest equals that of a memory that never saw that half. Dense memories are
    /// floats and have no digest.
    pub forget_exact: bool,
}

/// Measures the sparse engine; `step` is told what is being done.
pub fn run(
    experiment: &Experiment<'_>,
    readout: &Backoff,
    step: &dyn Fn(&str),
) -> Result<Report, sparse::Error> {
    run_on(experiment, &|| Sparse::new(experiment, readout), step)
}

/// The perplexity of the held-out text on the sparse engine, over its known words only; `None` if nothing was held out.
pub fn held_out(
    experiment: &Experiment<'_>,
    readout: &Backoff,
) -> Result<Option<f64>, sparse::Error> {
    let documents: Vec<&[u32]> = experiment.memorized.iter().map(Vec::as_slice).collect();
    let mut model = Sparse::new(experiment, readout)?;
    model.memorize(&documents)?;
    let scores = score_all(&model, experiment.held_out)?;
    Ok(perplexity(scores.iter().filter(|(token, _)| Some(*token) != experiment.unknown)))
}

/// Measures the dense engine: Hadamard codes, four heads, three layers, computed recall, and the d, a power of two,
/// whose memory is nearest to so many cells.
pub fn run_dense(
    experiment: &Experiment<'_>,
    cells: u64,
    step: &dyn Fn(&str),
) -> Result<Report, crate::Error> {
    run_on(experiment, &|| Dense::new(experiment, cells), step)
}

fn run_on<M: Model>(
    experiment: &Experiment<'_>,
    empty: &dyn Fn() -> Result<M, M::Error>,
    step: &dyn Fn(&str),
) -> Result<Report, M::Error> {
    let documents: Vec<&[u32]> = experiment.memorized.iter().map(Vec::as_slice).collect();
    let tokens: usize = documents.iter().map(|d| d.len() + 1).sum();

    step("memorizing");
    let mut model = empty()?;
    let (written, memorize_seconds) = timed(|| model.memorize(&documents));
    written?;

    step("recalling");
    let positions = sample(&documents, experiment.sample, experiment.seed);
    let (recalled, retrieve_seconds) = timed(|| recall(&model, &positions));
    let Experiment { vocabulary, end, seed, .. } = *experiment;
    let broken = damaged(&positions, vocabulary, end, seed);
    let broken: Vec<Position<'_>> =
        broken.iter().map(|(p, token)| (p.as_slice(), *token)).collect();
    let recall_damaged_prompt = recall(&model, &broken)?;

    step("scoring the held-out text");
    let (scores, score_seconds) = timed(|| score_all(&model, experiment.held_out));
    let scores = scores?;
    let known = |(token, _): &&(u32, f64)| Some(*token) != experiment.unknown;

    let Bytes { cells, tables } = model.bytes();
    let parameters = model.parameters();
    let per_token = |bytes: usize| bytes as f64 / tokens as f64;
    drop(model);
    step("forgetting half");
    let halves = forget_half(experiment, empty)?;
    Ok(Report {
        tokens,
        parameters,
        parameters_per_token: parameters as f64 / tokens as f64,
        bytes_per_token: per_token(cells + tables),
        cell_bytes_per_token: per_token(cells),
        table_bytes_per_token: per_token(tables),
        recall_positions: positions.len(),
        recall: recalled?,
        recall_damaged_prompt,
        held_out_perplexity: perplexity(scores.iter()),
        held_out_perplexity_known: perplexity(scores.iter().filter(known)),
        memorize_tokens_per_second: tokens as f64 / memorize_seconds,
        retrieve_tokens_per_second: positions.len() as f64 / retrieve_seconds,
        score_tokens_per_second: (!scores.is_empty()).then(|| scores.len() as f64 / score_seconds),
        recall_kept_half: halves.kept,
        recall_forgotten_half: halves.forgotten,
        forget_exact: halves.exact,
    })
}

/// Recall of both halves, before one is forgotten and after.
struct Halves {
    kept: [f64; 2],
    forgotten: [f64; 2],
    exact: bool,
}

/// Memorizes the text as two halves, forgets the second, and compares with a memory of the first alone.
fn forget_half<M: Model>(
    experiment: &Experiment<'_>,
    empty: &dyn Fn() -> Result<M, M::Error>,
) -> Result<Halves, M::Error> {
    let (kept, forgotten) = halves(experiment.memorized);
    let count = experiment.sample / 2;
    let kept_positions = sample(&kept, count, experiment.seed);
    let forgotten_positions = sample(&forgotten, count, experiment.seed);
    let mut model = empty()?;
    model.memorize(&kept)?;
    let never = model.digest()?;
    model.memorize(&forgotten)?;
    let both = |model: &M| -> Result<[f64; 2], M::Error> {
        Ok([recall(model, &kept_positions)?, recall(model, &forgotten_positions)?])
    };
    let before = both(&model)?;
    model.forget(&forgotten)?;
    let after = both(&model)?;
    Ok(Halves {
        kept: [before[0], after[0]],
        forgotten: [before[1], after[1]],
        exact: never.is_some() && model.digest()? == never,
    })
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

/// The share of positions whose token is the model's answer.
fn recall<M: Model>(model: &M, positions: &[Position<'_>]) -> Result<f64, M::Error> {
    let prompts: Vec<&[u32]> = positions.iter().map(|(prompt, _)| *prompt).collect();
    let answers = model.answers(&prompts)?;
    let right =
        positions.iter().zip(answers).filter(|((_, token), answer)| token == answer).count();
    Ok(right as f64 / positions.len().max(1) as f64)
}

/// Every token of the texts with its log-probability; nothing if the model has none.
fn score_all<M: Model>(model: &M, texts: &[Vec<u32>]) -> Result<Vec<(u32, f64)>, M::Error> {
    let mut all = Vec::new();
    for text in texts {
        if let Some(scores) = model.score(text)? {
            all.extend(text.iter().copied().zip(scores));
        }
    }
    Ok(all)
}

fn perplexity<'a>(scores: impl Iterator<Item = &'a (u32, f64)>) -> Option<f64> {
    let (count, sum) =
        scores.fold((0u32, 0.0), |(count, sum), (_, score)| (count + 1, sum + score));
    (count > 0).then(|| (-sum / f64::from(count)).exp())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::BACKOFF;

    #[test]
    fn a_made_up_text_is_recalled_and_forgotten() {
        // Words in sentences: a random walk that often returns to the same words.
        let mut reader = Stream::new(1, Purpose::Sampling, 0).draws();
        let mut word = 0;
        let mut draw = |tokens: usize| -> Vec<u32> {
            (0..tokens)
                .map(|_| {
                    word = if reader.below(3) == 0 {
                        reader.below(900)
                    } else {
                        (word * 31 + reader.below(9)) % 900
                    };
                    word as u32
                })
                .collect()
        };
        let (document, held_out) = (draw(6_000), draw(500));
        let experiment = Experiment {
            memorized: &[document],
            held_out: &[held_out],
            vocabulary: 902,
            end: 901,
            unknown: Some(900),
            words: None,
            seed: 1,
            sample: 1_000,
        };
        let report = run(&experiment, &BACKOFF, &|_| ()).unwrap();
        assert_eq!(report.tokens, 6_001);
        assert!(report.forget_exact);
        // Without the last token, or the one before it, little is left to go by.
        assert!(report.recall > 0.999 && report.recall_damaged_prompt > 0.7, "{report:?}");
        assert!(report.recall_kept_half[1] > 0.999, "{report:?}");
        assert!(report.recall_forgotten_half[0] > 0.999, "{report:?}");
        // What is left of the forgotten half is what the other half and mere chance say.
        assert!(report.recall_forgotten_half[1] < 0.4, "{report:?}");
        assert!(report.held_out_perplexity.unwrap() < 902.0);
    }
}
