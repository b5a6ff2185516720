//! `memo lab realtext`: text read and tokenized, and results printed.

use super::on_grid;
use crate::args::Engine;
use crate::args::lab::{ReadOutKind, RealtextOptions};
use crate::output::{FAINT, GOOD, Report, styled, thousands};
use crate::progress::Progress;
use anyhow::{Context, bail};
use memo::readout::{Backoff, Sum};
use memo::sparse::{Shape, Size};
use memo_lab::realtext;
use memo_text::{Content, Corpus, CorpusEntry, CorpusOptions, Encoding, Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::fmt::{Display, Formatter};
use std::path::Path;

/// What `memo lab realtext` prints.
#[derive(Serialize)]
struct Realtext {
    text: String,
    tokenizer: &'static str,
    vocabulary: usize,
    engine: &'static str,
    documents: usize,
    #[serde(flatten)]
    report: realtext::Report,
}

pub(super) fn realtext(
    options: &RealtextOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    progress.step("reading");
    let encoding = options.tokenizer.encoding();
    let mut memorized = read(&options.text, encoding)?;
    let held_out = match (&options.held_out, options.split) {
        (Some(path), _) => read(path, encoding)?,
        (None, Some(share)) => split(&mut memorized, share)?,
        (None, None) => Vec::new(),
    };
    progress.step("tokenizing");
    let tokenizer = match &options.tokenizer {
        TokenizerSpec::Words => Tokenizer::words(memorized.iter().filter_map(Content::as_text))?,
        spec => Tokenizer::from_spec(spec)?,
    };
    let encode = |texts: &[Content]| -> anyhow::Result<Vec<Vec<u32>>> {
        texts.iter().map(|text| Ok(tokenizer.encode_bytes(text.as_bytes())?)).collect()
    };
    let memorized = encode(&memorized)?;
    let held_out = encode(&held_out)?;

    let tokens: usize = memorized.iter().map(|document| document.len() + 1).sum();
    let parameters = options.params.unwrap_or((options.params_per_token * tokens as f64) as u64);
    let experiment = realtext::Experiment {
        memorized: &memorized,
        held_out: &held_out,
        vocabulary: u32::try_from(tokenizer.vocab_size()).context("the vocabulary is too large")?,
        end: tokenizer.eos(),
        unknown: tokenizer.unknown(),
        size: Size::Parameters(parameters),
        shape: Shape::default(),
        seed: options.grid.seed,
        sample: options.sample,
    };
    if options.curve || options.grid.quick || options.grid.out.is_some() {
        return on_grid(&options.grid, progress, |lab| {
            realtext::curve(lab, &experiment, tokenizer.name())
        });
    }
    let report = memo_lab::on_threads(options.grid.threads, || {
        let step = |what: &str| progress.step(what);
        match (options.engine, options.readout) {
            (Engine::Sparse, ReadOutKind::Backoff) => {
                realtext::run(&experiment, &Backoff::default(), &step)
            }
            (Engine::Sparse, ReadOutKind::Sum) => realtext::run(&experiment, &Sum, &step),
            (Engine::Dense, _) => realtext::run_dense(&experiment, parameters, &step),
        }
    })?;
    Ok(Box::new(Realtext {
        text: options.text.display().to_string(),
        tokenizer: tokenizer.name(),
        vocabulary: tokenizer.vocab_size(),
        engine: match options.engine {
            Engine::Sparse => "sparse",
            Engine::Dense => "dense",
        },
        documents: memorized.len(),
        report,
    }))
}

/// The documents of a file, a folder or standard input; none is an error.
fn read(path: &Path, encoding: Encoding) -> anyhow::Result<Vec<Content>> {
    let how = CorpusOptions { encoding, strict: true, ..CorpusOptions::default() };
    let mut documents = Vec::new();
    for entry in Corpus::open([path], how)? {
        match entry? {
            CorpusEntry::Document(document) => documents.push(document.content),
            CorpusEntry::Skipped(skip) => anstream::eprintln!("skipped {skip}"),
        }
    }
    if documents.is_empty() {
        bail!("{}: nothing to read; give a text that is not empty", path.display());
    }
    Ok(documents)
}

/// Cuts off what is held out: whole lines of a single document, or whole documents.
fn split(documents: &mut Vec<Content>, share: f64) -> anyhow::Result<Vec<Content>> {
    let keep = |of: usize| (of as f64 * share).round() as usize;
    let rest = match documents.as_mut_slice() {
        [Content::Text(text)] => {
            let lines = text.split_inclusive('\n');
            let end = lines.clone().take(keep(lines.count())).map(str::len).sum();
            let rest = text.split_off(end);
            if text.is_empty() || rest.is_empty() { Vec::new() } else { vec![Content::Text(rest)] }
        }
        [Content::Raw(bytes)] => {
            let rest = bytes.split_off(keep(bytes.len()));
            if bytes.is_empty() || rest.is_empty() { Vec::new() } else { vec![Content::Raw(rest)] }
        }
        several => {
            let kept = keep(several.len());
            if kept == 0 { Vec::new() } else { documents.split_off(kept) }
        }
    };
    if rest.is_empty() {
        bail!("--split {share} leaves nothing on one side; give a longer text or another share");
    }
    Ok(rest)
}

impl Display for Realtext {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let r = &self.report;
        let faint = |text: String| styled(FAINT, text);
        let share = |x: f64| styled(GOOD, format!("{:.2} %", 100.0 * x));
        let documents = if self.documents == 1 { "document" } else { "documents" };
        writeln!(
            f,
            "  text        {}  {}",
            self.text,
            faint(format!(
                "{} {documents}, {} tokens, {} (n = {})",
                self.documents,
                thousands(r.tokens as u64),
                self.tokenizer,
                thousands(self.vocabulary as u64)
            ))
        )?;
        writeln!(
            f,
            "  memory      {} cells, {:.1} a token  {}",
            thousands(r.parameters),
            r.parameters_per_token,
            faint(format!(
                "{} engine; {:.0} bytes a token: cells {:.0}, tables {:.0}",
                self.engine, r.bytes_per_token, r.cell_bytes_per_token, r.table_bytes_per_token
            ))
        )?;
        writeln!(
            f,
            "  recall      {}  {}",
            share(r.recall),
            faint(format!("of {} positions", thousands(r.recall_positions as u64)))
        )?;
        writeln!(
            f,
            "    damaged   {}  {}",
            share(r.recall_damaged_prompt),
            faint("one of the last eight prompt tokens replaced".to_owned())
        )?;
        if let Some(perplexity) = r.held_out_perplexity {
            let known = match r.held_out_perplexity_known {
                Some(known) if (known - perplexity).abs() > 1e-9 => {
                    format!("{known:.1} without unknown words")
                }
                _ => String::new(),
            };
            writeln!(f, "  held out    perplexity {perplexity:.1}  {}", faint(known))?;
        }
        writeln!(
            f,
            "  speed       memorize {} tokens/s, retrieve {} tokens/s",
            thousands(r.memorize_tokens_per_second as u64),
            thousands(r.retrieve_tokens_per_second as u64)
        )?;
        writeln!(f, "  forget half of it")?;
        for (name, [before, after]) in
            [("kept", r.recall_kept_half), ("forgotten", r.recall_forgotten_half)]
        {
            writeln!(f, "    {name:10}recall {:.2} % → {:.2} %", 100.0 * before, 100.0 * after)?;
        }
        let verdict = if r.forget_exact { styled(GOOD, "yes") } else { "no".to_owned() };
        writeln!(f, "    equal to a memory that never saw it: {verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_cuts_between_lines_or_documents() {
        let text = |text: &str| Content::Text(text.to_owned());
        let mut one = vec![text("a\nb\nc\nd\ne")];
        assert_eq!(split(&mut one, 0.8).unwrap(), [text("e")]);
        assert_eq!(one, [text("a\nb\nc\nd\n")]);
        let mut several = vec![text("a"), text("b"), text("c"), text("d")];
        assert_eq!(split(&mut several, 0.5).unwrap(), [text("c"), text("d")]);
        assert_eq!(several.len(), 2);
        assert!(split(&mut vec![text("a single line")], 0.8).is_err());
        assert!(split(&mut vec![text("a"), text("b")], 0.1).is_err());
    }
}
