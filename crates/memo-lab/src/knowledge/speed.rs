//! Speed: facts with templates against the same sentences as text, rules over many short documents, and questions.

use super::ask::answers;
use super::data::{Use, World, order};
use super::edits::graphs;
use super::rules;
use super::{Row, Size, Value, new_store};
use crate::Error;
use memo::sparse::{Direction, Question};
use memo_knowledge::TriplePattern;
use memo_store::{NewDocument, Store};
use std::hint::black_box;
use std::time::Instant;

/// The seconds that something takes.
fn seconds<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<f64, Error> {
    let start = Instant::now();
    black_box(work()?);
    Ok(start.elapsed().as_secs_f64())
}

pub(super) fn measure(world: &World, size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let templates = rules::templates(&world.relations, |of| of != Use::LeftOut);
    let rules = NewDocument::rules(templates).with_id("wordings.toml");
    let (home, mut store) = new_store(seed)?;
    let graph = graphs(world, |_| true).into_iter().chain([rules]);
    let as_facts = seconds(|| Ok(store.memorize(graph, None)?))?;

    // The sentences that the templates make, a document a relation and a document each.
    let spoken = |relation: &super::data::Relation| -> Vec<String> {
        let patterns = relation.patterns.iter().filter(|(_, of)| *of != Use::LeftOut);
        let sentences = patterns.flat_map(|(pattern, _)| {
            relation.facts.iter().map(|(subject, object)| pattern.sentence(subject, object))
        });
        sentences.collect()
    };
    let sentences: Vec<Vec<String>> = world.relations.iter().map(spoken).collect();
    let (text_home, mut text) = new_store(seed)?;
    let documents = sentences.iter().enumerate().map(|(number, sentences)| {
        NewDocument::text(sentences.join("\n")).with_id(format!("relation-{number}"))
    });
    let as_text = seconds(|| Ok(text.memorize(documents, None)?))?;
    drop((text, text_home));
    let (each_home, mut each) = new_store(seed)?;
    let documents = sentences.iter().flatten().enumerate().map(|(number, sentence)| {
        NewDocument::text(sentence.as_str()).with_id(format!("sentence-{number}"))
    });
    let as_documents = seconds(|| Ok(each.memorize(documents, None)?))?;
    drop((each, each_home));
    let count = sentences.iter().map(Vec::len).sum::<usize>();
    rows.push(Row::count("speed", "facts", world.facts()));
    rows.push(Row::count("speed", "sentences that their templates make", count));
    rows.push(Row::time("speed", "facts with templates", as_facts));
    rows.push(Row::time("speed", "the same sentences, a document a relation", as_text));
    rows.push(Row::time("speed", "the same sentences, a document each", as_documents));
    rows.push(Row::ratio(
        "facts with templates, over text in a document a relation",
        as_facts / as_text,
        Some(10.0),
    ));
    rows.push(Row::ratio(
        "facts with templates, over text in a document each",
        as_facts / as_documents,
        None,
    ));
    rows.extend(questions(&store, world, size, seed)?);
    drop((store, home));
    rows.extend(many_documents(size, seed)?);
    Ok(rows)
}

/// The time of a question: the whole of it, with sources, and the memory's part.
fn questions(store: &Store, world: &World, size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let (relation, subject, _) = world.fact(0);
    let first = seconds(|| answers(store, Some(subject), &world.relations[relation].name, None))?;
    let mut rows =
        vec![Row::time("speed", "the first question, which derives what follows once", first)];
    let numbers: Vec<usize> = order(world.facts(), seed).into_iter().take(size.questions).collect();
    for (asked, name) in
        [(Direction::Object, "for an object"), (Direction::Subject, "for subjects")]
    {
        let (mut whole, mut memory) = (Vec::new(), Vec::new());
        for &number in &numbers {
            let (relation, subject, object) = world.fact(number);
            let predicate = &world.relations[relation].name;
            let known = if asked == Direction::Object { subject } else { object };
            let pattern = TriplePattern {
                subject: (asked == Direction::Object).then(|| subject.to_owned()),
                predicate: Some(predicate.clone()),
                object: (asked == Direction::Subject).then(|| object.to_owned()),
            };
            whole.push(seconds(|| Ok(store.ask(&pattern, 10)?))?);
            let tokens = store.tokenizer().encode(known)?;
            let predicate = store.tokenizer().encode(predicate)?;
            let question = Question { known: &tokens, predicate: &predicate, asked };
            memory.push(seconds(|| Ok(store.memory()?.answers(&question, 11)?))?);
        }
        let microseconds = |mut times: Vec<f64>, at: f64| {
            times.sort_by(f64::total_cmp);
            1e6 * times[((times.len() - 1) as f64 * at) as usize]
        };
        let row = |what: String, value: f64, goal: Option<f64>| Row {
            part: "speed".to_owned(),
            what,
            before: None,
            after: Some(Value::Number { value, unit: "µs".to_owned() }),
            goal,
        };
        rows.push(row(
            format!("a question {name}, median"),
            microseconds(whole.clone(), 0.5),
            Some(200.0),
        ));
        rows.push(row(
            format!("a question {name}, 99 of 100 are below"),
            microseconds(whole, 0.99),
            None,
        ));
        rows.push(row(
            format!("of it the memory's part {name}, median"),
            microseconds(memory, 0.5),
            None,
        ));
    }
    Ok(rows)
}

/// A rule that comes to a model with many short documents, every tenth of which it fits.
fn many_documents(size: &Size, seed: u64) -> Result<Vec<Row>, Error> {
    let (home, mut store) = new_store(seed)?;
    let document = |k: usize| {
        let text = match k % 10 {
            0 => format!("The keeper of light {k} is keeper {}.", k / 10),
            _ => format!("On day {k} the fog over light {} lifted late.", k % 977),
        };
        NewDocument::text(text).with_id(format!("note-{k}"))
    };
    let memorizing = seconds(|| Ok(store.memorize((0..size.documents).map(document), None)?))?;
    let rule = "[[rule]]\nwhen = \"The keeper of {light} is {keeper}.\"\nthen = [\"{light}\", \"keeper\", \"{keeper}\"]\nsay = \"{keeper} looks after {light}.\"\n";
    let rule = NewDocument::rules(rule).with_id("keepers.toml");
    let deriving = seconds(|| Ok(store.memorize([rule], None)?))?;
    let found = answers(&store, Some("light 10"), "keeper", None)?;
    let wrong = format!("keeper 1, found {found:?}");
    if !found.contains("keeper 1") {
        let what = "a rule over many documents".to_owned();
        return Err(Error::NotExact { what, expected: "keeper 1".to_owned(), found: wrong });
    }
    drop((store, home));
    Ok(vec![
        Row::count("speed", "short documents", size.documents),
        Row::time("speed", "memorizing the short documents", memorizing),
        Row::time("speed", "a rule that reads all of them, and what follows", deriving),
        Row::ratio("the rule, over memorizing the documents", deriving / memorizing, None),
    ])
}
