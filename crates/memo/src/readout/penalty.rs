//! Penalties of tokens that were said already: a token's log-probability falls by [`Sampling::presence_penalty`] once it was said, and by
//! [`Sampling::frequency_penalty`] each time. Negative ones make it more probable.
//!
//! What is penalised is how the next token is picked. Probabilities that are reported stay those of the memory, or of the
//! mixture with a neural model.

use super::distribution::{Distribution, Parts};
use super::generate::Sampling;
use crate::sparse::Error;
use std::collections::BTreeMap;

/// How often each token was generated since the prompt; only kept where there are penalties.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneratedCounts(BTreeMap<u32, u32>);

/// What the probabilities of tokens that were said are multiplied by, in order of the tokens, and those of all others. None is above 1:
/// it is what they are relative to each other that counts, and the largest must not overflow.
struct Factors {
    said: Vec<(u32, f64)>,
    others: f64,
}

impl Factors {
    fn of(&self, token: u32) -> f64 {
        let said = self.said.binary_search_by_key(&token, |&(token, _)| token);
        said.map_or(self.others, |at| self.said[at].1)
    }
}

impl Sampling {
    /// Whether anything is penalised.
    pub(super) fn penalizes(&self) -> bool {
        self.frequency_penalty != 0.0 || self.presence_penalty != 0.0
    }

    /// The penalty of a token that was said so often.
    fn penalty(&self, count: u32) -> f64 {
        self.presence_penalty + self.frequency_penalty * f64::from(count)
    }
}

impl GeneratedCounts {
    pub(super) fn add(&mut self, token: u32) {
        *self.0.entry(token).or_default() += 1;
    }

    fn factors(&self, sampling: &Sampling) -> Factors {
        let penalties = self.0.iter().map(|(&token, &count)| (token, sampling.penalty(count)));
        let least = penalties.clone().fold(0.0, |least: f64, (_, penalty)| least.min(penalty));
        let said = penalties.map(|(token, penalty)| (token, libm::exp(least - penalty)));
        Factors { said: said.collect(), others: libm::exp(least) }
    }

    /// Penalises probabilities, each up to one factor.
    pub(super) fn penalize(&self, list: &mut [(u32, f64)], sampling: &Sampling) {
        let factors = self.factors(sampling);
        list.iter_mut().for_each(|(token, p)| *p *= factors.of(*token));
    }

    /// The parts of a distribution with penalties, each probability up to one factor.
    pub(super) fn penalized<'d>(
        &self,
        distribution: &'d Distribution<'_>,
        sampling: &Sampling,
    ) -> Result<Parts<'d>, Error> {
        let mut parts = distribution.parts()?;
        let Factors { said, others } = self.factors(sampling);
        // Those that were said have a probability of their own from now on.
        let was_said = |token: u32| self.0.contains_key(&token);
        let listed = parts.listed.iter().filter(|&&(token, _)| !was_said(token));
        let mut listed: Vec<(u32, f64)> = listed.map(|&(token, p)| (token, p * others)).collect();
        for &(token, factor) in &said {
            listed.push((token, distribution.probability(token)? * factor));
        }
        listed.sort_unstable_by_key(|&(token, _)| token);
        parts.followed.retain(|&(token, _)| !was_said(token));
        parts.followed.iter_mut().for_each(|(_, p)| *p *= others);
        parts.rest[0] *= others;
        parts.listed = listed.into();
        Ok(parts)
    }

    /// The most probable token with penalties. `settled` is the one without: it may be less probable than others, because it follows
    /// the longest match, and stays unless another one gets more than the most probable one has.
    pub(super) fn best(
        &self,
        distribution: &Distribution<'_>,
        settled: u32,
        sampling: &Sampling,
    ) -> Result<u32, Error> {
        let factors = self.factors(sampling);
        let most = distribution.probability(distribution.best()?)?;
        let highest = most.max(distribution.probability(settled)?);
        let mut best = (settled, highest * factors.of(settled));
        let mut consider = |token: u32, p: f64| {
            let p = p * factors.of(token);
            if p > best.1 || (p == best.1 && best.0 != settled && token < best.0) {
                best = (token, p);
            }
        };
        // The best of those that were not said is among one more than there are of those that were.
        for (token, p) in distribution.top(factors.said.len() + 1)? {
            consider(token, p);
        }
        for &(token, _) in &factors.said {
            consider(token, distribution.probability(token)?);
        }
        Ok(best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use crate::readout::draw::Drawing;
    use crate::readout::{BACKOFF, Scratch};
    use crate::sparse::{Memory, Settings};

    /// Tokens are drawn as often, and the best is the one, as all probabilities written out, penalised, say.
    #[test]
    fn penalties_are_what_they_are_defined_to_be() {
        let mut memory = Memory::new(Settings::new(40, 39, 3).unwrap()).unwrap();
        let text: Vec<u32> = (0..300u32).map(|i| i * i % 23).collect();
        memory.memorize(&text).unwrap();
        let (mut scratch, context) = (Scratch::default(), &text[40..43]);
        let distribution = BACKOFF.distribution(&memory, context, &mut scratch).unwrap();
        let best = distribution.best().unwrap();
        let mut said = GeneratedCounts::default();
        // The most probable one, one that followed, one that never did, and one of the prior.
        for token in [best, best, text[43], 30, 38] {
            said.add(token);
        }
        for (temperature, top_k, top_p, frequency_penalty, presence_penalty) in [
            (1.0, 0, 1.0, 0.5, 0.5),
            (0.7, 0, 1.0, 2.0, 0.0),
            (2.0, 0, 1.0, 0.0, -1.5),
            (1.5, 6, 1.0, -2.0, 1.0),
            (1.0, 0, 0.8, 1.0, 0.0),
            (2.0, 9, 0.7, 0.0, 2.0),
        ] {
            let sampling = Sampling {
                temperature,
                top_k,
                top_p,
                frequency_penalty,
                presence_penalty,
                ..Sampling::default()
            };
            let mut expected: Vec<(u32, f64)> = (0..).zip(distribution.dense().unwrap()).collect();
            for (token, p) in &mut expected {
                if let Some(&count) = said.0.get(token) {
                    *p *= (-presence_penalty - frequency_penalty * f64::from(count)).exp();
                }
            }
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            assert_eq!(said.best(&distribution, best, &sampling).unwrap(), expected[0].0);
            expected.truncate(if top_k > 0 { top_k } else { 40 });
            expected.iter_mut().for_each(|(_, p)| *p = p.powf(1.0 / temperature));
            let whole: f64 = expected.iter().map(|(_, p)| p).sum();
            let mut before = 0.0;
            expected.retain(|(_, p)| {
                let kept = before < top_p * whole;
                before += p;
                kept
            });
            let whole: f64 = expected.iter().map(|(_, p)| p).sum();
            let (mut seen, tries) = ([0.0; 40], 20_000);
            let mut drawing = Drawing::default();
            let mut draws = Stream::new(5, Purpose::Sampling, 0).draws();
            for _ in 0..tries {
                let token =
                    drawing.draw(&distribution, memory.stamp(), &sampling, &said, &mut draws);
                seen[token.unwrap() as usize] += 1.0 / f64::from(tries);
            }
            for (token, p) in expected {
                let p = p / whole;
                let most = 5.0 * (p * (1.0 - p) / f64::from(tries)).sqrt() + 2.0 / f64::from(tries);
                let got = std::mem::take(&mut seen[token as usize]);
                assert!((got - p).abs() <= most, "{token}: {got} for {p} ({sampling:?})");
            }
            assert!(seen.iter().all(|&p| p == 0.0), "{seen:?}");
        }
        // A low temperature takes the best, however little is left of it.
        let sampling = Sampling {
            temperature: 1e-4,
            frequency_penalty: 2.0,
            presence_penalty: 2.0,
            ..Sampling::default()
        };
        let mut draws = Stream::new(5, Purpose::Sampling, 0).draws();
        let token = Drawing::default()
            .draw(&distribution, memory.stamp(), &sampling, &said, &mut draws)
            .unwrap();
        assert_eq!(token, said.best(&distribution, best, &sampling).unwrap());
        // However often something was said, nothing overflows.
        said.0.insert(30, u32::MAX);
        for frequency_penalty in [2.0, -2.0] {
            let sampling = Sampling { temperature: 1.0, frequency_penalty, ..Sampling::default() };
            let mut draws = Stream::new(5, Purpose::Sampling, 0).draws();
            let token = Drawing::default()
                .draw(&distribution, memory.stamp(), &sampling, &said, &mut draws)
                .unwrap();
            assert_eq!(token == 30, frequency_penalty < 0.0);
            assert_eq!(
                said.best(&distribution, best, &sampling).unwrap() == 30,
                frequency_penalty < 0.0
            );
        }
    }
}
