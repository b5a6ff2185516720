//! Rules on sentences: what a text says in the words of a rule's `when`.
//!
//! One pass over the text finds the longest word of each pattern; only the sentences that have it are compared with the pattern.

mod pattern;
mod sentences;

pub(crate) use pattern::{Limit, MAX_WORDS, TextPattern};

use crate::limits::{LimitError, Limits};
use crate::rules::{Atom, Rule, Rules, Slot, When, fill};
use crate::triple::Triple;
use aho_corasick::AhoCorasick;
use pattern::Outcome;
use std::collections::BTreeMap;
use std::ops::Range;

/// The longest sentence that is compared with patterns, in bytes. What is longer is no prose.
const MAX_SENTENCE: usize = 10_000;

/// What a model knows of names and words, for the limits `known` and `class:NAME` of rules.
pub trait Vocabulary {
    /// Tells whether a graph has an entity of this name.
    fn is_known(&self, name: &str) -> bool;
    /// Tells whether words are of a class of the lexicon.
    fn has_class(&self, words: &str, class: &str) -> bool;
}

/// Knows nothing.
impl Vocabulary for () {
    fn is_known(&self, _: &str) -> bool {
        false
    }

    fn has_class(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// What a rule made of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Match<T> {
    /// The triple or text.
    pub what: T,
    /// The rule's number.
    pub rule: usize,
    /// The sentence, in bytes of the text.
    pub sentence: Range<usize>,
}

/// What rules made of a text, sorted by what it is, then by rule and sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Triples that sentences state.
    pub triples: Vec<Match<Triple>>,
    /// Texts made of sentences.
    pub texts: Vec<Match<String>>,
}

/// Finds the words of patterns in texts.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Rule and number of each pattern of a text.
    patterns: Vec<(usize, usize)>,
    /// The words, and for each the patterns that need it; `None` if there are too many words to find in one pass.
    words: Option<(AhoCorasick, Vec<Vec<usize>>)>,
}

impl Finder {
    fn new(rules: &[Rule]) -> Self {
        let mut patterns = Vec::new();
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (rule, when) in rules.iter().map(|rule| &rule.when).enumerate() {
            let When::Text(list) = when else { continue };
            for (at, pattern) in list.iter().enumerate() {
                for word in pattern.words() {
                    words.entry(word).or_default().push(patterns.len());
                }
                patterns.push((rule, at));
            }
        }
        let (words, owners): (Vec<&str>, Vec<Vec<usize>>) = words.into_iter().unzip();
        let words = AhoCorasick::new(words).ok().map(|finder| (finder, owners));
        Self { patterns, words }
    }
}

impl Rules {
    /// Applies the rules that ask for sentences to a text.
    ///
    /// ```
    /// use memo_knowledge::{Limits, Rules, Triple};
    ///
    /// let rules = Rules::parse(
    ///     r#"
    ///     [[rule]]
    ///     when = "{x} was born in {y}."
    ///     then = ["{x}", "born in", "{y}"]
    ///     "#,
    ///     "people.toml",
    /// )?;
    /// let text = "Ada Lovelace was born in London. She died there.";
    /// let found = rules.matches(text, &(), &Limits::default())?;
    /// assert_eq!(found.triples[0].what, Triple::new("Ada Lovelace", "born in", "London"));
    /// assert_eq!(&text[found.triples[0].sentence.clone()], "Ada Lovelace was born in London.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matches(
        &self,
        text: &str,
        vocabulary: &dyn Vocabulary,
        limits: &Limits,
    ) -> Result<Matches, LimitError> {
        let finder = self.finder.get_or_init(|| Finder::new(&self.rules));
        let mut search = Search {
            rules: &self.rules,
            finder,
            text,
            vocabulary,
            limits,
            line: 0..0,
            sentences: Vec::new(),
            compared: vec![None; finder.patterns.len()],
            found: Matches::default(),
        };
        if finder.patterns.is_empty() {
            return Ok(search.found);
        }
        if let Some((words, owners)) = &finder.words {
            for hit in words.find_overlapping_iter(text) {
                let sentence = search.sentence_at(hit.start());
                for &pattern in &owners[hit.pattern().as_usize()] {
                    search.compare(pattern, &sentence)?;
                }
            }
        } else {
            let mut at = 0;
            while at < text.len() {
                search.sentence_at(at);
                at = search.line.end + 1;
                for sentence in std::mem::take(&mut search.sentences) {
                    (0..finder.patterns.len())
                        .try_for_each(|pattern| search.compare(pattern, &sentence))?;
                }
            }
        }
        let mut found = search.found;
        sort(&mut found.triples);
        sort(&mut found.texts);
        Ok(found)
    }
}

fn sort<T: Ord>(found: &mut Vec<Match<T>>) {
    let key = |one: &Match<T>| (one.rule, one.sentence.start);
    found.sort_unstable_by(|one, other| one.what.cmp(&other.what).then(key(one).cmp(&key(other))));
    found.dedup();
}

/// A text while it is searched, from its beginning to its end.
struct Search<'a> {
    rules: &'a [Rule],
    finder: &'a Finder,
    text: &'a str,
    vocabulary: &'a dyn Vocabulary,
    limits: &'a Limits,
    /// The line in progress, without its end, and its sentences.
    line: Range<usize>,
    sentences: Vec<Range<usize>>,
    /// Where the sentence began that a pattern was last compared with.
    compared: Vec<Option<usize>>,
    found: Matches,
}

impl Search<'_> {
    /// The sentence that has this place; an empty one if it is between sentences.
    fn sentence_at(&mut self, at: usize) -> Range<usize> {
        if !self.line.contains(&at) {
            let begin = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let end = self.text[at..].find('\n').map_or(self.text.len(), |end| at + end);
            self.line = begin..end;
            self.sentences.clear();
            sentences::each_sentence(&self.text[begin..end], |sentence| {
                self.sentences.push(begin + sentence.start..begin + sentence.end);
            });
        }
        let next = self.sentences.partition_point(|sentence| sentence.end <= at);
        self.sentences.get(next).cloned().unwrap_or(at..at)
    }

    fn compare(&mut self, pattern: usize, sentence: &Range<usize>) -> Result<(), LimitError> {
        if self.compared[pattern] == Some(sentence.start) || sentence.len() > MAX_SENTENCE {
            return Ok(());
        }
        self.compared[pattern] = Some(sentence.start);
        let (number, at) = self.finder.patterns[pattern];
        let rule = &self.rules[number];
        let When::Text(patterns) = &rule.when else { return Ok(()) };
        let Some((body, mark)) = sentences::body_of(&self.text[sentence.clone()]) else {
            return Ok(());
        };
        let values = match patterns[at].values(body, mark, self.vocabulary, self.limits.tried) {
            Outcome::None => return Ok(()),
            Outcome::Values(values) => values,
            Outcome::TooMany => {
                let (rule, limit) = (rule.title(), self.limits.tried);
                return Err(LimitError::Tried { rule, limit, sentence: sentence.start });
            }
        };
        for atom in &rule.then {
            if self.found.triples.len() == self.limits.triples {
                return Err(LimitError::Triples { rule: rule.title(), limit: self.limits.triples });
            }
            let what = triple_of(atom, &values);
            self.found.triples.push(Match { what, rule: number, sentence: sentence.clone() });
        }
        for pieces in &rule.say {
            if self.found.texts.len() == self.limits.texts {
                return Err(LimitError::Texts { rule: rule.title(), limit: self.limits.texts });
            }
            let what = fill(pieces, |variable| &values[variable]);
            self.found.texts.push(Match { what, rule: number, sentence: sentence.clone() });
        }
        Ok(())
    }
}

fn triple_of(atom: &Atom, values: &[String]) -> Triple {
    let name = |slot: &Slot| match slot {
        Slot::Variable(variable) => values[*variable].clone(),
        Slot::Name(name) => name.clone(),
    };
    let [subject, predicate, object] = atom.each_ref().map(name);
    Triple { subject, predicate, object }
}
