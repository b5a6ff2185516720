//! Token codes: nearly orthogonal random vectors, one per token (paper, section 2).
//!
//! Two tokens' codes have a product close to 0, a code with itself close to 1. So a bag of tokens can be kept as
//! the sum of its codes, and the product of that sum with a token's code counts the token:
//!
//! ```
//! use memo::codes::{CodeKind, TokenCodes};
//! let codes = TokenCodes::new(CodeKind::Gaussian, 1000, 4096, 42)?;
//! let bag = codes.bag(&[3, 7, 3, 900, 3]);
//! assert!((codes.count(&bag, 3) - 3.0).abs() < 0.3);
//! assert!(codes.count(&bag, 4).abs() < 0.3);
//! # Ok::<(), memo::ConfigError>(())
//! ```
//!
//! Two kinds: [Gaussian](CodeKind::Gaussian), as in the paper, stored as the n×d matrix E; and
//! [Hadamard](CodeKind::Hadamard), generated from a few bits and decoded by fast transforms.

mod gaussian;
mod hadamard;
pub mod orthogonality;

use self::gaussian::GaussianCodes;
pub(crate) use self::hadamard::HadamardCodes;
use crate::error::ConfigError;
use crate::kernels;
use rayon::prelude::*;

/// Which codes tokens have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CodeKind {
    /// Entries drawn from N(0, 1/d); the paper's choice. Takes n·d floats.
    #[default]
    Gaussian,
    /// Entries ±1/√d: row t mod d of a Walsh–Hadamard matrix under random signs of its own for each run of d
    /// tokens. Tokens of one run are exactly orthogonal, nothing is stored, and all n scores of a vector take
    /// n/d fast transforms. Needs d to be a power of two.
    Hadamard,
}

/// The codes of a vocabulary.
#[derive(Clone, Debug)]
pub struct TokenCodes(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Gaussian(GaussianCodes),
    Hadamard(HadamardCodes),
}

impl TokenCodes {
    /// Codes of dimension `dim` for tokens `0..vocab`. The code of a token depends on the seed, the dimension and
    /// its id alone, not on the size of the vocabulary.
    pub fn new(kind: CodeKind, vocab: usize, dim: usize, seed: u64) -> Result<Self, ConfigError> {
        check(kind, vocab, dim)?;
        crate::error::check_memory(bytes_needed(kind, vocab, dim), u64::MAX)?;
        Ok(TokenCodes(match kind {
            CodeKind::Gaussian => Kind::Gaussian(GaussianCodes::new(vocab, dim, seed)),
            CodeKind::Hadamard => Kind::Hadamard(HadamardCodes::new(vocab, dim, seed)),
        }))
    }

    /// Which kind these are.
    pub fn kind(&self) -> CodeKind {
        match self.0 {
            Kind::Gaussian(_) => CodeKind::Gaussian,
            Kind::Hadamard(_) => CodeKind::Hadamard,
        }
    }

    /// The number n of tokens.
    pub fn vocab(&self) -> usize {
        match &self.0 {
            Kind::Gaussian(codes) => codes.vocab(),
            Kind::Hadamard(codes) => codes.vocab(),
        }
    }

    /// The dimension d of a code.
    pub fn dim(&self) -> usize {
        match &self.0 {
            Kind::Gaussian(codes) => codes.dim(),
            Kind::Hadamard(codes) => codes.dim(),
        }
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Kind::Gaussian(codes) => codes.bytes(),
            Kind::Hadamard(codes) => codes.bytes(),
        }
    }

    /// The code of one token.
    ///
    /// # Panics
    /// If the token is not in the vocabulary.
    pub fn code(&self, token: u32) -> Vec<f32> {
        let mut code = vec![0.0; self.dim()];
        self.write(token, &mut code);
        code
    }

    /// The codes of several tokens, one row each.
    ///
    /// # Panics
    /// If a token is not in the vocabulary.
    pub fn rows(&self, tokens: &[u32]) -> Vec<f32> {
        let mut rows = vec![0.0; tokens.len() * self.dim()];
        self.write_rows(tokens, &mut rows);
        rows
    }

    /// All codes, row by row, if they are stored; Hadamard codes are made when they are needed.
    pub fn stored(&self) -> Option<&[f32]> {
        match &self.0 {
            Kind::Gaussian(codes) => Some(codes.table()),
            Kind::Hadamard(_) => None,
        }
    }

    /// Writes the codes of several tokens to the rows of `out`.
    pub(crate) fn write_rows(&self, tokens: &[u32], out: &mut [f32]) {
        out.par_chunks_exact_mut(self.dim()).zip(tokens).for_each(|(row, &token)| {
            self.write(token, row);
        });
    }

    /// Writes the code of one token to `out`.
    pub(crate) fn write(&self, token: u32, out: &mut [f32]) {
        assert!((token as usize) < self.vocab(), "token {token} of {}", self.vocab());
        match &self.0 {
            Kind::Gaussian(codes) => out.copy_from_slice(codes.row(token)),
            Kind::Hadamard(codes) => codes.write(token, out),
        }
    }

    /// The sum of the codes of a bag of tokens.
    pub fn bag(&self, tokens: &[u32]) -> Vec<f32> {
        let (mut bag, mut code) = (vec![0.0; self.dim()], vec![0.0; self.dim()]);
        for &token in tokens {
            self.write(token, &mut code);
            kernels::add(&mut bag, &code);
        }
        bag
    }

    /// About how many times `token` is in a bag: the product of its code with the bag.
    pub fn count(&self, bag: &[f32], token: u32) -> f32 {
        kernels::dot(&self.code(token), bag)
    }

    /// The products of one or more vectors (rows of d values) with the code of every token: the paper's `E·ŷ`, one
    /// row of n scores per vector.
    pub fn scores(&self, vectors: &[f32]) -> Vec<f32> {
        let n = self.vocab();
        let mut scores = vec![0.0; vectors.len() / self.dim() * n];
        let mut rows: Vec<&mut [f32]> = scores.chunks_exact_mut(n).collect();
        self.scan(vectors, &mut rows, |row, first, part| {
            row[first..][..part.len()].copy_from_slice(part);
        });
        scores
    }

    /// The token with the largest product for each vector, the lowest id among equals, and that product.
    pub fn best(&self, vectors: &[f32]) -> Vec<(u32, f32)> {
        let mut best = vec![(0, f32::NEG_INFINITY); vectors.len() / self.dim()];
        self.scan(vectors, &mut best, |best, first, part| {
            let top = kernels::max(part);
            if top > best.1 {
                let k = part.iter().position(|&score| score == top).unwrap_or(0);
                *best = ((first + k) as u32, top);
            }
        });
        best
    }

    /// Calls `each(result, first token, scores)` for runs of tokens in increasing order, with one result per vector,
    /// so that the n scores of a whole batch need not be held at once.
    fn scan<T: Send>(
        &self,
        vectors: &[f32],
        results: &mut [T],
        each: impl Fn(&mut T, usize, &[f32]) + Sync,
    ) {
        assert_eq!(vectors.len(), results.len() * self.dim(), "vectors of {} values", self.dim());
        match &self.0 {
            Kind::Gaussian(codes) => codes.scan(vectors, results, each),
            Kind::Hadamard(codes) => codes.scan(vectors, results, each),
        }
    }

    /// The Hadamard codes inside, for the fast update of a memory.
    pub(crate) fn hadamard(&self) -> Option<&HadamardCodes> {
        match &self.0 {
            Kind::Gaussian(_) => None,
            Kind::Hadamard(codes) => Some(codes),
        }
    }
}

/// Checks a vocabulary and dimension for a kind of codes.
pub(crate) fn check(kind: CodeKind, vocab: usize, dim: usize) -> Result<(), ConfigError> {
    if vocab == 0 {
        return Err(ConfigError::EmptyVocabulary);
    }
    if u32::try_from(vocab - 1).is_err() {
        return Err(ConfigError::VocabularyTooLarge(vocab));
    }
    if dim == 0 {
        return Err(ConfigError::ZeroDimension { name: "d" });
    }
    if kind == CodeKind::Hadamard && !dim.is_power_of_two() {
        return Err(ConfigError::NotPowerOfTwo { name: "d", value: dim });
    }
    Ok(())
}

/// Bytes that codes will hold; `None` when the number overflows.
pub(crate) fn bytes_needed(kind: CodeKind, vocab: usize, dim: usize) -> Option<u64> {
    let values = match kind {
        CodeKind::Gaussian => (vocab as u64).checked_mul(dim as u64)?,
        CodeKind::Hadamard => (vocab as u64).checked_next_multiple_of(dim as u64)?,
    };
    values.checked_mul(4)
}
