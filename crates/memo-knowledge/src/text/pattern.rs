//! Patterns of sentences: words with variables between them.

use super::Vocabulary;
use super::sentences::{MARKS, each_sentence};
use crate::rules::{Piece, fill};
use crate::triple::collapse;
use rustc_hash::FxHashSet;

/// The most words that a variable stands for.
pub(crate) const MAX_WORDS: usize = 8;

/// What a variable may stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// A name that a graph has.
    Known,
    /// Words of a class of the lexicon.
    Class(String),
    /// A number of words, from and to.
    Words(usize, usize),
}

/// A pattern of a sentence.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    /// Words, with one space for each run of whitespace, and variables, never two in a row.
    parts: Vec<Piece>,
    /// The end mark that the sentence must have; empty if it may have any or none.
    mark: String,
    /// How many variables there are.
    variables: usize,
    /// Whether a variable is there twice, so that one part of a sentence depends on another.
    repeats: bool,
    limits: Vec<(usize, Limit)>,
    /// Words of which a sentence that fits has at least one.
    words: Vec<String>,
}

/// What comes of comparing a sentence with a pattern.
pub(super) enum Outcome {
    None,
    /// The values of the variables.
    Values(Vec<String>),
    /// There are more ways to divide the sentence than may be tried.
    TooMany,
}

impl TextPattern {
    /// Makes a pattern of a text, or says what is wrong with it.
    pub(crate) fn new(pieces: &[Piece]) -> Result<Self, String> {
        let mut parts: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (piece, parts.last()) {
                (Piece::Variable(_), Some(Piece::Variable(_))) => {
                    return Err(
                        "two variables stand side by side; put words or a space between them"
                            .into(),
                    );
                }
                (Piece::Variable(_), _) => parts.push(piece.clone()),
                (Piece::Text(text), _) => parts.push(Piece::Text(spaced(text))),
            }
        }
        if let Some(Piece::Text(first)) = parts.first_mut() {
            *first = first.trim_start().to_owned();
        }
        let mut mark = String::new();
        if let Some(Piece::Text(last)) = parts.last_mut() {
            let body = last.trim_end().trim_end_matches(MARKS);
            mark.push_str(&last.trim_end()[body.len()..]);
            *last = body.trim_end().to_owned();
        }
        parts.retain(|part| *part != Piece::Text(String::new()));
        let mut used: Vec<usize> = Vec::new();
        let mut repeats = false;
        for part in &parts {
            if let Piece::Variable(variable) = part {
                repeats |= used.contains(variable);
                used.push(*variable);
            }
        }
        used.sort_unstable();
        used.dedup();
        let whole = fill(&parts, |_| "Variable") + &mark;
        let mut sentences = 0;
        each_sentence(&whole, |_| sentences += 1);
        if sentences > 1 {
            return Err("this is more than one sentence, and a pattern is compared with one; write a rule for each".into());
        }
        let words = words_of(&parts);
        if words.is_empty() {
            return Err(
                "this has no words besides its variables, so it matches everything; add some"
                    .into(),
            );
        }
        let variables = used.len();
        Ok(Self { parts, mark, variables, repeats, limits: Vec::new(), words })
    }

    /// Limits what a variable stands for.
    pub(crate) fn limit(&mut self, variable: usize, limit: Limit) {
        self.limits.push((variable, limit));
        // Words are counted before others are asked.
        self.limits.sort_by_key(|(_, limit)| !matches!(limit, Limit::Words(..)));
    }

    /// How many variables there are.
    pub(crate) fn variables(&self) -> usize {
        self.variables
    }

    /// Tells whether a variable must be known.
    pub(crate) fn uses_known(&self) -> bool {
        self.limits.iter().any(|(_, limit)| *limit == Limit::Known)
    }

    /// Words of which a sentence that fits has at least one.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Compares a sentence, without its end mark, with the pattern.
    pub(super) fn values(
        &self,
        body: &str,
        mark: &str,
        vocabulary: &dyn Vocabulary,
        tries: usize,
    ) -> Outcome {
        if !self.mark.is_empty() && self.mark != mark {
            return Outcome::None;
        }
        let mut attempt = Attempt {
            pattern: self,
            body: body.trim_end(),
            vocabulary,
            tries,
            values: vec![""; self.variables],
            failed: FxHashSet::default(),
        };
        match attempt.fits(0, 0) {
            Some(true) => {
                let values = attempt.values.iter().map(|value| collapse(value).into_owned());
                Outcome::Values(values.collect())
            }
            Some(false) => Outcome::None,
            None => Outcome::TooMany,
        }
    }

    fn allows(
        &self,
        variable: usize,
        words: usize,
        value: &str,
        vocabulary: &dyn Vocabulary,
    ) -> bool {
        let value = collapse(value);
        let mut limits = self.limits.iter().filter(|(limited, _)| *limited == variable);
        limits.all(|(_, limit)| match limit {
            Limit::Known => vocabulary.is_known(&value),
            Limit::Class(class) => vocabulary.has_class(&value, class),
            Limit::Words(least, most) => (*least..=*most).contains(&words),
        })
    }
}

/// One comparison. The leftmost variable takes the fewest words that let the rest fit.
struct Attempt<'a> {
    pattern: &'a TextPattern,
    body: &'a str,
    vocabulary: &'a dyn Vocabulary,
    /// Places that may still be tried.
    tries: usize,
    /// What each variable stands for; empty if that is open.
    values: Vec<&'a str>,
    /// Parts that fail at places, whatever came before them: only known if no variable is there twice.
    failed: FxHashSet<(usize, usize)>,
}

impl Attempt<'_> {
    /// Whether the parts from `part` on fit the body from `at` on; `None` if there are too many ways to try.
    fn fits(&mut self, part: usize, at: usize) -> Option<bool> {
        let pattern = self.pattern;
        let (variable, next) = match pattern.parts.get(part) {
            None => return Some(at == self.body.len()),
            Some(Piece::Text(text)) => {
                return match after(text, self.body, at, part == 0) {
                    Some(end) => self.fits(part + 1, end),
                    None => Some(false),
                };
            }
            Some(Piece::Variable(variable)) => (*variable, pattern.parts.get(part + 1)),
        };
        if !pattern.repeats && self.failed.contains(&(part, at)) {
            return Some(false);
        }
        let (body, mut words, mut in_word) = (self.body, 0, false);
        for (offset, character) in body[at..].char_indices() {
            self.tries = self.tries.checked_sub(1)?;
            let place = at + offset;
            // A value ends after a letter, never after whitespace.
            if in_word
                && let Some(Piece::Text(text)) = next
                && let Some(end) = after(text, body, place, false)
                && self.bind(variable, &body[at..place], words, part + 2, end)?
            {
                return Some(true);
            }
            if character.is_whitespace() {
                if words == 0 {
                    return Some(false);
                }
                in_word = false;
            } else if !in_word {
                (in_word, words) = (true, words + 1);
                if words > MAX_WORDS {
                    break;
                }
            }
        }
        if words <= MAX_WORDS && in_word && next.is_none() {
            let value = &body[at..];
            if self.bind(variable, value, words, part + 1, body.len())? {
                return Some(true);
            }
        }
        if !pattern.repeats {
            self.failed.insert((part, at));
        }
        Some(false)
    }
}

impl<'a> Attempt<'a> {
    /// Whether the rest fits when a variable stands for this value.
    fn bind(
        &mut self,
        variable: usize,
        value: &'a str,
        words: usize,
        part: usize,
        at: usize,
    ) -> Option<bool> {
        let before = self.values[variable];
        if !before.is_empty() && collapse(before) != collapse(value) {
            return Some(false);
        }
        if before.is_empty() && !self.pattern.allows(variable, words, value, self.vocabulary) {
            return Some(false);
        }
        self.values[variable] = value;
        let fits = self.fits(part, at)?;
        if !fits {
            self.values[variable] = before;
        }
        Some(fits)
    }
}

/// Where a text ends in the body if it stands at a place: letters as they are (at the beginning, the first in either case), and
/// a space for any run of whitespace.
fn after(text: &str, body: &str, at: usize, first: bool) -> Option<usize> {
    let mut rest = &body[at..];
    for (number, wanted) in text.chars().enumerate() {
        if wanted == ' ' {
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
            continue;
        }
        let found = rest.chars().next()?;
        let same = found == wanted
            || (first && number == 0 && found.to_lowercase().eq(wanted.to_lowercase()));
        if !same {
            return None;
        }
        rest = &rest[found.len_utf8()..];
    }
    Some(body.len() - rest.len())
}

/// A text with one space for each run of whitespace, those at its ends included.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_whitespace() {
            spaced.push(character);
        } else if !spaced.ends_with(' ') {
            spaced.push(' ');
        }
    }
    spaced
}

/// The longest word of a pattern, which is what a text is searched for. The first letter of a sentence may have either case, so
/// it is left out, or both are searched for.
fn words_of(parts: &[Piece]) -> Vec<String> {
    let mut best: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Piece::Text(text) = part else { continue };
        for (number, word) in text.split_whitespace().enumerate() {
            if word.chars().all(|character| ".,;:!?".contains(character)) {
                continue;
            }
            let candidates = match word.chars().next() {
                Some(first) if at == 0 && number == 0 => {
                    let rest = &word[first.len_utf8()..];
                    if rest.is_empty() {
                        vec![
                            first.to_string(),
                            first.to_lowercase().collect(),
                            first.to_uppercase().collect(),
                        ]
                    } else {
                        vec![rest.to_owned()]
                    }
                }
                _ => vec![word.to_owned()],
            };
            let length = |words: &Vec<String>| words.first().map_or(0, String::len);
            if length(&candidates) > length(&best) {
                best = candidates;
            }
        }
    }
    best.sort_unstable();
    best.dedup();
    best
}
