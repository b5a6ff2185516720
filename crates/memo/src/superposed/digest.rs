//! The digest of a memory: a hash that is equal exactly when settings, cells and tables are. What is hashed is values: wide rows
//! are stored in one form only and tables are read in order of their keys, so no history can be seen.

use super::{Memory, Settings, Slot};
use crate::sparse::Digest;

impl Memory {
    /// Returns the digest of settings, cells and tables.
    pub fn digest(&self) -> Digest {
        let Settings { vocabulary, end, seed, heads, slots } = self.settings();
        let mut hasher = blake3::Hasher::new();
        let mut numbers = |numbers: &[u64]| {
            for number in numbers {
                hasher.update(&number.to_le_bytes());
            }
        };
        numbers(&[(*vocabulary).into(), (*end).into(), *seed, (*heads).into(), slots.len() as u64]);
        for Slot { skip, len, rows, width, copies, bucketed, bound } in slots {
            let [skip, len, width, copies] = [skip, len, width, copies].map(|&n| u64::from(n));
            numbers(&[
                skip,
                len,
                *rows,
                width,
                copies,
                u64::from(*bucketed) | u64::from(!bound) << 1,
            ]);
        }
        for (slot, row, values) in self.cells.wide_rows() {
            numbers(&[slot as u64, row]);
            values.into_iter().for_each(|value| numbers(&[i64::from(value) as u64]));
        }
        for table in [&self.tables.pairs, &self.tables.totals] {
            table.iter().for_each(|(key, count)| numbers(&[key, count as u64]));
            numbers(&[u64::MAX]);
        }
        self.unigrams().iter().for_each(|&count| numbers(&[count as u64]));
        hasher.update(self.cells());
        Digest(*hasher.finalize().as_bytes())
    }
}
