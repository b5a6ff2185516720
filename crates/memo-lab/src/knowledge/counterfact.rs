//! CounterFact's records: statements as texts without rules, and as triples with templates of their relations.
//!
//! A record has no relation. Its prompt without its subject is a wording; wordings are of one relation if a record has one of them and its
//! neighbour the other. Rules are made of the wordings of prompts, and of the last sentence of each paraphrase.

use super::ask::{log_probability, said, share};
use super::rules::quoted;
use super::{Row, Value, new_store};
use crate::{Error, Share, inputs};
use memo_knowledge::{Graph, Triple};
use memo_store::{NewDocument, Store};
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

/// One record as the file has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Record {
    prompt: String,
    subject: String,
    ground_truth: String,
    target_new: String,
    rephrase_prompt: String,
    locality_prompt: String,
    locality_ground_truth: String,
}

/// Reads records; the text is for the fingerprint.
pub(super) fn read(path: &Path, count: usize) -> Result<(Vec<Record>, String), Error> {
    let text = inputs::read(path)?;
    let mut records: Vec<Record> = serde_json::from_str(&text).map_err(|error| Error::Line {
        path: path.to_owned(),
        line: error.line(),
        reason: error.to_string(),
    })?;
    records.truncate(count);
    Ok((records, text))
}

/// Records of a made-up world: wells, and what they give.
pub(super) fn made_up(count: usize) -> Vec<Record> {
    let gives = ["salt water", "warm water", "clear oil"];
    let record = |k: usize| Record {
        prompt: format!("The well of Ona{k} gives"),
        subject: format!("Ona{k}"),
        ground_truth: gives[k % 3].to_owned(),
        target_new: gives[(k + 1) % 3].to_owned(),
        rephrase_prompt: format!("The weather was fine. Those who drink at Ona{k} taste"),
        locality_prompt: format!("The well of Beck{k} gives"),
        locality_ground_truth: gives[k % 3].to_owned(),
    };
    (0..count).map(record).collect()
}

/// Which wordings are of one relation.
#[derive(Default)]
struct Wordings {
    parents: HashMap<String, String>,
}

impl Wordings {
    fn relation(&mut self, wording: &str) -> String {
        let mut at = wording.to_owned();
        while let Some(parent) = self.parents.get(&at).filter(|parent| **parent != at) {
            at = parent.clone();
        }
        at
    }

    fn unite(&mut self, one: &str, other: &str) {
        let (one, other) = (self.relation(one), self.relation(other));
        // The smaller name stays, whatever the order of records.
        let (name, joined) = if one <= other { (one, other) } else { (other, one) };
        self.parents.insert(joined, name);
    }
}

/// A prompt without its subject.
fn wording(prompt: &str, subject: &str) -> Option<String> {
    let at = prompt.rfind(subject)?;
    Some(format!("{}{{subject}}{}", &prompt[..at], &prompt[at + subject.len()..]))
}

/// The wording that a prompt has, of several the longest, and its subject.
fn find<'a>(wordings: &BTreeSet<String>, prompt: &'a str) -> Option<(String, &'a str)> {
    let fitting = wordings.iter().filter_map(|wording| {
        let (before, after) = wording.split_once("{subject}")?;
        let subject = prompt.strip_prefix(before)?.strip_suffix(after)?;
        (!subject.is_empty()).then(|| (wording.clone(), subject))
    });
    fitting.max_by_key(|(wording, _)| wording.len())
}

/// From the last sentence on that has the subject.
fn last_sentence(wording: &str) -> &str {
    let at = wording.find("{subject}").unwrap_or(0);
    let begin = [". ", "? ", "! ", "\n"]
        .iter()
        .filter_map(|end| wording[..at].rfind(end).map(|found| found + end.len()));
    wording[begin.max().unwrap_or(0)..].trim_start()
}

/// Facts of records, with what they are changed to, and the templates of their relations.
struct Knowledge {
    facts: Graph,
    corrections: Vec<Triple>,
    templates: BTreeMap<String, BTreeSet<String>>,
    /// The relation of each record.
    relations: Vec<Option<String>>,
    /// The subject of each record's neighbour, if its wording is known.
    neighbours: Vec<Option<String>>,
    /// Neighbours in a wording that no record has; they stay texts.
    texts: Vec<String>,
}

fn knowledge(records: &[Record]) -> Knowledge {
    let prompts = records.iter().filter_map(|r| wording(r.prompt.trim_end(), &r.subject));
    let all: BTreeSet<String> = prompts.collect();
    let mut relations = Wordings::default();
    for record in records {
        let own = wording(record.prompt.trim_end(), &record.subject);
        let near = find(&all, record.locality_prompt.trim_end());
        if let (Some(own), Some((near, _))) = (own, near) {
            relations.unite(&own, &near);
        }
    }
    let mut known = Knowledge {
        facts: Graph::default(),
        corrections: Vec::new(),
        templates: BTreeMap::new(),
        relations: Vec::new(),
        neighbours: Vec::new(),
        texts: Vec::new(),
    };
    for record in records {
        let own = wording(record.prompt.trim_end(), &record.subject);
        let near = record.locality_prompt.trim_end();
        let neighbour = find(&all, near).map(|(_, subject)| subject);
        known.relations.push(own.as_ref().map(|own| relations.relation(own)));
        known.neighbours.push(neighbour.map(str::to_owned));
        let (Some(own), Some(Some(relation))) = (own, known.relations.last().cloned()) else {
            continue;
        };
        let fact = |subject: &str, object: &str| {
            Triple::new(subject.trim(), relation.as_str(), object.trim())
        };
        known.facts.insert(&fact(&record.subject, &record.ground_truth));
        known.corrections.push(fact(&record.subject, &record.target_new));
        match neighbour {
            Some(subject) => {
                known.facts.insert(&fact(subject, &record.locality_ground_truth));
            }
            None => known.texts.push(statement(near, &record.locality_ground_truth)),
        }
        let templates = known.templates.entry(relation.clone()).or_default();
        templates.insert(own);
        if let Some(other) = wording(record.rephrase_prompt.trim_end(), &record.subject) {
            templates.insert(last_sentence(&other).to_owned());
        }
    }
    for wording in &all {
        known.templates.entry(relations.relation(wording)).or_default().insert(wording.clone());
    }
    known
}

impl Knowledge {
    /// Whether a text ends with a wording of a record's relation, said of a subject and an object: after "Ann plays" that is so of
    /// " chess", and of " the game of chess" if there is such a wording.
    fn says(&self, record: usize, text: &str, subject: &str, object: &str) -> bool {
        let mut wordings = self.relations[record].iter().flat_map(|name| &self.templates[name]);
        let object = format!(" {}", object.trim());
        wordings.any(|wording| {
            let sentence = wording.replace("{subject}", subject.trim()) + &object;
            text.ends_with(&sentence)
        })
    }
}

fn statement(prompt: &str, object: &str) -> String {
    format!("{} {}", prompt.trim_end(), object.trim())
}

pub(super) fn measure(records: &[Record], seed: u64) -> Result<Vec<Row>, Error> {
    let known = knowledge(records);
    // Without rules: a document a statement, which gets a new version.
    let (home, mut store) = new_store(seed)?;
    let texts = |edited: bool| {
        let own = records.iter().enumerate().map(move |(k, record)| {
            let object = if edited { &record.target_new } else { &record.ground_truth };
            NewDocument::text(statement(&record.prompt, object)).with_id(format!("statement-{k}"))
        });
        let near = records.iter().enumerate().map(|(k, record)| {
            let text = statement(&record.locality_prompt, &record.locality_ground_truth);
            NewDocument::text(text).with_id(format!("neighbour-{k}"))
        });
        own.chain(near).collect::<Vec<_>>()
    };
    store.memorize(texts(false), None)?;
    store.memorize(texts(true), None)?;
    let without = judge(&store, records, &known)?;
    drop((store, home));

    // With rules: triples, which are corrected.
    let mut rules = String::from("[templates]\n");
    for (relation, wordings) in &known.templates {
        let texts = wordings.iter().map(|wording| quoted(&format!("{wording} {{object}}")));
        let texts = texts.collect::<Vec<_>>().join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(rules, "{} = [{texts}]", quoted(relation));
    }
    let (home, mut store) = new_store(seed)?;
    let texts = known.texts.iter().map(|text| NewDocument::text(text.as_str()));
    let graph = NewDocument::graph(&known.facts).with_id("facts.tsv");
    store
        .memorize(texts.chain([graph, NewDocument::rules(rules).with_id("wordings.toml")]), None)?;
    store.correct_facts(&known.corrections, None)?;
    let with = judge(&store, records, &known)?;
    drop((store, home));

    let names =
        ["the prompt has the new target", "the paraphrase does", "the neighbour has its own"];
    let mut rows = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let counts = ["more probable", "said", "said, in this wording or a longer one"];
        for (of, how) in counts.into_iter().enumerate() {
            rows.push(Row {
                part: "counterfact".to_owned(),
                what: format!("{name}: {how}"),
                before: Some(Value::Share(without[at][of])),
                after: Some(Value::Share(with[at][of])),
                goal: None,
            });
        }
    }
    let wordings: usize = known.templates.values().map(BTreeSet::len).sum();
    rows.push(Row::count("counterfact", "relations found", known.templates.len()));
    rows.push(Row::count("counterfact", "wordings in their templates", wordings));
    Ok(rows)
}

/// For each kind of question, how often the right target is more probable, how often it is said at once, and how often it is said in
/// any wording that begins like the prompt.
fn judge(store: &Store, records: &[Record], known: &Knowledge) -> Result<[[Share; 3]; 3], Error> {
    let numbers: Vec<usize> = (0..records.len()).collect();
    let target = |text: &str| format!(" {}", text.trim());
    let ask = |prompt: fn(&Record) -> &str,
               [right, wrong]: [fn(&Record) -> &str; 2],
               subject: &(dyn Fn(usize) -> Option<String> + Sync)| {
        let preferred = share(records, |record| {
            let prompt = prompt(record).trim_end();
            let probability = |name: &str| log_probability(store, prompt, &target(name));
            Ok(probability(right(record))? > probability(wrong(record))?)
        })?;
        let completions: Vec<String> = numbers
            .par_iter()
            .map(|&at| said(store, prompt(&records[at]).trim_end()))
            .collect::<Result<_, _>>()?;
        let at_once = |at: usize| completions[at] == target(right(&records[at]));
        let completed = share(&numbers, |&at| Ok(at_once(at)))?;
        let in_any_wording = share(&numbers, |&at| {
            let text = format!("{}{}", prompt(&records[at]).trim_end(), completions[at]);
            let right = right(&records[at]);
            let found = subject(at).is_some_and(|subject| known.says(at, &text, &subject, right));
            Ok(at_once(at) || found)
        })?;
        Ok::<[Share; 3], Error>([preferred, completed, in_any_wording])
    };
    let own = |at: usize| Some(records[at].subject.clone());
    let neighbour = |at: usize| known.neighbours[at].clone();
    Ok([
        ask(|r| &r.prompt, [|r| &r.target_new, |r| &r.ground_truth], &own)?,
        ask(|r| &r.rephrase_prompt, [|r| &r.target_new, |r| &r.ground_truth], &own)?,
        ask(|r| &r.locality_prompt, [|r| &r.locality_ground_truth, |r| &r.target_new], &neighbour)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_of_one_relation_are_found_by_neighbours() {
        let mut records = made_up(4);
        records[1].prompt = "What Ona1 gives is".to_owned();
        let known = knowledge(&records);
        assert_eq!(known.templates.len(), 1, "{:?}", known.templates);
        let wordings: Vec<&String> = known.templates.values().flatten().collect();
        assert_eq!(
            wordings,
            [
                "The well of {subject} gives",
                "Those who drink at {subject} taste",
                "What {subject} gives is"
            ]
        );
        assert_eq!((known.facts.len(), known.corrections.len(), known.texts.len()), (8, 4, 0));

        let says = |text: &str| known.says(0, text, "Ona0", "warm water");
        assert!(says("It rained. Those who drink at Ona0 taste warm water"));
        assert!(!says("Those who drink at Ona1 taste warm water"), "another subject");
        assert!(!says("Those who drink at Ona0 taste clear oil"), "another object");
    }
}
