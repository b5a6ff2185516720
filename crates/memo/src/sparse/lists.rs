//! Lists of what followed contexts, kept from one query to the next: few contexts come back often, and these have many successors.
//! Those of single tokens and of single classes are kept by the memory too, for whoever reads it next.

use super::general::Predicted;
use super::keys::BOUNDARY;
use super::read::{Level, Totals};
use super::smoothing::NEW;
use super::tables::TableKind;
use super::{Error, Memory};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What followed a token, or the boundary: next to it, or one further.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    pub(crate) totals: Totals,
    /// The most that a token followed.
    pub(crate) most: i64,
    /// Tokens and their counts, in order of the tokens.
    pub(crate) list: Vec<(u32, i64)>,
    /// What the count of each is worth, less what is taken off.
    pub(crate) gains: Vec<f64>,
    /// Tokens with these gains, the highest first, once somebody asks.
    ranked: OnceLock<Vec<(u32, f64)>>,
    /// Sums of gains up to each token, once somebody draws one.
    sums: OnceLock<Vec<f64>>,
}

/// Tokens after a context that make it worth keeping.
const LONG: usize = 16;

/// The most tokens and symbols that are kept at once, and as how many a list counts besides.
const MOST_KEPT: usize = 1 << 20;
const EACH: usize = 4;

impl Followers {
    fn new(memory: &Memory, slot: usize, before: u32) -> Result<Self, Error> {
        let weighing = memory.weighing(slot, (before != BOUNDARY).then_some(before));
        let mut own = Followers { totals: Totals::new(weighing), ..Followers::default() };
        (own.totals.worth, own.totals.off) = (NEW, NEW);
        memory.each_single(slot, before, |token, count| {
            if count > 0 {
                own.most = own.most.max(count);
                own.list.push((token, count));
                own.gains.push(own.totals.add(count));
            }
        })?;
        Ok(own)
    }

    /// Returns the tokens with what their counts are worth, less what is taken off, in order of the tokens.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, f64)> {
        self.list.iter().zip(&self.gains).map(|(&(token, _), &gain)| (token, gain))
    }

    /// Returns the same, the highest first.
    pub(crate) fn ranked(&self) -> &[(u32, f64)] {
        self.ranked.get_or_init(|| ranked(self.all()))
    }

    /// Returns the token that stands at a part, from 0 up to 1, of all gains, one after the other; `None` if nothing followed.
    pub(crate) fn at(&self, part: f64) -> Option<u32> {
        let sums = self.sums.get_or_init(|| {
            let mut sum = 0.0;
            let gains = self.gains.iter();
            gains
                .map(|gain| {
                    sum += gain;
                    sum
                })
                .collect()
        });
        let at = part * sums.last()?;
        let at = sums.partition_point(|&sum| sum <= at).min(sums.len() - 1);
        Some(self.list[at].0)
    }
}

/// Returns tokens or symbols by what each of them has, the highest first.
pub(crate) fn ranked(all: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, f64)> {
    let mut ranked: Vec<(u32, f64)> = all.collect();
    ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// A list that is kept.
pub(crate) trait Listed {
    /// What it is found by.
    type Key: Copy + Eq + Hash;

    /// As long as this it is worth keeping for all who read the memory.
    const WORTH_SHARING: usize;

    /// Returns how many tokens or symbols it has.
    fn len(&self) -> usize;

    fn among(known: &mut Known) -> &mut FxHashMap<Self::Key, Arc<Self>>;
}

impl Listed for Followers {
    /// A slot, and a token.
    type Key = (usize, u32);

    const WORTH_SHARING: usize = LONG;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn among(known: &mut Known) -> &mut FxHashMap<(usize, u32), Arc<Self>> {
        &mut known.followers
    }
}

impl Listed for Predicted {
    /// A level of the lexicon, and a token.
    type Key = (usize, u32);

    const WORTH_SHARING: usize = 0;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn among(known: &mut Known) -> &mut FxHashMap<(usize, u32), Arc<Self>> {
        &mut known.predicted
    }
}

impl Listed for Level {
    /// A slot, and the context's hash.
    type Key = (usize, u64);

    const WORTH_SHARING: usize = 0;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn among(known: &mut Known) -> &mut FxHashMap<(usize, u64), Arc<Self>> {
        &mut known.levels
    }
}

/// Lists that are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    followers: FxHashMap<(usize, u32), Arc<Followers>>,
    predicted: FxHashMap<(usize, u32), Arc<Predicted>>,
    levels: FxHashMap<(usize, u64), Arc<Level>>,
    /// How many tokens and symbols all of these have.
    kept: usize,
}

impl Known {
    fn keep<L: Listed>(&mut self, key: L::Key, list: &Arc<L>) {
        if self.kept > MOST_KEPT {
            *self = Known::default();
        }
        self.kept += list.len() + EACH;
        L::among(self).insert(key, Arc::clone(list));
    }
}

/// Lists of one state of a memory, shared by all that read it.
#[derive(Debug, Default)]
pub(super) struct SharedLists(Mutex<Known>);

impl SharedLists {
    fn with<T>(&self, take: impl FnOnce(&mut Known) -> T) -> T {
        take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What was read before, in one state of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    stamp: u64,
    known: Known,
}

/// Whether lists of a memory can be kept. What is fetched of one that is elsewhere may be more next time.
fn is_here(memory: &Memory) -> bool {
    memory.tables.table(TableKind::Pairs).fetched.is_none()
}

impl Lists {
    /// Drops what was read in another state of the memory.
    pub(crate) fn follow(&mut self, memory: &Memory) {
        if self.stamp != memory.stamp() {
            *self = Lists { stamp: memory.stamp(), ..Lists::default() };
        }
    }

    /// Returns a list that is kept, by this reader or by the memory, or makes it and keeps it.
    pub(crate) fn get<L: Listed>(
        &mut self,
        memory: &Memory,
        key: L::Key,
        make: impl FnOnce() -> Result<L, Error>,
    ) -> Result<Arc<L>, Error> {
        if let Some(known) = L::among(&mut self.known).get(&key) {
            return Ok(Arc::clone(known));
        }
        if !is_here(memory) {
            return Ok(Arc::new(make()?));
        }
        let shared = memory.lists();
        let list =
            if let Some(list) = shared.with(|known| L::among(known).get(&key).map(Arc::clone)) {
                list
            } else {
                let list = Arc::new(make()?);
                if list.len() >= L::WORTH_SHARING {
                    shared.with(|known| known.keep(key, &list));
                }
                list
            };
        self.known.keep(key, &list);
        Ok(list)
    }

    /// Returns what followed a token, by a slot whose contexts are single ones.
    pub(crate) fn followers(
        &mut self,
        memory: &Memory,
        slot: usize,
        before: u32,
    ) -> Result<Arc<Followers>, Error> {
        self.get(memory, (slot, before), || Followers::new(memory, slot, before))
    }

    /// Returns what followed a context, if it is kept.
    pub(crate) fn level(&self, slot: usize, hash: u64) -> Option<&Arc<Level>> {
        self.known.levels.get(&(slot, hash))
    }

    /// Keeps what followed a context, if that is long; `make` makes what is kept.
    pub(crate) fn keep(
        &mut self,
        memory: &Memory,
        (slot, hash): (usize, u64),
        len: usize,
        make: impl FnOnce() -> Arc<Level>,
    ) {
        if len >= LONG && is_here(memory) {
            self.known.keep((slot, hash), &make());
        }
    }
}
