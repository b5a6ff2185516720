//! `memo-lab realtext`: one measurement of a text, or the table of many.

use crate::args::{Engine, GridOptions, RealtextOptions};
use crate::{on_grid, paths};
use anyhow::bail;
use memo_lab::realtext::{self, DENSE_CELLS_PER_TOKEN, Sample};
use memo_terminal::measure::{Encoded, Texts};
use memo_terminal::output::Report;
use memo_terminal::progress::Progress;
use memo_text::Content;
use std::path::Path;

pub(super) fn run(
    options: &RealtextOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let encode = |text: &Path| -> anyhow::Result<Encoded<'_>> {
        let mut texts = Texts::read(text, &options.options, progress)?;
        if let Some(share) = options.split {
            texts.held_out = split(&mut texts.memorized, share)?;
        }
        texts.encode(&options.options, progress)
    };
    let table = options.table || options.quick || options.out.is_some();
    if let ([text], false) = (&options.text[..], table) {
        let encoded = encode(text)?;
        return match options.engine {
            Engine::Sparse => encoded.sparse(progress),
            Engine::Dense => {
                let experiment = encoded.experiment()?;
                let tokens: usize = experiment.memorized.iter().map(|d| d.len() + 1).sum();
                encoded.dense(DENSE_CELLS_PER_TOKEN * tokens as u64, progress)
            }
        };
    }
    let encoded: Vec<Encoded<'_>> =
        options.text.iter().map(|text| encode(text)).collect::<Result<_, _>>()?;
    let samples = options.text.iter().zip(&encoded).map(|(text, encoded)| {
        let name = text.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Sample { name, experiment: encoded.experiment()? })
    });
    let samples: Vec<Sample<'_>> = samples.collect::<anyhow::Result<_>>()?;
    let tokenizer = encoded.first().map_or("", |encoded| encoded.tokenizer.name());
    let (quick, out) = (options.quick, options.out.clone());
    let (seed, threads) = (options.options.seed, options.options.threads);
    let grid = GridOptions { quick, seed, threads, out };
    on_grid(&grid, &paths(&options.text), progress, |lab| realtext::run(lab, &samples, tokenizer))
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
