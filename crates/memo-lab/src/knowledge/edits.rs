//! Facts corrected as triples: the edited wording, other wordings, and neighbours.

use super::ask::{Question, log_probability, said, share};
use super::data::{Use, World, order};
use super::pattern::Pattern;
use super::rules;
use super::{Row, Size, Value, new_store};
use crate::{Error, Share};
use memo_knowledge::{Graph, Triple};
use memo_store::{NewDocument, Store};
use std::collections::HashSet;
use std::time::Instant;

/// A prompt, what it must say, and what it must not.
struct Wanted {
    prompt: String,
    pattern: Pattern,
    right: String,
    wrong: String,
}

impl Wanted {
    fn new(pattern: &Pattern, subject: &str, right: &str, wrong: &str) -> Self {
        Wanted {
            prompt: pattern.prompt(subject),
            pattern: pattern.clone(),
            right: right.to_owned(),
            wrong: wrong.to_owned(),
        }
    }
}

/// Edits, and what is asked about them.
struct Edits {
    facts: Vec<Triple>,
    questions: [Vec<Wanted>; 3],
}

/// A graph a relation.
pub(super) fn graphs(world: &World, keep: impl Fn(usize) -> bool) -> Vec<NewDocument> {
    let mut number = 0;
    let mut graphs = Vec::new();
    for relation in &world.relations {
        let mut graph = Graph::default();
        for (subject, object) in &relation.facts {
            if keep(number) {
                graph.insert(&Triple::new(
                    subject.as_str(),
                    relation.name.as_str(),
                    object.as_str(),
                ));
            }
            number += 1;
        }
        graphs.push(NewDocument::graph(&graph).with_id(format!("{}.tsv", relation.name)));
    }
    graphs
}

/// Chooses facts with one object whose prompts ask for nothing else, another object for each, another wording and a neighbour.
fn choose(world: &World, count: usize, seed: u64) -> Edits {
    let order = order(world.facts(), seed ^ 0xed17);
    let single = |number: usize| {
        let (relation, subject, _) = world.fact(number);
        world.objects[&(relation, subject.to_owned())].len() == 1
    };
    let mut edits = Edits { facts: Vec::new(), questions: Default::default() };
    let closed = |relation, pattern: &Pattern, subject: &str| {
        !pattern.object_first && !Question::new(world, relation, pattern, subject).open
    };
    let mut edited: HashSet<(usize, &str)> = HashSet::new();
    let mut kept: HashSet<(usize, &str)> = HashSet::new();
    for &number in order.iter().filter(|&&number| single(number)) {
        if edits.facts.len() == count {
            break;
        }
        let (relation, subject, old) = world.fact(number);
        let of = &world.relations[relation];
        let main = of.memorized();
        if kept.contains(&(relation, subject)) || !closed(relation, main, subject) {
            continue;
        }
        let mut others = of
            .patterns
            .iter()
            .filter(|(pattern, role)| *role == Use::Rules && closed(relation, pattern, subject));
        let Some((other, _)) = others.nth(number % others.clone().count().max(1)) else { continue };
        let mut objects =
            of.facts.iter().cycle().skip(number % of.facts.len()).take(of.facts.len());
        let Some((_, new)) = objects.find(|(_, object)| object != old) else { continue };
        // A neighbour has the same object, if there is one.
        let near =
            world.subjects[&(relation, old.to_owned())].iter().map(|near| (near.as_str(), old));
        let far = of.facts.iter().map(|(subject, object)| (subject.as_str(), object.as_str()));
        let neighbour = near.chain(far.skip(number % of.facts.len())).find(|(near, object)| {
            *near != subject
                && *object != new
                && !edited.contains(&(relation, near))
                && world.objects[&(relation, (*near).to_owned())].len() == 1
                && closed(relation, main, near)
        });
        let Some((near, near_object)) = neighbour else { continue };
        edited.insert((relation, subject));
        kept.insert((relation, near));
        edits.facts.push(Triple::new(subject, of.name.as_str(), new.as_str()));
        edits.questions[0].push(Wanted::new(main, subject, new, old));
        edits.questions[1].push(Wanted::new(other, subject, new, old));
        edits.questions[2].push(Wanted::new(main, near, near_object, new));
    }
    edits
}

pub(super) fn measure(world: &World, size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let edits = choose(world, size.edits, seed);
    let (home, mut store) = new_store(seed)?;
    let templates = rules::templates(&world.relations, |of| of != Use::LeftOut);
    let rules = NewDocument::rules(templates).with_id("wordings.toml");
    store.memorize(graphs(world, |_| true).into_iter().chain([rules]), None)?;
    let before = judge(&store, &edits)?;
    let start = Instant::now();
    store.correct_facts(&edits.facts, None)?;
    let seconds = start.elapsed().as_secs_f64();
    let after = judge(&store, &edits)?;
    let names = [
        "the edited wording says the new object",
        "another wording does",
        "a neighbour says its own",
    ];
    let mut rows = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        for (how, of) in [("more probable", 0), ("said", 1)] {
            rows.push(Row {
                part: "edits".to_owned(),
                what: format!("{name}: {how}"),
                before: Some(Value::Share(before[at][of])),
                after: Some(Value::Share(after[at][of])),
                goal: Some(0.99),
            });
        }
    }
    rows.push(Row::time(
        "edits",
        &format!("{} edits, one transaction", edits.facts.len()),
        seconds,
    ));
    drop(home);
    Ok(rows)
}

/// For each kind of question, how often the right object is more probable, and how often it is said.
fn judge(store: &Store, edits: &Edits) -> Result<[[Share; 2]; 3], Error> {
    let mut verdicts = [[Share::default(); 2]; 3];
    for (verdict, questions) in verdicts.iter_mut().zip(&edits.questions) {
        verdict[0] = share(questions, |wanted| {
            let probability = |name: &str| {
                log_probability(store, &wanted.prompt, &wanted.pattern.continuation(name))
            };
            Ok(probability(&wanted.right)? > probability(&wanted.wrong)?)
        })?;
        verdict[1] = share(questions, |wanted| {
            Ok(said(store, &wanted.prompt)? == wanted.pattern.completion(&wanted.right))
        })?;
    }
    Ok(verdicts)
}
