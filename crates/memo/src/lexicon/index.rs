//! From a unit's hash to its place in a lexicon: asked for every unit of a text.

/// Hashes in their order, found by their first bits.
#[derive(Clone, Debug)]
pub(super) struct Index {
    hashes: Box<[u64]>,
    /// The word of each hash.
    words: Box<[u32]>,
    /// Where the hashes with the same first bits begin, with one past the last. About as many as there are hashes.
    starts: Box<[u32]>,
    /// How far the first bits are to be shifted.
    shift: u32,
}

impl Index {
    /// The index of the words 0, 1, … with these hashes; two words with the same hash if there are any.
    pub(super) fn new(hashes: impl Iterator<Item = u64>) -> Result<Self, (u32, u32)> {
        let mut pairs: Vec<(u64, u32)> = hashes.zip(0..).collect();
        pairs.sort_unstable();
        if let Some(pair) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err((pair[0].1, pair[1].1));
        }
        // At least one bit, since a shift by all 64 would not be one.
        let bits = pairs.len().next_power_of_two().ilog2().max(1);
        let shift = u64::BITS - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        pairs.iter().for_each(|&(hash, _)| starts[(hash >> shift) as usize + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let (hashes, words): (Vec<u64>, Vec<u32>) = pairs.into_iter().unzip();
        Ok(Index { hashes: hashes.into(), words: words.into(), starts: starts.into(), shift })
    }

    #[inline]
    pub(super) fn find(&self, hash: u64) -> Option<u32> {
        let first = (hash >> self.shift) as usize;
        let (start, end) = (self.starts[first] as usize, self.starts[first + 1] as usize);
        let at = self.hashes[start..end].iter().position(|&other| other == hash)?;
        Some(self.words[start + at])
    }
}
