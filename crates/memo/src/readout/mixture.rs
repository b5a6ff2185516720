//! Mixture: what comes next, by a memory and a neural model of the same vocabulary together: w·p(memory) + (1 − w)·p(model).
//!
//! Servers of neural models tell the probabilities of the most probable tokens only. What is left of the model's mass all
//! other tokens share equally; so each of them gets at most as much as the least of those that were told. That counts for
//! probabilities; a draw is never of a token that only the rest speaks for, as if `top_k` had been asked of the model.
//!
//! A mixture is a function of the memory, the context and what the model said. So for the same answers of the model, a
//! memory that forgot a text gives the same bits as one that never knew it.

use super::draw::draw_listed;
use super::{Backoff, Choice, Distribution, Generation, Known, Weight};
use crate::sparse::{Error, Memory};

/// What a neural model says comes next: its most probable tokens, and its vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTop {
    /// In order of the tokens, each with its probability.
    top: Vec<(u32, f64)>,
    /// What each other token gets.
    each: f64,
}

/// Why a model's most probable tokens are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATop {
    /// There are none.
    #[error("it names no token")]
    Empty,
    /// One is outside of the vocabulary.
    #[error("it names token {0}, which is outside of its vocabulary")]
    Token(u32),
    /// One is there twice.
    #[error("it names token {0} twice")]
    Twice(u32),
    /// One has a probability that is none, or all have more than 1 together.
    #[error("its probabilities are none")]
    Probability,
}

/// What rounding may add to the sum of probabilities that a model tells in single precision.
const SLACK: f64 = 1e-3;

impl ModelTop {
    /// The most probable tokens of a model, with their probabilities, of a vocabulary of so many.
    pub fn new(mut top: Vec<(u32, f64)>, vocabulary: usize) -> Result<Self, NotATop> {
        top.sort_unstable_by_key(|&(token, _)| token);
        if let Some(twice) = top.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(NotATop::Twice(twice[0].0));
        }
        let &(last, _) = top.last().ok_or(NotATop::Empty)?;
        if last as usize >= vocabulary {
            return Err(NotATop::Token(last));
        }
        let sum: f64 = top.iter().map(|&(_, p)| p).sum();
        if top.iter().any(|(_, p)| !(0.0..=1.0).contains(p)) || sum <= 0.0 || sum > 1.0 + SLACK {
            return Err(NotATop::Probability);
        }
        let others = vocabulary - top.len();
        let each = if others == 0 { 0.0 } else { (1.0 - sum).max(0.0) / others as f64 };
        Ok(ModelTop { top, each })
    }

    /// Returns the probability of a token.
    pub fn probability(&self, token: u32) -> f64 {
        let named = self.top.binary_search_by_key(&token, |&(token, _)| token);
        named.map_or(self.each, |at| self.top[at].1)
    }

    /// Returns the tokens that the model named, the most probable first.
    pub fn best_first(&self) -> Vec<(u32, f64)> {
        let mut top = self.top.clone();
        top.sort_by(|a, b| b.1.total_cmp(&a.1));
        top
    }
}

/// How the tokens of a memory are those of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabularies {
    /// How many tokens the memory has, its end included.
    pub memory: u32,
    /// How many the model has; it may have more than the memory, which says nothing of these.
    pub model: u32,
    /// The memory's end of a document.
    pub end: u32,
    /// The token of the model's that stands for that end, if it is none of the model's own tokens.
    pub end_in_model: Option<u32>,
}

impl Vocabularies {
    /// Returns a token of the model as the memory reads it: what the memory does not know is where a text begins anew.
    pub fn to_memory(&self, token: u32) -> u32 {
        let made_up = self.end_in_model.is_some_and(|end| token == end || token == self.end);
        if made_up || token >= self.memory { self.end } else { token }
    }

    /// Returns a token of the memory as the model has it.
    pub fn to_model(&self, token: u32) -> u32 {
        self.end_in_model.filter(|_| token == self.end).unwrap_or(token)
    }
}

/// What a mixture gives a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The memory's weight.
    pub weight: f64,
    /// The probability that the memory gives the token.
    pub memory: f64,
    /// The probability that the model gives it; none if the model did not answer.
    pub model: Option<f64>,
}

/// The distribution of a memory and a model together, over the model's vocabulary.
#[derive(Clone, Debug)]
pub struct Mixture {
    weight: f64,
    memory: Vec<f64>,
    model: Option<ModelTop>,
}

impl Mixture {
    /// Mixes what a memory and a model say; without the model, it is the memory alone.
    fn new(
        known: Known,
        memory: &Distribution<'_>,
        model: Option<&ModelTop>,
        weight: Weight,
        vocabularies: &Vocabularies,
    ) -> Result<Self, Error> {
        let mut p = memory.dense()?;
        let end = p.get(vocabularies.end as usize).copied();
        p.resize(vocabularies.model.max(vocabularies.memory) as usize, 0.0);
        if let (Some(at), Some(end)) = (vocabularies.end_in_model, end) {
            p[vocabularies.end as usize] = 0.0;
            p[at as usize] += end;
        }
        p.truncate(vocabularies.model as usize);
        let best = memory.best()?;
        let weight = match model {
            None => 1.0,
            Some(model) => {
                let agreed = model.probability(vocabularies.to_model(best));
                let highest = model.top.iter().map(|&(_, p)| p).fold(0.0, f64::max);
                weight.at(&Known {
                    memory: libm::log(memory.probability(best)?),
                    model: libm::log(highest),
                    agreed: libm::log(agreed),
                    ..known
                })
            }
        };
        Ok(Mixture { weight, memory: p, model: model.cloned() })
    }

    /// Returns what each of the two gives a token.
    pub fn shares(&self, token: u32) -> Shares {
        Shares {
            weight: self.weight,
            memory: self.memory.get(token as usize).copied().unwrap_or(0.0),
            model: self.model.as_ref().map(|model| model.probability(token)),
        }
    }

    /// Returns the probability of a token.
    pub fn probability(&self, token: u32) -> f64 {
        let Shares { weight, memory, model } = self.shares(token);
        weight * memory + (1.0 - weight) * model.unwrap_or(0.0)
    }

    /// Returns the `k` most probable tokens, best first; of equals, the one with the lowest number.
    pub fn top(&self, k: usize) -> Vec<(u32, f64)> {
        let mut all = self.all();
        best_of(&mut all, k);
        all
    }

    fn all(&self) -> Vec<(u32, f64)> {
        (0..self.memory.len() as u32).map(|token| (token, self.probability(token))).collect()
    }

    /// Returns the tokens that can be drawn, with what is for each: not those that only the rest of the model's mass speaks
    /// for.
    fn drawable(&self) -> Vec<(u32, f64)> {
        let mut all: Vec<(u32, f64)> =
            (0..).zip(&self.memory).map(|(token, p)| (token, self.weight * p)).collect();
        for &(token, p) in self.model.iter().flat_map(|model| &model.top) {
            all[token as usize].1 += (1.0 - self.weight) * p;
        }
        all.retain(|&(_, p)| p > 0.0);
        all
    }
}

/// Keeps the `k` with the highest values, in their order; of equals, the lowest tokens.
fn best_of(all: &mut Vec<(u32, f64)>, k: usize) {
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if k < all.len() {
        all.select_nth_unstable_by(k, order);
        all.truncate(k);
    }
    all.sort_unstable_by(order);
}

impl Generation {
    /// Chooses the next token from the mixture with what a model says, without going on. Without the model's answer it is chosen
    /// from the memory alone. The token is one of the model's vocabulary.
    pub fn choose_mixed(
        &mut self,
        memory: &Memory,
        readout: &Backoff,
        model: Option<&ModelTop>,
        weight: Weight,
        vocabularies: &Vocabularies,
    ) -> Result<(Choice, Mixture), Error> {
        let window = readout.window(memory);
        let context = self.context();
        let context: Vec<u32> = context[context.len().saturating_sub(window)..]
            .iter()
            .map(|&token| vocabularies.to_memory(token))
            .collect();
        let scratch = self.scratch_mut();
        let (confidence, distribution) = readout.confident(memory, &context, scratch)?;
        let known = Known { confidence, ..Known::default() };
        let mixture = Mixture::new(known, &distribution, model, weight, vocabularies)?;
        let (sampling, said, mut draws) = self.sampling();
        let is_drawn = sampling.temperature > 0.0;
        let mut all = if is_drawn { mixture.drawable() } else { mixture.all() };
        if sampling.penalizes() {
            said.penalize(&mut all, sampling);
        }
        let kept = if is_drawn { all.len() } else { 1 };
        best_of(&mut all, kept);
        let token = if is_drawn {
            draw_listed(&all, sampling, &mut draws)
        } else {
            all.first().map_or(vocabularies.end, |&(token, _)| token)
        };
        Ok((Choice::new(token, draws, window), mixture))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readout::{Auto, BACKOFF, Sampling, Scratch};
    use crate::sparse::Settings;

    const VOCABULARIES: Vocabularies =
        Vocabularies { memory: 50, model: 60, end: 49, end_in_model: Some(55) };

    fn memory(texts: &[&[u32]]) -> Memory {
        let mut memory = Memory::new(Settings::new(50, 49, 7).unwrap()).unwrap();
        texts.iter().for_each(|text| memory.memorize(text).unwrap());
        memory
    }

    fn model() -> ModelTop {
        ModelTop::new(vec![(7, 0.5), (58, 0.2), (3, 0.1)], 60).unwrap()
    }

    fn mix(memory: &Memory, prompt: &[u32], weight: Weight, sampling: Sampling) -> (u32, Mixture) {
        let mut generation = Generation::new(prompt, sampling);
        let (choice, mixture) = generation
            .choose_mixed(memory, &BACKOFF, Some(&model()), weight, &VOCABULARIES)
            .unwrap();
        (choice.token, mixture)
    }

    /// Every token has the weighted sum of what both give it, also those that only one of them has, and all sum to 1.
    #[test]
    fn a_mixture_is_the_weighted_sum() {
        let memory = memory(&[&[1, 2, 3, 4, 5], &[1, 2]]);
        let (token, mixture) = mix(&memory, &[1, 2], Weight::Fixed(0.3), Sampling::default());
        let alone = BACKOFF.distribution(&memory, &[1, 2], &mut Scratch::default()).unwrap();
        let sum: f64 = (0..60).map(|token| mixture.probability(token)).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        for token in 0..60 {
            let own = match token {
                // The memory's end stands where the model's is.
                55 => alone.probability(49).unwrap(),
                49.. => 0.0,
                _ => alone.probability(token).unwrap(),
            };
            let other = match token {
                7 => 0.5,
                58 => 0.2,
                3 => 0.1,
                _ => (1.0 - 0.8) / 57.0,
            };
            let expected = 0.3 * own + 0.7 * other;
            assert!((mixture.probability(token) - expected).abs() < 1e-12, "{token}");
        }
        assert_eq!(token, 7);
        assert_eq!(mixture.top(1), [(7, mixture.probability(7))]);
        // What the model does not name gets no more than the least that it names.
        assert!(model().probability(20) < model().probability(3));
    }

    /// Sure of a quote, the memory prevails; in a text that it never saw, the model does.
    #[test]
    fn the_rule_gives_the_word_to_who_knows() {
        let text: Vec<u32> = (10..40).collect();
        let memory = memory(&[&text]);
        let auto = Weight::Auto(Auto::default());
        let (token, mixture) = mix(&memory, &text[..20], auto, Sampling::default());
        assert_eq!(token, text[20]);
        assert!(mixture.shares(token).weight > 0.9);
        let (token, mixture) = mix(&memory, &[5, 58, 5, 58, 3], auto, Sampling::default());
        assert_eq!(token, 7);
        assert!(mixture.shares(token).weight < 0.5);
    }

    /// For the same answers of the model, a memory that forgot is one that never knew: every probability, to the last bit.
    #[test]
    fn after_forgetting_the_mixture_is_that_of_a_memory_that_never_knew() {
        let (kept, gone): (Vec<u32>, Vec<u32>) = ((10..30).collect(), (20..45).rev().collect());
        let never = memory(&[&kept]);
        let mut forgot = memory(&[&kept, &gone]);
        let knew = forgot.clone();
        forgot.forget(&gone).unwrap();
        let mut changed = false;
        for weight in [Weight::Auto(Auto::default()), Weight::Fixed(0.5)] {
            for prompt in [&kept[..12], &gone[..12], &gone[3..5], &[]] {
                let bits = |memory: &Memory| -> Vec<u64> {
                    let (_, mixture) = mix(memory, prompt, weight, Sampling::default());
                    (0..60).map(|token| mixture.probability(token).to_bits()).collect()
                };
                assert_eq!(bits(&forgot), bits(&never));
                changed |= bits(&knew) != bits(&never);
            }
        }
        assert!(changed, "the text that was forgotten mattered");
    }

    /// Tokens that only the rest of the model's mass speaks for are never drawn, others as often as they are probable.
    #[test]
    fn draws_are_of_what_one_of_them_names() {
        let memory = memory(&[]);
        let sampling = Sampling { temperature: 1.0, ..Sampling::default() };
        let mut generation = Generation::new(&[1, 2], sampling);
        let mut seen = [0u32; 60];
        for _ in 0..4000 {
            let weight = Weight::Fixed(0.0);
            let (choice, _) = generation
                .choose_mixed(&memory, &BACKOFF, Some(&model()), weight, &VOCABULARIES)
                .unwrap();
            seen[choice.token as usize] += 1;
            generation.accept(choice);
        }
        assert_eq!(seen.iter().filter(|&&count| count > 0).count(), 3);
        for (token, p) in [(7, 0.5 / 0.8), (58, 0.2 / 0.8), (3, 0.1 / 0.8)] {
            let share = f64::from(seen[token]) / 4000.0;
            assert!((share - p).abs() < 0.05, "{token}: {share} for {p}");
        }
    }

    /// What was said is picked by its probability less the penalties, greedily and by draws; what is reported stays the mixture.
    #[test]
    fn penalties_are_those_of_the_mixture() {
        let memory = memory(&[&[1, 2, 3, 4, 5], &[1, 2]]);
        let (frequency_penalty, presence_penalty) = (0.7, 0.4);
        let sampling = Sampling { frequency_penalty, presence_penalty, ..Sampling::default() };
        let mut generation = Generation::new(&[1, 2], sampling);
        let mut said = [0u32; 60];
        for _ in 0..12 {
            let (choice, mixture) = generation
                .choose_mixed(&memory, &BACKOFF, Some(&model()), Weight::Fixed(0.3), &VOCABULARIES)
                .unwrap();
            let penalty = |count: u32| {
                if count == 0 {
                    0.0
                } else {
                    presence_penalty + frequency_penalty * f64::from(count)
                }
            };
            let left =
                |token: u32| mixture.probability(token) * (-penalty(said[token as usize])).exp();
            let best = (0..60).max_by(|&a, &b| left(a).total_cmp(&left(b)).then(b.cmp(&a)));
            assert_eq!(Some(choice.token), best);
            let sum: f64 = (0..60).map(|token| mixture.probability(token)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            said[choice.token as usize] += 1;
            generation.accept(choice);
        }
        // Without penalties it would be the same token each time.
        assert!(said.iter().filter(|&&count| count > 0).count() > 3);
        let sampling = Sampling { temperature: 1.0, frequency_penalty: 2.0, ..Sampling::default() };
        let mut generation = Generation::new(&[1, 2], sampling);
        let mut drawn = [0u32; 60];
        for _ in 0..60 {
            let (choice, _) = generation
                .choose_mixed(&memory, &BACKOFF, Some(&model()), Weight::Fixed(0.0), &VOCABULARIES)
                .unwrap();
            drawn[choice.token as usize] += 1;
            generation.accept(choice);
        }
        // The three tokens that the model names take turns, however unlike their probabilities are.
        assert!([7, 58, 3].iter().all(|&token| (18..=22).contains(&drawn[token])), "{drawn:?}");
    }

    #[test]
    fn nonsense_of_a_model_is_refused() {
        assert_eq!(ModelTop::new(vec![], 9), Err(NotATop::Empty));
        assert_eq!(ModelTop::new(vec![(9, 0.1)], 9), Err(NotATop::Token(9)));
        assert_eq!(ModelTop::new(vec![(1, 0.1), (1, 0.2)], 9), Err(NotATop::Twice(1)));
        for p in [f64::NAN, -0.1, 1.5, 0.0] {
            assert_eq!(ModelTop::new(vec![(1, p)], 9), Err(NotATop::Probability));
        }
        assert_eq!(ModelTop::new(vec![(1, 0.7), (2, 0.7)], 9), Err(NotATop::Probability));
    }
}
