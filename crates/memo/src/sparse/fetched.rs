//! A table that is elsewhere: what was fetched of it, and what a read found missing.
//!
//! A read goes on when it meets something that is missing: what it returns is wrong and must not be used, but it has noted
//! all that it came across. A count that is missing is taken to be there, so that reading goes on to longer contexts and
//! notes what these need too.

use super::keys::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Keys that are noted at once; a count that is missing after them is taken not to be there.
const AHEAD: usize = 1 << 20;

/// What was fetched of a table.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// Tokens and counts of a key, in order of the tokens.
    known: HashMap<u64, Box<[(u32, i64)]>>,
    missing: Mutex<HashSet<u64>>,
}

impl Clone for Fetched {
    fn clone(&self) -> Self {
        Fetched { known: self.known.clone(), missing: Mutex::default() }
    }
}

/// Returns a partition and a key there as one number.
fn join(Cell { partition, key, .. }: Cell) -> u64 {
    u64::from(partition) << 32 | u64::from(key)
}

/// Returns the partition and the key that a number joins.
pub(super) fn split(joined: u64) -> (usize, u32) {
    ((joined >> 32) as usize, joined as u32)
}

impl Fetched {
    pub(super) fn get(&self, cell: Cell) -> i64 {
        match self.known.get(&join(cell)) {
            Some(list) => {
                let found = list.binary_search_by_key(&cell.token, |&(token, _)| token);
                found.map_or(0, |i| list[i].1)
            }
            None => i64::from(self.note(cell)),
        }
    }

    pub(super) fn each_token(&self, cell: Cell, mut take: impl FnMut(u32, i64)) {
        match self.known.get(&join(cell)) {
            Some(list) => list.iter().for_each(|&(token, count)| take(token, count)),
            None => {
                self.note(cell);
            }
        }
    }

    /// Notes what is missing; returns whether there is room for more.
    fn note(&self, cell: Cell) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.insert(join(cell));
        missing.len() < AHEAD
    }

    /// Returns what reads found missing.
    pub(super) fn missing(&mut self) -> &mut HashSet<u64> {
        self.missing.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&mut self, key: u64, list: Box<[(u32, i64)]>) {
        self.known.insert(key, list);
        self.missing().remove(&key);
    }

    /// Returns how many keys are known.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}
