//! Entries in the fewest bits that hold them: a directory and fixed-width fields.
//!
//! Keys are hashes, evenly spread, so n entries in order need only what their places do not say already: their highest
//! b ≈ log₂ n − 3 bits choose one of 2ᵇ buckets of some eight entries, and a directory says where each begins. An entry keeps
//! the rest of its key, its token if the table lists tokens, and four bits of its count. The bytes are a function of the
//! entries alone:
//!
//! ```text
//! n (4 bytes), 2ᵇ + 1 beginnings (2 bytes each, or 4 from 65,536 entries on), n fields, 8 bytes of padding
//! ```

use super::Error;

/// Bits of a count in a field; the largest value marks a count that stands elsewhere.
const COUNT_BITS: u32 = 4;

/// Marks a count that is in the list of large ones.
pub(super) const LARGE: u32 = (1 << COUNT_BITS) - 1;

/// What the fields of a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryLayout {
    key_bits: u32,
    token_bits: u32,
}

impl EntryLayout {
    pub(crate) const fn new(key_bits: u32, token_bits: u32) -> Self {
        EntryLayout { key_bits, token_bits }
    }

    /// Returns a key and a token as one number, by which entries are ordered.
    #[inline(always)]
    pub(crate) fn rank(self, key: u32, token: u32) -> u64 {
        u64::from(key) << self.token_bits | u64::from(token)
    }

    /// Returns the key and the token of a rank.
    #[inline(always)]
    pub(crate) fn parts(self, rank: u64) -> (u32, u32) {
        ((rank >> self.token_bits) as u32, rank as u32 & ((1 << self.token_bits) - 1))
    }

    /// Returns whether a key can be there.
    pub(super) fn holds(self, key: u32) -> bool {
        key < 1 << self.key_bits
    }

    /// Returns the bits of a bucket's number.
    fn bucket_bits(self, n: usize) -> u32 {
        n.checked_ilog2().unwrap_or(0).saturating_sub(3).min(self.key_bits)
    }
}

/// Returns the bytes of a beginning in the directory.
fn beginning(n: usize) -> usize {
    if n < 1 << 16 { 2 } else { 4 }
}

/// Packed entries, to be read.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    layout: EntryLayout,
    n: usize,
    /// Bits of a rank that are kept in a field.
    low: u32,
    width: u32,
    directory: &'a [u8],
    fields: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Refuses bytes whose length is not that of their entries.
    #[inline(always)]
    pub(super) fn new(layout: EntryLayout, bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            let low = layout.key_bits + layout.token_bits;
            let width = low + COUNT_BITS;
            return Ok(Packed { layout, n: 0, low, width, directory: &[], fields: &[] });
        }
        let wrong = || Error::Storage("entries of a table are cut off".into());
        let (n, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let n = u32::from_le_bytes(*n) as usize;
        let bucket_bits = layout.bucket_bits(n);
        let low = layout.key_bits - bucket_bits + layout.token_bits;
        let width = low + COUNT_BITS;
        let directory = ((1usize << bucket_bits) + 1) * beginning(n);
        if rest.len() != directory + fields_len(n, width) {
            return Err(wrong());
        }
        let (directory, fields) = rest.split_at(directory);
        Ok(Packed { layout, n, low, width, directory, fields })
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    fn buckets(&self) -> usize {
        if self.n == 0 { 0 } else { self.directory.len() / beginning(self.n) - 1 }
    }

    /// Returns where a bucket begins. Damage that a checksum does not show must not lead outside.
    #[inline(always)]
    fn begin(&self, bucket: usize) -> usize {
        let begin = if beginning(self.n) == 2 {
            let at = bucket * 2;
            usize::from(u16::from_le_bytes([self.directory[at], self.directory[at + 1]]))
        } else {
            let at: [u8; 4] = self.directory[bucket * 4..][..4].try_into().unwrap_or_default();
            u32::from_le_bytes(at) as usize
        };
        begin.min(self.n)
    }

    /// Returns a field: the lower bits of a rank, and its count.
    #[inline(always)]
    fn field(&self, i: usize) -> u64 {
        let bit = i * self.width as usize;
        let word: [u8; 8] = self.fields[bit / 8..][..8].try_into().unwrap_or_default();
        u64::from_le_bytes(word) >> (bit % 8) & ((1 << self.width) - 1)
    }

    /// Returns the entry of a field in a bucket: its rank and its count.
    #[inline(always)]
    pub(super) fn entry(&self, bucket: usize, i: usize) -> (u64, u32) {
        let field = self.field(i);
        ((bucket as u64) << self.low | field >> COUNT_BITS, field as u32 & LARGE)
    }

    /// Returns the bucket of a rank, and the first of its entries that is not before it.
    #[inline(always)]
    fn find(&self, rank: u64) -> (usize, usize, usize) {
        let bucket = (rank >> self.low) as usize;
        let (mut low, end) = (self.begin(bucket), self.begin(bucket + 1));
        let target = rank & ((1 << self.low) - 1);
        let mut high = end.max(low);
        while high - low > 8 {
            let middle = usize::midpoint(low, high);
            if self.field(middle) >> COUNT_BITS < target { low = middle + 1 } else { high = middle }
        }
        while low < high && self.field(low) >> COUNT_BITS < target {
            low += 1;
        }
        (bucket, low, end)
    }

    /// Returns the count of a rank, or 0.
    #[inline(always)]
    pub(super) fn get(&self, rank: u64) -> u32 {
        if self.n == 0 {
            return 0;
        }
        let (bucket, i, end) = self.find(rank);
        if i >= end {
            return 0;
        }
        let (found, count) = self.entry(bucket, i);
        if found == rank { count } else { 0 }
    }

    /// Returns the entries of a key.
    pub(super) fn of_key(self, key: u32) -> impl Iterator<Item = (u64, u32)> + 'a {
        let first = self.layout.rank(key, 0);
        let (bucket, i, end) = if self.n == 0 { (0, 0, 0) } else { self.find(first) };
        let entries = (i..end).map(move |i| self.entry(bucket, i));
        entries.take_while(move |&(rank, _)| self.layout.parts(rank).0 == key)
    }

    /// Returns all entries in order.
    pub(super) fn iter(self) -> impl Iterator<Item = (u64, u32)> + 'a {
        (0..self.buckets()).flat_map(move |bucket| {
            (self.begin(bucket)..self.begin(bucket + 1)).map(move |i| self.entry(bucket, i))
        })
    }
}

fn fields_len(n: usize, width: u32) -> usize {
    (n * width as usize).div_ceil(8) + 8
}

/// Packs entries, which are in order: ranks and counts up to [`LARGE`].
pub(super) fn pack(layout: EntryLayout, entries: &[(u64, u32)]) -> Vec<u8> {
    let n = entries.len();
    if n == 0 {
        return Vec::new();
    }
    let bucket_bits = layout.bucket_bits(n);
    let low = layout.key_bits - bucket_bits + layout.token_bits;
    let width = low + COUNT_BITS;
    let (buckets, size) = (1usize << bucket_bits, beginning(n));
    let mut bytes = Vec::with_capacity(4 + (buckets + 1) * size + fields_len(n, width));
    bytes.extend((n as u32).to_le_bytes());
    let mut next = 0;
    for (i, &(rank, _)) in entries.iter().enumerate() {
        let bucket = (rank >> low) as usize;
        while next <= bucket {
            bytes.extend_from_slice(&(i as u32).to_le_bytes()[..size]);
            next += 1;
        }
    }
    while next <= buckets {
        bytes.extend_from_slice(&(n as u32).to_le_bytes()[..size]);
        next += 1;
    }
    let (mut held, mut bits) = (0u128, 0);
    for &(rank, count) in entries {
        let field = (rank & ((1 << low) - 1)) << COUNT_BITS | u64::from(count);
        held |= u128::from(field) << bits;
        bits += width;
        while bits >= 64 {
            bytes.extend_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            bits -= 64;
        }
    }
    bytes.extend_from_slice(&(held as u64).to_le_bytes()[..(bits as usize).div_ceil(8)]);
    bytes.extend_from_slice(&[0; 8]);
    bytes
}
