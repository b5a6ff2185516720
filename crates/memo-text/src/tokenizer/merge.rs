//! Byte-pair merging in O(n log n), whatever the piece.
//!
//! The rule is that of the published encoders: while two neighbouring parts together form a known
//! token, join the pair whose token has the lowest rank, and the leftmost of these if there are
//! several. Rescanning all parts after each join is the simple way to do it, and quadratic: a
//! megabyte without a space, such as pasted base64, would take 10¹² steps. Here the candidate pairs
//! wait in a heap instead, and the parts form a linked list over byte positions. The simple way is
//! kept as the tests' oracle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No token; above every rank.
const NONE: u32 = u32::MAX;

/// One part of the piece, at the index of its first byte.
#[derive(Clone, Copy)]
struct Part {
    /// Where the part before this one starts.
    prev: usize,
    /// Where this part ends, which is where the next one starts.
    end: usize,
    /// The rank of this part and the next one together. A heap entry that disagrees is out of date.
    pair: u32,
}

/// The work space of [`merge`], kept between pieces so that short ones need no allocation.
#[derive(Default)]
pub(super) struct Scratch {
    parts: Vec<Part>,
    heap: BinaryHeap<Reverse<(u32, usize)>>,
}

/// Cuts `piece` into tokens and calls `emit` with each token's bytes, in order.
///
/// `rank` gives the rank of the token that consists of exactly these bytes, if there is one.
pub(super) fn merge<'p>(
    piece: &'p [u8],
    scratch: &mut Scratch,
    rank: impl Fn(&[u8]) -> Option<u32>,
    mut emit: impl FnMut(&'p [u8]),
) {
    let n = piece.len();
    let Scratch { parts, heap } = scratch;
    parts.clear();
    heap.clear();

    for start in 0..n {
        let pair = piece.get(start..start + 2).and_then(&rank).unwrap_or(NONE);
        parts.push(Part { prev: start.wrapping_sub(1), end: start + 1, pair });
        if pair != NONE {
            heap.push(Reverse((pair, start)));
        }
    }

    while let Some(Reverse((found, left))) = heap.pop() {
        if parts[left].pair != found {
            continue;
        }
        // A pair has a right half, so `right` is a part; what follows it may be the end.
        let right = parts[left].end;
        let end = parts[right].end;
        parts[right].pair = NONE;
        parts[left].end = end;
        if end < n {
            parts[end].prev = left;
        }
        let before = if left > 0 { parts[left].prev } else { left };
        for start in [left, before] {
            let next = parts[start].end;
            let joined =
                if next < n { rank(&piece[start..parts[next].end]).unwrap_or(NONE) } else { NONE };
            if parts[start].pair != joined {
                parts[start].pair = joined;
                if joined != NONE {
                    heap.push(Reverse((joined, start)));
                }
            }
        }
    }

    let mut start = 0;
    while start < n {
        let end = parts[start].end;
        emit(&piece[start..end]);
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The rule as it is written, by rescanning.
    fn naive(piece: &[u8], ranks: &HashMap<Vec<u8>, u32>) -> Vec<Vec<u8>> {
        let mut parts: Vec<Vec<u8>> = piece.iter().map(|&b| vec![b]).collect();
        loop {
            let best = parts
                .windows(2)
                .enumerate()
                .filter_map(|(i, w)| ranks.get(&w.concat()).map(|&r| (r, i)))
                .min();
            let Some((_, i)) = best else { return parts };
            let right = parts.remove(i + 1);
            parts[i].extend(right);
        }
    }

    fn heap(piece: &[u8], ranks: &HashMap<Vec<u8>, u32>, scratch: &mut Scratch) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        merge(piece, scratch, |b| ranks.get(b).copied(), |t| out.push(t.to_vec()));
        out
    }

    proptest! {
        /// A small alphabet and a random vocabulary: many overlapping candidates and ties.
        #[test]
        fn same_cuts_as_rescanning(
            vocabulary in prop::collection::hash_set(prop::collection::vec(0u8..3, 2..6), 0..40),
            pieces in prop::collection::vec(prop::collection::vec(0u8..3, 0..60), 1..4),
            seed in any::<u64>(),
        ) {
            let mut tokens: Vec<_> = vocabulary.into_iter().collect();
            tokens.sort_by_key(|t| t.iter().fold(seed, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)));
            let ranks: HashMap<_, _> = tokens.into_iter().zip(0u32..).collect();
            let mut scratch = Scratch::default();
            for piece in &pieces {
                prop_assert_eq!(heap(piece, &ranks, &mut scratch), naive(piece, &ranks));
            }
        }
    }
}
