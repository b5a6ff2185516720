//! Entries of a frozen memory: what is never written again is packed more densely than what may be.
//!
//! - *Keys are cut.* n entries of a partition keep ⌊log₂ n⌋ + r bits of their keys ([`FrozenBits`]); pairs keep all. What
//!   occurred is still found. What did not occur is found with a probability below 2^(1 − r): a *false match*. It has a count only
//!   where the shorter context was followed by that token, and at most that count, so it makes a context look longer than it is
//!   by one slot, about as rarely as r says. Entries that become equal are one, with the larger of their counts: nearly all are
//!   1, so that both still read what they were.
//! - *Buckets of one entry.* ⌊log₂ n⌋ bits of a key choose its bucket, and a bit string says how many entries each has: a 1 for
//!   each entry, a 0 after each bucket. That takes 2 bits an entry (Elias and Fano), where a directory and larger buckets take 5.
//!   Every 64th bucket's beginning is kept, so that a bucket is found by counting in two or three words.
//! - *No counts of 1*, which are 90 to 99 in 100. Other counts stand in a list, by the places of their entries.
//!
//! The bytes are a function of the entries and of r alone:
//!
//! ```text
//! n (4 bytes), m (4), bits of a key (1), bits of a count (1),
//! beginnings of buckets 0, 64, 128 … (2 bytes each, or 4 from 65,536 entries on), n + 2ᵇ marks of one bit,
//! n fields, m places of entries (as many bits as n − 1 has), m counts, 8 bytes of padding
//! ```

use super::Error;
use super::packed::{
    EntryLayout, PADDING, beginning, cut_off, read_beginning, read_field, write_fields,
};
use crate::kernels::prefetch;
use std::ops::Range;

/// Bits of a key that a frozen memory keeps beyond those that tell the entries of a partition apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrozenBits {
    /// Where the tokens that followed a context are listed. Fewer are enough: a false match of two tokens lists others' successors,
    /// of which only those remain that followed the last token.
    pub successors: u32,
    /// Where a context and the token after it are one hash.
    pub events: u32,
}

impl Default for FrozenBits {
    /// Chosen on the curve of docs/engine.md.
    fn default() -> Self {
        FrozenBits { successors: 10, events: 14 }
    }
}

/// Buckets from one beginning that is kept to the next.
const SAMPLED: usize = 64;

/// Bytes before the beginnings.
const HEAD: usize = 10;

/// Bits of a count, at most; larger counts are cut to that.
const MOST_COUNT_BITS: u32 = 48;

/// What is packed besides fields.
#[derive(Clone, Copy)]
pub(super) struct Frozen<'a> {
    pub(super) n: usize,
    /// Bits of a key that are kept.
    pub(super) key_bits: u32,
    beginnings: &'a [u8],
    /// As all that follows up to the end of the padding.
    marks: &'a [u8],
    /// Counts other than 1.
    others: usize,
    count_bits: u32,
    places: &'a [u8],
    counts: &'a [u8],
}

/// Returns the bits of a bucket's number.
fn bucket_bits(n: usize, key_bits: u32) -> u32 {
    n.checked_ilog2().unwrap_or(0).min(key_bits)
}

/// Returns the bits of an entry's place.
fn place_bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

impl<'a> Frozen<'a> {
    /// Refuses bytes whose length is not that of their entries. Returns the fields too.
    #[inline(always)]
    pub(super) fn new(layout: EntryLayout, bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let (&[n0, n1, n2, n3, m0, m1, m2, m3, key_bits, count_bits], rest) =
            bytes.split_first_chunk::<HEAD>().ok_or_else(cut_off)?;
        let n = u32::from_le_bytes([n0, n1, n2, n3]) as usize;
        let others = u32::from_le_bytes([m0, m1, m2, m3]) as usize;
        let (key_bits, count_bits) = (u32::from(key_bits), u32::from(count_bits));
        if n == 0 || key_bits > layout.key_bits || count_bits > MOST_COUNT_BITS || others > n {
            return Err(cut_off());
        }
        let buckets = 1usize << bucket_bits(n, key_bits);
        let low = key_bits - bucket_bits(n, key_bits) + layout.token_bits;
        let bytes_of = |count: usize, bits: u32| (count * bits as usize).div_ceil(8);
        let marks = buckets.div_ceil(SAMPLED) * beginning(n);
        let fields = marks + bytes_of(n + buckets, 1);
        let places = fields + bytes_of(n, low);
        let counts = places + bytes_of(others, place_bits(n));
        if rest.len() != counts + bytes_of(others, count_bits) + PADDING {
            return Err(cut_off());
        }
        let frozen = Frozen {
            n,
            key_bits,
            beginnings: &rest[..marks],
            marks: &rest[marks..],
            others,
            count_bits,
            places: &rest[places..],
            counts: &rest[counts..],
        };
        Ok((frozen, &rest[fields..]))
    }

    /// Returns the bits of a rank that a field has.
    pub(super) fn low(&self, layout: EntryLayout) -> u32 {
        self.key_bits - bucket_bits(self.n, self.key_bits) + layout.token_bits
    }

    pub(super) fn buckets(&self) -> usize {
        1 << bucket_bits(self.n, self.key_bits)
    }

    /// Returns the marks from one on, 57 or more, the first the lowest.
    #[inline(always)]
    fn marks(&self, at: usize) -> u64 {
        read_word(self.marks, at / 8) >> (at % 8)
    }

    /// Asks for the cache line that says where a bucket begins.
    #[inline(always)]
    pub(super) fn ask_for_bucket(&self, bucket: usize) {
        prefetch(self.beginnings, bucket / SAMPLED * beginning(self.n));
    }

    /// Returns the entries of a bucket. Damage that a checksum does not show must not lead outside.
    #[inline(always)]
    pub(super) fn bucket(&self, bucket: usize) -> Range<usize> {
        // Marks that are sure to be there after a shift by up to seven.
        const SURE: u32 = 56;
        let first = bucket / SAMPLED;
        let (n, marks) = (self.n, self.n + self.buckets());
        let mut at = read_beginning(n, self.beginnings, first) + first * SAMPLED;
        let mut skip = (bucket % SAMPLED) as u32;
        while skip > 0 {
            if at >= marks {
                return n..n;
            }
            let mut zeros = !self.marks(at) & ((1 << SURE) - 1);
            let found = zeros.count_ones();
            if found < skip {
                skip -= found;
                at += SURE as usize;
                continue;
            }
            for _ in 1..skip {
                zeros &= zeros - 1;
            }
            at += zeros.trailing_zeros() as usize + 1;
            skip = 0;
        }
        let begin = at.saturating_sub(bucket).min(n);
        let mut end = begin;
        while at < marks {
            let ones = self.marks(at).trailing_ones().min(SURE);
            end += ones as usize;
            at += ones as usize;
            if ones < SURE {
                break;
            }
        }
        begin..end.min(n)
    }

    /// Returns the first count in the list that is not before an entry's.
    #[inline(always)]
    pub(super) fn first_other(&self, entry: usize) -> usize {
        let (mut low, mut high) = (0, self.others);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.place(middle) < entry { low = middle + 1 } else { high = middle }
        }
        low
    }

    #[inline(always)]
    fn place(&self, other: usize) -> usize {
        read_field(self.places, other, place_bits(self.n)) as usize
    }

    /// Returns the count of an entry, and goes to the next in the list if it is there; `next` is the first that is not before it.
    #[inline(always)]
    pub(super) fn count(&self, entry: usize, next: &mut usize) -> i64 {
        if *next < self.others && self.place(*next) == entry {
            *next += 1;
            return read_field(self.counts, *next - 1, self.count_bits) as i64;
        }
        1
    }

    /// Refuses counts that are out of order, of no entry, or that need not be listed.
    pub(super) fn check(&self) -> Result<(), Error> {
        let mut places = (0..self.others).map(|other| self.place(other));
        let right = places.clone().is_sorted_by(|a, b| a < b)
            && places.next_back().is_none_or(|place| place < self.n)
            && (0..self.others).all(|i| read_field(self.counts, i, self.count_bits) > 1);
        if right {
            Ok(())
        } else {
            Err(Error::Storage("counts of a table are out of order".into()))
        }
    }
}

#[inline(always)]
fn read_word(bytes: &[u8], at: usize) -> u64 {
    let word: [u8; 8] = bytes[at..][..8].try_into().unwrap_or_default();
    u64::from_le_bytes(word)
}

/// Packs entries, which are in order: ranks, and counts of any size. Those that more was forgotten of than memorized are left out,
/// because they are read as 0. Without a number of `bits` keys are kept whole.
pub(super) fn pack(
    layout: EntryLayout,
    bits: Option<u32>,
    mut entries: Vec<(u64, i64)>,
) -> Vec<u8> {
    entries.retain(|&(_, count)| count > 0);
    let Some(log) = entries.len().checked_ilog2() else { return Vec::new() };
    let key_bits = bits.map_or(layout.key_bits, |bits| (log + bits).min(layout.key_bits));
    let cut = layout.key_bits - key_bits;
    for (rank, _) in &mut entries {
        let (key, token) = layout.parts(*rank);
        *rank = layout.rank(layout.spread(key) >> cut, token);
    }
    // Of keys that have become equal the tokens are in order again, and the larger count comes first.
    entries.sort_unstable_by_key(|&(rank, count)| (rank, std::cmp::Reverse(count)));
    entries.dedup_by_key(|&mut (rank, _)| rank);

    let n = entries.len();
    let bucket_bits = bucket_bits(n, key_bits);
    let (low, buckets) = (key_bits - bucket_bits + layout.token_bits, 1usize << bucket_bits);
    let others = || entries.iter().enumerate().filter(|(_, (_, count))| *count > 1);
    let counts = || others().map(|(_, &(_, count))| (count as u64).min((1 << MOST_COUNT_BITS) - 1));
    let count_bits = u64::BITS - counts().max().unwrap_or(0).leading_zeros();
    let mut bytes = Vec::new();
    bytes.extend((n as u32).to_le_bytes());
    bytes.extend((others().count() as u32).to_le_bytes());
    bytes.extend([key_bits as u8, count_bits as u8]);
    let mut marks = vec![0u8; (n + buckets).div_ceil(8)];
    let mut entry = 0;
    for bucket in 0..buckets {
        if bucket % SAMPLED == 0 {
            bytes.extend_from_slice(&(entry as u32).to_le_bytes()[..beginning(n)]);
        }
        while entry < n && (entries[entry].0 >> low) as usize == bucket {
            marks[(entry + bucket) / 8] |= 1 << ((entry + bucket) % 8);
            entry += 1;
        }
    }
    bytes.extend(marks);
    write_fields(&mut bytes, low, entries.iter().map(|(rank, _)| rank & ((1 << low) - 1)));
    write_fields(&mut bytes, place_bits(n), others().map(|(place, _)| place as u64));
    write_fields(&mut bytes, count_bits, counts());
    bytes.extend_from_slice(&[0; PADDING]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::packed::Packed;
    use super::*;
    use crate::random::{Purpose, Stream};
    use std::collections::BTreeMap;

    /// Entries of random keys, in order; every eighth has a count other than 1, and keys have up to three tokens.
    fn entries(layout: EntryLayout, n: u64, seed: u64) -> Vec<(u64, i64)> {
        let mut draws = Stream::new(seed, Purpose::Sampling, 0).draws();
        let mut entries = BTreeMap::new();
        while (entries.len() as u64) < n {
            let key = draws.below(1 << layout.key_bits) as u32;
            let tokens = if layout.token_bits == 0 { 1 } else { 1 + draws.below(3) };
            for _ in 0..tokens {
                let token = draws.below(1 << layout.token_bits) as u32;
                let count = match draws.below(16) {
                    0 => 2 + draws.below(20) as i64,
                    1 => 1 << draws.below(40),
                    _ => 1,
                };
                entries.insert(layout.rank(key, token), count);
            }
        }
        entries.into_iter().collect()
    }

    const LAYOUTS: [(u32, u32, Option<u32>); 4] =
        [(28, 0, Some(12)), (28, 16, Some(12)), (11, 16, None), (28, 21, Some(3))];

    #[test]
    fn what_occurred_is_found_with_its_count_or_a_larger_one() {
        for (round, (key_bits, token_bits, bits)) in LAYOUTS.into_iter().enumerate() {
            let layout = EntryLayout::new(key_bits, token_bits).frozen();
            for n in [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 5000, 70_000] {
                let n = if bits == Some(3) { n.min(5000) } else { n };
                let entries = entries(layout, n, round as u64);
                let bytes = pack(layout, bits, entries.clone());
                let packed = Packed::new(layout, &bytes).unwrap();
                packed.check().unwrap();
                let all: Vec<_> = packed.iter().collect();
                assert_eq!(all.len(), packed.len());
                assert!(all.is_sorted_by(|a, b| a.0 < b.0));
                let mut other = 0;
                for &(rank, count) in &entries {
                    assert!(packed.get(rank) >= count, "{n} {rank}");
                    other += usize::from(packed.get(rank) != count);
                    let (key, token) = layout.parts(rank);
                    let mut listed = packed.of_key(key);
                    let found = listed.find(|&(rank, _)| layout.parts(rank).1 == token);
                    assert_eq!(found.unwrap().1, packed.get(rank));
                }
                match bits {
                    None => assert!(all == entries, "nothing is cut"),
                    // Two in 16 have another count, and of 2ʳ⁻¹ entries one is equal to another.
                    Some(bits) => {
                        assert!(other <= 2 + (entries.len() >> (bits - 1)), "{n}: {other}");
                    }
                }
            }
        }
    }

    /// Keys of one context differ in the lowest bits, which are cut.
    #[test]
    fn keys_of_one_context_are_told_apart() {
        let layout = EntryLayout::new(28, 0).grouped(true).frozen();
        let mut draws = Stream::new(9, Purpose::Sampling, 1).draws();
        let groups = draws.tokens(50, 1 << 14);
        let mut key = || u64::from(groups[draws.below(50) as usize] << 14) | draws.below(1 << 14);
        let entries: BTreeMap<u64, i64> = (0..3000).map(|_| (key(), 1)).collect();
        let bytes = pack(layout, Some(10), entries.clone().into_iter().collect());
        let packed = Packed::new(layout, &bytes).unwrap();
        assert!(entries.keys().all(|&rank| packed.get(rank) == 1));
        let others = (0..400_000).map(|_| key()).filter(|rank| !entries.contains_key(rank));
        let found = others.filter(|&rank| packed.get(rank) > 0).count() as f64;
        assert!(found / 400_000.0 < 2.0 * packed.used(), "{found}");
    }

    /// The number of false matches is binomial; six deviations are not left by chance.
    #[test]
    fn false_matches_are_as_rare_as_was_said() {
        for bits in [6, 10, 12] {
            let layout = EntryLayout::new(28, 0).frozen();
            let entries = entries(layout, 3000, u64::from(bits));
            let bytes = pack(layout, Some(bits), entries.clone());
            let packed = Packed::new(layout, &bytes).unwrap();
            let mut draws = Stream::new(9, Purpose::Sampling, bits).draws();
            let (tried, mut found) = (400_000, 0);
            for _ in 0..tried {
                let rank = draws.below(1 << 28);
                let occurred = entries.binary_search_by_key(&rank, |entry| entry.0).is_ok();
                found += u64::from(!occurred && packed.get(rank) > 0);
            }
            let expected = f64::from(tried) * 2f64.powi(1 - bits as i32);
            assert!((found as f64) < expected + 6.0 * expected.sqrt(), "{bits}: {found}");
        }
    }

    #[test]
    fn an_entry_takes_the_bits_that_were_derived() {
        let layout = EntryLayout::new(28, 0).frozen();
        let ones: Vec<_> =
            entries(layout, 4500, 5).into_iter().map(|(rank, _)| (rank, 1)).collect();
        let bits = pack(layout, Some(12), ones).len() as f64 * 8.0 / 4500.0;
        assert!(bits < 12.0 + 2.0 + 0.25 + 0.1, "{bits}");
    }

    /// Whatever the bytes say, nothing outside of them is read.
    #[test]
    fn damage_is_refused_or_read() {
        let layout = EntryLayout::new(28, 16).frozen();
        let good = pack(layout, Some(12), entries(layout, 300, 6));
        for len in 1..good.len() {
            assert!(Packed::new(layout, &good[..len]).is_err());
        }
        let mut draws = Stream::new(10, Purpose::Sampling, 0).draws();
        let mut refused = 0;
        for case in 0..4000 {
            let mut bytes = good.clone();
            let part = if case % 4 == 0 { HEAD as u64 } else { bytes.len() as u64 };
            for _ in 0..=draws.below(4) {
                bytes[draws.below(part) as usize] = draws.below(256) as u8;
            }
            let Ok(packed) = Packed::new(layout, &bytes) else {
                refused += 1;
                continue;
            };
            let _ = (packed.check(), packed.iter().count());
            for _ in 0..20 {
                let (key, token) = (draws.below(1 << 28) as u32, draws.below(1 << 16) as u32);
                let _ = (packed.get(layout.rank(key, token)), packed.of_key(key).count());
            }
        }
        assert!(refused > 100 && refused < 3000, "{refused}");
    }
}
