//! A table of counts: a 43-bit key to a signed count, compact and always in order.
//!
//! Keys are spread evenly (hashes, or pairs under a bijection), so the place of a key in its partition is proportional to
//! the key, and entries that collide move on to the right *in order of their keys* (ordered linear probing).
//! The partition is therefore sorted at all times: digests and checkpoints read it straight through, and merging is one
//! pass. Five bytes an entry, a quarter to almost half of the places free. An entry whose count becomes 0
//! disappears, so the entries of a table never depend on what it once held.

use crate::kernels::prefetch;
use std::collections::BTreeMap;

/// Bits of a key.
pub(crate) const KEY_BITS: u32 = 43;

/// Partitions of a table: the highest 11 bits of a key are its partition. A partition is a leaf of the digest, and is written
/// by one thread.
pub(crate) const PARTITIONS: usize = 1 << (KEY_BITS - 32);

/// Marks a count that does not fit in a byte and is in `large`.
const LARGE: i8 = i8::MIN;

/// The entries whose keys have the same highest bits. A place with count 0 is free; its key is [`FREE`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    keys: Vec<u32>,
    counts: Vec<i8>,
    len: usize,
    /// Places that keys are spread over; beyond are some more for entries that moved on.
    spread: usize,
    large: BTreeMap<u32, i64>,
}

/// The key of a free place. An entry may have it too.
const FREE: u32 = u32::MAX;

/// How many keys ahead their places are fetched.
const AHEAD: usize = 16;

/// Places looked at together.
const WINDOW: usize = 8;

/// The outcome of [`Partition::add_near`].
enum Near {
    /// Added; the count was this.
    Done(i64),
    /// Nothing: the count does not fit in a byte.
    Large,
    /// Nothing: more than a few places must change.
    Far,
}

/// Returns how many places there are beyond the spread.
fn tail(spread: usize) -> usize {
    16 + spread / 16
}

impl Partition {
    #[inline(always)]
    fn home(&self, key: u32) -> usize {
        ((u64::from(key) * self.spread as u64) >> 32) as usize
    }

    /// Returns where a key is, or where it would be inserted.
    #[inline(always)]
    fn find(&self, key: u32) -> usize {
        let mut i = self.home(key);
        while i < self.counts.len() && self.counts[i] != 0 && self.keys[i] < key {
            i += 1;
        }
        i
    }

    #[inline(always)]
    fn holds(&self, i: usize, key: u32) -> bool {
        i < self.counts.len() && self.counts[i] != 0 && self.keys[i] == key
    }

    fn count(&self, i: usize) -> i64 {
        match self.counts[i] {
            LARGE => self.large[&self.keys[i]],
            count => count.into(),
        }
    }

    pub(crate) fn get(&self, key: u32) -> i64 {
        let i = self.find(key);
        if self.holds(i, key) { self.count(i) } else { 0 }
    }

    #[inline(always)]
    fn fetch(&self, key: u32) {
        let home = self.home(key);
        prefetch(&self.keys, home);
        prefetch(&self.keys, home + WINDOW - 1);
        prefetch(&self.counts, home);
    }

    /// Fetches the places of the first of many keys that will be added.
    pub(crate) fn fetch_first(&self, keys: &[u32]) {
        keys.iter().take(AHEAD).for_each(|&key| self.fetch(key));
    }

    /// Adds to the counts of many keys, fetching the places of those to come. `told` is called with each key and its count before
    /// and after.
    pub(crate) fn add_all(
        &mut self,
        keys: &[u32],
        delta: i64,
        mut told: impl FnMut(u32, i64, i64),
    ) {
        let mut large = Vec::new();
        for (i, &key) in keys.iter().enumerate() {
            if let Some(&next) = keys.get(i + AHEAD) {
                self.fetch(next);
            }
            let before = match self.add_near(key, delta) {
                Near::Done(before) => before,
                Near::Large => {
                    large.push(key);
                    continue;
                }
                Near::Far => self.add(key, delta),
            };
            told(key, before, before.wrapping_add(delta));
        }
        // Mostly these are the same few keys: each is looked up once.
        large.sort_unstable();
        for same in large.chunk_by(|a, b| a == b) {
            let delta = delta.wrapping_mul(same.len() as i64);
            let before = self.add(same[0], delta);
            told(same[0], before, before.wrapping_add(delta));
        }
    }

    /// Adds to a count if all that must change is within a few places. It has no branches that depend on the places: those would
    /// cost more than the work.
    #[inline(always)]
    fn add_near(&mut self, key: u32, delta: i64) -> Near {
        let small = |count: i64| i8::try_from(count).ok().filter(|&c| c != LARGE && c != 0);
        let home = self.home(key);
        let Some(near) = self.keys.get(home..).and_then(<[u32]>::first_chunk::<WINDOW>) else {
            return Near::Far;
        };
        // Entries are in order and free places have the largest key.
        let at = home + near.iter().map(|&k| usize::from(k < key)).sum::<usize>();
        let keys = self.keys.get_mut(at..).and_then(<[u32]>::first_chunk_mut::<WINDOW>);
        let counts = self.counts.get_mut(at..).and_then(<[i8]>::first_chunk_mut::<WINDOW>);
        let (Some(keys), Some(counts)) = (keys, counts) else { return Near::Far };
        if at == home + WINDOW {
            return Near::Far;
        }
        if keys[0] == key && counts[0] != 0 {
            let before = counts[0];
            if before == LARGE {
                return Near::Large;
            }
            let Some(after) = small(delta.wrapping_add(before.into())) else { return Near::Far };
            counts[0] = after;
            return Near::Done(before.into());
        }
        let Some(count) = small(delta) else { return Near::Far };
        let word = u64::from_le_bytes(counts.map(|c| c as u8));
        // The lowest of these bits is that of the first byte that is 0.
        let zeros = word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
        if zeros == 0 || self.len + 1 > self.spread / 4 * 3 {
            return Near::Far;
        }
        // Entries up to the free place move on by one.
        let free = zeros.trailing_zeros() / 8;
        let moved = u64::MAX >> (56 - 8 * free);
        let word = word & !moved | (word << 8 | u64::from(count as u8)) & moved;
        *counts = word.to_le_bytes().map(|c| c as i8);
        let old = *keys;
        for j in 1..WINDOW {
            keys[j] = if j as u32 <= free { old[j - 1] } else { old[j] };
        }
        keys[0] = key;
        self.len += 1;
        Near::Done(0)
    }

    /// Adds to a count and returns what it was before.
    pub(crate) fn add(&mut self, key: u32, delta: i64) -> i64 {
        if delta == 0 {
            return self.get(key);
        }
        let i = self.find(key);
        if self.holds(i, key) {
            let before = self.count(i);
            match before.wrapping_add(delta) {
                0 => self.remove(i),
                after => self.set(i, key, after),
            }
            return before;
        }
        if self.len + 1 > self.spread / 4 * 3 {
            self.resize(self.spread + self.spread * 2 / 5 + 8);
            return self.add(key, delta);
        }
        // Entries that stand in the way move on by one place; there are few, and a loop is faster than a call.
        let (mut at, mut moving) = (i, (key, 1));
        while at < self.counts.len() && self.counts[at] != 0 {
            let here = (self.keys[at], self.counts[at]);
            (self.keys[at], self.counts[at]) = moving;
            (moving, at) = (here, at + 1);
        }
        if at == self.counts.len() {
            // No place is free to the right: put everything back and spread it wider.
            while at > i {
                at -= 1;
                let here = (self.keys[at], self.counts[at]);
                (self.keys[at], self.counts[at]) = moving;
                moving = here;
            }
            self.resize(self.spread + self.spread / 8 + 8);
            return self.add(key, delta);
        }
        (self.keys[at], self.counts[at]) = moving;
        self.len += 1;
        if delta != 1 {
            self.set(i, key, delta);
        }
        0
    }

    fn set(&mut self, i: usize, key: u32, count: i64) {
        let small = i8::try_from(count).ok().filter(|&count| count != LARGE);
        if self.counts[i] == LARGE && small.is_some() {
            self.large.remove(&key);
        }
        self.counts[i] = small.unwrap_or_else(|| {
            self.large.insert(key, count);
            LARGE
        });
    }

    fn remove(&mut self, i: usize) {
        self.set(i, self.keys[i], 1);
        let mut end = i + 1;
        while end < self.counts.len() && self.counts[end] != 0 && self.home(self.keys[end]) < end {
            end += 1;
        }
        self.keys.copy_within(i + 1..end, i);
        self.counts.copy_within(i + 1..end, i);
        (self.keys[end - 1], self.counts[end - 1]) = (FREE, 0);
        self.len -= 1;
        if self.len < self.spread / 4 {
            self.resize(self.len + self.len / 2 + 8);
        }
    }

    /// Spreads the entries over another number of places.
    fn resize(&mut self, spread: usize) {
        let entries = self.keys.iter().zip(&self.counts).filter(|entry| *entry.1 != 0);
        let mut next = Partition::spread(&entries.map(|(&key, &count)| (key, count)), spread);
        (next.len, next.large) = (self.len, std::mem::take(&mut self.large));
        *self = next;
    }

    /// Makes a partition of entries in order of their keys, spread over at least `spread` places.
    fn spread(entries: &(impl Iterator<Item = (u32, i8)> + Clone), mut spread: usize) -> Self {
        loop {
            let mut partition = Partition {
                keys: vec![FREE; spread + tail(spread)],
                counts: vec![0; spread + tail(spread)],
                spread,
                ..Partition::default()
            };
            let mut free = 0;
            for (key, count) in entries.clone() {
                free = free.max(partition.home(key));
                if free < partition.counts.len() {
                    (partition.keys[free], partition.counts[free]) = (key, count);
                }
                free += 1;
            }
            if free <= partition.counts.len() {
                return partition;
            }
            spread += spread / 8 + 8;
        }
    }

    /// Returns the entries by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        let places = (0..self.counts.len()).filter(|&i| self.counts[i] != 0);
        places.map(|i| (self.keys[i], self.count(i)))
    }

    fn held(&self) -> usize {
        let large = self.large.len() * 32;
        size_of::<Partition>() + self.keys.capacity() * 4 + self.counts.capacity() + large
    }
}

/// A map from keys to counts.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    partitions: Vec<Partition>,
}

impl Default for Table {
    fn default() -> Self {
        Table { partitions: vec![Partition::default(); PARTITIONS] }
    }
}

/// Returns the partition of a key, and the key in there.
#[inline(always)]
pub(crate) fn split(key: u64) -> (usize, u32) {
    ((key >> 32) as usize % PARTITIONS, key as u32)
}

impl Table {
    pub(crate) fn get(&self, key: u64) -> i64 {
        let (partition, key) = split(key);
        self.partitions[partition].get(key)
    }

    /// Fetches what [`Table::get`] will look at.
    pub(crate) fn fetch(&self, key: u64) {
        let (partition, key) = split(key);
        self.partitions[partition].fetch(key);
    }

    #[cfg(test)]
    fn add(&mut self, key: u64, delta: i64) -> i64 {
        let (partition, key) = split(key);
        self.partitions[partition].add(key, delta)
    }

    pub(crate) fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    pub(crate) fn partitions_mut(&mut self) -> &mut [Partition] {
        &mut self.partitions
    }

    /// Returns all entries by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, i64)> + '_ {
        self.partitions.iter().enumerate().flat_map(|(p, partition)| {
            partition.iter().map(move |(key, count)| ((p as u64) << 32 | u64::from(key), count))
        })
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.partitions.iter().map(|partition| partition.len).sum()
    }

    /// Returns the bytes that it takes.
    pub(crate) fn held(&self) -> usize {
        self.partitions.iter().map(Partition::held).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Against the standard map, under growth, removal and counts of any size.
    #[test]
    fn counts_as_a_map_does() {
        for (round, range) in [(0, 50), (1, 5_000), (2, 1 << 43)] {
            let mut reader = Stream::new(8, Purpose::Sampling, round).draws();
            let (mut table, mut map) = (Table::default(), BTreeMap::<u64, i64>::new());
            for step in 0..60_000u64 {
                // Keys crowd into a few partitions; later steps mostly undo.
                let key = match map.iter().nth(reader.below(40) as usize) {
                    Some((&key, _)) if step > 40_000 || reader.below(8) == 0 => key,
                    _ => {
                        (reader.below(range).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 21) % (1 << 34)
                    }
                };
                let delta = match reader.below(10) {
                    0 => 1000,
                    1 => -300,
                    2..=4 => -map.get(&key).copied().unwrap_or(1),
                    _ => 1,
                };
                let before = map.get(&key).copied().unwrap_or(0);
                assert_eq!(table.add(key, delta), before);
                match before + delta {
                    0 => map.remove(&key),
                    after => map.insert(key, after),
                };
                assert_eq!(table.get(key), before + delta);
            }
            assert!(table.iter().eq(map.iter().map(|(&key, &count)| (key, count))));
            assert_eq!(table.len(), map.len());
            let keys: Vec<u64> = map.keys().copied().collect();
            for key in keys {
                table.add(key, -map[&key]);
            }
            assert_eq!((table.len(), table.iter().next()), (0, None));
        }
    }

    #[test]
    fn a_table_is_compact() {
        let mut table = Table::default();
        let mut reader = Stream::new(9, Purpose::Sampling, 0).draws();
        for _ in 0..1_000_000 {
            table.add(reader.word() >> 21, 1);
        }
        let bytes = table.held() as f64 / table.len() as f64;
        assert!(bytes < 10.0, "{bytes} bytes an entry");
    }
}
