//! What users of graphs and rules rely on, one module a subject.

mod conclude;
mod graph;
mod hostile;
mod programs;
mod properties;
mod rules;
mod text;

use memo_knowledge::{Conclusions, LimitError, Limits, Rules, Triple};
use std::ops::ControlFlow;

fn triple(text: &str) -> Triple {
    let [subject, predicate, object] = text.split(", ").collect::<Vec<_>>()[..] else {
        panic!("not a triple: {text}");
    };
    Triple::new(subject, predicate, object)
}

fn facts(lines: &str) -> Vec<Triple> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut facts: Vec<Triple> = lines.map(triple).collect();
    facts.sort();
    facts.dedup();
    facts
}

fn rules(text: &str) -> Rules {
    Rules::parse(text, "test.toml").unwrap()
}

fn try_conclude(rules: &Rules, base: &[Triple], limits: Limits) -> Result<Conclusions, LimitError> {
    rules.conclude(base, &limits, &mut |_| ControlFlow::Continue(()))
}

fn conclude(rules: &Rules, base: &[Triple]) -> Conclusions {
    try_conclude(rules, base, Limits::default()).unwrap()
}
