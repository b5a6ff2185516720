//! Scoring: how probable a memory finds a text.

use super::{Distribution, ReadOut, Scratch};
use crate::sparse::{Error, Memory};
use rayon::prelude::*;
use std::ops::Range;

/// The natural logarithm of each token's probability given those before it, and of the end after the last: one more
/// than there are tokens. Positions are independent, so all cores work on them; the result does not depend on how many.
pub fn score(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<f64>, Error> {
    score_at(memory, readout, text, 0..text.len() + 1)
}

/// The same for some positions of a text, within `0..text.len() + 1`.
pub fn score_at(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
) -> Result<Vec<f64>, Error> {
    let end = memory.settings().end;
    look_at(memory, readout, text, positions, |p, distribution| {
        libm::log(distribution.probability(text.get(p).copied().unwrap_or(end)))
    })
}

/// Whatever `look` sees in the distribution at each of some positions of a text, within `0..text.len() + 1`.
pub fn look_at<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
    look: impl Fn(usize, &Distribution<'_>) -> T + Sync,
) -> Result<Vec<T>, Error> {
    each(memory, readout, text, positions, |context, p, scratch| {
        Ok(look(p, &readout.distribution(memory, context, scratch)?))
    })
}

/// The most probable token at each position of a text, and after its last token.
pub fn argmax_all(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<u32>, Error> {
    argmax_at(memory, readout, text, 0..text.len() + 1)
}

/// The same for some positions of a text, within `0..text.len() + 1`.
pub fn argmax_at(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
) -> Result<Vec<u32>, Error> {
    each(memory, readout, text, positions, |context, _, scratch| {
        readout.best(memory, context, scratch)
    })
}

fn each<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    positions: Range<usize>,
    read: impl Fn(&[u32], usize, &mut Scratch) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let Range { start, end } = positions;
    if start > end || end > text.len() + 1 {
        return Err(Error::Range { start, end, positions: text.len() + 1 });
    }
    let window = readout.window(memory);
    memory.view(&text[start.saturating_sub(window)..end.min(text.len())])?;
    positions
        .into_par_iter()
        .with_min_len(8)
        .map_init(Scratch::default, |scratch, p| {
            read(&text[p.saturating_sub(window)..p], p, scratch)
        })
        .collect()
}
