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
//!
//! A frozen memory is packed more densely: see [`super::frozen`]. It is searched in the same way, by the same code.

use super::Error;
use super::frozen::Frozen;
use super::seek::first_not_before;
use crate::kernels::prefetch;
use std::ops::Range;

/// Bits of a count in a field; the largest value marks a count that stands elsewhere.
const COUNT_BITS: u32 = 4;

/// Marks a count that is in the list of large ones.
pub(super) const LARGE: i64 = (1 << COUNT_BITS) - 1;

/// Bytes after the last field, so that any bit can be read with the 64 that follow it.
pub(super) const PADDING: usize = 8;

/// What the fields of a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryLayout {
    pub(super) key_bits: u32,
    pub(super) token_bits: u32,
    /// Whether entries are packed to be read only.
    pub(super) frozen: bool,
    /// Whether keys of one context differ in their lowest bits alone.
    pub(super) grouped: bool,
}

impl EntryLayout {
    pub(crate) const fn new(key_bits: u32, token_bits: u32) -> Self {
        EntryLayout { key_bits, token_bits, frozen: false, grouped: false }
    }

    /// Returns the layout of the same table if keys of one context differ in their lowest bits alone.
    pub(crate) const fn grouped(self, grouped: bool) -> Self {
        EntryLayout { grouped, ..self }
    }

    /// Returns the layout of the same table in a frozen memory.
    pub(crate) const fn frozen(self) -> Self {
        EntryLayout { frozen: true, ..self }
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

    /// Returns a key as it stands in a frozen memory, which cuts the lowest bits: what these tell apart is moved to the highest.
    #[inline(always)]
    pub(super) fn spread(self, key: u32) -> u32 {
        if !self.grouped {
            return key;
        }
        // Each step can be undone, so that no two keys become one.
        let mask = (1 << self.key_bits) - 1;
        let mixed = key.wrapping_mul(0x9E37_79B1) & mask;
        let mixed = mixed ^ mixed >> (self.key_bits / 2);
        mixed.wrapping_mul(0x85EB_CA77) & mask
    }

    /// Returns the bits of a bucket's number.
    fn bucket_bits(self, n: usize) -> u32 {
        n.checked_ilog2().unwrap_or(0).saturating_sub(3).min(self.key_bits)
    }
}

/// Returns the bytes of a beginning in the directory.
pub(super) fn beginning(n: usize) -> usize {
    if n < 1 << 16 { 2 } else { 4 }
}

/// Returns a beginning in a directory.
#[inline(always)]
pub(super) fn read_beginning(n: usize, directory: &[u8], i: usize) -> usize {
    let begin = if beginning(n) == 2 {
        usize::from(u16::from_le_bytes([directory[i * 2], directory[i * 2 + 1]]))
    } else {
        let bytes: [u8; 4] = directory[i * 4..][..4].try_into().unwrap_or_default();
        u32::from_le_bytes(bytes) as usize
    };
    begin.min(n)
}

/// Returns the field of a number in bytes that end in padding. Fields have up to 57 bits.
#[inline(always)]
pub(super) fn read_field(bytes: &[u8], i: usize, width: u32) -> u64 {
    let bit = i * width as usize;
    let word: [u8; 8] = bytes[bit / 8..][..8].try_into().unwrap_or_default();
    u64::from_le_bytes(word) >> (bit % 8) & ((1 << width) - 1)
}

/// Appends fields from the lowest bit on, up to a whole byte.
pub(super) fn write_fields(bytes: &mut Vec<u8>, width: u32, fields: impl Iterator<Item = u64>) {
    let (mut held, mut bits) = (0u64, 0);
    for field in fields {
        held |= field << bits;
        bits += width;
        if bits >= u64::BITS {
            bytes.extend_from_slice(&held.to_le_bytes());
            bits -= u64::BITS;
            // What did not fit; the field has no more bits than that if nothing is left.
            held = if bits == 0 { 0 } else { field >> (width - bits) };
        }
    }
    bytes.extend_from_slice(&held.to_le_bytes()[..(bits as usize).div_ceil(8)]);
}

/// Says that entries have another length than they should.
pub(super) fn cut_off() -> Error {
    Error::Storage("entries of a table are cut off".into())
}

/// Packed entries, to be read.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    layout: EntryLayout,
    n: usize,
    /// Bits of a key that are not kept at all: none, unless the memory is frozen.
    cut: u32,
    /// Bits of a rank that are kept in a field.
    low: u32,
    /// Bits of a count that are kept in a field.
    count_bits: u32,
    buckets: usize,
    directory: Directory<'a>,
    fields: &'a [u8],
}

/// Where buckets begin.
#[derive(Clone, Copy)]
enum Directory<'a> {
    Beginnings(&'a [u8]),
    Frozen(Frozen<'a>),
}

impl<'a> Packed<'a> {
    /// Refuses bytes whose length is not that of their entries.
    #[inline(always)]
    pub(super) fn new(layout: EntryLayout, bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            let (low, directory) =
                (layout.key_bits + layout.token_bits, Directory::Beginnings(&[]));
            let (cut, count_bits, fields) = (0, COUNT_BITS, &[]);
            return Ok(Packed {
                layout,
                n: 0,
                cut,
                low,
                count_bits,
                buckets: 0,
                directory,
                fields,
            });
        }
        if layout.frozen {
            return Self::frozen(layout, bytes);
        }
        let (n, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
        let n = u32::from_le_bytes(*n) as usize;
        let bucket_bits = layout.bucket_bits(n);
        let low = layout.key_bits - bucket_bits + layout.token_bits;
        let buckets = 1usize << bucket_bits;
        let directory = (buckets + 1) * beginning(n);
        if rest.len() != directory + fields_len(n, low + COUNT_BITS) {
            return Err(cut_off());
        }
        let (directory, fields) = rest.split_at(directory);
        let directory = Directory::Beginnings(directory);
        let (cut, count_bits) = (0, COUNT_BITS);
        Ok(Packed { layout, n, cut, low, count_bits, buckets, directory, fields })
    }

    fn frozen(layout: EntryLayout, bytes: &'a [u8]) -> Result<Self, Error> {
        let (frozen, fields) = Frozen::new(layout, bytes)?;
        Ok(Packed {
            layout,
            n: frozen.n,
            cut: layout.key_bits - frozen.key_bits,
            low: frozen.low(layout),
            count_bits: 0,
            buckets: frozen.buckets(),
            directory: Directory::Frozen(frozen),
            fields,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// Returns the share of the keys that can be told apart which are in use, or more: entries of one key are counted as several.
    pub(super) fn used(&self) -> f64 {
        self.n as f64 / (1u64 << (self.layout.key_bits - self.cut)) as f64
    }

    /// Returns the entries of a bucket. Damage that a checksum does not show must not lead outside.
    #[inline(always)]
    fn bucket(&self, bucket: usize) -> Range<usize> {
        match &self.directory {
            Directory::Beginnings(bytes) => {
                let begin = |bucket| read_beginning(self.n, bytes, bucket);
                begin(bucket)..begin(bucket + 1)
            }
            Directory::Frozen(frozen) => frozen.bucket(bucket),
        }
    }

    /// Returns the lower bits of an entry's rank.
    #[inline(always)]
    fn low(&self, i: usize) -> u64 {
        read_field(self.fields, i, self.low + self.count_bits) >> self.count_bits
    }

    /// Returns entries of a bucket: their ranks and counts.
    #[inline(always)]
    fn entries(
        self,
        bucket: usize,
        entries: Range<usize>,
    ) -> impl Iterator<Item = (u64, i64)> + 'a {
        let mut next = match &self.directory {
            Directory::Beginnings(_) => 0,
            Directory::Frozen(frozen) => frozen.first_other(entries.start),
        };
        entries.map(move |i| {
            let field = read_field(self.fields, i, self.low + self.count_bits);
            let count = match &self.directory {
                Directory::Beginnings(_) => field as i64 & LARGE,
                Directory::Frozen(frozen) => frozen.count(i, &mut next),
            };
            ((bucket as u64) << self.low | field >> self.count_bits, count)
        })
    }

    /// Returns what is kept of a rank.
    #[inline(always)]
    fn kept(&self, rank: u64) -> u64 {
        let (key, token) = self.layout.parts(rank);
        let key = if self.layout.frozen { self.layout.spread(key) } else { key };
        self.layout.rank(key >> self.cut, token)
    }

    /// Returns the bucket of a rank, of which as much is given as is kept, and its entries that are not before it.
    #[inline(always)]
    fn find(&self, rank: u64) -> (usize, Range<usize>) {
        let bucket = (rank >> self.low) as usize;
        (bucket, self.not_before(rank, self.bucket(bucket)))
    }

    /// Returns those of a bucket's entries that are not before a rank.
    #[inline(always)]
    fn not_before(&self, rank: u64, Range { start: mut low, end }: Range<usize>) -> Range<usize> {
        let target = rank & ((1 << self.low) - 1);
        let mut high = end.max(low);
        while high - low > 8 {
            let middle = usize::midpoint(low, high);
            if self.low(middle) < target { low = middle + 1 } else { high = middle }
        }
        while low < high && self.low(low) < target {
            low += 1;
        }
        low..end
    }

    /// Returns the count of a rank, or 0.
    #[inline(always)]
    pub(super) fn get(&self, rank: u64) -> i64 {
        if self.n == 0 {
            return 0;
        }
        self.get_within(rank, self.bucket((self.kept(rank) >> self.low) as usize))
    }

    /// Returns the count of a rank, or 0, from the entries of its bucket.
    #[inline(always)]
    pub(super) fn get_within(&self, rank: u64, entries: Range<usize>) -> i64 {
        let rank = self.kept(rank);
        let Range { start, end } = self.not_before(rank, entries);
        let first = self.entries((rank >> self.low) as usize, start..end.min(start + 1)).next();
        first.filter(|(found, _)| *found == rank).map_or(0, |(_, count)| count)
    }

    /// Asks for the cache line that says where the bucket of a rank begins.
    #[inline(always)]
    pub(super) fn ask_for_bucket(&self, rank: u64) {
        let bucket = (self.kept(rank) >> self.low) as usize;
        match &self.directory {
            Directory::Beginnings(bytes) => prefetch(bytes, bucket * beginning(self.n)),
            Directory::Frozen(frozen) => frozen.ask_for_bucket(bucket),
        }
    }

    /// Returns the entries of a rank's bucket, and asks for their cache lines.
    #[inline(always)]
    pub(super) fn ask_for_entries(&self, rank: u64) -> Range<usize> {
        if self.n == 0 {
            return 0..0;
        }
        let entries = self.bucket((self.kept(rank) >> self.low) as usize);
        let byte = |i: usize| i * (self.low + self.count_bits) as usize / 8;
        prefetch(self.fields, byte(entries.start));
        prefetch(self.fields, byte(entries.end));
        entries
    }

    /// Returns the counts of tokens of a key, or 0; tokens are in order.
    #[inline(always)]
    pub(super) fn of_tokens(
        self,
        key: u32,
        tokens: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = (u64, i64)> {
        let first = self.kept(self.layout.rank(key, 0));
        let (bucket, Range { mut start, end }) =
            if self.n == 0 { (0, 0..0) } else { self.find(first) };
        tokens.map(move |token| {
            let rank = self.layout.rank(key, token);
            let kept = self.kept(rank);
            let target = kept & ((1 << self.low) - 1);
            start = first_not_before(start, end, |i| self.low(i) < target);
            let found = self.entries(bucket, start..end.min(start + 1)).next();
            let count = found.filter(|(found, _)| *found == kept).map_or(0, |(_, count)| count);
            (rank, count)
        })
    }

    /// Returns the entries of a key, in order of their tokens.
    pub(super) fn of_key(self, key: u32) -> impl Iterator<Item = (u64, i64)> + 'a {
        let key = key >> self.cut;
        let first = self.layout.rank(key, 0);
        let (bucket, entries) = if self.n == 0 { (0, 0..0) } else { self.find(first) };
        let entries = self.entries(bucket, entries);
        entries.take_while(move |&(rank, _)| self.layout.parts(rank).0 == key)
    }

    /// Returns the entries of a range of ranks, in order. The memory must not be frozen.
    pub(super) fn within(self, ranks: Range<u64>) -> impl Iterator<Item = (u64, i64)> + 'a {
        let buckets = self.buckets_within(&ranks);
        let entries = buckets.flat_map(move |bucket| self.entries(bucket, self.bucket(bucket)));
        let entries = entries.skip_while(move |&(rank, _)| rank < ranks.start);
        entries.take_while(move |&(rank, _)| rank < ranks.end)
    }

    /// Returns how many entries the buckets of a range of ranks have.
    pub(super) fn len_within(&self, ranks: &Range<u64>) -> usize {
        let buckets = self.buckets_within(ranks);
        if buckets.is_empty() {
            return 0;
        }
        let (first, last) = (self.bucket(buckets.start), self.bucket(buckets.end - 1));
        last.end.saturating_sub(first.start)
    }

    fn buckets_within(&self, ranks: &Range<u64>) -> Range<usize> {
        let bucket = |rank: u64| (rank >> self.low) as usize;
        if self.n == 0 { 0..0 } else { bucket(ranks.start)..bucket(ranks.end - 1) + 1 }
    }

    /// Returns all entries in order.
    pub(super) fn iter(self) -> impl Iterator<Item = (u64, i64)> + 'a {
        (0..self.buckets).flat_map(move |bucket| self.entries(bucket, self.bucket(bucket)))
    }

    /// Returns whether counts that stand elsewhere in the same bytes are as they must be.
    pub(super) fn check(&self) -> Result<(), Error> {
        match &self.directory {
            Directory::Beginnings(_) => Ok(()),
            Directory::Frozen(frozen) => frozen.check(),
        }
    }
}

fn fields_len(n: usize, width: u32) -> usize {
    (n * width as usize).div_ceil(8) + PADDING
}

/// Packs entries, which are in order: ranks and counts up to [`LARGE`].
pub(super) fn pack(layout: EntryLayout, entries: &[(u64, i64)]) -> Vec<u8> {
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
    let fields =
        entries.iter().map(|&(rank, count)| (rank & ((1 << low) - 1)) << COUNT_BITS | count as u64);
    write_fields(&mut bytes, width, fields);
    bytes.extend_from_slice(&[0; PADDING]);
    bytes
}
