//! Lists of what followed contexts, kept from one query to the next: few contexts come back often, and these have many successors.
//! Those of single tokens are kept by the memory too, for whoever reads it next.

use super::keys::BOUNDARY;
use super::read::{Level, Totals};
use super::smoothing::NEW;
use super::tables::TableKind;
use super::{Error, Memory};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was read before, in one state of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    stamp: u64,
    followers: HashMap<u32, Arc<Followers>>,
    /// By slot and hash.
    levels: HashMap<(usize, u64), Arc<Level>>,
    /// How many tokens all of these have.
    kept: usize,
}

/// What followed a token, or the boundary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    pub(crate) totals: Totals,
    /// The most that a token followed.
    pub(crate) most: i64,
    /// Tokens and their counts, in order of the tokens.
    pub(crate) list: Vec<(u32, i64)>,
    /// What the count of each is worth, less what is taken off.
    pub(crate) gains: Vec<f64>,
}

/// Tokens after a context that make it worth keeping, and the most that are kept at once.
const LONG: usize = 16;
const MOST_KEPT: usize = 1 << 20;

impl Followers {
    fn new(memory: &Memory, before: u32) -> Result<Self, Error> {
        let weighing = memory.weighing(0, (before != BOUNDARY).then_some(before));
        let mut own = Followers { totals: Totals::new(weighing), ..Followers::default() };
        (own.totals.worth, own.totals.off) = (NEW, NEW);
        memory.each_successor(before, |token, count| {
            if count > 0 {
                own.most = own.most.max(count);
                own.list.push((token, count));
                own.gains.push(own.totals.add(count));
            }
        })?;
        Ok(own)
    }
}

/// What followed tokens, in one state of a memory; shared by all that read it.
#[derive(Debug, Default)]
pub(super) struct SharedFollowers(Mutex<(HashMap<u32, Arc<Followers>>, usize)>);

impl SharedFollowers {
    fn lock(&self) -> MutexGuard<'_, (HashMap<u32, Arc<Followers>>, usize)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what followed a token.
    pub(super) fn get(&self, memory: &Memory, before: u32) -> Result<Arc<Followers>, Error> {
        if let Some(known) = self.lock().0.get(&before) {
            return Ok(Arc::clone(known));
        }
        let own = Arc::new(Followers::new(memory, before)?);
        // What is fetched of a memory that is elsewhere may be more next time.
        if own.list.len() >= LONG && memory.tables.table(TableKind::Pairs).fetched.is_none() {
            let (known, kept) = &mut *self.lock();
            if *kept > MOST_KEPT {
                (*known, *kept) = (HashMap::new(), 0);
            }
            *kept += own.list.len();
            known.insert(before, Arc::clone(&own));
        }
        Ok(own)
    }
}

impl Lists {
    /// Drops what was read in another state of the memory.
    pub(crate) fn follow(&mut self, memory: &Memory) {
        if self.stamp != memory.stamp() {
            *self = Lists { stamp: memory.stamp(), ..Lists::default() };
        }
    }

    /// Returns what followed a token.
    pub(crate) fn followers(
        &mut self,
        memory: &Memory,
        before: u32,
    ) -> Result<Arc<Followers>, Error> {
        if let Some(known) = self.followers.get(&before) {
            return Ok(Arc::clone(known));
        }
        let own = memory.followers(before)?;
        if self.makes_room(memory, own.list.len()) {
            self.followers.insert(before, Arc::clone(&own));
        }
        Ok(own)
    }

    /// Returns what followed a context, if it is kept.
    pub(crate) fn level(&self, slot: usize, hash: u64) -> Option<&Arc<Level>> {
        self.levels.get(&(slot, hash))
    }

    /// Keeps what followed a context, if that is long; `make` makes what is kept.
    pub(crate) fn keep(
        &mut self,
        memory: &Memory,
        (slot, hash): (usize, u64),
        len: usize,
        make: impl FnOnce() -> Arc<Level>,
    ) {
        if len >= LONG && self.makes_room(memory, len) {
            self.levels.insert((slot, hash), make());
        }
    }

    /// Makes room for a list. What is fetched of a memory that is elsewhere may be more next time, so that it is not kept.
    fn makes_room(&mut self, memory: &Memory, len: usize) -> bool {
        if self.kept > MOST_KEPT {
            *self = Lists { stamp: self.stamp, ..Lists::default() };
        }
        let is_here = memory.tables.table(TableKind::Pairs).fetched.is_none();
        self.kept += if is_here { len } else { 0 };
        is_here
    }
}
