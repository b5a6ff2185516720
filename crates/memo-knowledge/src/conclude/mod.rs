//! What follows from facts by rules: more facts, and texts that say them.
//!
//! Rules from triples to triples are applied in strata (`rules/strata.rs`), each until nothing new follows, and in every round
//! only to what has something new in it (semi-naive evaluation). A triple's reason is the first one: of the earliest round, then
//! of the first rule, then of the first facts. Texts are made at the end, of all facts, given and concluded.

mod facts;
mod join;

use crate::limits::{LimitError, Limits};
use crate::rules::{Atom, Rule, RuleKind, Rules, Slot, fill};
use crate::triple::Triple;
use facts::{Fact, Facts, Names};
use join::{Halt, Join, News, Pattern, Plan, Term};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

/// How many things are made between two calls of the observer.
const OBSERVED: usize = 4096;

/// What a rule made of facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Concluded<T> {
    /// The triple or text.
    pub what: T,
    /// The rule's number.
    pub rule: usize,
    /// The facts that it was made of, sorted: numbers below the count of given facts are those, others less that count are
    /// places in [`Conclusions::triples`].
    pub from: Vec<usize>,
}

/// What follows from facts, sorted by what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conclusions {
    /// Triples that were not given, each once, with the first reason: the one of the fewest steps.
    pub triples: Vec<Concluded<Triple>>,
    /// Texts, each once.
    pub texts: Vec<Concluded<String>>,
}

/// Why something follows: a rule and the places of facts, in the order in which they were concluded.
type Reason = (usize, Vec<u32>);

impl Rules {
    /// Concludes what follows from facts, which are sorted and each once.
    ///
    /// `observe` is told how many triples and texts were made so far, and may stop the work.
    ///
    /// ```
    /// use memo_knowledge::{Limits, Rules, Triple};
    /// use std::ops::ControlFlow;
    ///
    /// let rules = Rules::parse(
    ///     r#"
    ///     [[rule]]
    ///     when = [["{x}", "part of", "{y}"], ["{y}", "part of", "{z}"]]
    ///     then = ["{x}", "part of", "{z}"]
    ///     "#,
    ///     "parts.toml",
    /// )?;
    /// let facts = [Triple::new("hand", "part of", "arm"), Triple::new("arm", "part of", "body")];
    /// let found = rules.conclude(&facts, &Limits::default(), &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(found.triples[0].what, Triple::new("hand", "part of", "body"));
    /// assert_eq!(found.triples[0].from, [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conclude(
        &self,
        base: &[Triple],
        limits: &Limits,
        observe: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Conclusions, LimitError> {
        let mut names = Names::default();
        let asks_any = |rule: &Rule| {
            rule.kind != RuleKind::Speak
                && rule
                    .atoms()
                    .iter()
                    .any(|[_, predicate, _]| matches!(predicate, Slot::Variable(_)))
        };
        let mut facts = Facts::new(base.len(), self.rules.iter().any(asks_any));
        for triple in base {
            let fact = [&triple.subject, &triple.predicate, &triple.object];
            facts.push(fact.map(|name| names.number(name)));
        }
        let mut plans: Vec<Option<Plan<'_>>> = Vec::with_capacity(self.rules.len());
        for (number, rule) in self.rules.iter().enumerate() {
            let when = numbered(rule.atoms(), &mut names);
            let unless = numbered(&rule.unless, &mut names);
            let then = numbered(&rule.then, &mut names);
            plans.push((!when.is_empty()).then(|| Plan::new(number, rule, when, unless, then)));
        }
        let mut work = Work {
            facts,
            reasons: Vec::new(),
            limits,
            rules: &self.rules,
            steps: limits.joined,
            steps_of: vec![0; self.rules.len()],
            made: 0,
            observe,
        };
        for stratum in &self.strata {
            let plans = stratum.iter().filter_map(|&rule| plans[rule].as_ref());
            work.close(&plans.collect::<Vec<_>>())?;
        }
        let spoken: Vec<u32> = self.spoken.iter().map(|name| names.number(name)).collect();
        let (triples, order) = work.triples(base.len(), &names);
        let texts = work.texts(&plans, &spoken, base.len(), &order, &names)?;
        Ok(Conclusions { triples, texts })
    }
}

/// Triples of a rule with names by number.
fn numbered<'a>(atoms: &'a [Atom], names: &mut Names<'a>) -> Vec<Pattern> {
    let mut term = |slot: &'a Slot| match slot {
        Slot::Variable(variable) => Term::Variable(*variable),
        Slot::Name(name) => Term::Name(names.number(name)),
    };
    atoms.iter().map(|atom| atom.each_ref().map(&mut term)).collect()
}

/// A text that was made, with its reason.
type Said = (String, usize, Vec<u32>);

/// The work in progress.
struct Work<'a> {
    facts: Facts,
    /// Why each fact that was not given follows, in the order of the facts.
    reasons: Vec<Reason>,
    limits: &'a Limits,
    rules: &'a [Rule],
    /// Steps that may still be made, and those that each rule made.
    steps: usize,
    steps_of: Vec<usize>,
    made: usize,
    observe: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
}

/// Why the work on a rule ended before its end.
enum Stop {
    Full,
    Observer,
}

/// Counts one thing more that was made, and tells the observer now and then.
fn count(made: &mut usize, observe: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<(), Stop> {
    *made += 1;
    if made.is_multiple_of(OBSERVED) && observe(*made).is_break() {
        return Err(Stop::Observer);
    }
    Ok(())
}

impl Work<'_> {
    /// Applies rules until nothing new follows.
    fn close(&mut self, plans: &[&Plan<'_>]) -> Result<(), LimitError> {
        let mut begin = 0;
        while begin < self.facts.len() {
            if (self.observe)(self.made).is_break() {
                return Err(LimitError::Stopped);
            }
            let news = News { begin, end: self.facts.len() };
            let mut found: FxHashMap<Fact, Reason> = FxHashMap::default();
            for plan in plans {
                self.round(plan, news, &mut found)?;
            }
            begin = self.facts.len();
            let mut found: Vec<(Fact, Reason)> = found.into_iter().collect();
            found.sort_unstable();
            for (fact, reason) in found {
                self.facts.push(fact);
                self.reasons.push(reason);
            }
        }
        Ok(())
    }

    /// Applies one rule to what has something new in it.
    fn round(
        &mut self,
        plan: &Plan<'_>,
        news: News,
        found: &mut FxHashMap<Fact, Reason>,
    ) -> Result<(), LimitError> {
        let (facts, concluded, limit) = (&self.facts, self.reasons.len(), self.limits.triples);
        let (made, observe, before) = (&mut self.made, &mut *self.observe, self.steps);
        let take = |plan: &Plan<'_>, places: &[u32], values: &[u32]| {
            for pattern in &plan.then {
                let fact = join::fill(pattern, values);
                if facts.has(&fact) {
                    continue;
                }
                let full = concluded + found.len() >= limit;
                match found.entry(fact) {
                    Entry::Vacant(_) if full => return Err(Stop::Full),
                    Entry::Vacant(entry) => {
                        entry.insert((plan.number, sorted(places)));
                        count(made, observe)?;
                    }
                    Entry::Occupied(mut entry) => {
                        // Most facts are found many times, so nothing is allocated to compare.
                        let (rule, known) = entry.get();
                        if plan.number < *rule || (plan.number == *rule && precedes(places, known))
                        {
                            entry.insert((plan.number, sorted(places)));
                        }
                    }
                }
            }
            Ok(())
        };
        let ended = Join::new(plan, facts, &mut self.steps, take).run(news);
        self.steps_of[plan.number] += before - self.steps;
        ended.map_err(|halt| match halt {
            Halt::Steps => self.too_many_steps(),
            Halt::Taken(Stop::Observer) => LimitError::Stopped,
            Halt::Taken(Stop::Full) => {
                let reasons = self.reasons.iter().chain(found.values());
                LimitError::Triples { rule: self.most(reasons.map(|reason| reason.0)), limit }
            }
        })
    }

    fn too_many_steps(&self) -> LimitError {
        let most = (0..self.rules.len())
            .max_by_key(|&rule| (self.steps_of[rule], self.rules.len() - rule));
        let rule = most.map(|rule| self.rules[rule].title()).unwrap_or_default();
        LimitError::Joined { rule, limit: self.limits.joined }
    }

    /// The rule that was used most often: the one to name when there is too much.
    fn most(&self, used: impl Iterator<Item = usize>) -> String {
        let mut counts = vec![0_usize; self.rules.len()];
        used.for_each(|rule| counts[rule] += 1);
        let most = (0..counts.len()).max_by_key(|&rule| (counts[rule], counts.len() - rule));
        most.map(|rule| self.rules[rule].title()).unwrap_or_default()
    }

    /// The triples that were not given, sorted, and for each fact that was concluded its place among them.
    fn triples(&self, given: usize, names: &Names<'_>) -> (Vec<Concluded<Triple>>, Vec<usize>) {
        let triple = |place: usize| {
            let [subject, predicate, object] = self.facts.get((given + place) as u32);
            [names.name(subject), names.name(predicate), names.name(object)]
        };
        let mut sorted: Vec<usize> = (0..self.reasons.len()).collect();
        sorted.sort_unstable_by_key(|&place| triple(place));
        let mut order = vec![0; sorted.len()];
        for (at, &place) in sorted.iter().enumerate() {
            order[place] = at;
        }
        let concluded = |&place: &usize| {
            let [subject, predicate, object] = triple(place);
            let what = Triple::new(subject, predicate, object);
            let (rule, from) = &self.reasons[place];
            Concluded { what, rule: *rule, from: numbers(from, given, &order) }
        };
        (sorted.iter().map(concluded).collect(), order)
    }

    /// The texts that rules make of all facts.
    fn texts(
        &mut self,
        plans: &[Option<Plan<'_>>],
        spoken: &[u32],
        given: usize,
        order: &[usize],
        names: &Names<'_>,
    ) -> Result<Vec<Concluded<String>>, LimitError> {
        let limit = self.limits.texts;
        // Texts that several rules make are counted once, but seen only when all are sorted: not too often.
        let room = limit.saturating_add(limit / 4).saturating_add(1);
        let mut said: Vec<Said> = Vec::new();
        let news = News { begin: 0, end: self.facts.len() };
        for plan in plans.iter().flatten().filter(|plan| !plan.rule.say.is_empty()) {
            let (facts, made, observe) = (&self.facts, &mut self.made, &mut *self.observe);
            let (before, is_speak) = (self.steps, plan.rule.kind == RuleKind::Speak);
            let take = |plan: &Plan<'_>, places: &[u32], values: &[u32]| {
                if is_speak && spoken.contains(&facts.get(places[0])[1]) {
                    return Ok(());
                }
                for pieces in &plan.rule.say {
                    if said.len() >= room {
                        once(&mut said);
                        if said.len() > limit {
                            return Err(Stop::Full);
                        }
                    }
                    let text = fill(pieces, |variable| names.name(values[variable]));
                    said.push((text, plan.number, sorted(places)));
                    count(made, observe)?;
                }
                Ok(())
            };
            let ended = Join::new(plan, facts, &mut self.steps, take).run(news);
            self.steps_of[plan.number] += before - self.steps;
            match ended {
                Ok(()) | Err(Halt::Taken(Stop::Full)) => {}
                Err(Halt::Taken(Stop::Observer)) => return Err(LimitError::Stopped),
                Err(Halt::Steps) => return Err(self.too_many_steps()),
            }
            if said.len() > limit {
                once(&mut said);
            }
            if said.len() > limit {
                let rule = self.most(said.iter().map(|text| text.1));
                return Err(LimitError::Texts { rule, limit });
            }
        }
        once(&mut said);
        let concluded =
            |(what, rule, from): Said| Concluded { what, rule, from: numbers(&from, given, order) };
        Ok(said.into_iter().map(concluded).collect())
    }
}

/// Sorts texts and leaves each once, with its first reason.
fn once(said: &mut Vec<Said>) {
    said.sort_unstable();
    said.dedup_by(|later, first| later.0 == first.0);
}

fn sorted(places: &[u32]) -> Vec<u32> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    places
}

/// Whether places, once sorted, come before others that are.
fn precedes(places: &[u32], others: &[u32]) -> bool {
    let mut least = None;
    let mut others = others.iter();
    loop {
        // The next of the places in order; there are few.
        let next = places.iter().filter(|place| least < Some(**place)).min().copied();
        match (next, others.next()) {
            (None, other) => return other.is_some(),
            (Some(_), None) => return false,
            (Some(place), Some(other)) if place != *other => return place < *other,
            _ => least = next,
        }
    }
}

/// The numbers of facts for those who read them: given facts as they are, others by their place among the sorted ones.
fn numbers(places: &[u32], given: usize, order: &[usize]) -> Vec<usize> {
    let number = |&place: &u32| match (place as usize).checked_sub(given) {
        None => place as usize,
        Some(concluded) => given + order[concluded],
    };
    let mut numbers: Vec<usize> = places.iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_compared_as_if_they_were_sorted() {
        let lists: Vec<Vec<u32>> =
            (0..64).map(|n| (0..n % 4).map(|at| n >> (at * 2) & 3).collect()).collect();
        for one in &lists {
            for other in &lists {
                let expected = sorted(one) < sorted(other);
                assert_eq!(precedes(one, &sorted(other)), expected, "{one:?} {other:?}");
            }
        }
    }
}
