//! Texts read some positions at a time, so that Ctrl-C is heard.

use crate::error::Refusal;
use crate::work::Watch;
use memo::readout::{Backoff, map_distributions_all};
use memo::sparse::Memory;
use std::ops::Range;

/// Positions that are read at a time.
pub(crate) const SLICE: usize = 2048;

/// Refuses tokens outside the vocabulary.
pub(crate) fn check(tokens: &[u32], vocabulary: usize) -> Result<(), Refusal> {
    match tokens.iter().find(|token| **token as usize >= vocabulary) {
        Some(token) => Err(Refusal::invalid(format!(
            "token {token} is outside the vocabulary of {vocabulary}"
        ))),
        None => Ok(()),
    }
}

/// Some positions in parts of at most `size`.
pub(crate) fn slices(positions: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = positions.end;
    positions.step_by(size).map(move |start| start..end.min(start + size))
}

/// Scores requests, so many positions at a time.
pub(crate) fn score_all(
    memory: &Memory,
    requests: &[(Vec<u32>, usize)],
    watch: &Watch,
) -> Result<Vec<(Vec<f64>, bool)>, Refusal> {
    let mut scored: Vec<(Vec<f64>, bool)> = requests.iter().map(|_| (Vec::new(), true)).collect();
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    for (i, (text, start)) in requests.iter().enumerate() {
        if *start > text.len() {
            let why = format!("start {start} of a text of {} tokens", text.len());
            return Err(Refusal::invalid(why));
        }
        check(text, memory.settings().vocabulary as usize)?;
        parts.extend(slices(*start..text.len(), SLICE).map(|slice| (i, slice)));
    }
    let whole: usize = parts.iter().map(|(_, slice)| slice.len()).sum();
    let (mut first, mut done) = (0, 0);
    while first < parts.len() {
        watch.at("scoring", done, whole)?;
        let (mut last, mut positions) = (first, 0);
        while last < parts.len() && (last == first || positions + parts[last].1.len() <= SLICE) {
            positions += parts[last].1.len();
            last += 1;
        }
        let together = &parts[first..last];
        let texts: Vec<(&[u32], Range<usize>)> =
            together.iter().map(|(i, slice)| (&requests[*i].0[..], slice.clone())).collect();
        let seen = map_distributions_all(
            memory,
            &Backoff::default(),
            &texts,
            |which, p, distribution| {
                let token = texts[which].0[p];
                (libm::log(distribution.probability(token)), distribution.best() == token)
            },
        )?;
        for ((i, _), seen) in together.iter().zip(seen) {
            let (logs, greedy) = &mut scored[*i];
            *greedy &= seen.iter().all(|(_, best)| *best);
            logs.extend(seen.iter().map(|(log, _)| log));
        }
        (first, done) = (last, done + positions);
    }
    Ok(scored)
}
