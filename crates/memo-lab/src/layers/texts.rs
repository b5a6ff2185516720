//! The texts of the experiment: random tokens, with a word that returns too often.
//!
//! Nearly as the authors made them: in every chunk, the h tokens from position 5 on are pasted over at some random places, the
//! same places in all chunks of an iteration. What follows such a decoy depends on what came before it. Theirs are pasted
//! from position 5 + h on and so never over the tokens that they are copied from; ours, anywhere.

use memo::random::{Purpose, Stream};

/// Tokens in the vocabulary, as in the authors' runs.
pub(crate) const VOCABULARY: usize = 50_254;

/// Tokens in a chunk.
pub(crate) const CHUNK: usize = 1024;

/// Heads: tokens in a window of the first layer, and in a decoy.
pub(crate) const HEADS: usize = 4;

/// Where the decoy of a chunk is taken from.
const DECOY: usize = 5;

/// The chunks of one iteration.
#[derive(Clone)]
pub(crate) struct Batch {
    pub(crate) chunks: Vec<Vec<u32>>,
    /// Where recall is tried: chunk and position.
    pub(crate) tried: Vec<(usize, usize)>,
}

impl Batch {
    /// The chunks of an iteration, and a random sample of their positions from h on.
    pub(crate) fn new(
        seed: u64,
        iteration: u32,
        chunks: usize,
        decoys: usize,
        sample: usize,
    ) -> Self {
        // Streams are told apart by number: three an iteration.
        let stream = |k| Stream::new(seed, Purpose::Sampling, 3 * iteration + k).draws();
        let mut tokens = stream(0);
        let mut chunks: Vec<Vec<u32>> =
            (0..chunks).map(|_| tokens.tokens(CHUNK, VOCABULARY)).collect();
        let mut places = stream(1);
        let room = (CHUNK - HEADS + 1) as u64;
        let places: Vec<usize> = (0..decoys).map(|_| places.below(room) as usize).collect();
        for chunk in &mut chunks {
            paste(chunk, &places);
        }
        let tried = draw(seed, 3 * iteration + 2, chunks.len(), sample);
        Batch { chunks, tried }
    }

    /// The first iteration's chunks with a second sample of as many positions.
    pub(crate) fn tried_again(mut self, seed: u64) -> Self {
        self.tried = draw(seed, u32::MAX, self.chunks.len(), self.tried.len());
        self
    }

    /// The chunks as texts.
    pub(crate) fn texts(&self) -> Vec<&[u32]> {
        self.chunks.iter().map(Vec::as_slice).collect()
    }

    /// What comes before each position that is tried.
    pub(crate) fn contexts(&self) -> Vec<&[u32]> {
        self.tried.iter().map(|&(chunk, position)| &self.chunks[chunk][..position]).collect()
    }

    /// The token at each position that is tried.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = u32> + '_ {
        self.tried.iter().map(|&(chunk, position)| self.chunks[chunk][position])
    }
}

/// Random positions from h on, with their chunks.
fn draw(seed: u64, stream: u32, chunks: usize, sample: usize) -> Vec<(usize, usize)> {
    let mut drawn = Stream::new(seed, Purpose::Sampling, stream).draws();
    let position = |_| {
        let chunk = drawn.below(chunks as u64) as usize;
        (chunk, HEADS + drawn.below((CHUNK - HEADS) as u64) as usize)
    };
    (0..sample).map(position).collect()
}

/// Pastes a chunk's decoy over the places.
fn paste(chunk: &mut [u32], places: &[usize]) {
    let decoy = chunk[DECOY..DECOY + HEADS].to_vec();
    for &place in places {
        chunk[place..place + HEADS].copy_from_slice(&decoy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoys_stand_at_the_same_places_in_all_chunks() {
        let (plain, with) = (Batch::new(3, 1, 4, 0, 9), Batch::new(3, 1, 4, 6, 9));
        let changed = |chunk: usize| -> Vec<usize> {
            let pairs = plain.chunks[chunk].iter().zip(&with.chunks[chunk]);
            pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect()
        };
        for chunk in 0..4 {
            let decoy = &plain.chunks[chunk][DECOY..DECOY + HEADS];
            let found = with.chunks[chunk].windows(HEADS).filter(|window| *window == decoy).count();
            assert!((5..=7).contains(&found), "{found} decoys");
            assert_eq!(changed(chunk), changed(0));
        }
        assert!((16..=24).contains(&changed(0).len()), "{:?}", changed(0));
        // Different chunks have different decoys, and iterations different texts and places.
        assert_ne!(with.chunks[0][DECOY], with.chunks[1][DECOY]);
        assert_ne!(Batch::new(3, 2, 4, 6, 9).chunks[0], with.chunks[0]);
        assert_eq!(with.tried, plain.tried);
        assert!(with.tried.iter().all(|&(chunk, at)| chunk < 4 && (HEADS..CHUNK).contains(&at)));
    }
}
