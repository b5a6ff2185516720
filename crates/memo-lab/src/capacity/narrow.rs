//! The paper's warning that a small d/h fails, measured: a square memory of one size, its keys cut into more and more heads.
//!
//! Windows that have nothing in common stay apart however few dimensions a head has, because whole keys are compared. Windows
//! that differ in one token are told apart by that token's d/h dimensions alone.

use crate::{Error, Setting, Share};
use memo::codes::CodeKind;
use memo::dense::{SingleConfig, SingleMemory};
use memo::random::{Draws, Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Windows that differ in their last token only.
pub(super) const FAMILY: usize = 8;

/// Parameters a pair: near the limit for windows that have nothing in common, far from it for families.
pub(super) const PER_PAIR: [usize; 2] = [36, 400];

/// A square memory with some number of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    pub(super) codes: CodeKind,
    pub(super) dim: usize,
    pub(super) heads: usize,
}

impl Narrow {
    pub(super) fn name(&self) -> &'static str {
        match self.codes {
            CodeKind::Gaussian => "Gaussian",
            CodeKind::Hadamard => "Hadamard",
        }
    }
}

impl Setting for Narrow {
    fn key(&self) -> String {
        format!("{}, d = {}, h = {}", self.name(), self.dim, self.heads)
    }

    fn cost(&self) -> f64 {
        1.0 + self.heads as f64 / 32.0
    }
}

/// Recall of both kinds of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recalled {
    pub(super) unrelated: Share,
    pub(super) families: Share,
}

/// Fills two memories, one with windows that have nothing in common, one with families.
pub(super) fn measure(
    narrow: &Narrow,
    vocab: usize,
    seed: u64,
    sample: usize,
) -> Result<Recalled, Error> {
    let Narrow { codes, dim, heads } = *narrow;
    let config = SingleConfig { vocab, heads, head_dim: dim / heads, dim, codes, seed };
    let mut reader = Stream::new(seed, Purpose::Sampling, heads as u32).draws();
    let mut recall = |family: usize, per_pair: usize| -> Result<Share, Error> {
        let mut memory = SingleMemory::new(config.clone())?;
        let count = dim * dim / per_pair / family * family;
        let windows = windows(&mut reader, vocab, heads, count, family);
        let next = reader.tokens(count, vocab);
        memory.memorize_pairs(&windows, &next)?;
        let tried = count.min(sample);
        let answers = memory.predict_pairs(&windows[..tried * heads])?;
        Ok(Share::of(answers.iter().map(|answer| answer.token), next))
    };
    Ok(Recalled { unrelated: recall(1, PER_PAIR[0])?, families: recall(FAMILY, PER_PAIR[1])? })
}

/// Windows in families of `family` that differ in their last token only.
fn windows(
    reader: &mut Draws,
    vocab: usize,
    heads: usize,
    count: usize,
    family: usize,
) -> Vec<u32> {
    let mut windows = Vec::with_capacity(count * heads);
    for _ in 0..count / family {
        let common = reader.tokens(heads - 1, vocab);
        for last in reader.tokens(family, vocab) {
            windows.extend_from_slice(&common);
            windows.push(last);
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_dimensions_a_head_confuse_families_only() {
        let of = |heads| {
            let narrow = Narrow { codes: CodeKind::Hadamard, dim: 256, heads };
            measure(&narrow, 5000, 3, 300).unwrap()
        };
        let (wide, narrow) = (of(2), of(64));
        assert!(wide.families.value() > 0.95, "{wide:?}");
        assert!(narrow.families.value() < 0.8, "{narrow:?}");
        assert!(
            (wide.unrelated.value() - narrow.unrelated.value()).abs() < 0.1,
            "{wide:?} {narrow:?}"
        );
    }
}
