//! Lookups: how often a context occurred, and what the tables know of its successors.
//!
//! The total of a slot's block is a sum of one or two counts, because blocks of one and two tokens are counted with tokens and
//! pairs, and those of older heads with the newest head of their length (see `tables`).

use super::keys::{BOUNDARY, Blocks};
use super::prior::Prior;
use super::settings::Counted;
use super::tables::{pair_key, total_key};
use super::{Error, Memory};

/// One of the counts that a total is the sum of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    /// Of a token.
    Token(u32),
    /// Of the pair with this key.
    Pair(u64),
    /// Of the total with this key.
    Total(u64),
}

/// A context, and the hashes of the blocks in the part of it that slots see.
#[derive(Clone, Copy)]
struct Hashed<'a> {
    context: &'a [u32],
    blocks: &'a Blocks,
    /// Where that part begins.
    first: usize,
}

impl Memory {
    /// Returns the tokens of a context after its last end token, because documents have no neighbours.
    pub(crate) fn view<'a>(&self, context: &'a [u32]) -> Result<&'a [u32], Error> {
        self.settings().check_tokens(context)?;
        let end = context.iter().rposition(|&token| token == self.settings().end);
        Ok(&context[end.map_or(0, |end| end + 1)..])
    }

    /// Returns the key of each slot after a context, and how often its block occurred; `None` where the block lies before the start.
    pub(crate) fn totals(&self, context: &[u32], blocks: &mut Blocks) -> Vec<Option<(u64, i64)>> {
        let hashed = self.hash(context, blocks);
        let slots = 0..self.settings().slots.len();
        let totals = slots.map(|slot| {
            let mut total = 0;
            let key = self.counts(slot, hashed, &mut |count| {
                total += match count {
                    Count::Token(token) => self.tables.unigrams[token as usize],
                    Count::Pair(key) => self.tables.pairs.get(key),
                    Count::Total(key) => self.tables.totals.get(key),
                }
            })?;
            Some((key, total))
        });
        totals.collect()
    }

    fn hash<'a>(&self, context: &'a [u32], blocks: &'a mut Blocks) -> Hashed<'a> {
        let first = context.len().saturating_sub(self.settings().reach() + 1);
        self.keys.blocks(&context[first..], blocks);
        Hashed { context, blocks, first }
    }

    /// Calls `tell` with the counts that make up the total of a slot's block; returns the slot's key, if it has a block.
    fn counts(&self, slot: usize, hashed: Hashed<'_>, tell: &mut dyn FnMut(Count)) -> Option<u64> {
        let Hashed { context, blocks, first } = hashed;
        let key = self.keys.key(blocks, slot, context.len() - first)?;
        tell(Count::Total(total_key(key)));
        match (self.settings().counted(slot), context) {
            (Counted::WithTokens, [.., last]) => tell(Count::Token(*last)),
            (Counted::WithPairs, [before @ .., last]) => {
                tell(Count::Pair(pair_key(last_of(before), *last)));
            }
            (Counted::WithNewest(newest), _) => {
                let end = context.len() - self.settings().slots[slot].skip as usize;
                self.counts(newest, Hashed { context: &context[..end], ..hashed }, tell);
            }
            _ => (),
        }
        Some(key)
    }

    /// Returns how often a token followed the last token of a context, exactly.
    pub(crate) fn followed(&self, context: &[u32], token: u32) -> i64 {
        self.tables.pairs.get(pair_key(last_of(context), token))
    }

    /// Fetches what [`Memory::followed`] will look at.
    pub(crate) fn fetch_followed(&self, context: &[u32], token: u32) {
        self.tables.pairs.fetch(pair_key(last_of(context), token));
    }

    /// Returns what is expected before any context is read, derived from the tables when first needed.
    pub(crate) fn prior(&self) -> &Prior {
        self.prior.get_or_init(|| Prior::new(&self.tables.continuations))
    }

    /// Returns the prior of a memory that has no tables.
    pub(crate) fn even(&self) -> &Prior {
        self.even.get_or_init(|| Prior::new(&vec![0; self.settings().vocabulary as usize]))
    }
}

/// Returns the last token of a context, or the boundary before its first.
fn last_of(context: &[u32]) -> u32 {
    context.last().copied().unwrap_or(BOUNDARY)
}
