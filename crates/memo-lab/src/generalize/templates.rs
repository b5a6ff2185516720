//! Templates: ten sentence forms with an open place, in pairs that end alike and go on with words of different kinds.
//!
//! "drives the Volvo to" goes on with a city, "sells the Volvo to" with a person. Half of the combinations of a form and a word in its open
//! place are memorized; the others are asked. Most of these have a word that stood in neither form of a pair, though elsewhere: a memory
//! of words as they are cannot tell the forms apart, and one that knows which words are alike can. A few are *misleading*: their word stood
//! in the other form of the pair, so that the last words of the prompt are memorized, with the wrong kind after them. Sentences of words
//! outside the grammar stand between all.

use crate::{Error, Share};
use memo::lexicon::Lexicon;
use memo::random::{Draws, Purpose, Stream};
use memo::readout::{BACKOFF, Scratch};
use memo::sparse::{Memory, Settings};
use memo::words::Words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kinds of words, and their words.
const KINDS: [(&str, [&str; 8]); 5] = [
    ("person", ["Anna", "Paul", "Mara", "Otto", "Ines", "Karl", "Lena", "Hugo"]),
    ("vehicle", ["Volvo", "Fiat", "Saab", "tram", "ferry", "truck", "scooter", "wagon"]),
    ("city", ["Rome", "Oslo", "Bonn", "Riga", "Lyon", "Graz", "Turin", "Porto"]),
    ("verb", ["leave", "sail", "ride", "march", "depart", "walk", "travel", "start"]),
    ("time", ["Monday", "Tuesday", "Friday", "noon", "dawn", "winter", "autumn", "Easter"]),
];

/// A form: what stands before the open place, its kind, what stands after it, and the kind of the answer.
struct Form(&'static str, usize, &'static str, usize);

const FORMS: [Form; 10] = [
    Form("drives the", 1, "to", 2),
    Form("sells the", 1, "to", 0),
    Form("meets", 0, "in", 2),
    Form("expects", 0, "in", 4),
    Form("leaves", 2, "before", 4),
    Form("reaches", 2, "before", 0),
    Form("works each", 4, "with", 0),
    Form("travels each", 4, "with", 1),
    Form("must", 3, "for", 2),
    Form("can", 3, "for", 4),
];

/// Sentences of other words that have the same words before and after them.
const OTHERS: [&str; 6] = [
    "the bridge leads to the harbour .",
    "rain fell in the valley before the harvest .",
    "a letter for the mayor came with the post .",
    "the river can rise in a night .",
    "bread must rest before the oven .",
    "each street leads to the market .",
];

/// Words that no lexicon has, for the open place.
const STRANGERS: [&str; 4] = ["harbour", "letter", "oven", "market"];

/// How often a combination is memorized, and asked, with other words around it.
const REPEATED: usize = 4;

/// What was answered with some lexicon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    /// The class that the lexicon lacks; nothing for the whole one, and for none.
    pub(super) without: Option<String>,
    /// Answers of the right kind, by the kind of the open place.
    pub(super) right: Vec<(String, Share)>,
    /// Answers whose kind is another than with the whole lexicon, by the kind of the open place.
    pub(super) changed: Vec<(String, usize)>,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answers {
    /// Sentences memorized, those of other words included.
    pub(super) memorized: usize,
    /// With the whole lexicon; without any; and without each of its classes.
    pub(super) whole: Tried,
    pub(super) none: Tried,
    pub(super) each: Vec<Tried>,
    /// Answers of the right kind to misleading prompts, with the whole lexicon and without any.
    pub(super) misled: [Share; 2],
    /// Of prompts with a word in the open place that no lexicon has: answers that the lexicon left as they were.
    pub(super) strangers: Share,
    /// Memorized sentences that are given back, word for word, with the lexicon.
    pub(super) recalled: Share,
}

impl Tried {
    /// All answers of the right kind.
    pub(super) fn all(&self) -> Share {
        self.right.iter().fold(Share::default(), |all, &(_, share)| all + share)
    }
}

/// A sentence before its answer, and what it is about.
struct Prompt {
    form: usize,
    words: String,
}

/// Whether a form was memorized with a word in its open place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combination {
    Memorized,
    /// The word stood in neither form of the pair.
    New,
    /// The word stood in the other form of the pair.
    Misleading,
}

/// Of the eight words, three stand in both forms of a pair, three in neither, and two in one of them.
fn combination(form: usize, word: usize) -> Combination {
    match (form / 2 + word) % 8 {
        0..3 => Combination::Memorized,
        3..6 => Combination::New,
        last if last % 2 == form % 2 => Combination::Memorized,
        _ => Combination::Misleading,
    }
}

fn drawn(draws: &mut Draws, kind: usize) -> &'static str {
    KINDS[kind].1[draws.below(8) as usize]
}

fn prompt(draws: &mut Draws, form: usize, word: &str) -> Prompt {
    let Form(before, _, after, _) = FORMS[form];
    let (time, person) = (drawn(draws, 4), drawn(draws, 0));
    Prompt { form, words: format!("On {time} {person} {before} {word} {after}") }
}

/// All combinations of a kind, each several times.
fn prompts(draws: &mut Draws, wanted: Combination) -> Vec<Prompt> {
    let mut prompts = Vec::new();
    for (form, Form(_, kind, ..)) in FORMS.iter().enumerate() {
        for (word, name) in KINDS[*kind].1.iter().enumerate() {
            if combination(form, word) == wanted {
                prompts.extend((0..REPEATED).map(|_| prompt(draws, form, name)));
            }
        }
    }
    prompts
}

/// Words as tokens.
struct Vocabulary(Vec<String>);

impl Vocabulary {
    fn tokens(&self, text: &str) -> Vec<u32> {
        let number = |word: &str| self.0.binary_search_by(|known| known.as_str().cmp(word));
        text.split(' ').filter_map(|word| number(word).ok()).map(|at| at as u32).collect()
    }

    fn memory(
        &self,
        sentences: &[String],
        lexicon: Option<Lexicon>,
        seed: u64,
    ) -> Result<Memory, Error> {
        let words = Words::new(self.0.iter().map(|word| format!(" {word}")).chain([String::new()]));
        let end = self.0.len() as u32;
        let settings = Settings::new(end + 1, end, seed)?.with_words();
        let settings = settings.with_lexicon(lexicon.as_ref());
        let words = match lexicon {
            Some(lexicon) => words.with_lexicon(Arc::new(lexicon)),
            None => words,
        };
        let mut memory = Memory::with_words(settings, Some(Arc::new(words)))?;
        sentences.iter().try_for_each(|sentence| memory.memorize(&self.tokens(sentence)))?;
        Ok(memory)
    }

    fn answer(
        &self,
        memory: &Memory,
        prompt: &str,
        scratch: &mut Scratch,
    ) -> Result<String, Error> {
        let best = BACKOFF.best(memory, &self.tokens(prompt), scratch)?;
        Ok(self.0.get(best as usize).cloned().unwrap_or_default())
    }
}

/// The hand-written lexicon, without one of its classes if so wished.
fn lexicon(without: Option<usize>) -> Result<Lexicon, Error> {
    let kinds = KINDS.iter().enumerate().filter(|(kind, _)| Some(*kind) != without);
    let entries = kinds.flat_map(|(_, (name, words))| {
        words.iter().map(|word| ((*word).to_owned(), vec![Some((*name).to_owned())]))
    });
    Ok(Lexicon::new(entries)?)
}

fn kind_of(word: &str) -> Option<usize> {
    KINDS.iter().position(|(_, words)| words.contains(&word))
}

/// Memorizes sentences and asks for others.
pub(super) fn ask(seed: u64) -> Result<Answers, Error> {
    let mut draws = Stream::new(seed, Purpose::Sampling, 3).draws();
    let mut sentences: Vec<String> = prompts(&mut draws, Combination::Memorized)
        .into_iter()
        .map(|Prompt { form, words }| format!("{words} {} .", drawn(&mut draws, FORMS[form].3)))
        .collect();
    sentences.extend(OTHERS.iter().map(|sentence| (*sentence).to_owned()));
    // Every word stands somewhere.
    sentences.extend(KINDS[3].1.iter().map(|verb| format!("they {verb} early .")));
    let asked = prompts(&mut draws, Combination::New);
    let misleading = prompts(&mut draws, Combination::Misleading);
    let grammar = KINDS.iter().flat_map(|(_, words)| words.iter().copied());
    let all = sentences.iter().flat_map(|sentence| sentence.split(' ')).chain(grammar);
    let all: BTreeSet<&str> = all.collect();
    let vocabulary = Vocabulary(all.into_iter().map(str::to_owned).collect());
    let mut scratch = Scratch::default();
    let mut answers = |memory: &Memory, prompts: &[Prompt]| -> Result<Vec<String>, Error> {
        let answer = |prompt: &Prompt| vocabulary.answer(memory, &prompt.words, &mut scratch);
        prompts.iter().map(answer).collect()
    };

    let with = vocabulary.memory(&sentences, Some(lexicon(None)?), seed)?;
    let plain = vocabulary.memory(&sentences, None, seed)?;
    let whole = answers(&with, &asked)?;
    let tried = |without: Option<&str>, answers: &[String]| judge(&asked, answers, &whole, without);
    let none = tried(None, &answers(&plain, &asked)?);
    let mut each = Vec::new();
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let memory = vocabulary.memory(&sentences, Some(lexicon(Some(kind))?), seed)?;
        each.push(tried(Some(name), &answers(&memory, &asked)?));
    }

    let misled = |answers: &[String]| judge(&misleading, answers, answers, None).all();
    let misled = [misled(&answers(&with, &misleading)?), misled(&answers(&plain, &misleading)?)];

    let strange = (0..FORMS.len()).flat_map(|form| STRANGERS.map(|word| (form, word)));
    let strange: Vec<Prompt> = strange.map(|(form, word)| prompt(&mut draws, form, word)).collect();
    let (a, b) = (answers(&with, &strange)?, answers(&plain, &strange)?);
    let same = a.iter().zip(&b).filter(|(a, b)| a == b).count() as u64;
    let strangers = Share { right: same, tried: strange.len() as u64 };
    let mut recalled = Share::default();
    for sentence in &sentences {
        let tokens = vocabulary.tokens(sentence);
        // From the fifth word on: before it, sentences are alike.
        let end = with.settings().end;
        for place in 5..=tokens.len() {
            let best = BACKOFF.best_ahead(&with, &tokens[..place], &mut scratch)?;
            let next = tokens.get(place).copied().unwrap_or(end);
            let possible = sentences.iter().any(|other| {
                let other = vocabulary.tokens(other);
                other.starts_with(&tokens[..place])
                    && other.get(place).copied().unwrap_or(end) == best
            });
            recalled = recalled + Share { right: u64::from(possible || best == next), tried: 1 };
        }
    }
    let whole = tried(None, &whole);
    Ok(Answers { memorized: sentences.len(), whole, none, each, misled, strangers, recalled })
}

/// Counts answers, and which differ in kind from those of the whole lexicon.
fn judge(asked: &[Prompt], answers: &[String], whole: &[String], without: Option<&str>) -> Tried {
    let mut right: Vec<(String, Share)> = Vec::new();
    let mut changed: Vec<(String, usize)> = Vec::new();
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let of_kind = asked.iter().zip(answers.iter().zip(whole));
        let of_kind = of_kind.filter(|(prompt, _)| FORMS[prompt.form].1 == kind);
        let (mut share, mut differ) = (Share::default(), 0);
        for (prompt, (answer, before)) in of_kind {
            let is_right = kind_of(answer) == Some(FORMS[prompt.form].3);
            share = share + Share { right: u64::from(is_right), tried: 1 };
            differ += usize::from(kind_of(answer) != kind_of(before));
        }
        right.push(((*name).to_owned(), share));
        changed.push(((*name).to_owned(), differ));
    }
    Tried { without: without.map(str::to_owned), right, changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_combinations_are_memorized_and_pairs_end_alike() {
        for pair in 0..FORMS.len() / 2 {
            let (Form(a, kind, tail, first), Form(b, other, same, second)) =
                (&FORMS[2 * pair], &FORMS[2 * pair + 1]);
            assert!(a != b && kind == other && tail == same && first != second);
            let memorized = |form: usize| {
                (0..8).filter(|&word| combination(form, word) == Combination::Memorized).count()
            };
            assert_eq!((memorized(2 * pair), memorized(2 * pair + 1)), (4, 4));
        }
    }

    #[test]
    fn a_lexicon_fills_open_places_and_without_one_of_its_classes_all_but_that() {
        let found = ask(1).unwrap();
        assert!(found.whole.all().value() >= 0.98, "{found:?}");
        assert!(found.none.all().value() < 0.6, "{found:?}");
        for tried in &found.each {
            for (open, (name, changed)) in tried.changed.iter().enumerate() {
                let without =
                    KINDS.iter().position(|(kind, _)| tried.without.as_deref() == Some(*kind));
                // A class matters in an open place, as an answer, and among the last four words.
                let matters = FORMS.iter().filter(|form| form.1 == open).any(|form| {
                    let Form(before, kind, after, answer) = form;
                    let words = format!("{before} X {after}").split(' ').count();
                    let seen = if words < 4 { Some(0) } else { None };
                    [Some(*kind), Some(*answer), seen].contains(&without)
                });
                assert!(matters || *changed == 0, "{name}: {tried:?}");
                assert!(without != Some(open) || *changed > 0, "{name}: {tried:?}");
            }
        }
        assert_eq!(found.strangers.value(), 1.0, "{found:?}");
        assert_eq!(found.recalled.value(), 1.0, "{found:?}");
    }
}
