//! Other wordings, backwards questions and two steps: facts are memorized in one wording each, then rules come.

use super::ask::{Question, answers, completed, questions, said, share};
use super::data::{Use, World, order};
use super::rules::{self, Steps};
use super::{Row, Size, Value, new_store};
use crate::Error;
use memo_store::{NewDocument, Store};

/// Pairs of relations that are joined.
const PAIRS: usize = 30;

/// Every fact as a document in the words that it is memorized in.
pub(super) fn documents(world: &World) -> Vec<NewDocument> {
    (0..world.facts())
        .map(|number| {
            let (relation, subject, object) = world.fact(number);
            let pattern = world.relations[relation].memorized();
            NewDocument::text(pattern.sentence(subject, object)).with_id(format!("fact-{number}"))
        })
        .collect()
}

/// The rules that read memorized sentences and say them in the other wordings.
pub(super) fn rules_of(world: &World) -> String {
    rules::extraction(world) + &rules::templates(&world.relations, |of| of == Use::Rules)
}

/// What is asked, and how it is shown.
struct Group {
    what: String,
    questions: Vec<Question>,
    goal: Option<f64>,
}

fn groups(world: &World, count: usize, seed: u64) -> Vec<Group> {
    let mut groups = Vec::new();
    let uses = [
        (Use::Memorized, "the memorized wording", Some(0.99)),
        (Use::Rules, "a wording of the rules", Some(0.99)),
        (Use::LeftOut, "a wording left out of the rules", None),
    ];
    for (of, name, goal) in uses {
        for object_first in [false, true] {
            let (open, closed): (Vec<_>, Vec<_>) =
                questions(world, of, object_first, count, seed).into_iter().partition(|q| q.open);
            let asked = if object_first {
                "object first, asked for a subject"
            } else {
                "asked for the object"
            };
            for (questions, more) in [(closed, ""), (open, "; other facts begin so too")] {
                if !questions.is_empty() {
                    let goal = goal.filter(|_| more.is_empty());
                    groups.push(Group { what: format!("{name}, {asked}{more}"), questions, goal });
                }
            }
        }
    }
    groups
}

/// Object-first wordings of the rules about objects that one subject has, and those objects.
struct Backwards<'a> {
    questions: Vec<Question>,
    /// Relation, subject and object; the subject is the only one.
    unique: Vec<(&'a str, &'a str, &'a str)>,
    /// Relation and object, several subjects.
    several: Vec<(usize, &'a str)>,
}

fn backwards(world: &World, count: usize, seed: u64) -> Backwards<'_> {
    let mut found = Backwards { questions: Vec::new(), unique: Vec::new(), several: Vec::new() };
    for number in order(world.facts(), seed) {
        let (relation, subject, object) = world.fact(number);
        let of = &world.relations[relation];
        if world.subjects[&(relation, object.to_owned())].len() > 1 {
            if found.several.len() < count {
                found.several.push((relation, object));
            }
            continue;
        }
        if found.unique.len() < count {
            found.unique.push((&of.name, subject, object));
        }
        let spoken =
            of.patterns.iter().find(|(pattern, role)| *role == Use::Rules && pattern.object_first);
        if let (Some((pattern, _)), true) = (spoken, found.questions.len() < count) {
            let question = Question::new(world, relation, pattern, object);
            if !question.open {
                found.questions.push(question);
            }
        }
    }
    found
}

pub(super) fn measure(world: &World, size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let (home, mut store) = new_store(seed)?;
    store.memorize(documents(world), None)?;
    let groups = groups(world, size.questions, seed);
    let backwards = backwards(world, size.questions, seed);
    let steps = Steps::all(world, PAIRS);
    let before = ask_all(&store, world, &groups, &backwards, &steps)?;
    let steps_rules: String = steps.iter().map(Steps::rule).collect();
    let documents = [("wordings.toml", rules_of(world)), ("steps.toml", steps_rules)];
    let documents = documents.map(|(id, text)| NewDocument::rules(text).with_id(id));
    store.memorize(documents, None)?;
    let after = ask_all(&store, world, &groups, &backwards, &steps)?;
    let mut rows: Vec<Row> = before
        .into_iter()
        .zip(after)
        .map(|((part, what, goal, before), (_, _, _, after))| Row {
            part: part.to_owned(),
            what,
            before: Some(Value::Share(before)),
            after: Some(Value::Share(after)),
            goal,
        })
        .collect();
    rows.push(facts_read(&store, world)?);
    drop(home);
    Ok(rows)
}

/// How many facts rules read rightly from memorized sentences.
fn facts_read(store: &Store, world: &World) -> Result<Row, Error> {
    let all: Vec<usize> = (0..world.facts()).collect();
    let read = share(&all, |&number| {
        let (relation, subject, object) = world.fact(number);
        let predicate = &world.relations[relation].name;
        Ok(answers(store, Some(subject), predicate, None)?.contains(object))
    })?;
    let what = "facts that the rules read from their sentence".to_owned();
    Ok(Row {
        part: "wording".to_owned(),
        what,
        before: None,
        after: Some(Value::Share(read)),
        goal: None,
    })
}

type Asked = (&'static str, String, Option<f64>, crate::Share);

fn ask_all(
    store: &Store,
    world: &World,
    groups: &[Group],
    backwards: &Backwards<'_>,
    steps: &[Steps],
) -> Result<Vec<Asked>, Error> {
    let mut rows: Vec<Asked> = Vec::new();
    for Group { what, questions, goal } in groups {
        rows.push(("wording", what.clone(), *goal, completed(store, questions)?));
    }
    let asked = share(&backwards.unique, |(predicate, subject, object)| {
        let answers = answers(store, None, predicate, Some(object))?;
        Ok(answers.len() == 1 && answers.contains(*subject))
    })?;
    rows.push(("backwards", "asked by triple, one subject is right".to_owned(), Some(0.99), asked));
    if !backwards.questions.is_empty() {
        let completed = completed(store, &backwards.questions)?;
        let what = "completed in an object-first wording of the rules, one subject is right";
        rows.push(("backwards", what.to_owned(), Some(0.99), completed));
    }
    let asked = share(&backwards.several, |(relation, object)| {
        let answers = answers(store, None, &world.relations[*relation].name, Some(object))?;
        let right = &world.subjects[&(*relation, (*object).to_owned())];
        Ok(answers.len() == right.len() && right.iter().all(|subject| answers.contains(subject)))
    })?;
    rows.push((
        "backwards",
        "asked by triple, several subjects: all of them and no other".to_owned(),
        None,
        asked,
    ));
    let leads: Vec<(&Steps, &String, &std::collections::BTreeSet<String>)> =
        steps.iter().flat_map(|s| s.leads.iter().map(move |(from, to)| (s, from, to))).collect();
    let asked = share(&leads, |(steps, from, to)| {
        let found = answers(store, Some(from), &steps.name, None)?;
        Ok(to.iter().all(|end| found.contains(end)))
    })?;
    rows.push(("two steps", "asked by triple: all that follows".to_owned(), Some(0.95), asked));
    let exact = share(&leads, |(steps, from, to)| {
        Ok(answers(store, Some(from), &steps.name, None)?.iter().all(|end| to.contains(end)))
    })?;
    rows.push((
        "two steps",
        "asked by triple: nothing that does not follow".to_owned(),
        None,
        exact,
    ));
    let completed = share(&leads, |(steps, from, to)| {
        let said = said(store, &steps.prompt(from))?;
        Ok(to.iter().any(|end| said == format!(" {end}.")))
    })?;
    rows.push((
        "two steps",
        "completed in the words of the rule".to_owned(),
        Some(0.95),
        completed,
    ));
    Ok(rows)
}
