//! Knowledge: what graphs and rules are worth to a memory. Facts are memorized as text in one wording each or as triples; then:
//!
//! - *Wordings*: are facts said in other words, backwards and in two steps, without rules and with them?
//! - *Edits*: do facts that are corrected as triples change in every wording, and do others stay?
//! - *Forgetting*: does what followed from forgotten facts go with them, bit for bit?
//! - *Speed*: what does it cost, beside memorizing the same sentences?

mod ask;
mod counterfact;
mod data;
mod edits;
mod forget;
mod page;
mod pattern;
mod rules;
mod speed;
mod wording;

use self::counterfact::Record;
use self::data::World;
use crate::{Error, Lab, Page, Setting, Share, inputs, seconds};
use memo_store::{NewModel, Store};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tempfile::TempDir;

/// What is measured, each on models of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Wording,
    Edits,
    Forgetting,
    CounterFact,
    Speed,
}

impl Part {
    const ALL: [Part; 5] =
        [Part::Wording, Part::Edits, Part::Forgetting, Part::CounterFact, Part::Speed];
}

impl Setting for Part {
    fn key(&self) -> String {
        let name = match self {
            Part::Wording => "wordings, backwards and two steps",
            Part::Edits => "edits",
            Part::Forgetting => "forgetting",
            Part::CounterFact => "CounterFact",
            Part::Speed => "speed",
        };
        name.to_owned()
    }

    fn cost(&self) -> f64 {
        match self {
            Part::Wording | Part::Forgetting => 2.0,
            Part::Edits | Part::CounterFact | Part::Speed => 1.0,
        }
    }
}

/// How much is measured.
struct Size {
    /// Facts a relation.
    facts: usize,
    /// Questions of each kind.
    questions: usize,
    /// Facts that are edited, and that are forgotten.
    edits: usize,
    records: usize,
    /// Short documents that a rule reads.
    documents: usize,
}

impl Size {
    fn of(quick: bool) -> Self {
        if quick {
            Size { facts: 60, questions: 500, edits: 200, records: 300, documents: 10_000 }
        } else {
            Size {
                facts: usize::MAX,
                questions: 10_000,
                edits: 1_000,
                records: 2_000,
                documents: 100_000,
            }
        }
    }
}

/// What was counted or timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Value {
    Share(Share),
    Number { value: f64, unit: String },
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    part: String,
    what: String,
    /// Without rules, or before a change.
    before: Option<Value>,
    /// With rules, or after it.
    after: Option<Value>,
    goal: Option<f64>,
}

impl Row {
    fn number(part: &str, what: &str, value: f64, unit: &str, goal: Option<f64>) -> Self {
        let after = Some(Value::Number { value, unit: unit.to_owned() });
        Row { part: part.to_owned(), what: what.to_owned(), before: None, after, goal }
    }

    fn time(part: &str, what: &str, seconds: f64) -> Self {
        Self::number(part, what, seconds, "s", None)
    }

    fn count(part: &str, what: &str, count: usize) -> Self {
        Self::number(part, what, count as f64, "", None)
    }

    fn ratio(what: &str, value: f64, goal: Option<f64>) -> Self {
        Self::number("speed", what, value, "times", goal)
    }
}

/// Facts, records, and what the journal and the page say of them.
struct Data {
    world: World,
    records: Vec<Record>,
    fingerprint: String,
    is_made_up: bool,
}

impl Data {
    fn read(folder: Option<&Path>, size: &Size, seed: u64) -> Result<Self, Error> {
        let Some(folder) = folder else {
            let people = if size.edits > 200 { 800 } else { 100 };
            let (world, records) = (World::made_up(people, seed), counterfact::made_up(people));
            let fingerprint = world.fingerprint.clone();
            return Ok(Data { world, records, fingerprint, is_made_up: true });
        };
        let world = World::read(&folder.join("pararel"), size.facts, seed)?;
        let path = folder.join("counterfact-2000.json");
        let (records, text) = counterfact::read(&path, size.records)?;
        let fingerprint = format!("{}, {}", world.fingerprint, inputs::fingerprint(&[&text]));
        Ok(Data { world, records, fingerprint, is_made_up: false })
    }
}

/// Runs the experiment on a folder with `pararel/triples.tsv`, `pararel/patterns.tsv` and `counterfact-2000.json`, or on made-up facts.
pub fn run(lab: &Lab<'_>, folder: Option<&Path>) -> Result<Page, Error> {
    let options = lab.options();
    let (size, seed) = (Size::of(options.quick), options.seed);
    let data = Data::read(folder, &size, seed)?;
    let measured = lab.measure("knowledge", &data.fingerprint, &Part::ALL, |part| match part {
        Part::Wording => wording::measure(&data.world, &size, seed),
        Part::Edits => edits::measure(&data.world, &size, seed),
        Part::Forgetting => forget::measure(&data.world, &size, seed),
        Part::CounterFact => counterfact::measure(&data.records, seed),
        Part::Speed => speed::measure(&data.world, &size, seed),
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let rows: Vec<Row> = measured.into_iter().flat_map(|measured| measured.result).collect();
    Ok(page::page(&rows, &data, provenance))
}

/// An empty model in a temporary folder.
fn new_store(seed: u64) -> Result<(TempDir, Store), Error> {
    let home = tempfile::tempdir().map_err(Error::file(Path::new("a temporary folder")))?;
    let new = NewModel { seed, ..NewModel::default() };
    let store = Store::create(&home.path().join("facts.memo"), &new)?;
    Ok((home, store))
}

#[cfg(test)]
mod tests;
