//! Facts that go together: the `when` of one rule over all facts, or over those with something new.

use super::facts::{Fact, FactPattern, Facts};
use crate::rules::Rule;

/// A term of a triple: a name by number, or a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    Name(u32),
    Variable(usize),
}

pub(super) type Pattern = [Term; 3];

/// A variable without a value.
const OPEN: u32 = u32::MAX;

/// A rule with names by number.
pub(super) struct Plan<'a> {
    pub(super) number: usize,
    pub(super) rule: &'a Rule,
    pub(super) when: Vec<Pattern>,
    pub(super) unless: Vec<Pattern>,
    pub(super) then: Vec<Pattern>,
    /// For each triple of `when` that comes first, the order of all: each next one has the most terms that are known by then.
    orders: Vec<Vec<usize>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        number: usize,
        rule: &'a Rule,
        when: Vec<Pattern>,
        unless: Vec<Pattern>,
        then: Vec<Pattern>,
    ) -> Self {
        let orders = (0..when.len()).map(|first| order(&when, first, rule.variables)).collect();
        Self { number, rule, when, unless, then, orders }
    }
}

fn order(when: &[Pattern], first: usize, variables: usize) -> Vec<usize> {
    let mut known = vec![false; variables];
    let mut order = Vec::with_capacity(when.len());
    let mut left: Vec<usize> = (0..when.len()).filter(|&at| at != first).collect();
    let mut next = first;
    loop {
        order.push(next);
        for term in when[next] {
            if let Term::Variable(variable) = term {
                known[variable] = true;
            }
        }
        let score = |at: usize| {
            let is_known = |term: &&Term| match term {
                Term::Name(_) => true,
                Term::Variable(variable) => known[*variable],
            };
            let [subject, predicate, object] = &when[at];
            let ends = [subject, object].iter().filter(|term| is_known(term)).count();
            (ends, is_known(&predicate))
        };
        // Of equals, the first.
        let Some(best) = (0..left.len()).max_by_key(|&at| (score(left[at]), left.len() - at))
        else {
            return order;
        };
        next = left.remove(best);
    }
}

/// Which part of the list of facts a triple of `when` is looked for in.
#[derive(Clone, Copy)]
pub(super) struct News {
    /// Facts from here on are new.
    pub(super) begin: usize,
    /// Facts from here on are not looked at.
    pub(super) end: usize,
}

/// Why a search ended before its end.
pub(super) enum Halt<E> {
    /// It took more steps than it may.
    Steps,
    /// What is found could not be taken.
    Taken(E),
}

/// A search for facts that fit one rule.
pub(super) struct Join<'a, E, F: FnMut(&Plan<'_>, &[u32], &[u32]) -> Result<(), E>> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) facts: &'a Facts,
    /// Steps that may still be made.
    pub(super) steps: &'a mut usize,
    /// Takes what is found: the places of facts in the order of `when`, and the values of variables.
    pub(super) take: F,
    values: Vec<u32>,
    places: Vec<u32>,
}

impl<'a, E, F: FnMut(&Plan<'_>, &[u32], &[u32]) -> Result<(), E>> Join<'a, E, F> {
    pub(super) fn new(plan: &'a Plan<'a>, facts: &'a Facts, steps: &'a mut usize, take: F) -> Self {
        let values = vec![OPEN; plan.rule.variables];
        let places = vec![0; plan.when.len()];
        Self { plan, facts, steps, take, values, places }
    }

    /// Finds all ways to fit the rule in which at least one fact is new, each once: the first new one is at each place in turn.
    pub(super) fn run(&mut self, news: News) -> Result<(), Halt<E>> {
        (0..self.plan.when.len()).try_for_each(|first| {
            // Without old facts, the first of the triples is a new one in every way there is.
            if first > 0 && news.begin == 0 { Ok(()) } else { self.step(first, 0, news) }
        })
    }

    fn step(&mut self, first: usize, depth: usize, news: News) -> Result<(), Halt<E>> {
        let plan = self.plan;
        let Some(&at) = plan.orders[first].get(depth) else {
            if plan.unless.iter().any(|pattern| self.facts.has(&self.fill(pattern))) {
                return Ok(());
            }
            return (self.take)(plan, &self.places, &self.values).map_err(Halt::Taken);
        };
        let pattern = plan.when[at];
        let value = |term: Term| match term {
            Term::Name(name) => Some(name),
            Term::Variable(variable) => Some(self.values[variable]).filter(|&value| value != OPEN),
        };
        let [subject, predicate, object] = pattern.map(value);
        let (low, high) = match at.cmp(&first) {
            std::cmp::Ordering::Less => (0, news.begin),
            std::cmp::Ordering::Equal => (news.begin, news.end),
            std::cmp::Ordering::Greater => (0, news.end),
        };
        let open = [subject, predicate, object].map(|value| value.is_none());
        for place in self.facts.walk(&FactPattern { subject, predicate, object }) {
            *self.steps = self.steps.checked_sub(1).ok_or(Halt::Steps)?;
            if (place as usize) < low {
                break;
            }
            if place as usize >= high {
                continue;
            }
            if self.bind(&pattern, self.facts.get(place)) {
                self.places[at] = place;
                self.step(first, depth + 1, news)?;
            }
            for (term, open) in pattern.iter().zip(open) {
                if let (Term::Variable(variable), true) = (term, open) {
                    self.values[*variable] = OPEN;
                }
            }
        }
        Ok(())
    }

    /// Whether a fact fits a triple, with open variables bound to its terms.
    fn bind(&mut self, pattern: &Pattern, fact: Fact) -> bool {
        pattern.iter().zip(fact).all(|(term, name)| match term {
            Term::Name(wanted) => *wanted == name,
            Term::Variable(variable) => {
                let value = &mut self.values[*variable];
                if *value == OPEN {
                    *value = name;
                }
                *value == name
            }
        })
    }

    fn fill(&self, pattern: &Pattern) -> Fact {
        fill(pattern, &self.values)
    }
}

/// The fact that a triple is with these values.
pub(super) fn fill(pattern: &Pattern, values: &[u32]) -> Fact {
    pattern.map(|term| match term {
        Term::Name(name) => name,
        Term::Variable(variable) => values[variable],
    })
}
