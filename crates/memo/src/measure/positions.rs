//! Where recall is tried: all positions of some documents, or a random sample; with whole prompts and damaged ones.

use crate::random::{Draws, Purpose, Stream};

/// Tokens of prompt before a position.
const PROMPT: usize = 64;

/// What comes before a position, and what should be recalled there.
pub(super) type Position<'a> = (&'a [u32], u32);

/// `count` random positions of the documents, or all of them if it is 0. Positions have a full prompt before them; a
/// document that is too short for one is tried at its last token.
pub(super) fn sample<'a>(documents: &[&'a [u32]], count: usize, seed: u64) -> Vec<Position<'a>> {
    let all: Vec<(usize, usize)> = documents
        .iter()
        .enumerate()
        .filter(|(_, document)| !document.is_empty())
        .flat_map(|(d, document)| {
            (PROMPT.min(document.len() - 1)..document.len()).map(move |p| (d, p))
        })
        .collect();
    let position = |&(d, p): &(usize, usize)| -> Position<'a> {
        (&documents[d][p.saturating_sub(PROMPT)..p], documents[d][p])
    };
    if count == 0 || count >= all.len() {
        return all.iter().map(position).collect();
    }
    let mut reader = Stream::new(seed, Purpose::Sampling, 1).draws();
    (0..count).map(|_| position(&all[reader.below(all.len() as u64) as usize])).collect()
}

/// The same prompts with one of their last eight tokens replaced by a random other one, `end` excepted.
pub(super) fn damaged(
    positions: &[Position<'_>],
    vocabulary: u32,
    end: u32,
    seed: u64,
) -> Vec<(Vec<u32>, u32)> {
    let mut reader = Stream::new(seed, Purpose::Sampling, 2).draws();
    let replace = |reader: &mut Draws, old: u32| loop {
        let new = reader.below(u64::from(vocabulary)) as u32;
        if new != end && (new != old || vocabulary <= 2) {
            return new;
        }
    };
    positions
        .iter()
        .filter(|(prompt, _)| !prompt.is_empty())
        .map(|(prompt, token)| {
            let mut prompt = prompt.to_vec();
            let place = prompt.len() - 1 - reader.below(prompt.len().min(8) as u64) as usize;
            prompt[place] = replace(&mut reader, prompt[place]);
            (prompt, *token)
        })
        .collect()
}
