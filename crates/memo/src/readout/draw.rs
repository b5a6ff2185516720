//! Drawing a token from a distribution, without a look at all of the vocabulary.
//!
//! Few tokens have a probability of their own: those that followed the last token, the one before it, or a longer context. All others have the
//! prior's, times one number, and so have powers of it. So those few are gone through, and whatever is left is drawn from
//! sums of the prior that are made once.
//!
//! A frequent token has thousands of successors, which are not gone through either if all tokens may be drawn and the temperature
//! is 1 or less: what a token gets for having followed the last one, or the one before it, depends on that alone, but for one factor, so
//! it is drawn from sums too, and again if it also followed a longer context. A temperature below 1 makes all of these less probable than they
//! are drawn, by no more than is known beforehand, so a part of the draws is not taken.

use super::distribution::{Distribution, Split};
use super::generate::Sampling;
use super::penalty::GeneratedCounts;
use crate::random::Draws;
use crate::sparse::Error;
use crate::sparse::prior::Prior;

/// How many of the most probable tokens are looked at first for those that have a given probability together.
const FIRST_LOOK: usize = 64;

/// Draws of a token that has no probability of its own before the best is taken: as good as never.
const MOST_TRIED: usize = 1 << 10;

/// Draws that are not taken before all that followed is gone through.
const MOST_REFUSED: usize = 1 << 6;

/// What draws from one state of a memory share.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawing {
    stamp: u64,
    /// The prior as it is, and as the temperature makes it.
    prior: Sums,
    warm: Sums,
}

/// Sums of the prior's probabilities as parts of the highest, to the power that the temperature makes it, of the tokens up to each.
#[derive(Clone, Debug, Default)]
struct Sums {
    temperature: f64,
    sums: Vec<f64>,
}

impl Sums {
    /// Makes the sums, if those that are there are others.
    fn prepare(&mut self, prior: &Prior, temperature: f64) {
        if self.temperature == temperature && !self.sums.is_empty() {
            return;
        }
        self.temperature = temperature;
        let (highest, power) = (prior.p[prior.best as usize], 1.0 / temperature);
        let mut sum = 0.0;
        self.sums.clear();
        self.sums.extend(prior.p.iter().map(|&p| {
            sum += if temperature == 1.0 { p / highest } else { libm::pow(p / highest, power) };
            sum
        }));
    }

    fn whole(&self) -> f64 {
        self.sums.last().copied().unwrap_or(0.0)
    }

    /// The prior's part of a token in the sums.
    fn share(&self, token: u32) -> f64 {
        let at = token as usize;
        self.sums[at] - at.checked_sub(1).map_or(0.0, |before| self.sums[before])
    }

    /// Draws a token that has no probability of its own.
    fn draw(&self, has_own: impl Fn(u32) -> bool, draws: &mut Draws) -> Option<u32> {
        let mut tokens = (0..MOST_TRIED).map(|_| {
            let at = uniform(draws) * self.whole();
            self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1) as u32
        });
        tokens.find(|&token| !has_own(token))
    }
}

impl Drawing {
    /// Draws a token. The same draws give the same token.
    pub(super) fn draw(
        &mut self,
        distribution: &Distribution<'_>,
        stamp: u64,
        sampling: &Sampling,
        said: &GeneratedCounts,
        draws: &mut Draws,
    ) -> Result<u32, Error> {
        let &Sampling { temperature, top_k, top_p, .. } = sampling;
        if self.stamp != stamp {
            *self = Drawing { stamp, ..Drawing::default() };
        }
        let all = temperature <= 1.0 && top_k == 0 && top_p >= 1.0 && !sampling.penalizes();
        if all && let Some(token) = self.draw_of_all(distribution, temperature, draws)? {
            return Ok(token);
        }
        // Relative to the largest, so that a low temperature does not make everything 0.
        let (parts, most) = if sampling.penalizes() {
            let parts = said.penalized(distribution, sampling)?;
            let most = parts.top(1).first().map_or(1.0, |&(_, p)| p);
            (parts, most)
        } else {
            let most = match temperature {
                1.0 => 1.0,
                _ => distribution.probability(distribution.best()?)?,
            };
            (distribution.parts()?, most)
        };
        let weight = |p: f64| {
            if temperature == 1.0 { p } else { libm::pow(p / most, 1.0 / temperature) }
        };
        let weighed = |mut p: Vec<(u32, f64)>| {
            p.iter_mut().for_each(|(_, p)| *p = weight(*p));
            p
        };
        if top_k > 0 {
            let p = weighed(parts.top(top_k));
            let whole = sum(&p);
            return Ok(pick(&p[..nucleus(&p, top_p * whole)], draws));
        }
        self.warm.prepare(parts.prior, temperature);
        let listed = weighed(parts.listed.to_vec());
        let followed = weighed(parts.followed.clone());
        let own = |list: &[(u32, f64)]| -> f64 {
            list.iter().map(|&(token, _)| self.warm.share(token)).sum()
        };
        let others = self.warm.whole() - own(&listed) - own(&followed);
        let whole = sum(&listed)
            + sum(&followed)
            + weight(parts.factor() * parts.highest()) * others.max(0.0);
        if top_p < 1.0 {
            let mut k = FIRST_LOOK;
            loop {
                let p = weighed(parts.top(k));
                let kept = nucleus(&p, top_p * whole);
                if kept < p.len() || k >= self.warm.sums.len() {
                    return Ok(pick(&p[..kept], draws));
                }
                k *= 4;
            }
        }
        let mut at = uniform(draws) * whole;
        for &(token, p) in listed.iter().chain(&followed) {
            at -= p;
            if at < 0.0 {
                return Ok(token);
            }
        }
        // One of the others.
        let token = self.warm.draw(|token| parts.has(token), draws);
        Ok(token.unwrap_or_else(|| parts.top(1).first().map_or(0, |&(token, _)| token)))
    }

    /// Draws one of all tokens at a temperature of up to 1. `None` if all that followed must be gone through.
    fn draw_of_all(
        &mut self,
        distribution: &Distribution<'_>,
        temperature: f64,
        draws: &mut Draws,
    ) -> Result<Option<u32>, Error> {
        let Some(split) = distribution.split() else { return Ok(None) };
        self.prior.prepare(split.prior, 1.0);
        let power = 1.0 / temperature - 1.0;
        let highest = split.listed.iter().fold(split.most, |highest, &(_, p)| highest.max(p));
        // What p is multiplied by, with a most probable token that has so much.
        let factor =
            |p: f64, most: f64| if power == 0.0 { 1.0 } else { libm::pow(p / most, power) };
        let listed = split.listed.iter().map(|&(token, p)| (token, p * factor(p, highest)));
        let listed: Vec<(u32, f64)> = listed.collect();
        let others = (1.0 - sum(split.listed)).max(0.0);
        let whole = sum(&listed) + others * factor(split.most, highest);
        for _ in 0..MOST_REFUSED {
            let mut at = uniform(draws) * whole;
            for &(token, p) in &listed {
                at -= p;
                if at < 0.0 {
                    return Ok(Some(token));
                }
            }
            let Some(token) = self.other(&split, others, draws) else { break };
            let p = if power == 0.0 { split.most } else { distribution.probability(token)? };
            if power == 0.0 || uniform(draws) < factor(p, split.most) {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }

    /// Draws a token that followed no longer context than a single token, in proportion; all of these have `others` together.
    fn other(&self, split: &Split<'_>, others: f64, draws: &mut Draws) -> Option<u32> {
        let is_listed = |token: u32| split.listed.binary_search_by_key(&token, |e| e.0).is_ok();
        let at = uniform(draws) * others - split.by_prior;
        let followers = match at {
            ..0.0 => None,
            _ if at < split.by_skipped => split.skipped,
            _ => Some(split.followers),
        };
        let mut tried = (0..MOST_TRIED).map(|_| followers?.at(uniform(draws)));
        let token =
            followers.and_then(|_| tried.find_map(|token| token.filter(|&t| !is_listed(t))));
        token.or_else(|| self.prior.draw(is_listed, draws))
    }
}

/// Draws from a list of probabilities, the best first.
pub(super) fn draw_listed(list: &[(u32, f64)], sampling: &Sampling, draws: &mut Draws) -> u32 {
    let &Sampling { temperature, top_k, top_p, .. } = sampling;
    let kept = if top_k > 0 { top_k.min(list.len()) } else { list.len() };
    let most = list.first().map_or(1.0, |&(_, p)| p);
    // Relative to the largest, so that a low temperature does not make everything 0.
    let weighed = list[..kept].iter();
    let weighed: Vec<(u32, f64)> =
        weighed.map(|&(token, p)| (token, libm::pow(p / most, 1.0 / temperature))).collect();
    pick(&weighed[..nucleus(&weighed, top_p * sum(&weighed))], draws)
}

fn sum(list: &[(u32, f64)]) -> f64 {
    list.iter().map(|&(_, p)| p).sum()
}

/// How many of the first of a list have so much together, and one at least.
fn nucleus(list: &[(u32, f64)], enough: f64) -> usize {
    let mut sum = 0.0;
    let kept = list.iter().take_while(|(_, p)| {
        let more = sum < enough;
        sum += p;
        more
    });
    kept.count().max(1).min(list.len())
}

/// A number from 0 up to 1. 53 bits: every double of that spacing is equally likely.
fn uniform(draws: &mut Draws) -> f64 {
    (draws.word() >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws from a list in proportion.
fn pick(list: &[(u32, f64)], draws: &mut Draws) -> u32 {
    let mut at = uniform(draws) * sum(list);
    for &(token, p) in list {
        at -= p;
        if at < 0.0 {
            return token;
        }
    }
    list.last().map_or(0, |&(token, _)| token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::{BACKOFF, Scratch};
    use crate::sparse::{Memory, Settings};

    /// Every token is drawn as often as the distribution, with all of its probabilities written out, says.
    #[test]
    fn tokens_are_drawn_as_often_as_they_are_probable() {
        let mut memory = Memory::new(Settings::new(40, 39, 3).unwrap()).unwrap();
        let text: Vec<u32> = (0..300u32).map(|i| (i * i + i / 5) % 23).collect();
        memory.memorize(&text).unwrap();
        let mut scratch = Scratch::default();
        let mut drawing = Drawing::default();
        // A quote, a single token with many successors, two that never stood together, and a token that never occurred.
        let contexts = [&text[40..43], &text[41..42], &[text[50], text[10]], &[30]];
        let samplings = [
            (1.0, 0, 1.0),
            (0.7, 0, 1.0),
            (0.3, 0, 1.0),
            (2.0, 0, 1.0),
            (1.5, 6, 1.0),
            (1.0, 0, 0.8),
            (2.0, 9, 0.7),
        ];
        let each = samplings.into_iter().flat_map(|s| contexts.map(|context| (s, context)));
        for ((temperature, top_k, top_p), context) in each {
            let sampling = Sampling { temperature, top_k, top_p, ..Sampling::default() };
            let distribution = BACKOFF.distribution(&memory, context, &mut scratch).unwrap();
            let mut expected: Vec<(u32, f64)> = (0..).zip(distribution.dense().unwrap()).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            assert_eq!(expected[..5], distribution.top(5).unwrap());
            expected.truncate(if top_k > 0 { top_k } else { 40 });
            expected.iter_mut().for_each(|(_, p)| *p = p.powf(1.0 / temperature));
            let kept = nucleus(&expected, top_p * sum(&expected));
            expected.truncate(kept);
            let whole = sum(&expected);
            let mut seen = [0.0; 40];
            let mut draws = Stream::new(5, Purpose::Sampling, 0).draws();
            let tries = 20_000;
            for _ in 0..tries {
                let token = drawing.draw(
                    &distribution,
                    memory.stamp(),
                    &sampling,
                    &GeneratedCounts::default(),
                    &mut draws,
                );
                seen[token.unwrap() as usize] += 1.0 / f64::from(tries);
            }
            for (token, p) in expected {
                let p = p / whole;
                // Five standard deviations, and two draws of what is hardly ever drawn.
                let most = 5.0 * (p * (1.0 - p) / f64::from(tries)).sqrt() + 2.0 / f64::from(tries);
                let got = std::mem::take(&mut seen[token as usize]);
                assert!((got - p).abs() <= most, "{token}: {got} for {p} ({sampling:?})");
            }
            assert!(seen.iter().all(|&p| p == 0.0), "{seen:?}");
        }
    }
}
