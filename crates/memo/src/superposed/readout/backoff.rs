//! The back-off read-out: contexts from the shortest to the longest, each correcting what the shorter ones expect.
//!
//! For every slot in order, if its block occurred at all:
//!
//! 1. **Read** its scores s and their noise σ.
//! 2. **Group**: a newest head with the same total as the one before it has seen the very same events; so has a
//!    single occurrence after a long context. Their scores are added up, each weighed by 1/σ²: several looks at one
//!    event. The group's prior is what was expected before its first slot.
//! 3. **Detect softly**: a token's score is c plus noise if it followed c times, and noise alone if it never did.
//!    Bayes gives the log-odds (2sc − c²)/2σ² + ln(total·p⁰) − ln c. If the block occurred once, exactly one token
//!    followed, and the odds are normalised over tokens. The pair table says exactly how often a token followed the
//!    last one: that is its count after a block of one token, and the most it can be after a longer newest head's.
//! 4. **Interpolate**: successors get their counts less a discount (Kneser and Ney), everything else keeps its
//!    proportion of the rest.
//!
//! Only tokens above the noise are touched, so the cost does not grow with the vocabulary beyond one scan a slot.

use super::{Constants, Distribution, Mixture, ReadOut, Scratch, discounts};
use crate::kernels::walsh::{accumulate, candidates};
use crate::superposed::prior::Prior;
use crate::superposed::{Error, LINE, Memory};

/// The back-off read-out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backoff {
    /// Its constants.
    pub constants: Constants,
    /// The tables that it may look at.
    pub tables: Tables,
}

/// The tables that a back-off read-out looks at, for an ablation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// None: how often a block occurred is estimated from what stands out in its scores, and the prior is even.
    None,
    /// The pairs: which tokens followed the last one, and the prior.
    Pairs,
    /// The pairs, and how often each block occurred.
    #[default]
    All,
}

/// The back-off read-out with its default constants: what reads a memory unless something else is asked for.
pub static BACKOFF: Backoff = Backoff { constants: Constants::DEFAULT, tables: Tables::All };

/// Log-odds of what is certain.
const SURE: f64 = 30.0;

/// The slots whose evidence is gathered together.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    total: i64,
    newest: bool,
    /// Length of the last block that joined.
    len: u32,
}

/// A token that may have followed, its odds and its count.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    token: u32,
    log_odds: f64,
    count: f64,
}

impl ReadOut for Backoff {
    fn distribution<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Distribution<'m>, Error> {
        let prior = if self.tables == Tables::None { memory.even() } else { memory.prior() };
        self.begin(memory, context, scratch);
        let context = memory.view(context)?;
        let mut group = Group::default();
        let counted = self.tables == Tables::All;
        for (slot, key, total) in occurred(memory, context, scratch, counted) {
            let block = &memory.settings().slots[slot];
            let rounds = if total == 1 { 1 } else { self.constants.rounds };
            scratch.decoder.read(memory, slot, key, rounds, &mut scratch.scores);
            let total = if counted { total } else { scratch.scores.standing_out() };
            if total == 0 {
                continue;
            }
            let joins = total == group.total
                && ((block.newest() && group.newest)
                    || (total == 1 && group.len >= self.constants.joint));
            // Near the start of a text the block of an older head is mostly boundary: its discounts are those of its tokens.
            let real = (context.len() as u32).saturating_sub(block.skip).min(block.len);
            let own = discounts(block.skip, if block.newest() { block.len } else { real });
            if joins {
                group.len = block.len;
            } else {
                group = Group { total, newest: block.newest(), len: block.len };
                scratch.before.copy(&scratch.now);
            }
            gather(scratch, !joins);
            let mut found = self.detect(prior, total, scratch);
            if group.newest && self.tables != Tables::None {
                // A token follows a block at most as often as it follows the block's last token.
                scratch.followed.learn(memory, context, found.iter().map(|c| c.token));
                found.retain(|candidate| scratch.followed.count(candidate.token) > 0);
                for candidate in &mut found {
                    let count = scratch.followed.count(candidate.token) as f64;
                    if group.len == 1 {
                        // A single token's successors are what the pair table counts.
                        (candidate.count, candidate.log_odds) = (count, SURE);
                    } else {
                        candidate.count = candidate.count.min(count);
                    }
                }
            }
            let kept = keep(&found, total, own);
            let mass: f64 = kept.iter().map(|(_, p)| p).sum();
            scratch.now.scale(1.0 - mass);
            for (token, p) in kept {
                scratch.now.add(token, p);
            }
        }
        Ok(Distribution::new(prior, &scratch.now))
    }

    fn best(&self, memory: &Memory, context: &[u32], scratch: &mut Scratch) -> Result<u32, Error> {
        if self.tables == Tables::All
            && let Some(token) = self.settled(memory, context, scratch)?
        {
            return Ok(token);
        }
        Ok(self.distribution(memory, context, scratch)?.best())
    }

    fn window(&self, memory: &Memory) -> usize {
        let cache = self.constants.cache.map_or(0, |cache| cache.window);
        (memory.settings().reach() + 1).max(cache)
    }
}

/// Returns the slots whose block occurred before, each with its key and how often; without counts, all slots that have a block,
/// as if more than once.
fn occurred(
    memory: &Memory,
    context: &[u32],
    scratch: &mut Scratch,
    counted: bool,
) -> Vec<(usize, u64, i64)> {
    let mut nested = i64::MAX;
    let keyed = memory.totals(context, &mut scratch.blocks).into_iter().enumerate();
    keyed
        .filter_map(|(slot, keyed)| {
            let (key, mut total) = keyed?;
            if !counted {
                return Some((slot, key, 2));
            }
            if memory.settings().slots[slot].newest() {
                // A longer block cannot have occurred more often than the shorter one that it ends with.
                total = total.min(nested);
                nested = total;
            }
            (total > 0).then_some((slot, key, total))
        })
        .collect()
}

/// Adds a slot's scores to its group's evidence.
fn gather(scratch: &mut Scratch, fresh: bool) {
    let Scratch { scores, gathered, precision, weights, .. } = scratch;
    gathered.resize(scores.counts.len(), 0.0);
    precision.resize(scores.scales.len(), 0.0);
    weights.clear();
    weights.extend(scores.scales.iter().map(|scale| scale.unit / (scale.sigma * scale.sigma)));
    for (precision, scale) in precision.iter_mut().zip(&scores.scales) {
        let p = 1.0 / (scale.sigma * scale.sigma);
        *precision = if fresh { p } else { *precision + p };
    }
    accumulate(gathered, &scores.counts, weights, fresh);
    for &(token, count) in &scores.peeled {
        let sigma = scores.scales[token as usize / LINE].sigma;
        gathered[token as usize] += count as f32 / (sigma * sigma);
    }
}

impl Backoff {
    /// Returns the next token if the long contexts alone settle it: all of them occurred equally often, and one token has so
    /// much of their evidence that no shorter context could outweigh it.
    fn settled(
        &self,
        memory: &Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<u32>, Error> {
        scratch.before.reset(memory.settings().vocabulary as usize);
        let context = memory.view(context)?;
        let slots = &memory.settings().slots;
        let mut long = occurred(memory, context, scratch, true);
        long.retain(|&(slot, _, _)| slots[slot].len >= self.constants.joint);
        let Some(&(last, _, total)) = long.last() else { return Ok(None) };
        if long.len() < 2
            || !slots[long[0].0].newest()
            || long.iter().any(|&(_, _, other)| other != total)
        {
            return Ok(None);
        }
        let rounds = if total == 1 { 1 } else { self.constants.rounds };
        for (i, &(slot, key, _)) in long.iter().enumerate() {
            scratch.decoder.read(memory, slot, key, rounds, &mut scratch.scores);
            gather(scratch, i == 0);
        }
        let mut found = self.detect(memory.prior(), total, scratch);
        found.retain(|candidate| memory.followed(context, candidate.token) >= total);
        let taken_off = discounts(slots[last].skip, slots[last].len);
        let kept = keep(&found, total, taken_off);
        // A token needs most of several occurrences, and nearly all that the discount leaves of a single one.
        let needed = if total == 1 { 0.999 * (1.0 - taken_off[0]) } else { 0.6 };
        let settled = found
            .iter()
            .zip(kept)
            .find(|(c, (_, p))| *p > needed && c.log_odds > self.constants.sure);
        Ok(settled.map(|(candidate, _)| candidate.token))
    }

    /// Begins with the prior, into which the prompt's own tokens are mixed if a cache is set.
    fn begin(&self, memory: &Memory, context: &[u32], scratch: &mut Scratch) {
        let vocabulary = memory.settings().vocabulary;
        scratch.now.reset(vocabulary as usize);
        scratch.followed.reset(vocabulary as usize);
        let Some(cache) = self.constants.cache else { return };
        let recent = &context[context.len().saturating_sub(cache.window)..];
        let known: Vec<u32> = recent.iter().copied().filter(|&token| token < vocabulary).collect();
        if !known.is_empty() {
            scratch.now.scale(1.0 - cache.share);
            for &token in &known {
                scratch.now.add(token, cache.share / known.len() as f64);
            }
        }
    }

    /// Returns the tokens that may have followed, by the group's evidence.
    fn detect(&self, prior: &Prior, total: i64, scratch: &mut Scratch) -> Vec<Candidate> {
        let Scratch { gathered, precision, biases, found, before, .. } = scratch;
        let Mixture { rest, added, touched } = before;
        let ln_total = libm::log(total as f64);
        let ln_rest = libm::log(rest.max(1e-300));
        // A single occurrence is the least that can be detected: a token that fails this test has none.
        let bias = (ln_total + ln_rest - self.constants.least_odds) as f32;
        biases.clear();
        biases.extend(precision.iter().map(|p| bias - p / 2.0));
        found.clear();
        let lines = prior.ln.len();
        candidates(&gathered[..lines], &prior.ln, biases, found);
        // The scan used the prior; tokens that shorter contexts made likelier are tested with their own probability.
        let passed = |token: u32| {
            let t = token as usize;
            gathered[t] + prior.ln[t] + biases[t / LINE] > 0.0
        };
        let bias = (ln_total - self.constants.least_odds) as f32;
        let may = |token: u32| {
            let t = token as usize;
            let p = *rest * prior.p[t] + added[t];
            gathered[t] - precision[t / LINE] / 2.0 + ln_above(p) + bias > 0.0
        };
        found.extend(touched.iter().copied().filter(|&token| !passed(token) && may(token)));
        let mut likely = Vec::with_capacity(found.len());
        for &token in &*found {
            let t = token as usize;
            let p = f64::from(precision[t / LINE]);
            let score = f64::from(gathered[t]) / p;
            let count = ((score + 0.5) as i64).max(1) as f64;
            let ln_prior = if added[t] > 0.0 {
                libm::log(*rest * prior.p[t] + added[t])
            } else {
                f64::from(prior.ln[t]) + ln_rest
            };
            let evidence = (2.0 * score - count) * count * p / 2.0;
            let log_odds =
                evidence + ln_total + ln_prior - if count > 1.0 { libm::log(count) } else { 0.0 };
            if log_odds > self.constants.least_odds {
                likely.push(Candidate { token, log_odds, count });
            }
        }
        likely
    }
}

/// Returns slightly more than the natural logarithm, from the bits of the number alone: its exponent, and its fraction as if the
/// logarithm were linear between powers of two. The error is at most 0.06.
fn ln_above(x: f64) -> f32 {
    let bits = (x as f32).to_bits() as f32;
    bits * (std::f32::consts::LN_2 / 8_388_608.0) - 126.9 * std::f32::consts::LN_2
}

/// Returns the probabilities that a slot gives to its successors.
fn keep(found: &[Candidate], total: i64, discounts: [f64; 3]) -> Vec<(u32, f64)> {
    if total == 1 {
        let most = found.iter().fold(f64::NEG_INFINITY, |most, c| most.max(c.log_odds));
        let odds: Vec<f64> = found.iter().map(|c| libm::exp(c.log_odds - most)).collect();
        let share = (1.0 - discounts[0]) / odds.iter().sum::<f64>();
        return found.iter().zip(odds).map(|(c, odds)| (c.token, odds * share)).collect();
    }
    let posterior = |c: &Candidate| 1.0 / (1.0 + libm::exp(-c.log_odds));
    let expected: Vec<(u32, f64, f64)> =
        found.iter().map(|c| (c.token, posterior(c), c.count)).collect();
    let whole = expected.iter().map(|(_, p, count)| p * count).sum::<f64>().max(total as f64);
    let discount = |count: f64| discounts[(count as usize).clamp(1, 3) - 1];
    expected
        .into_iter()
        .map(|(token, p, count)| (token, p * (count - discount(count)).max(0.0) / whole))
        .collect()
}
