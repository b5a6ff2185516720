//! Scoring: how probable a memory finds a text.

use super::{ReadOut, Scratch};
use crate::sparse::{Error, Memory};
use rayon::prelude::*;

/// The natural logarithm of each token's probability given those before it, and of the end after the last: one more
/// than there are tokens. Positions are independent, so all cores work on them; the result does not depend on how many.
pub fn score(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<f64>, Error> {
    let end = memory.settings().end;
    each(memory, readout, text, |context, p, scratch| {
        let token = text.get(p).copied().unwrap_or(end);
        Ok(libm::log(readout.distribution(memory, context, scratch)?.probability(token)))
    })
}

/// The most probable token at each position of a text, and after its last token.
pub fn argmax_all(memory: &Memory, readout: &dyn ReadOut, text: &[u32]) -> Result<Vec<u32>, Error> {
    each(memory, readout, text, |context, _, scratch| readout.best(memory, context, scratch))
}

fn each<T: Send>(
    memory: &Memory,
    readout: &dyn ReadOut,
    text: &[u32],
    read: impl Fn(&[u32], usize, &mut Scratch) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    memory.view(text)?;
    let window = readout.window(memory);
    (0..text.len() + 1)
        .into_par_iter()
        .with_min_len(8)
        .map_init(Scratch::default, |scratch, p| {
            read(&text[p.saturating_sub(window)..p], p, scratch)
        })
        .collect()
}
