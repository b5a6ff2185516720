//! A partition of a table: entries packed in order of their keys, and what was added to them since.
//!
//! Packed entries are never changed in place: they may be bytes of a file ([`Section`]), and copies of a memory share them.
//! What is added is kept beside them in order, and both are packed again when that has become a sixteenth of them, or at the
//! end of a large write. So a small change costs little in a large memory, and a memory made from much text is packed.
//! An entry whose count becomes 0 disappears: what a partition holds is a function of its counts alone.

use super::packed::{EntryLayout, LARGE, Packed, pack};
use super::{Error, frozen};
use crate::kernels::prefetch;
use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Bits of a key within a partition.
pub(super) const KEY_BITS: u32 = 28;

/// Bits of a token, at most.
pub(super) const TOKEN_BITS: u32 = 21;

/// Partitions of a table: the highest bits of a key are its partition. A partition is a leaf of the digest, and is written by
/// one thread.
pub const PARTITIONS: usize = 1 << PARTITION_BITS;

/// Bits of a partition's number.
pub(super) const PARTITION_BITS: u32 = 10;

/// Bytes that are read when they are first needed, and checked then.
pub trait Section: Send + Sync {
    /// Returns the bytes, or why they cannot be believed.
    fn bytes(&self) -> Result<&[u8], Error>;

    /// Returns how many there are.
    fn len(&self) -> usize;

    /// Returns whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A count that does not fit in a packed entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeCount {
    /// The key and the token of the entry, as one number.
    pub rank: u64,
    /// The count.
    pub count: i64,
}

/// The entries of a partition, as they are saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedEntries<'a> {
    /// Entries in order, packed.
    pub bytes: Cow<'a, [u8]>,
    /// Counts that do not fit in them, in order.
    pub large: Cow<'a, [LargeCount]>,
}

#[derive(Clone)]
enum Bytes {
    Own(Arc<[u8]>),
    Lazy(Arc<dyn Section>),
}

/// The entries whose keys have the same highest bits.
#[derive(Clone)]
pub(crate) struct Partition {
    packed: Bytes,
    /// In order.
    large: Arc<[LargeCount]>,
    /// What was added since, in order.
    added: Vec<(u64, i64)>,
    changed: bool,
}

impl Default for Partition {
    fn default() -> Self {
        let (packed, large) = (Bytes::Own(Arc::default()), Arc::default());
        Partition { packed, large, added: Vec::new(), changed: false }
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition of {} bytes", self.held())
    }
}

/// An entry that is being looked up. Each step needs what the one before asked for: how many entries there are, where the bucket of
/// this one begins, and what is in it.
pub(crate) struct LookUp<'a> {
    partition: &'a Partition,
    packed: Packed<'a>,
    rank: u64,
    entries: Range<usize>,
}

impl LookUp<'_> {
    /// Asks for the entries of the bucket.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) {
        self.entries = self.packed.ask_for_entries(self.rank);
    }

    /// Returns the count.
    #[inline(always)]
    pub(crate) fn count(self, layout: EntryLayout) -> i64 {
        let LookUp { partition, packed, rank, entries } = self;
        partition.whole(layout, rank, packed.get_within(rank, entries))
    }
}

/// Additions that are kept beside packed entries, whatever their number.
const BESIDE: usize = 16;

impl Partition {
    /// Makes a partition of bytes that are read later. `large` must be in order.
    pub(crate) fn lazy(section: Arc<dyn Section>, large: Vec<LargeCount>) -> Self {
        let packed = Bytes::Lazy(section);
        Partition { packed, large: large.into(), added: Vec::new(), changed: false }
    }

    #[inline(always)]
    fn bytes(&self) -> Result<&[u8], Error> {
        match &self.packed {
            Bytes::Own(bytes) => Ok(bytes),
            Bytes::Lazy(section) => section.bytes(),
        }
    }

    #[inline(always)]
    fn packed(&self, layout: EntryLayout) -> Result<Packed<'_>, Error> {
        Packed::new(layout, self.bytes()?)
    }

    /// Returns all entries packed to be read only: see [`super::frozen`].
    pub(crate) fn freeze(
        &self,
        layout: EntryLayout,
        bits: Option<u32>,
    ) -> Result<PackedEntries<'static>, Error> {
        let mut entries = Vec::new();
        self.each(layout, |rank, count| entries.push((rank, count)))?;
        let bytes = frozen::pack(layout, bits, entries);
        Ok(PackedEntries { bytes: bytes.into(), large: Cow::Borrowed(&[]) })
    }

    /// Returns all entries packed.
    pub(crate) fn packed_entries(&self, layout: EntryLayout) -> Result<PackedEntries<'_>, Error> {
        if self.added.is_empty() {
            let (bytes, large) = (self.bytes()?, &*self.large);
            return Ok(PackedEntries { bytes: bytes.into(), large: large.into() });
        }
        let mut entries = Entries::default();
        self.each(layout, |rank, count| entries.push(rank, count))?;
        let bytes = pack(layout, &entries.packed);
        Ok(PackedEntries { bytes: bytes.into(), large: entries.large.into() })
    }

    #[inline(always)]
    fn count(&self, layout: EntryLayout, (rank, count): (u64, i64)) -> i64 {
        if count == LARGE && !layout.frozen {
            let found = self.large.binary_search_by_key(&rank, |large| large.rank);
            return found.map_or(0, |i| self.large[i].count);
        }
        count
    }

    #[inline(always)]
    fn added(&self, rank: u64) -> i64 {
        if self.added.is_empty() {
            return 0;
        }
        let found = self.added.binary_search_by_key(&rank, |&(rank, _)| rank);
        found.map_or(0, |i| self.added[i].1)
    }

    /// Returns the count of a rank.
    #[inline(always)]
    pub(crate) fn get(&self, layout: EntryLayout, rank: u64) -> Result<i64, Error> {
        Ok(self.whole(layout, rank, self.packed(layout)?.get(rank)))
    }

    /// Returns a count with what was added to it.
    #[inline(always)]
    fn whole(&self, layout: EntryLayout, rank: u64, packed: i64) -> i64 {
        self.count(layout, (rank, packed)).wrapping_add(self.added(rank))
    }

    /// Asks for what a look-up begins with.
    #[inline(always)]
    pub(crate) fn ask(&self) -> Result<(), Error> {
        prefetch(self.bytes()?, 0);
        Ok(())
    }

    /// Begins to look a rank up: what [`Partition::get`] returns, so that others can be begun meanwhile.
    #[inline(always)]
    pub(crate) fn look_up(&self, layout: EntryLayout, rank: u64) -> Result<LookUp<'_>, Error> {
        let packed = self.packed(layout)?;
        packed.ask_for_bucket(rank);
        Ok(LookUp { partition: self, packed, rank, entries: 0..0 })
    }

    /// Calls `take` with the count of each of some tokens of a key, which are in order.
    pub(crate) fn of_tokens(
        &self,
        layout: EntryLayout,
        key: u32,
        tokens: impl Iterator<Item = u32>,
        mut take: impl FnMut(i64),
    ) -> Result<(), Error> {
        for (rank, count) in self.packed(layout)?.of_tokens(key, tokens) {
            take(self.whole(layout, rank, count));
        }
        Ok(())
    }

    /// Calls `take` with the tokens of a key and their counts, in order of the tokens.
    pub(crate) fn each_token(
        &self,
        layout: EntryLayout,
        key: u32,
        mut take: impl FnMut(u32, i64),
    ) -> Result<(), Error> {
        let packed =
            self.packed(layout)?.of_key(key).map(|entry| (entry.0, self.count(layout, entry)));
        let added = self.added_within(&ranks(layout, &(key..=key)));
        merge(packed, added, |rank, count, more| {
            take(layout.parts(rank).1, count.wrapping_add(more));
        });
        Ok(())
    }

    /// Returns how many entries are at keys of a range, or a few more.
    pub(crate) fn len_within(
        &self,
        layout: EntryLayout,
        range: &RangeInclusive<u32>,
    ) -> Result<usize, Error> {
        let ranks = ranks(layout, range);
        Ok(self.packed(layout)?.len_within(&ranks) + self.added_within(&ranks).len())
    }

    /// Calls `take` with the keys of a range that have entries, in order, and their counts, in a table without tokens.
    pub(crate) fn each_within(
        &self,
        layout: EntryLayout,
        range: RangeInclusive<u32>,
        mut take: impl FnMut(u32, i64),
    ) -> Result<(), Error> {
        let ranks = ranks(layout, &range);
        let packed = self.packed(layout)?.within(ranks.clone());
        let packed = packed.map(|entry| (entry.0, self.count(layout, entry)));
        merge(packed, self.added_within(&ranks), |rank, count, more| {
            if count.wrapping_add(more) != 0 {
                take(rank as u32, count.wrapping_add(more));
            }
        });
        Ok(())
    }

    /// Returns what was added to the entries of a range of ranks.
    fn added_within(&self, ranks: &Range<u64>) -> &[(u64, i64)] {
        if self.added.is_empty() {
            return &[];
        }
        let at = |rank| self.added.partition_point(|&(other, _)| other < rank);
        &self.added[at(ranks.start)..at(ranks.end)]
    }

    /// Calls `take` with the number and the count of each of some keys that has an entry, in a table without tokens.
    pub(crate) fn of_keys(
        &self,
        layout: EntryLayout,
        keys: impl Iterator<Item = u32>,
        mut take: impl FnMut(usize, i64),
    ) -> Result<(), Error> {
        let packed = self.packed(layout)?;
        for (i, key) in keys.enumerate() {
            let rank = layout.rank(key, 0);
            match self.whole(layout, rank, packed.get(rank)) {
                0 => (),
                count => take(i, count),
            }
        }
        Ok(())
    }

    /// Calls `take` with all entries in order: their ranks and counts.
    pub(crate) fn each(
        &self,
        layout: EntryLayout,
        mut take: impl FnMut(u64, i64),
    ) -> Result<(), Error> {
        let packed = self.packed(layout)?.iter().map(|entry| (entry.0, self.count(layout, entry)));
        merge(packed, &self.added, |rank, count, more| {
            if count.wrapping_add(more) != 0 {
                take(rank, count.wrapping_add(more));
            }
        });
        Ok(())
    }

    /// Has bytes of a file checked.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        self.bytes().map(|_| ())
    }

    /// Adds to the counts of ranks, each with what is to be added, in order and each once. `told` is called with the rank and its
    /// count before and after. Everything is packed again if there is much to add, or if `settle` says so.
    pub(crate) fn add(
        &mut self,
        layout: EntryLayout,
        changes: &[(u64, i64)],
        settle: bool,
        mut told: impl FnMut(u64, i64, i64),
    ) -> Result<(), Error> {
        if changes.is_empty() && (!settle || self.added.is_empty()) {
            return Ok(());
        }
        let packed = self.packed(layout)?;
        let all = self.added.len() + changes.len();
        if settle || all > BESIDE + packed.len() / 16 {
            let mut new = Entries::default();
            let mut changes = changes.iter().copied().peekable();
            let old = packed.iter().map(|entry| (entry.0, self.count(layout, entry)));
            let mut pass = |rank: u64, before: i64| {
                while let Some((new_rank, delta)) = changes.next_if(|&(next, _)| next < rank) {
                    told(new_rank, 0, delta);
                    new.push(new_rank, delta);
                }
                let delta =
                    changes.next_if(|&(next, _)| next == rank).map_or(0, |(_, delta)| delta);
                if delta != 0 {
                    told(rank, before, before.wrapping_add(delta));
                }
                new.push(rank, before.wrapping_add(delta));
            };
            merge(old, &self.added, |rank, count, more| {
                // An entry that came and went is as one that never was.
                if count.wrapping_add(more) != 0 {
                    pass(rank, count.wrapping_add(more));
                }
            });
            for (rank, delta) in changes {
                told(rank, 0, delta);
                new.push(rank, delta);
            }
            self.packed = Bytes::Own(pack(layout, &new.packed).into());
            self.large = new.large.into();
            self.added = Vec::new();
        } else {
            for &(rank, delta) in changes {
                let before = self.get(layout, rank)?;
                told(rank, before, before.wrapping_add(delta));
            }
            let mut added = Vec::with_capacity(all);
            merge(self.added.iter().copied(), changes, |rank, old, new| {
                if old.wrapping_add(new) != 0 {
                    added.push((rank, old.wrapping_add(new)));
                }
            });
            self.added = added;
        }
        self.changed |= !changes.is_empty();
        Ok(())
    }

    /// Returns whether an entry changed since flags were cleared.
    pub(crate) fn changed(&self) -> bool {
        self.changed
    }

    pub(crate) fn set_changed(&mut self, changed: bool) {
        self.changed = changed;
    }

    /// Returns the bytes that it takes, in memory or in a file.
    pub(crate) fn held(&self) -> usize {
        let packed = match &self.packed {
            Bytes::Own(bytes) => bytes.len(),
            Bytes::Lazy(section) => section.len(),
        };
        let aside = self.large.len() * size_of::<LargeCount>() + self.added.len() * 16;
        size_of::<Partition>() + packed + aside
    }

    /// Returns the share of its keys that are in use, in a frozen memory, or a little more.
    pub(crate) fn used(&self, layout: EntryLayout) -> Result<f64, Error> {
        Ok(self.packed(layout)?.used())
    }

    /// Returns how many entries there are.
    pub(crate) fn len(&self, layout: EntryLayout) -> Result<usize, Error> {
        let packed = self.packed(layout)?;
        let mut len = packed.len();
        for &(rank, more) in &self.added {
            match self.count(layout, (rank, packed.get(rank))) {
                0 => len += 1,
                count if count.wrapping_add(more) == 0 => len -= 1,
                _ => (),
            }
        }
        Ok(len)
    }

    /// Refuses entries that are out of order, that lack their large count, or that have a count of 0.
    pub(crate) fn check(&self, layout: EntryLayout) -> Result<(), Error> {
        let packed = self.packed(layout)?;
        let wrong = |what: &str| Err(Error::Storage(what.into()));
        let (mut last, mut large, mut n) = (None, 0, 0);
        for (rank, count) in packed.iter() {
            if last.is_some_and(|last| last >= rank) {
                return wrong("a table is out of order");
            }
            last = Some(rank);
            n += 1;
            large += usize::from(count == LARGE && !layout.frozen);
            if self.count(layout, (rank, count)) == 0 {
                return wrong("an entry of a table has no count");
            }
        }
        if n != packed.len() || large != self.large.len() {
            return wrong("a table lacks entries or counts");
        }
        packed.check()
    }
}

/// Returns the ranks of the entries at keys of a range.
fn ranks(layout: EntryLayout, keys: &RangeInclusive<u32>) -> Range<u64> {
    layout.rank(*keys.start(), 0)..layout.rank(keys.end() + 1, 0)
}

/// Calls `take` with the ranks of two lists that are in order, and what each list has for it, or 0.
fn merge(
    first: impl Iterator<Item = (u64, i64)>,
    second: &[(u64, i64)],
    mut take: impl FnMut(u64, i64, i64),
) {
    let mut second = second.iter().copied().peekable();
    // Buckets are gone through without asking each time whether one has ended, as a loop would.
    first.for_each(|(rank, count)| {
        while let Some((other, more)) = second.next_if(|&(other, _)| other < rank) {
            take(other, 0, more);
        }
        let more = second.next_if(|&(other, _)| other == rank).map_or(0, |(_, more)| more);
        take(rank, count, more);
    });
    second.for_each(|(rank, more)| take(rank, 0, more));
}

/// Entries that are about to be packed.
#[derive(Default)]
struct Entries {
    packed: Vec<(u64, i64)>,
    large: Vec<LargeCount>,
}

impl Entries {
    #[inline(always)]
    fn push(&mut self, rank: u64, count: i64) {
        if count == 0 {
            return;
        }
        let small = (1..LARGE).contains(&count);
        if !small {
            self.large.push(LargeCount { rank, count });
        }
        self.packed.push((rank, if small { count } else { LARGE }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use std::collections::BTreeMap;

    /// Against the standard map, under growth, removal, negative counts and counts of any size, packed or not.
    #[test]
    fn counts_as_a_map_does() {
        for (round, range, token_bits) in [(0, 50, 0), (1, 5_000, 16), (2, 1 << KEY_BITS, 17)] {
            let layout = EntryLayout::new(KEY_BITS, token_bits);
            let mut draws = Stream::new(8, Purpose::Sampling, round).draws();
            let (mut partition, mut map) = (Partition::default(), BTreeMap::<u64, i64>::new());
            for step in 0..600 {
                let mut changes = BTreeMap::<u64, i64>::new();
                for _ in 0..=draws.below(40) {
                    let key = draws.below(range) as u32;
                    let token = if token_bits == 0 { 0 } else { draws.below(3) as u32 };
                    let delta = match draws.below(8) {
                        0 => 1000,
                        1 | 2 => -1,
                        _ => 1,
                    };
                    *changes.entry(layout.rank(key, token)).or_default() += delta;
                }
                if step > 400 {
                    changes.extend(map.iter().take(100).map(|(&rank, &count)| (rank, -count)));
                }
                let changes: Vec<_> = changes.into_iter().filter(|change| change.1 != 0).collect();
                let told = |rank: u64, before: i64, after: i64| {
                    assert_eq!(before, map.get(&rank).copied().unwrap_or(0));
                    if after == 0 {
                        map.remove(&rank)
                    } else {
                        map.insert(rank, after)
                    };
                };
                partition.add(layout, &changes, draws.below(20) == 0, told).unwrap();
                partition.check(layout).unwrap();
                if step % 50 == 0 {
                    let mut all = Vec::new();
                    partition.each(layout, |rank, count| all.push((rank, count))).unwrap();
                    assert!(all.iter().copied().eq(map.iter().map(|(&r, &c)| (r, c))));
                    assert_eq!(partition.len(layout).unwrap(), map.len());
                }
            }
            for (&rank, &count) in &map {
                assert_eq!(partition.get(layout, rank).unwrap(), count);
                let (key, token) = layout.parts(rank);
                let mut found = 0;
                partition
                    .each_token(layout, key, |other, count| {
                        if other == token {
                            found = count;
                        }
                    })
                    .unwrap();
                assert_eq!(found, count);
                let other = layout.rank(key ^ 1, token);
                assert_eq!(
                    partition.get(layout, other).unwrap(),
                    map.get(&other).copied().unwrap_or(0)
                );
            }
            // However it came about, what is packed is the same.
            let entries: Vec<(u64, i64)> = map.into_iter().collect();
            let mut again = Partition::default();
            again.add(layout, &entries, true, |_, _, _| ()).unwrap();
            assert_eq!(
                partition.packed_entries(layout).unwrap(),
                again.packed_entries(layout).unwrap()
            );
        }
    }

    #[test]
    fn bytes_of_the_wrong_length_are_refused() {
        let layout = EntryLayout::new(KEY_BITS, 16);
        let entries: Vec<(u64, i64)> = (0..1000).map(|i| (i * 7919, 1 + i as i64 % 9)).collect();
        let bytes = pack(layout, &entries);
        assert!(Packed::new(layout, &bytes).unwrap().iter().eq(entries));
        for len in 1..bytes.len() {
            assert!(Packed::new(layout, &bytes[..len]).is_err());
        }
    }
}
