//! Keys: which cells a context and a next token select.
//!
//! A context's hash is a polynomial in the codes of its tokens, modulo the prime 2⁶¹ − 1, so that the hash of any block of a text
//! is the difference of two prefixes' hashes. Mixed with the slot it is the key, under which the next tokens are listed. Where they
//! cannot be listed, an event has a key of its own ([`EventKeys`]): its highest bits are those of the context, and the others
//! a permutation of the tokens that is the context's own. So the events of a context lie together, and no two of them share a
//! key. Everything is integer arithmetic on the seed, so keys are the same on every machine.

use super::partition::{KEY_BITS, PARTITION_BITS, TOKEN_BITS};
use super::{MAX_VOCABULARY, Settings};
use crate::random::{Purpose, Stream, mix};
use std::ops::RangeInclusive;

/// The symbol before the first token of a document.
pub(crate) const BOUNDARY: u32 = MAX_VOCABULARY;

const PRIME: u64 = (1 << 61) - 1;

/// Bits of a slot's number in a key.
const SLOT_BITS: u32 = 4;

/// Bits of a key that tell the rows of a slot in a partition apart.
pub(crate) const ROW_BITS: u32 = KEY_BITS - SLOT_BITS;

/// Bits of a pair's key: what the partition leaves of its first token.
pub(crate) const PAIR_BITS: u32 = TOKEN_BITS - PARTITION_BITS;

/// A cell: its table's partition, and its key and token there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cell {
    pub(crate) partition: u32,
    pub(crate) key: u32,
    pub(crate) token: u32,
}

/// The keys of one memory, as a function of its seed and slots.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    leaf: u64,
    base: u64,
    /// Powers of the base, up to one more than the longest context.
    powers: Vec<u64>,
    /// A word of its own for each slot.
    own: Vec<u64>,
    /// The number of each slot in keys.
    numbers: Vec<usize>,
    /// The bits of what came next, of each slot; 0 if events lie anywhere.
    symbol_bits: Vec<u32>,
    /// The word and the number of facts, which are no slot of contexts.
    facts: (u64, usize),
}

/// Returns a number below 2¹²² modulo the prime.
#[inline(always)]
fn reduce(x: u128) -> u64 {
    let folded = (x as u64 & PRIME) + (x >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

#[inline(always)]
fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline(always)]
fn multiply(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

impl Keys {
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut words = Stream::new(settings.seed, Purpose::SparseKeys, 1).draws();
        let (leaf, base) = (words.word(), words.word() % (PRIME - 2) + 1);
        let own = (0..settings.all_slots()).map(|_| words.word()).collect();
        let numbers = settings.numbers().unwrap_or_default();
        let bits = |slot| if settings.grouped { settings.symbol_bits(slot) } else { 0 };
        let symbol_bits = (0..settings.all_slots()).map(bits).collect();
        let mut powers = vec![1];
        for i in 0..=settings.longest() {
            powers.push(multiply(powers[i], base));
        }
        let facts = Stream::new(settings.seed, Purpose::SparseKeys, 2).draws().word();
        let facts = (facts, settings.fact_number());
        Keys { leaf, base, powers, own, numbers, symbol_bits, facts }
    }

    /// Returns the hash of a sequence with one more symbol at its end.
    #[inline(always)]
    pub(crate) fn extend(&self, hash: u64, symbol: u32) -> u64 {
        add(multiply(hash, self.base), self.code(symbol))
    }

    /// Returns the hash of a single token.
    #[inline(always)]
    pub(crate) fn single(&self, token: u32) -> u64 {
        self.code(token)
    }

    /// Returns the cell of a question with the beginning of its answer, and the answer's next token.
    pub(crate) fn fact(&self, hash: u64, token: u32) -> Cell {
        let (own, number) = self.facts;
        Self::cell(number, mix(own, hash), token)
    }

    /// Returns the code of a token.
    #[inline(always)]
    fn code(&self, token: u32) -> u64 {
        let mixed =
            mix(self.leaf, u64::from(token).wrapping_add(1).wrapping_mul(0x9FB2_1C65_1E98_DF25));
        reduce(u128::from(mixed))
    }

    /// Appends the hashes of all prefixes of a text, the empty one first. At the start of a document the boundary comes before
    /// the first token, and its prefix after the empty one.
    pub(crate) fn prefixes(&self, text: &[u32], at_start: bool, out: &mut Vec<u64>) {
        out.clear();
        let mut hash = 0;
        out.push(hash);
        let boundary = at_start.then_some(BOUNDARY);
        for token in boundary.into_iter().chain(text.iter().copied()) {
            hash = self.extend(hash, token);
            out.push(hash);
        }
    }

    /// Returns the hash of the `len` symbols before `end`, both counted in symbols of [`Keys::prefixes`].
    #[inline(always)]
    pub(crate) fn block(&self, prefixes: &[u64], end: usize, len: usize) -> u64 {
        let before = multiply(prefixes[end - len], self.powers[len]);
        add(prefixes[end], PRIME - before)
    }

    /// Appends the hashes of the last 1, 2, 3 … tokens of a context, up to the longest in use, and of all of it from the boundary
    /// on if it is shorter than that.
    pub(crate) fn suffixes(&self, context: &[u32], out: &mut Vec<u64>) {
        out.clear();
        let mut hash = 0;
        let longest = self.powers.len() - 2;
        let symbols = context.iter().rev().copied().chain(std::iter::once(BOUNDARY));
        for (i, token) in symbols.take(longest).enumerate() {
            hash = add(hash, multiply(self.code(token), self.powers[i]));
            out.push(hash);
        }
    }

    /// Returns the cell of a pair of tokens, exactly.
    #[inline(always)]
    pub(crate) fn pair(before: u32, token: u32) -> Cell {
        let spread = before.wrapping_mul(0x9E37_79B1) & ((1 << TOKEN_BITS) - 1);
        Cell { partition: spread >> PAIR_BITS, key: spread & ((1 << PAIR_BITS) - 1), token }
    }

    /// Returns the cell of a context and a token in a table whose tokens can be listed.
    #[inline(always)]
    pub(crate) fn listed(&self, slot: usize, hash: u64, token: u32) -> Cell {
        Self::cell(self.numbers[slot], mix(self.own[slot], hash), token)
    }

    /// Returns the keys of a context in a table whose tokens cannot be listed.
    #[inline(always)]
    pub(crate) fn events(&self, slot: usize, hash: u64) -> EventKeys {
        let context = mix(self.own[slot], hash);
        EventKeys { context, number: self.numbers[slot], bits: self.symbol_bits[slot] }
    }

    #[inline(always)]
    fn cell(number: usize, mixed: u64, token: u32) -> Cell {
        let partition = (mixed >> (64 - PARTITION_BITS)) as u32;
        let low = (mixed >> (64 - PARTITION_BITS - KEY_BITS + SLOT_BITS)) as u32;
        let key = (low << SLOT_BITS | number as u32) & ((1 << KEY_BITS) - 1);
        Cell { partition, key, token }
    }

    /// Returns the number of the slot of a key of contexts.
    #[inline(always)]
    pub(crate) fn number(key: u32) -> usize {
        key as usize & ((1 << SLOT_BITS) - 1)
    }
}

/// The keys of what followed one context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventKeys {
    context: u64,
    number: usize,
    /// The bits of a token; 0 if events lie anywhere.
    bits: u32,
}

impl EventKeys {
    /// Returns the cell of a token.
    #[inline(always)]
    pub(crate) fn cell(&self, token: u32) -> Cell {
        if self.bits == 0 {
            let token = (u64::from(token) + 1).wrapping_mul(0xA24B_AED4_963E_E407);
            return Keys::cell(self.number, mix(self.context, token), 0);
        }
        let Cell { partition, key, .. } = Keys::cell(self.number, self.context, 0);
        let place = (token ^ self.context as u32).wrapping_mul(self.factor()) & self.mask();
        Cell { partition, key: key & !(self.mask() << SLOT_BITS) | place << SLOT_BITS, token: 0 }
    }

    /// Returns the partition of the events and the keys that they can have, which other contexts can have too, if these lie
    /// together.
    #[inline(always)]
    pub(crate) fn range(&self) -> Option<(usize, RangeInclusive<u32>)> {
        let Cell { partition, key, .. } = Keys::cell(self.number, self.context, 0);
        let all = self.mask() << SLOT_BITS | ((1 << SLOT_BITS) - 1);
        (self.bits > 0).then_some((partition as usize, key & !all..=key | all))
    }

    /// Returns what tells the token of a key in the range; `None` for a key of another slot, and any number for one of another
    /// context.
    #[inline(always)]
    pub(crate) fn tokens(&self) -> impl Fn(u32) -> Option<u32> + use<> {
        let EventKeys { context, number, .. } = *self;
        let (mask, factor) = (self.mask(), self.factor());
        // Newton's iteration doubles the bits that are right, of which an odd number has three.
        let inverse = (0..3).fold(factor, |inverse, _| {
            inverse.wrapping_mul(2u32.wrapping_sub(factor.wrapping_mul(inverse)))
        });
        move |key| {
            let place = (key >> SLOT_BITS & mask).wrapping_mul(inverse);
            (Keys::number(key) == number).then_some((place ^ context as u32) & mask)
        }
    }

    fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Returns the factor of the permutation: an odd number, of bits of the context that are in no other part of the key.
    #[inline(always)]
    fn factor(&self) -> u32 {
        (self.context >> TOKEN_BITS) as u32 & self.mask() | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_block_hashes_the_same_from_either_end() {
        let keys = Keys::new(&Settings::new(1000, 999, 3).unwrap());
        let text: Vec<u32> = (0..200).map(|i| i * i % 777).collect();
        let (mut prefixes, mut suffixes) = (Vec::new(), Vec::new());
        keys.prefixes(&text, true, &mut prefixes);
        for p in 0..=text.len() {
            keys.suffixes(&text[..p], &mut suffixes);
            for (len, &hash) in (1..).zip(&suffixes) {
                // One symbol more than tokens: the boundary.
                assert_eq!(keys.block(&prefixes, p + 1, len), hash, "{len} before {p}");
            }
            assert_eq!(suffixes.len(), (p + 1).min(64));
        }
    }

    #[test]
    fn tokens_of_a_context_have_keys_of_their_own_that_tell_them() {
        for vocabulary in [1, 2, 3, 1_000, 50_257, MAX_VOCABULARY] {
            let settings = Settings::new(vocabulary, vocabulary - 1, 3).unwrap();
            let keys = Keys::new(&settings);
            for hash in 0..4 {
                let mut seen = HashSet::new();
                let events = keys.events(5, hash);
                let (partition, range) = events.range().unwrap();
                let token = events.tokens();
                for asked in (0..vocabulary).step_by(1 + vocabulary as usize / 1_000) {
                    let cell = events.cell(asked);
                    assert!(seen.insert(cell.key), "{asked}");
                    assert!(partition == cell.partition as usize && range.contains(&cell.key));
                    assert_eq!(token(cell.key), Some(asked));
                    assert_eq!(token(cell.key ^ 1), None);
                }
            }
        }
    }

    #[test]
    fn pairs_have_cells_of_their_own() {
        let mut seen = HashSet::new();
        for before in (0..100_000).chain([BOUNDARY]) {
            assert!(seen.insert(Keys::pair(before, 7)));
        }
    }
}
