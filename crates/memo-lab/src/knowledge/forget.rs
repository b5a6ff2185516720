//! Facts forgotten: nothing that followed from them stays, and the memory is one that never had them.

use super::ask::{Question, answers, said, share};
use super::data::{Use, World, order};
use super::edits::graphs;
use super::rules;
use super::wording::{documents, rules_of};
use super::{Row, Size, Value, new_store};
use crate::{Error, Share};
use memo_store::{NewDocument, Store};
use std::collections::HashSet;
use std::time::Instant;

pub(super) fn measure(world: &World, size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let gone: HashSet<usize> =
        order(world.facts(), seed ^ 0xf0).into_iter().take(size.edits).collect();
    let mut rows = Vec::new();

    let rules = || NewDocument::rules(rules_of(world)).with_id("wordings.toml");
    let (home, mut store) = new_store(seed)?;
    store.memorize(documents(world).into_iter().chain([rules()]), None)?;
    let known = left(&store, world, &gone)?;
    let ids: Vec<String> = gone.iter().map(|number| format!("fact-{number}")).collect();
    let start = Instant::now();
    store.forget(&ids.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
    let seconds = start.elapsed().as_secs_f64();
    let kept = documents(world).into_iter().enumerate();
    let kept = kept.filter(|(number, _)| !gone.contains(number)).map(|(_, document)| document);
    let (other_home, mut other) = new_store(seed)?;
    other.memorize(kept.chain([rules()]), None)?;
    let name = "a document a fact, all in one transaction";
    rows.extend(report(name, known, left(&store, world, &gone)?, (&store, &other), seconds)?);
    drop((store, other, home, other_home));

    // One graph that states everything: it is forgotten, and the rest is memorized as it.
    let templates = rules::templates(&world.relations, |of| of != Use::LeftOut);
    let rules = || NewDocument::rules(templates.clone()).with_id("wordings.toml");
    let (home, mut store) = new_store(seed)?;
    store.memorize(graphs(world, |_| true).into_iter().chain([rules()]), None)?;
    let known = left(&store, world, &gone)?;
    let ids: Vec<String> = world.relations.iter().map(|r| format!("{}.tsv", r.name)).collect();
    let start = Instant::now();
    store.forget(&ids.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
    store.memorize(graphs(world, |number| !gone.contains(&number)), None)?;
    let seconds = start.elapsed().as_secs_f64();
    let (other_home, mut other) = new_store(seed)?;
    other.memorize(
        graphs(world, |number| !gone.contains(&number)).into_iter().chain([rules()]),
        None,
    )?;
    let name = "graphs forgotten and memorized without them";
    rows.extend(report(name, known, left(&store, world, &gone)?, (&store, &other), seconds)?);
    drop((home, other_home));
    Ok(rows)
}

/// How many of the facts are still answered, and how many still said in a wording of the rules.
fn left(store: &Store, world: &World, gone: &HashSet<usize>) -> Result<[Share; 2], Error> {
    let all: Vec<usize> = gone.iter().copied().collect();
    let answered = share(&all, |&number| {
        let (relation, subject, object) = world.fact(number);
        let predicate = &world.relations[relation].name;
        let forwards = answers(store, Some(subject), predicate, None)?.contains(object);
        let backwards = answers(store, None, predicate, Some(object))?.contains(subject);
        Ok(forwards || backwards)
    })?;
    let mut prompts = Vec::new();
    for &number in &all {
        let (relation, subject, object) = world.fact(number);
        let patterns = world.relations[relation].patterns.iter();
        for (pattern, _) in patterns.filter(|(p, of)| *of == Use::Rules && !p.object_first) {
            let question = Question::new(world, relation, pattern, subject);
            if !question.open && question.right.len() == 1 {
                prompts.push((question.prompt, pattern.completion(object)));
            }
        }
    }
    // A model that never had a fact says it sometimes too, because most others of the relation have that object.
    let said = share(&prompts, |(prompt, right)| Ok(said(store, prompt)? == *right))?;
    Ok([answered, said])
}

fn report(
    name: &str,
    before: [Share; 2],
    after: [Share; 2],
    (store, other): (&Store, &Store),
    seconds: f64,
) -> Result<Vec<Row>, Error> {
    let (digest, never) = (store.digest()?, other.digest()?);
    if digest != never {
        return Err(Error::NotExact {
            what: format!("forgetting facts, {name}"),
            expected: never.to_string(),
            found: digest.to_string(),
        });
    }
    let share = |what: &str, at: usize| Row {
        part: "forgetting".to_owned(),
        what: format!("{name}: {what}"),
        before: Some(Value::Share(before[at])),
        after: Some(Value::Share(after[at])),
        goal: (at == 0).then_some(0.0),
    };
    Ok(vec![
        share("still answered", 0),
        share("still said in a wording of the rules", 1),
        Row::time("forgetting", name, seconds),
    ])
}
