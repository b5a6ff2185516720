//! The context memory: what the text so far says itself, so that its names and phrases are expected again.
//!
//! A small memory of its own, of the last tokens of a text (or of a prompt, while it is continued): how often each token stands
//! there, in all of them and in the nearest, and what followed the last one, two and three tokens. It is moved on token by token,
//! and a token that leaves it at one end takes its counts along, so that it is a function of its tokens alone. What it
//! expects is interpolated like what the memory does, with discounts. How much that counts follows from how often tokens
//! come back that the memory would not expect even once in so much text: names, and words of the subject. A text that keeps
//! naming the same things will go on to; and where tokens are letters, of which none is rare, the context memory is silent.

use super::constants::Recency;
use crate::sparse::Memory;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Tokens of the longest context that is looked for.
const LONGEST: usize = 3;

/// The most that the context memory counts.
const MOST: f64 = 0.9;

/// A context of up to [`LONGEST`] tokens; zeros fill the rest.
type Key = [u32; LONGEST];

fn key(context: &[u32]) -> Key {
    let mut key = [0; LONGEST];
    key[..context.len()].copy_from_slice(context);
    key
}

/// What followed a context.
#[derive(Clone, Debug, Default, PartialEq)]
struct Followers {
    total: u32,
    /// Tokens and counts, in order.
    list: Vec<(u32, u32)>,
}

impl Followers {
    fn add(&mut self, token: u32) {
        self.total += 1;
        match self.list.binary_search_by_key(&token, |&(token, _)| token) {
            Ok(at) => self.list[at].1 += 1,
            Err(at) => self.list.insert(at, (token, 1)),
        }
    }

    /// Takes one away, which must be there.
    fn remove(&mut self, token: u32) {
        if let Ok(at) = self.list.binary_search_by_key(&token, |&(token, _)| token) {
            self.total -= 1;
            self.list[at].1 -= 1;
            if self.list[at].1 == 0 {
                self.list.remove(at);
            }
        }
    }

    fn count(&self, token: u32) -> u32 {
        let found = self.list.binary_search_by_key(&token, |&(token, _)| token);
        found.map_or(0, |at| self.list[at].1)
    }
}

/// What is counted.
#[derive(Clone, Debug, Default)]
struct Counts {
    /// The tokens; those before `start` have left, and from `near` on are the nearest.
    text: Vec<u32>,
    start: usize,
    near: usize,
    /// How often each stands there, and among the nearest.
    tokens: FxHashMap<u32, [u32; 2]>,
    /// How many of the tokens are rare, and how many different ones.
    rare: u32,
    kinds: u32,
    /// What followed contexts of one token, of two, and so on.
    followed: [FxHashMap<Key, Followers>; LONGEST],
}

impl Counts {
    fn window(&self) -> &[u32] {
        &self.text[self.start..]
    }

    fn push(&mut self, token: u32, recency: &Recency, is_rare: &dyn Fn(u32) -> bool) {
        let before = self.window();
        let keys: [Option<Key>; LONGEST] = std::array::from_fn(|i| {
            before.len().checked_sub(i + 1).map(|from| key(&before[from..]))
        });
        for (followed, key) in self.followed.iter_mut().zip(keys) {
            if let Some(key) = key {
                followed.entry(key).or_default().add(token);
            }
        }
        self.text.push(token);
        let counts = self.tokens.entry(token).or_default();
        if is_rare(token) {
            self.rare += 1;
            self.kinds += u32::from(counts[0] == 0);
        }
        *counts = [counts[0] + 1, counts[1] + 1];
        while self.text.len() - self.near > recency.near {
            self.leave_near();
        }
        while self.window().len() > recency.window {
            self.leave(is_rare);
        }
        if self.start > recency.window {
            self.text.drain(..self.start);
            self.near -= self.start;
            self.start = 0;
        }
    }

    /// Takes the furthest of the nearest tokens from among them.
    fn leave_near(&mut self) {
        if let Some(counts) = self.tokens.get_mut(&self.text[self.near]) {
            counts[1] -= 1;
        }
        self.near += 1;
    }

    /// Takes the furthest token away.
    fn leave(&mut self, is_rare: &dyn Fn(u32) -> bool) {
        if self.near == self.start {
            self.leave_near();
        }
        let window = &self.text[self.start..];
        for (i, followed) in self.followed.iter_mut().enumerate() {
            let Some(&token) = window.get(i + 1) else { break };
            let key = key(&window[..=i]);
            if let Some(followers) = followed.get_mut(&key) {
                followers.remove(token);
                if followers.total == 0 {
                    followed.remove(&key);
                }
            }
        }
        let token = window[0];
        if let Some(counts) = self.tokens.get_mut(&token) {
            counts[0] -= 1;
            let last = counts[0] == 0;
            if is_rare(token) {
                self.rare -= 1;
                self.kinds -= u32::from(last);
            }
            if last {
                self.tokens.remove(&token);
            }
        }
        self.start += 1;
    }

    /// What followed the last tokens of a context, from one token on, as far as they stand here.
    fn levels(&self, context: &[u32]) -> Vec<&Followers> {
        let levels = self.followed.iter().enumerate().map_while(|(i, followed)| {
            followed.get(&key(&context[context.len().checked_sub(i + 1)?..]))
        });
        levels.collect()
    }
}

/// The context memory of a query, kept for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct ContextMemory {
    /// The memory's state, which says what is rare.
    stamp: u64,
    counts: Arc<Counts>,
}

impl ContextMemory {
    /// Makes it that of the last tokens of a text: by one step if it is that of the text before its last token.
    pub(super) fn follow(&mut self, memory: &Memory, text: &[u32], recency: &Recency) {
        let text = &text[text.len().saturating_sub(recency.window)..];
        let same = self.stamp == memory.stamp();
        self.stamp = memory.stamp();
        let prior = &memory.prior().p;
        let is_rare = |token: u32| prior[token as usize] * (recency.window as f64) < 1.0;
        let known = self.counts.window();
        if same && known == text {
            return;
        }
        let goes_on = same
            && text.split_last().is_some_and(|(_, before)| {
                // Of a full window the first token leaves.
                let whole = known.len() <= before.len() || text.len() == recency.window;
                whole && known.len() <= before.len() + 1 && known.ends_with(before)
            });
        let counts = Arc::make_mut(&mut self.counts);
        if let (true, Some(&token)) = (goes_on, text.last()) {
            return counts.push(token, recency, &is_rare);
        }
        *counts = Counts::default();
        text.iter().for_each(|&token| counts.push(token, recency, &is_rare));
    }

    /// What it expects after a context, the longest exact context of which has `exact` tokens in the memory; `scale` is how much
    /// it counts of what was measured best. `None` if it counts nothing.
    pub(super) fn read(
        &self,
        context: &[u32],
        exact: usize,
        scale: f64,
        recency: &Recency,
    ) -> Option<Recent> {
        let Counts { rare, kinds, .. } = *self.counts;
        if self.counts.window().is_empty() {
            return None;
        }
        let (again, kinds) = (f64::from(rare - kinds), f64::from(kinds));
        let context = &context[context.len().saturating_sub(LONGEST)..];
        let matched = self.counts.levels(context).len();
        let odds = recency.matched[matched]
            + recency.again * libm::log((again + 0.5) / (kinds + 2.0))
            + recency.exact * exact.min(recency.most_exact) as f64;
        let weight = (scale / (1.0 + libm::exp(-odds))).clamp(0.0, MOST);
        let (counts, off) = (Arc::clone(&self.counts), recency.off);
        (weight > 0.0).then(|| Recent { counts, context: context.to_vec(), weight, off })
    }
}

/// The part of a distribution that the context memory says.
pub(super) struct Recent {
    counts: Arc<Counts>,
    /// The last tokens of the context.
    context: Vec<u32>,
    /// Its part of what is no quote, and then of the whole.
    pub(super) weight: f64,
    off: f64,
}

impl Recent {
    /// The same beside a quote, which has so much of the whole.
    pub(super) fn beside(self, quote: f64) -> Self {
        Recent { weight: (1.0 - quote) * self.weight, ..self }
    }

    fn of(&self, token: u32, levels: &[&Followers]) -> f64 {
        let Some(&[all, near]) = self.counts.tokens.get(&token) else { return 0.0 };
        let Counts { text, start, near: nearest, .. } = &*self.counts;
        let share = |count: u32, from: usize| f64::from(count) / (text.len() - from) as f64;
        let mut p = f64::midpoint(share(all, *start), share(near, *nearest));
        for followers in levels {
            let count = (f64::from(followers.count(token)) - self.off).max(0.0);
            p = (count + self.off * followers.list.len() as f64 * p) / f64::from(followers.total);
        }
        self.weight * p
    }

    /// What a token gets; nothing if it does not stand in the text.
    pub(super) fn share(&self, token: u32) -> f64 {
        self.of(token, &self.counts.levels(&self.context))
    }

    /// The most that a token can get, or more.
    pub(super) fn most(&self) -> f64 {
        let Counts { text, start, near: nearest, tokens, .. } = &*self.counts;
        let [all, near] = tokens.values().fold([0; 2], |[a, b], &[c, d]| [a.max(c), b.max(d)]);
        let share = |count: u32, from: usize| f64::from(count) / (text.len() - from) as f64;
        let mut p = f64::midpoint(share(all, *start), share(near, *nearest));
        for followers in self.counts.levels(&self.context) {
            let most = followers.list.iter().map(|&(_, count)| count).max().unwrap_or(0);
            p = (f64::from(most) - self.off + self.off * followers.list.len() as f64 * p)
                / f64::from(followers.total);
        }
        self.weight * p
    }

    /// What each token of the text gets, in order; in the same way as one token alone, so that all ways to ask give the same bits.
    pub(super) fn all(&self) -> Vec<(u32, f64)> {
        let levels = self.counts.levels(&self.context);
        let mut all: Vec<(u32, f64)> =
            self.counts.tokens.keys().map(|&token| (token, self.of(token, &levels))).collect();
        all.sort_unstable_by_key(|&(token, _)| token);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readout::Constants;
    use crate::sparse::Settings;

    /// However a text was come by, the counts are those of its last tokens.
    #[test]
    fn moved_on_it_is_what_it_would_be_anew() {
        let recency = Recency { window: 50, near: 7, ..Constants::DEFAULT.recent };
        let mut draws = crate::random::Stream::new(3, crate::random::Purpose::Sampling, 0).draws();
        let text: Vec<u32> = (0..400).map(|_| draws.below(9) as u32).collect();
        let mut memory = Memory::new(Settings::new(12, 11, 3).unwrap()).unwrap();
        memory.memorize(&(0..200).map(|i| i * i % 7).collect::<Vec<u32>>()).unwrap();
        let mut moved = ContextMemory::default();
        for p in 0..text.len() {
            // Sometimes a jump, sometimes the same again.
            if p % 97 == 13 {
                moved.follow(&memory, &text[p / 2..p / 2 + 5], &recency);
            }
            let from = p.saturating_sub(60);
            moved.follow(&memory, &text[from..p], &recency);
            moved.follow(&memory, &text[from..p], &recency);
            let mut anew = ContextMemory::default();
            anew.follow(&memory, &text[from..p], &recency);
            assert_eq!(moved.counts.window(), anew.counts.window());
            assert_eq!(moved.counts.tokens, anew.counts.tokens);
            assert_eq!(moved.counts.followed, anew.counts.followed);
            let rare = |memory: &ContextMemory| (memory.counts.rare, memory.counts.kinds);
            assert_eq!(rare(&moved), rare(&anew));
            let whole: f64 = anew
                .read(&text[from..p], 0, 1.0, &recency)
                .map_or(0.0, |recent| recent.all().iter().map(|&(_, p)| p / recent.weight).sum());
            assert!((whole - f64::from(u8::from(p > 0))).abs() < 1e-12, "{whole}");
        }
    }
}
