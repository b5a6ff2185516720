//! Randomness that never changes.
//!
//! Every code, projection and permutation of a model is a function of its seed. They are drawn from
//! [Philox4x32-10](philox), a counter-based generator: block number i of a stream can be computed on its own, so
//! nothing needs storing and threads need no coordination. Gaussians use only additions, multiplications,
//! divisions and square roots, which IEEE 754 defines to the last bit, and none of the platform's mathematical
//! functions. The same seed therefore gives the same model on every machine, forever; golden values in the tests
//! hold us to it.

use crate::kernels;

/// What a stream is for. Streams of different purposes are independent. The numbers are part of the model format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Gaussian token codes: the rows of the paper's E.
    GaussianCodes = 1,
    /// The sign vectors of Hadamard token codes.
    HadamardSigns = 2,
    /// W_V, the transform from a code to a head of a key.
    Reduction = 3,
    /// Prj, the composition of a block's codes into one.
    Composition = 4,
    /// Choices that experiments and measurements make: samples, random texts.
    Sampling = 5,
    /// The words that the sparse engine's keys grow from.
    SparseKeys = 16,
}

/// One block of Philox4x32-10: four 32-bit words from a 128-bit counter and a 64-bit key.
///
/// ```
/// use memo::random::philox;
/// assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// ```
#[inline(always)]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
    }
    counter
}

/// An endless, randomly accessible sequence of random words.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    seed: u64,
    purpose: u32,
    index: u32,
}

impl Stream {
    /// The stream of `seed` for one purpose; `index` tells apart layers, heads or blocks.
    pub fn new(seed: u64, purpose: Purpose, index: u32) -> Self {
        Stream { seed, purpose: purpose as u32, index }
    }

    /// Block number `i`: four random words.
    #[inline(always)]
    pub fn block(&self, i: u64) -> [u32; 4] {
        let counter = [i as u32, (i >> 32) as u32, self.purpose, self.index];
        philox(counter, [self.seed as u32, (self.seed >> 32) as u32])
    }

    /// Fills `out` with independent N(0, scale²) values, beginning with the first value of block `first`
    /// (four values a block).
    ///
    /// ```
    /// use memo::random::{Purpose, Stream};
    /// let stream = Stream::new(7, Purpose::GaussianCodes, 0);
    /// let (mut whole, mut tail) = ([0.0; 12], [0.0; 8]);
    /// stream.gaussians(0, 1.0, &mut whole);
    /// stream.gaussians(1, 1.0, &mut tail);
    /// assert_eq!(whole[4..], tail);
    /// ```
    pub fn gaussians(&self, first: u64, scale: f32, out: &mut [f32]) {
        kernels::gaussians(self, first, scale, out);
    }

    /// Fills `out` with +1 and −1, one raw bit each, beginning with the first bit of block `first`
    /// (128 values a block; bit 0 is +1).
    pub fn signs(&self, first: u64, out: &mut [f32]) {
        for (i, chunk) in out.chunks_mut(128).enumerate() {
            let words = self.block(first + i as u64);
            for (k, sign) in chunk.iter_mut().enumerate() {
                *sign = if words[k / 32] >> (k % 32) & 1 == 0 { 1.0 } else { -1.0 };
            }
        }
    }

    /// A sequential reader of this stream's 64-bit words.
    pub fn draws(self) -> Draws {
        Draws { stream: self, next: 0 }
    }
}

/// Reads a stream from its beginning, two 64-bit words a block.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    stream: Stream,
    next: u64,
}

impl Draws {
    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        let block = self.stream.block(self.next / 2);
        let half = (self.next % 2) as usize * 2;
        self.next += 1;
        u64::from(block[half]) | u64::from(block[half + 1]) << 32
    }

    /// A number below `n`, each equally likely up to one part in 2⁶⁴/n.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        ((u128::from(self.word()) * u128::from(n)) >> 64) as u64
    }

    /// A uniformly random order of `0..n` (Fisher–Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(k as u64 + 1) as usize);
        }
        order
    }

    /// `n` random signs, +1 or −1, one raw bit each, 64 a word.
    pub fn signs(&mut self, n: usize) -> Vec<f32> {
        let mut signs = Vec::with_capacity(n);
        while signs.len() < n {
            let word = self.word();
            let count = 64.min(n - signs.len());
            signs.extend((0..count).map(|k| if word >> k & 1 == 0 { 1.0 } else { -1.0 }));
        }
        signs
    }

    /// `len` tokens drawn uniformly from a vocabulary of `n`.
    pub fn tokens(&mut self, len: usize, n: usize) -> Vec<u32> {
        (0..len).map(|_| self.below(n as u64) as u32).collect()
    }
}

/// Two words into one, well mixed: the folded 128-bit product of both.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors published with the generator.
    #[test]
    fn philox_known_answers() {
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, answer) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(philox(counter, key), answer);
        }
    }

    #[test]
    fn gaussians_have_the_right_moments() {
        let n = 400_000;
        let mut x = vec![0.0f32; n];
        Stream::new(5, Purpose::GaussianCodes, 0).gaussians(0, 2.0, &mut x);
        let moment = |p: i32| {
            x.iter().map(|&v| libm::pow(f64::from(v) / 2.0, f64::from(p))).sum::<f64>() / n as f64
        };
        // Standard errors of the first four moments are 1, √2, √15 and √96 over √n; five of them are allowed.
        let root = (n as f64).sqrt();
        for (p, expected, deviation) in
            [(1, 0.0, 1.0), (2, 1.0, 1.42), (3, 0.0, 3.88), (4, 3.0, 9.8)]
        {
            assert!(
                (moment(p) - expected).abs() < 5.0 * deviation / root,
                "moment {p}: {}",
                moment(p)
            );
        }
    }

    #[test]
    fn permutations_are_permutations_and_signs_are_bits() {
        let mut reader = Stream::new(9, Purpose::Sampling, 0).draws();
        for n in [0, 1, 2, 100] {
            let mut order = reader.permutation(n);
            order.sort_unstable();
            assert_eq!(order, (0..n as u32).collect::<Vec<_>>());
        }
        let stream = Stream::new(9, Purpose::HadamardSigns, 1);
        let mut signs = vec![0.0; 300];
        stream.signs(0, &mut signs);
        assert_eq!(signs[128] < 0.0, stream.block(1)[0] & 1 == 1);
        assert!(signs.iter().all(|s| s.abs() == 1.0));
    }
}
