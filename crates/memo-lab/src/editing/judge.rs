//! CounterFact's questions, asked of a memory: which of two continuations does it find more probable, and would it say
//! the wanted one?

use super::records::{Fact, Prompt, Target};
use crate::{Error, Share};
use memo::metrics::harmonic_mean;
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::Memory;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Add;

/// One question: whether the wanted continuation is more probable than the other, and whether each of its tokens is
/// the most probable one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) preferred: Share,
    pub(super) said: Share,
}

impl Add for Answer {
    type Output = Answer;

    fn add(self, other: Answer) -> Answer {
        Answer { preferred: self.preferred + other.preferred, said: self.said + other.said }
    }
}

/// The three questions of a record, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) efficacy: Answer,
    pub(super) paraphrase: Answer,
    pub(super) specificity: Answer,
}

impl Verdict {
    /// The harmonic mean of the three, by preference and by what is said.
    pub(super) fn scores(&self) -> (f64, f64) {
        let all = [self.efficacy, self.paraphrase, self.specificity];
        let score = |of: fn(Answer) -> Share| harmonic_mean(&all.map(|answer| of(answer).value()));
        (score(|answer| answer.preferred), score(|answer| answer.said))
    }
}

impl Add for Verdict {
    type Output = Verdict;

    fn add(self, other: Verdict) -> Verdict {
        Verdict {
            efficacy: self.efficacy + other.efficacy,
            paraphrase: self.paraphrase + other.paraphrase,
            specificity: self.specificity + other.specificity,
        }
    }
}

/// Asks about each record.
pub(super) fn judge(memory: &Memory, facts: &[&Fact]) -> Result<Vec<Verdict>, Error> {
    let verdict = |scratch: &mut Scratch, fact: &&Fact| -> Result<Verdict, Error> {
        let mut ask = |prompt: &Prompt, wanted: &Target, other: &Target| {
            answer(memory, prompt, wanted, other, scratch)
        };
        Ok(Verdict {
            efficacy: ask(&fact.prompt, &fact.new, &fact.old)?,
            paraphrase: ask(&fact.paraphrase, &fact.new, &fact.old)?,
            specificity: ask(&fact.neighbour, &fact.neighbour_says, &fact.new)?,
        })
    };
    facts.par_iter().map_init(Scratch::default, verdict).collect()
}

fn answer(
    memory: &Memory,
    prompt: &Prompt,
    wanted: &Target,
    other: &Target,
    scratch: &mut Scratch,
) -> Result<Answer, Error> {
    let (wanted, said) = score(memory, prompt, wanted, scratch)?;
    let (other, _) = score(memory, prompt, other, scratch)?;
    let share = |right: bool| Share { right: u64::from(right), tried: 1 };
    Ok(Answer { preferred: share(wanted > other), said: share(said) })
}

/// The mean log-probability of a continuation's tokens, and whether each is the most probable one.
fn score(
    memory: &Memory,
    prompt: &Prompt,
    target: &Target,
    scratch: &mut Scratch,
) -> Result<(f64, bool), Error> {
    let mut context = prompt.tokens.clone();
    let (mut sum, mut said) = (0.0, true);
    for &token in &target.tokens {
        let distribution = BACKOFF.distribution(memory, &context, scratch)?;
        sum += distribution.probability(token)?.ln();
        said &= distribution.best()? == token;
        context.push(token);
    }
    Ok((sum / target.tokens.len().max(1) as f64, said))
}
