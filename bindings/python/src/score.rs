//! Texts read some positions at a time, so that Ctrl-C is heard.

use crate::error::Refusal;
use crate::work::Watch;
use memo_store::{ReadOptions, Snapshot};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Positions that are read at a time.
pub(crate) const SLICE: usize = 2048;

/// Some positions in parts of at most `size`.
pub(crate) fn slices(positions: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = positions.end;
    positions.step_by(size).map(move |start| start..end.min(start + size))
}

/// For each text, and where in it to begin: the log-probabilities of its tokens from there on, and whether each was the most
/// probable one.
pub(crate) fn score_all(
    snapshot: &Snapshot,
    requests: &[(Vec<u32>, usize)],
    read: &ReadOptions,
    watch: &Watch,
) -> Result<Vec<(Vec<f64>, bool)>, Refusal> {
    let positions = |(text, start): &(Vec<u32>, usize)| text.len().saturating_sub(*start);
    let (done, total) = (AtomicUsize::new(0), requests.iter().map(positions).sum());
    // Short texts keep all cores busy only together.
    let each = requests.par_iter().map(|(text, start)| {
        if *start > text.len() {
            let why = format!("start {start} of a text of {} tokens", text.len());
            return Err(Refusal::invalid(why));
        }
        let (mut logs, mut greedy) = (Vec::new(), true);
        for slice in slices(*start..text.len(), SLICE) {
            watch.at("scoring", done.load(Ordering::Relaxed), total)?;
            let scores = snapshot.token_scores(text, slice.clone(), 0, read)?;
            greedy &= scores.iter().zip(&text[slice]).all(|(score, token)| score.best == *token);
            done.fetch_add(scores.len(), Ordering::Relaxed);
            logs.extend(scores.into_iter().map(|score| score.logprob));
        }
        Ok((logs, greedy))
    });
    each.collect()
}
