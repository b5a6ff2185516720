//! `memo-lab realtext`: one measurement of a text, or the curve of many.

use crate::args::{Engine, GridOptions, RealtextOptions};
use crate::on_grid;
use anyhow::bail;
use memo_lab::realtext;
use memo_terminal::measure::Texts;
use memo_terminal::output::Report;
use memo_terminal::progress::Progress;
use memo_text::Content;

pub(super) fn run(
    options: &RealtextOptions,
    progress: &Progress,
) -> anyhow::Result<Box<dyn Report>> {
    let mut texts = Texts::read(&options.measure, progress)?;
    if let Some(share) = options.split {
        texts.held_out = split(&mut texts.memorized, share)?;
    }
    let encoded = texts.encode(&options.measure, progress)?;
    if options.curve || options.quick || options.out.is_some() {
        let (quick, out) = (options.quick, options.out.clone());
        let (seed, threads) = (options.measure.seed, options.measure.threads);
        let (grid, experiment) = (GridOptions { quick, seed, threads, out }, encoded.experiment()?);
        return on_grid(&grid, progress, |lab| {
            realtext::curve(lab, &experiment, encoded.tokenizer.name())
        });
    }
    match options.engine {
        Engine::Sparse => encoded.sparse(progress),
        Engine::Dense => encoded.dense(progress),
    }
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
