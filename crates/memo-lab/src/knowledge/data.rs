//! Facts and the ways to say them: ParaRel's from two tables, or a small made-up world.

use super::pattern::Pattern;
use crate::{Error, inputs};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What becomes of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// Facts are memorized in its words.
    Memorized,
    /// Rules say facts in its words.
    Rules,
    /// Neither.
    LeftOut,
}

/// A relation: its facts, and the ways to say them.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) patterns: Vec<(Pattern, Use)>,
    /// Subjects and objects.
    pub(super) facts: Vec<(String, String)>,
}

impl Relation {
    /// The pattern that facts are memorized in.
    pub(super) fn memorized(&self) -> &Pattern {
        let found = self.patterns.iter().find(|(_, role)| *role == Use::Memorized);
        &found.unwrap_or(&self.patterns[0]).0
    }
}

/// All relations, and everything that they say.
pub(super) struct World {
    pub(super) relations: Vec<Relation>,
    /// Objects of a relation's subject, subjects of a relation's object.
    pub(super) objects: HashMap<(usize, String), Vec<String>>,
    pub(super) subjects: HashMap<(usize, String), Vec<String>>,
    /// Every fact in the words of every pattern of its relation, sorted.
    sentences: Vec<String>,
    pub(super) fingerprint: String,
    /// Facts of relations that have no pattern, which are left out.
    pub(super) unspoken: usize,
}

impl World {
    /// Reads `triples.tsv` (relation, subject, object) and `patterns.tsv` (relation, pattern), with at most `most` facts a relation.
    pub(super) fn read(folder: &Path, most: usize, seed: u64) -> Result<Self, Error> {
        let (facts_path, patterns_path) = (folder.join("triples.tsv"), folder.join("patterns.tsv"));
        let (facts, patterns) = (inputs::read(&facts_path)?, inputs::read(&patterns_path)?);
        let wrong = |path: &Path, line: usize, expected: &str| Error::Line {
            path: path.to_owned(),
            line: line + 1,
            reason: format!("{expected}, with tabs between, should be here"),
        };
        let mut relations: BTreeMap<&str, Relation> = BTreeMap::new();
        for (at, line) in patterns.lines().enumerate() {
            let pattern = line
                .split_once('\t')
                .and_then(|(relation, pattern)| Some((relation, Pattern::parse(pattern)?)));
            let (name, pattern) = pattern.ok_or_else(|| {
                wrong(&patterns_path, at, "a relation and a pattern with [X] and [Y]")
            })?;
            let relation = relations.entry(name).or_insert_with(|| Relation {
                name: name.to_owned(),
                patterns: Vec::new(),
                facts: Vec::new(),
            });
            if relation.patterns.iter().all(|(other, _)| *other != pattern) {
                relation.patterns.push((pattern, Use::Rules));
            }
        }
        let mut unspoken = 0;
        for (at, line) in facts.lines().enumerate() {
            let [name, subject, object] = line.split('\t').collect::<Vec<_>>()[..] else {
                return Err(wrong(&facts_path, at, "a relation, a subject and an object"));
            };
            match relations.get_mut(name) {
                Some(relation) if relation.facts.len() < most => {
                    relation.facts.push((subject.to_owned(), object.to_owned()));
                }
                Some(_) => {}
                None => unspoken += 1,
            }
        }
        let fingerprint = inputs::fingerprint(&[&facts, &patterns]);
        let relations = relations.into_values().filter(|r| !r.facts.is_empty()).collect();
        Ok(Self::new(relations, seed, fingerprint, unspoken))
    }

    /// A made-up world: people, towns and lands, with four ways to say each thing.
    pub(super) fn made_up(people: usize, seed: u64) -> Self {
        let name = |kind: &str, number: usize| {
            const SYLLABLES: [&str; 12] =
                ["ba", "do", "fe", "gu", "ka", "lo", "mi", "nu", "pe", "ro", "su", "ti"];
            let mut name = kind.to_owned();
            let mut left = number + 12;
            while left > 0 {
                name.push_str(SYLLABLES[left % 12]);
                left /= 12;
            }
            name
        };
        let towns = (people / 4).max(4);
        let relation =
            |relation: &str, patterns: [&str; 5], facts: Vec<(String, String)>| Relation {
                name: relation.to_owned(),
                patterns: patterns
                    .iter()
                    .filter_map(|p| Some((Pattern::parse(p)?, Use::Rules)))
                    .collect(),
                facts,
            };
        let town = |k: usize| name("Port ", k % towns);
        let relations = vec![
            relation(
                "born in",
                [
                    "[X] was born in [Y].",
                    "[X] is originally from [Y].",
                    "[X] first saw the light in [Y].",
                    "[Y] is the birthplace of [X].",
                    "The cradle of [X] stood in [Y].",
                ],
                (0..people).map(|k| (name("Ola ", k), town(k * 7 + 1))).collect(),
            ),
            relation(
                "lies in",
                [
                    "[X] lies within [Y].",
                    "[X] belongs to the land of [Y].",
                    "Those who visit [X] are in [Y].",
                    "[Y] is the land around [X].",
                    "Maps show [X] inside [Y].",
                ],
                (0..towns).map(|k| (name("Port ", k), name("Upper ", k % 5))).collect(),
            ),
            relation(
                "married to",
                [
                    "[X] is married to [Y].",
                    "[X] shares a home with [Y].",
                    "[X] took the hand of [Y].",
                    "[Y] is the spouse of [X].",
                    "The heart of [X] beats for [Y].",
                ],
                (0..people)
                    .map(|k| (name("Ola ", k), name("Ree ", (k * 7 + 3) % people)))
                    .collect(),
            ),
        ];
        Self::new(relations, seed, format!("made up, {people} people"), 0)
    }

    fn new(mut relations: Vec<Relation>, seed: u64, fingerprint: String, unspoken: usize) -> Self {
        choose(&mut relations, seed);
        let (mut objects, mut subjects) = (HashMap::new(), HashMap::new());
        let mut sentences = Vec::new();
        for (number, relation) in relations.iter().enumerate() {
            for (subject, object) in &relation.facts {
                let of: &mut Vec<String> = objects.entry((number, subject.clone())).or_default();
                of.push(object.clone());
                let of: &mut Vec<String> = subjects.entry((number, object.clone())).or_default();
                of.push(subject.clone());
                let patterns = relation.patterns.iter();
                sentences.extend(patterns.map(|(pattern, _)| pattern.sentence(subject, object)));
            }
        }
        sentences.sort_unstable();
        sentences.dedup();
        World { relations, objects, subjects, sentences, fingerprint, unspoken }
    }

    /// The sentences that begin so.
    pub(super) fn beginning(&self, prompt: &str) -> impl Iterator<Item = &str> {
        let start = self.sentences.partition_point(|sentence| sentence.as_str() < prompt);
        let rest = self.sentences[start..].iter().map(String::as_str);
        let prompt = prompt.to_owned();
        rest.take_while(move |sentence| sentence.starts_with(&prompt))
    }

    /// Facts in all.
    pub(super) fn facts(&self) -> usize {
        self.relations.iter().map(|relation| relation.facts.len()).sum()
    }

    /// The fact with a number among all.
    pub(super) fn fact(&self, mut number: usize) -> (usize, &str, &str) {
        for (relation, of) in self.relations.iter().enumerate() {
            if let Some((subject, object)) = of.facts.get(number) {
                return (relation, subject, object);
            }
            number -= of.facts.len();
        }
        unreachable!("numbers of facts are below their count")
    }
}

/// Chooses for each relation the pattern that its facts are memorized in: subject first and, as whoever writes rules would, such that sentences
/// of other relations are not taken for it, nor it for them. Leaves about every third of the other patterns out of the rules.
fn choose(relations: &mut [Relation], seed: u64) {
    let mut chosen: Vec<Pattern> = Vec::new();
    for number in 0..relations.len() {
        let relation = &relations[number];
        let apart =
            |pattern: &Pattern, other: &Pattern| !pattern.fits(other) && !other.fits(pattern);
        let from_all = |pattern: &Pattern| {
            let others = relations.iter().enumerate().filter(|(other, _)| *other != number);
            let mut others = others.flat_map(|(_, other)| &other.patterns);
            others.all(|(other, _)| apart(pattern, other))
        };
        let from_chosen = |pattern: &Pattern| chosen.iter().all(|other| apart(pattern, other));
        let at = |wanted: &dyn Fn(&Pattern) -> bool| {
            let fits = |(pattern, _): &(Pattern, Use)| !pattern.object_first && wanted(pattern);
            relation.patterns.iter().position(fits)
        };
        let best = at(&|pattern| pattern.ends_with_answer() && from_all(pattern))
            .or_else(|| at(&from_all))
            .or_else(|| at(&from_chosen))
            .or_else(|| at(&|_| true))
            .unwrap_or(0);
        chosen.push(relation.patterns[best].0.clone());
        let order = order(relation.patterns.len(), seed ^ number as u64);
        let others: Vec<usize> = order.into_iter().filter(|&at| at != best).collect();
        let out = others.len() / 3;
        let relation = &mut relations[number];
        for (place, at) in others.into_iter().enumerate() {
            relation.patterns[at].1 = if place < out { Use::LeftOut } else { Use::Rules };
        }
        relation.patterns[best].1 = Use::Memorized;
    }
}

/// Numbers below a count, in a random order.
pub(super) fn order(count: usize, seed: u64) -> Vec<usize> {
    let key = |number: &usize| {
        // SplitMix64's finish: any two numbers are apart.
        let mut mixed = (*number as u64 ^ seed.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut all: Vec<usize> = (0..count).collect();
    all.sort_by_key(key);
    all
}
