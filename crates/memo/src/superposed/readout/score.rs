//! Scoring: the probabilities that a memory gives to a text.

use super::{Distribution, ReadOut, Scratch};
use crate::sparse::check_positions;
use crate::superposed::{Error, Memory};
use rayon::prelude::*;
use std::ops::Range;

/// Returns the natural logarithm of each token's probability given those before it, and of the end after the last: one more
/// than there are tokens. Positions are independent, so all cores work on them; the result does not depend on how many.
pub fn score(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<f64>, Error> {
    score_at(memory, readout, text, 0..text.len() + 1)
}

/// Scores some positions of a text, within `0..text.len() + 1`.
pub fn score_at(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
) -> Result<Vec<f64>, Error> {
    let end = memory.settings().end;
    map_distributions(memory, readout, text, positions, |p, distribution| {
        libm::log(distribution.probability(text.get(p).copied().unwrap_or(end)))
    })
}

/// Calls `look` with the distribution at each of some positions of a text, within `0..text.len() + 1`, and returns the results.
pub fn map_distributions<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
    look: impl Fn(usize, &Distribution<'_>) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let mut seen =
        map_distributions_all(memory, readout, &[(text, positions)], |_, p, d| look(p, d))?;
    Ok(seen.pop().unwrap_or_default())
}

/// Does the same for many texts at once, each with its positions; `look` is given the number of the text first. Short texts keep
/// all cores busy only together.
pub fn map_distributions_all<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    texts: &[(&[u32], Range<usize>)],
    look: impl Fn(usize, usize, &Distribution<'_>) -> T + Sync,
) -> Result<Vec<Vec<T>>, Error> {
    each(memory, readout, texts, |text, context, p, scratch| {
        Ok(look(text, p, &readout.distribution(memory, context, scratch)?))
    })
}

/// Returns the most probable token at each position of a text, and after its last token.
pub fn best_all(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<u32>, Error> {
    best_at(memory, readout, text, 0..text.len() + 1)
}

/// Returns the most probable token at some positions of a text, within `0..text.len() + 1`.
pub fn best_at(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
) -> Result<Vec<u32>, Error> {
    let mut best = each(memory, readout, &[(text, positions)], |_, context, _, scratch| {
        readout.best(memory, context, scratch)
    })?;
    Ok(best.pop().unwrap_or_default())
}

fn each<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    texts: &[(&[u32], Range<usize>)],
    read: impl Fn(usize, &[u32], usize, &mut Scratch) -> Result<T, Error> + Sync,
) -> Result<Vec<Vec<T>>, Error> {
    let window = readout.window(memory);
    for (text, positions) in texts {
        check_positions(memory.settings().vocabulary, text, positions, window)?;
    }
    let all = texts.iter().enumerate();
    let all: Vec<(usize, usize)> =
        all.flat_map(|(i, (_, positions))| positions.clone().map(move |p| (i, p))).collect();
    let seen: Vec<T> = all
        .into_par_iter()
        .with_min_len(8)
        .map_init(Scratch::default, |scratch, (i, p)| {
            read(i, &texts[i].0[p.saturating_sub(window)..p], p, scratch)
        })
        .collect::<Result<_, Error>>()?;
    let mut seen = seen.into_iter();
    Ok(texts.iter().map(|(_, positions)| seen.by_ref().take(positions.len()).collect()).collect())
}
