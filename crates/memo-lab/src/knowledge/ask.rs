//! Questions to a model: what it says after a prompt, what it finds more probable, and what it answers.

use super::data::{Use, World, order};
use super::pattern::Pattern;
use crate::{Error, Share};
use memo::readout::{BACKOFF, Scratch};
use memo_knowledge::TriplePattern;
use memo_store::{CompletionOptions, Snapshot};
use rayon::prelude::*;
use std::collections::HashSet;

/// Tokens that are more than any sentence of facts has.
const MOST_TOKENS: usize = 48;

/// A prompt, and the completions that are right.
pub(super) struct Question {
    pub(super) prompt: String,
    pub(super) right: Vec<String>,
    /// Whether the data have other sentences that begin so: then the prompt does not say what is asked for.
    pub(super) open: bool,
}

impl Question {
    /// Asks for the second name of a pattern. Right is every name that the relation has with the first one; of an open prompt, every
    /// sentence of the data that begins so.
    pub(super) fn new(world: &World, relation: usize, pattern: &Pattern, first: &str) -> Self {
        let known = if pattern.object_first { &world.subjects } else { &world.objects };
        let names = known.get(&(relation, first.to_owned()));
        let prompt = pattern.prompt(first);
        let meant: Vec<String> =
            names.into_iter().flatten().map(|name| pattern.completion(name)).collect();
        let true_ones =
            world.beginning(&prompt).map(|sentence| sentence[prompt.len()..].to_owned());
        let true_ones: Vec<String> = true_ones.collect();
        let open = true_ones.iter().any(|one| !meant.contains(one));
        let right = if open { true_ones } else { meant };
        Question { prompt, right, open }
    }
}

/// Questions about facts in patterns of one use, in a random order, each prompt once, at most `count`.
pub(super) fn questions(
    world: &World,
    of: Use,
    object_first: bool,
    count: usize,
    seed: u64,
) -> Vec<Question> {
    let mut all: Vec<(usize, usize, &Pattern)> = Vec::new();
    for (number, relation) in world.relations.iter().enumerate() {
        let fits =
            |(pattern, role): &&(Pattern, Use)| *role == of && pattern.object_first == object_first;
        for (pattern, _) in relation.patterns.iter().filter(fits) {
            all.extend((0..relation.facts.len()).map(|fact| (number, fact, pattern)));
        }
    }
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for at in order(all.len(), seed) {
        if found.len() == count {
            break;
        }
        let (relation, fact, pattern) = all[at];
        let (subject, object) = &world.relations[relation].facts[fact];
        let first = if object_first { object } else { subject };
        let question = Question::new(world, relation, pattern, first);
        if seen.insert(question.prompt.clone()) {
            found.push(question);
        }
    }
    found
}

/// What a model says after a prompt, by its most probable tokens to the end of a document.
pub(super) fn said(model: &Snapshot, prompt: &str) -> Result<String, Error> {
    let mut stream = model.tokens(prompt, &CompletionOptions::greedy(MOST_TOKENS))?;
    let mut text = String::new();
    for token in stream.by_ref() {
        let token = token?;
        if !token.end {
            text.push_str(&token.text);
        }
    }
    Ok(text)
}

/// The share of questions that are completed rightly, whole and to the end.
pub(super) fn completed(model: &Snapshot, questions: &[Question]) -> Result<Share, Error> {
    share(questions, |question| Ok(question.right.contains(&said(model, &question.prompt)?)))
}

/// The share of things of which something holds, on all cores.
pub(super) fn share<T: Sync>(
    of: &[T],
    holds: impl Fn(&T) -> Result<bool, Error> + Sync + Send,
) -> Result<Share, Error> {
    let right: Vec<bool> = of.par_iter().map(holds).collect::<Result<_, _>>()?;
    let right = right.into_iter().filter(|right| *right).count() as u64;
    Ok(Share { right, tried: of.len() as u64 })
}

/// Everything that a model answers if a subject and a predicate are given, or a predicate and an object.
pub(super) fn answers(
    model: &Snapshot,
    subject: Option<&str>,
    predicate: &str,
    object: Option<&str>,
) -> Result<HashSet<String>, Error> {
    let asked = TriplePattern {
        subject: subject.map(str::to_owned),
        predicate: Some(predicate.to_owned()),
        object: object.map(str::to_owned),
    };
    let facts = model.ask(&asked, 10_000)?.facts.into_iter();
    Ok(facts.map(|fact| if subject.is_some() { fact.object } else { fact.subject }).collect())
}

/// The mean log-probability of the tokens of a continuation.
pub(super) fn log_probability(
    model: &Snapshot,
    prompt: &str,
    continuation: &str,
) -> Result<f64, Error> {
    let (mut context, target) =
        (model.tokenizer().encode(prompt)?, model.tokenizer().encode(continuation)?);
    let mut scratch = Scratch::default();
    let mut sum = 0.0;
    for &token in &target {
        sum +=
            BACKOFF.distribution(model.memory()?, &context, &mut scratch)?.probability(token)?.ln();
        context.push(token);
    }
    Ok(sum / target.len().max(1) as f64)
}
