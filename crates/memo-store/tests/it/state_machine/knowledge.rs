//! What follows from documents and rules, worked out by hand for three files of rules: what the store is compared with.

use super::book::Said;
use std::collections::{BTreeMap, BTreeSet};

/// Subject, predicate and object.
pub(super) type Fact = (String, String, String);

/// Files of rules: one speaks and joins, one reads sentences, one asks the lexicon.
pub(super) const RULES: [&str; 3] = [
    r#"
    [templates]
    likes = "{subject} likes {object}."
    [[rule]]
    when = [["{x}", "likes", "{y}"], ["{y}", "likes", "{z}"]]
    then = ["{x}", "knows", "{z}"]
    "#,
    r#"
    [[rule]]
    when = "{x} sleeps"
    then = ["{x}", "likes", "bat"]
    "#,
    r#"
    [[rule]]
    when = "{x} reads"
    then = "{x} can read."
    where = { x = "class:animal" }
    "#,
];

/// What a memory has by rule: facts with how often, and texts.
#[derive(Default)]
pub(super) struct Known {
    pub(super) facts: BTreeMap<Fact, i32>,
    pub(super) texts: BTreeSet<String>,
}

impl Known {
    /// What live documents know, with the lexicon of a number.
    pub(super) fn of<'a>(live: impl Iterator<Item = &'a Said> + Clone, lexicon: usize) -> Self {
        let has = |number: usize| live.clone().any(|said| *said == Said::Rules(number));
        let mut known = Known::default();
        for said in live.clone() {
            match said {
                Said::Graph(facts) => {
                    facts
                        .iter()
                        .for_each(|fact| *known.facts.entry(fact.clone()).or_default() += 1);
                }
                Said::Text(parts) => {
                    let mut found = BTreeSet::new();
                    for part in parts {
                        if let (true, Some(x)) = (has(1), subject(part, "sleeps")) {
                            found.insert((x, "likes".to_owned(), "bat".to_owned()));
                        }
                        if let (true, Some(x)) = (has(2) && lexicon == 1, subject(part, "reads")) {
                            if x.ends_with("owl") || x.ends_with("cat") {
                                known.texts.insert(format!("{x} can read."));
                            }
                        }
                    }
                    found.into_iter().for_each(|fact| *known.facts.entry(fact).or_default() += 1);
                }
                Said::Edit(..) | Said::Rules(_) => {}
            }
        }
        if has(0) {
            let likes: Vec<Fact> =
                known.facts.keys().filter(|(_, p, _)| p == "likes").cloned().collect();
            for (x, _, y) in &likes {
                known.texts.insert(format!("{x} likes {y}."));
                for (_, _, z) in likes.iter().filter(|(other, _, _)| other == y) {
                    known.facts.entry((x.clone(), "knows".to_owned(), z.clone())).or_insert(1);
                }
            }
        }
        known
    }
}

/// The words before a verb that ends a text, if there are one to eight.
fn subject(text: &str, verb: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (last, before) = words.split_last()?;
    (*last == verb && (1..=8).contains(&before.len())).then(|| before.join(" "))
}

/// Facts as the store shows a graph.
pub(super) fn lines(facts: &BTreeSet<Fact>) -> Vec<String> {
    facts
        .iter()
        .map(|(subject, predicate, object)| format!("{subject}\t{predicate}\t{object}"))
        .collect()
}
