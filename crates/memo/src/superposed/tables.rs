//! The side tables: exact counts of how often contexts occurred, all of them plain sums over positions.
//!
//! - *Unigrams*: how often each token was a next token. As every document ends with the end token, this is also how
//!   often a token was a context of length 1.
//! - *Pairs* (v, w): how often w followed v. This is also how often (v, w) was a context of length 2; and the number of
//!   different v before w, the continuation count, is derived from it and never added.
//! - *Totals* of longer contexts, by a 43-bit fingerprint of their key: those of newest heads. An older head sees the
//!   blocks that the newest head of its length saw some positions earlier, so it has the same totals.
//!
//! These equalities break at the edges of what was written: an older head never sees the last blocks of a document, and
//! a span within a document has two edges. The differences are kept among the totals, under the keys of the slots concerned.

use super::MAX_VOCABULARY;
use super::keys::BOUNDARY;
use super::settings::TOKEN_BITS;
use super::table::{KEY_BITS, PARTITIONS, Table};
use rayon::prelude::*;

const MASK: u64 = (1 << KEY_BITS) - 1;

/// Bijections of 43-bit numbers: odd multiplications and shifts, undone by the inverse odd numbers.
const SPREAD: [(u64, u64); 2] = [
    (0x9E37_79B9_7F4A_7C15, inverse(0x9E37_79B9_7F4A_7C15)),
    (0xD1B5_4A32_D192_ED03, inverse(0xD1B5_4A32_D192_ED03)),
];

/// Returns the inverse of an odd number modulo 2⁶⁴, by Newton's iteration.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut step = 0;
    while step < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

/// Returns the key of a pair: both tokens, evenly spread.
#[inline(always)]
pub(crate) fn pair_key(v: u32, w: u32) -> u64 {
    let v = if v == BOUNDARY { MAX_VOCABULARY } else { v };
    let mut x = u64::from(v) << TOKEN_BITS | u64::from(w);
    for (odd, _) in SPREAD {
        x = x.wrapping_mul(odd) & MASK;
        x ^= x >> 22;
    }
    x
}

/// Returns the second token of a pair's key.
fn second(key: u64) -> u32 {
    let mut x = key;
    for (_, inverse) in SPREAD.into_iter().rev() {
        // 22 bits is more than half of 43: one step undoes the shift.
        x ^= x >> 22;
        x = x.wrapping_mul(inverse) & MASK;
    }
    x as u32 & ((1 << TOKEN_BITS) - 1)
}

/// Returns the key of a context's total.
#[inline(always)]
pub(crate) fn total_key(key: u64) -> u64 {
    key >> (64 - KEY_BITS)
}

/// Counts beside the cells.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) unigrams: Vec<i64>,
    pub(crate) pairs: Table,
    pub(crate) totals: Table,
    /// Derived: the number of different tokens (or the boundary) that each token has followed.
    pub(crate) continuations: Vec<i64>,
}

impl Tables {
    pub(crate) fn new(vocabulary: u32) -> Self {
        let n = vocabulary as usize;
        Tables {
            unigrams: vec![0; n],
            pairs: Table::default(),
            totals: Table::default(),
            continuations: vec![0; n],
        }
    }

    /// Adds `weight` to the counts of tokens, pairs and contexts, and takes it from those of `discounts`.
    pub(crate) fn add(&mut self, lists: &[Lists<'_>], weight: i64) {
        let pairs: Vec<&Sorted> = lists.iter().map(|list| list.pairs).collect();
        let totals: Vec<&Sorted> = lists.iter().map(|list| list.totals).collect();
        let discounts: Vec<&Sorted> = lists.iter().map(|list| list.discounts).collect();
        let Tables { unigrams, continuations, .. } = self;
        rayon::join(
            || {
                add_totals(&mut self.totals, &totals, weight);
                add_totals(&mut self.totals, &discounts, -weight);
            },
            || {
                add_pairs(&mut self.pairs, continuations, &pairs, weight);
                for &token in lists.iter().flat_map(|list| list.unigrams) {
                    unigrams[token as usize] += weight;
                }
            },
        );
    }

    /// Adds all counts of other tables.
    pub(crate) fn merge(&mut self, other: &Tables) {
        for (mine, theirs) in self.unigrams.iter_mut().zip(&other.unigrams) {
            *mine += theirs;
        }
        for (mine, theirs) in [(&mut self.pairs, &other.pairs), (&mut self.totals, &other.totals)] {
            mine.partitions_mut().par_iter_mut().zip(theirs.partitions()).for_each(
                |(mine, theirs)| {
                    for (key, count) in theirs.iter() {
                        mine.add(key, count);
                    }
                },
            );
        }
        self.derive();
    }

    /// Counts continuations anew.
    pub(crate) fn derive(&mut self) {
        self.continuations.fill(0);
        for (key, count) in self.pairs.iter() {
            if let Some(token) = self.continuations.get_mut(second(key) as usize) {
                *token += i64::from(count > 0);
            }
        }
    }
}

/// The tokens and keys that one plan counts.
pub(crate) struct Lists<'a> {
    pub(crate) unigrams: &'a [u32],
    pub(crate) pairs: &'a Sorted,
    pub(crate) totals: &'a Sorted,
    pub(crate) discounts: &'a Sorted,
}

/// Partitions that a thread takes at a time.
const TOGETHER: usize = 64;

/// Adds `weight` to the count of each key. `told` is called with the key and its count before and after; what it collects is
/// returned for each group of partitions.
fn add_all<T: Send>(
    table: &mut Table,
    lists: &[&Sorted],
    weight: i64,
    told: impl Fn(&mut Vec<T>, u64, i64, i64) + Sync,
) -> Vec<Vec<T>> {
    if lists.iter().all(|list| list.keys.is_empty()) {
        return Vec::new();
    }
    let groups = table.partitions_mut().par_chunks_mut(TOGETHER).enumerate();
    let each = groups.map(|(group, partitions)| {
        let mut out = Vec::new();
        let first = group * TOGETHER;
        for p in 0..partitions.len() {
            for (i, list) in lists.iter().enumerate() {
                // Those that come next are fetched while these are added.
                let (next, next_list) = if i + 1 < lists.len() { (p, i + 1) } else { (p + 1, 0) };
                if let Some(partition) = partitions.get(next) {
                    partition.fetch_first(lists[next_list].partition(first + next));
                }
                let whole = |key| (first as u64 + p as u64) << 32 | u64::from(key);
                let told = |key, before, after| told(&mut out, whole(key), before, after);
                partitions[p].add_all(list.partition(first + p), weight, told);
            }
        }
        out
    });
    each.collect()
}

/// Adds `weight` to each pair, and to the continuations of those that appear or disappear.
fn add_pairs(pairs: &mut Table, continuations: &mut [i64], lists: &[&Sorted], weight: i64) {
    let moved = add_all(pairs, lists, weight, |moved, key, before, after| {
        let step = i64::from(after > 0) - i64::from(before > 0);
        if step != 0 {
            moved.push((second(key), step));
        }
    });
    for (token, step) in moved.into_iter().flatten() {
        // A damaged table could name a token that does not exist.
        if let Some(count) = continuations.get_mut(token as usize) {
            *count += step;
        }
    }
}

/// Adds `weight` to the total of each context.
fn add_totals(totals: &mut Table, lists: &[&Sorted], weight: i64) {
    add_all(totals, lists, weight, |_: &mut Vec<()>, _, _, _| ());
}

/// Keys sorted by partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    keys: Vec<u32>,
    starts: Vec<u32>,
}

impl Sorted {
    /// Sorts keys by partition, keeping their order otherwise.
    pub(crate) fn sort(&mut self, keys: &[u64]) {
        self.starts.clear();
        self.starts.resize(PARTITIONS + 1, 0);
        for &key in keys {
            self.starts[(key >> 32) as usize + 1] += 1;
        }
        for p in 1..self.starts.len() {
            self.starts[p] += self.starts[p - 1];
        }
        let mut next = self.starts.clone();
        self.keys.resize(next[PARTITIONS] as usize, 0);
        for &key in keys {
            let place = &mut next[(key >> 32) as usize];
            self.keys[*place as usize] = key as u32;
            *place += 1;
        }
    }

    fn partition(&self, p: usize) -> &[u32] {
        &self.keys[self.starts[p] as usize..self.starts[p + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_can_be_read_back_from_its_key() {
        let mut reader = crate::random::Stream::new(1, crate::random::Purpose::Sampling, 0).draws();
        let mut seen = std::collections::HashSet::new();
        for i in 0..20_000u32 {
            let v = if i % 50 == 0 { BOUNDARY } else { i };
            let w = reader.below(u64::from(MAX_VOCABULARY)) as u32;
            let key = pair_key(v, w);
            assert!(key <= MASK && seen.insert(key));
            assert_eq!(second(key), w);
        }
    }
}
