//! Exact counts of how often candidates followed the last token, each looked up in the pair table once a query.

use crate::superposed::Memory;

/// How many lookups ahead entries are fetched: the table is large, and candidates are anywhere in it.
const AHEAD: usize = 16;

/// The counts that were looked up for one context.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    query: u32,
    /// For each token, the query that looked it up last, and what it found.
    counts: Vec<(u32, i64)>,
}

impl Followed {
    /// Begins another context.
    pub(super) fn reset(&mut self, vocabulary: usize) {
        self.query = self.query.wrapping_add(1);
        if self.counts.len() != vocabulary || self.query == 0 {
            self.counts.clear();
            self.counts.resize(vocabulary, (0, 0));
            self.query = 1;
        }
    }

    /// Looks up tokens that were not looked up for this context.
    pub(super) fn learn(
        &mut self,
        memory: &Memory,
        context: &[u32],
        tokens: impl Iterator<Item = u32>,
    ) {
        let new: Vec<u32> =
            tokens.filter(|&token| self.counts[token as usize].0 != self.query).collect();
        for (i, &token) in new.iter().enumerate() {
            if i == 0 {
                new.iter().take(AHEAD).for_each(|&token| memory.fetch_followed(context, token));
            }
            if let Some(&next) = new.get(i + AHEAD) {
                memory.fetch_followed(context, next);
            }
            self.counts[token as usize] = (self.query, memory.followed(context, token));
        }
    }

    /// Returns how often a token followed; it must have been looked up.
    pub(super) fn count(&self, token: u32) -> i64 {
        let (query, count) = self.counts[token as usize];
        debug_assert_eq!(query, self.query);
        count
    }
}
