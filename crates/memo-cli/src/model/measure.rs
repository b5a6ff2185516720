//! `memo recall` and `memo score`: measures of how well a model knows a text.

use super::snapshot;
use crate::args::model::FileOptions;
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::printed::Printed;
use crate::progress::Progress;
use anyhow::bail;
use memo_store::{ReadOptions, RecallReport, ScoreReport, Snapshot};
use memo_text::{Corpus, CorpusOptions};
use std::fmt::Formatter;
use std::path::Path;

/// The tokens of the documents in a file, a folder, files that match a pattern, or standard input. A file that cannot be
/// read is an error, because a measurement of the others alone would mislead.
fn read(path: &Path, model: &Snapshot) -> anyhow::Result<Vec<Vec<u32>>> {
    let (tokenizer, strict) = (model.tokenizer(), true);
    let how = CorpusOptions { encoding: tokenizer.encoding(), strict, ..CorpusOptions::default() };
    let mut texts = Vec::new();
    for document in Corpus::open([path], how)?.documents()? {
        texts.push(tokenizer.encode_bytes(document.content.as_bytes())?);
    }
    if texts.is_empty() {
        bail!("{}: nothing to read; give a text that is not empty", path.display());
    }
    Ok(texts)
}

fn print_recall(report: &RecallReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let details = format!(
        "{} of {} tokens, each from those before it; {} tokens/s",
        thousands(report.correct as u64),
        thousands(report.evaluated as u64),
        thousands(report.tokens_per_second as u64)
    );
    let recall = styled(GOOD, format!("{:.2} %", 100.0 * report.recall));
    writeln!(f, "recall {recall}  {}", styled(FAINT, details))
}

pub(crate) fn recall(
    options: &FileOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let texts = read(&options.file, &model)?;
    Ok(Box::new(Printed::new(
        model.recall(
            &texts,
            &options.reading.options(ReadOptions::default()),
            &progress.observer(),
        )?,
        print_recall,
    )))
}

fn print_score(report: &ScoreReport, f: &mut Formatter<'_>) -> std::fmt::Result {
    let (likelihood, tokens) = (report.log_likelihood, thousands(report.tokens as u64));
    let details = format!("log-likelihood {likelihood:.2} of {tokens} tokens, ends included");
    let perplexity = styled(GOOD, format!("{:.2}", report.perplexity));
    writeln!(f, "perplexity {perplexity}  {}", styled(FAINT, details))?;
    let Some(alone) = report.perplexity_alone else { return Ok(()) };
    let details = styled(FAINT, "by the memory alone, without what the texts say themselves");
    writeln!(f, "perplexity {alone:.2}  {details}")
}

pub(crate) fn score(options: &FileOptions, progress: &Progress) -> anyhow::Result<Box<dyn Report>> {
    let model = snapshot(&options.model, progress)?;
    let texts = read(&options.file, &model)?;
    Ok(Box::new(Printed::new(
        model.score(
            &texts,
            &options.reading.options(ReadOptions::default()),
            &progress.observer(),
        )?,
        print_score,
    )))
}
