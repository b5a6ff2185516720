//! The entries of a lexicon as they are collected: words in normal form, one class a level, and what was left out.

use super::error::At;
use super::inflect::{Part, inflections};
use super::{LexiconError, LexiconErrorKind, LexiconSkip, LexiconSkipReason, Location, OnConflict};
use memo::lexicon::{MAX_BYTES, MAX_LEVELS, MAX_WORDS};
use memo::words::normal_form;
use std::collections::{BTreeMap, HashMap};

/// How many examples of a reason are kept.
const EXAMPLES: usize = 5;
/// How much of an example is shown.
const SHOWN: usize = 60;

/// Words with their classes.
pub(super) struct Entries {
    on_conflict: OnConflict,
    words: HashMap<Box<str>, u32>,
    list: Vec<Entry>,
    names: HashMap<Box<str>, u32>,
    inflected: usize,
    skipped: BTreeMap<LexiconSkipReason, LexiconSkip>,
}

struct Entry {
    form: Box<str>,
    classes: [Class; MAX_LEVELS],
    /// The part of speech of the entry that gave it its class.
    part: Part,
}

/// A word's class on a level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    None,
    Named(u32),
    /// There were several, and none counts.
    Uncertain,
}

/// A word with a class a level, an entry of [`memo::lexicon::Lexicon::new`].
type Named = (String, Vec<Option<String>>);

impl Entries {
    pub(super) fn new(on_conflict: OnConflict) -> Self {
        Entries {
            on_conflict,
            words: HashMap::new(),
            list: Vec::new(),
            names: HashMap::new(),
            inflected: 0,
            skipped: BTreeMap::new(),
        }
    }

    /// Notes something that is left out.
    pub(super) fn skip(&mut self, reason: LexiconSkipReason, example: &str) {
        let skip = self.skipped.entry(reason).or_insert_with(|| LexiconSkip {
            reason,
            count: 0,
            examples: Vec::new(),
        });
        skip.count += 1;
        if skip.examples.len() < EXAMPLES {
            skip.examples.push(example.trim().chars().take(SHOWN).collect());
        }
    }

    /// Takes a word with its classes on each level, the finest first. An empty name is none.
    pub(super) fn add<'c>(
        &mut self,
        word: &str,
        classes: impl IntoIterator<Item = &'c str>,
        part: Part,
        place: impl Fn() -> Location,
    ) -> Result<(), LexiconError> {
        let mut given = [Class::None; MAX_LEVELS];
        let mut bad = None;
        for (level, class) in classes.into_iter().enumerate() {
            let class = class.trim();
            if class.is_empty() {
                continue;
            }
            if level >= MAX_LEVELS {
                return Err(LexiconErrorKind::Levels { levels: level + 1 }.at(place()));
            }
            if class.len() > MAX_BYTES || class.contains(char::is_control) {
                bad = Some(class);
            } else {
                given[level] = Class::Named(self.name(class));
            }
        }
        let Some(form) = self.form(word) else { return Ok(()) };
        if let Some(class) = bad {
            self.skip(LexiconSkipReason::ClassName, class);
        }
        if given == [Class::None; MAX_LEVELS] {
            if bad.is_none() {
                self.skip(LexiconSkipReason::NoClass, word);
            }
            return Ok(());
        }
        match self.words.get(&*form) {
            Some(&at) => self.merge(at as usize, given, place),
            None if self.list.len() >= MAX_WORDS => {
                Err(LexiconErrorKind::Lexicon(memo::lexicon::Error::Words).at(place()))
            }
            None => {
                self.insert(form, given, part);
                Ok(())
            }
        }
    }

    fn insert(&mut self, form: Box<str>, classes: [Class; MAX_LEVELS], part: Part) {
        self.words.insert(form.clone(), self.list.len() as u32);
        self.list.push(Entry { form, classes, part });
    }

    /// The normal form of a word, if it is one that a lexicon can have.
    fn form(&mut self, word: &str) -> Option<Box<str>> {
        // A longer one has a normal form that is too long, or is not one word; its beginning tells.
        let form = normal_form(word.get(..16 * MAX_BYTES).unwrap_or(word));
        let reason = match form.split_terminator(' ').count() {
            0 => LexiconSkipReason::NoWord,
            1 if form.len() <= MAX_BYTES => return Some(form.into()),
            1 => LexiconSkipReason::LongWord,
            _ => LexiconSkipReason::SeveralWords,
        };
        self.skip(reason, word);
        None
    }

    fn name(&mut self, class: &str) -> u32 {
        if let Some(&number) = self.names.get(class) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.insert(class.into(), number);
        number
    }

    fn merge(
        &mut self,
        at: usize,
        given: [Class; MAX_LEVELS],
        place: impl Fn() -> Location,
    ) -> Result<(), LexiconError> {
        for (level, new) in given.into_iter().enumerate() {
            let entry = &mut self.list[at];
            let old = &mut entry.classes[level];
            if new == Class::None || *old == new || *old == Class::Uncertain {
                continue;
            }
            if *old == Class::None {
                *old = new;
                continue;
            }
            let form = entry.form.to_string();
            match self.on_conflict {
                OnConflict::First => self.skip(LexiconSkipReason::LaterClass, &form),
                OnConflict::Drop => {
                    *old = Class::Uncertain;
                    self.skip(LexiconSkipReason::UncertainClass, &form);
                }
                OnConflict::Error => {
                    let [first, second] = [*old, new].map(|class| {
                        let named = self.names.iter().find(|&(_, &at)| class == Class::Named(at));
                        named.map_or(String::new(), |(name, _)| name.to_string())
                    });
                    let kind = LexiconErrorKind::Conflict { word: form, level, first, second };
                    return Err(kind.at(place()));
                }
            }
        }
        Ok(())
    }

    /// Gives forms that inflect words the classes of those words, unless they have classes already: first the exceptions (form, word, part of speech),
    /// then those that follow the rules.
    pub(super) fn inflect<'e>(
        &mut self,
        exceptions: impl IntoIterator<Item = (&'e str, &'e str, Part)>,
    ) {
        let mut irregular: HashMap<(u32, Part), Vec<Box<str>>> = HashMap::new();
        let mut forms: Vec<(Box<str>, u32)> = Vec::new();
        for (form, word, part) in exceptions {
            let at = self.words.get(&*normal_form(word)).copied();
            let at = at.filter(|&at| self.list[at as usize].part == part);
            let form: Box<str> = normal_form(form).into();
            if let Some(at) = at.filter(|_| !form.contains(' ') && form.len() <= MAX_BYTES) {
                irregular.entry((at, part)).or_default().push(form.clone());
                forms.push((form, at));
            }
        }
        let mut regular: Vec<(Box<str>, u32)> = Vec::new();
        let mut inflected = vec![false; self.list.len()];
        for (at, entry) in self.list.iter().enumerate() {
            let known = irregular.get(&(at as u32, entry.part)).map_or(&[][..], Vec::as_slice);
            for form in inflections(&entry.form, entry.part, known) {
                match self.words.get(&*form) {
                    Some(&other) => inflected[other as usize] = true,
                    None => regular.push((form.into(), at as u32)),
                }
            }
        }
        // A plural has no plural.
        forms.extend(regular.into_iter().filter(|&(_, at)| !inflected[at as usize]));
        for (form, at) in forms {
            if !self.words.contains_key(&form) && self.list.len() < MAX_WORDS {
                let (classes, part) = (self.list[at as usize].classes, Part::Inflected);
                self.insert(form, classes, part);
                self.inflected += 1;
            }
        }
    }

    /// The entries, how many of them were added by inflecting, and what was left out.
    pub(super) fn into_parts(self) -> (Vec<Named>, usize, Vec<LexiconSkip>) {
        let mut names = vec![""; self.names.len()];
        self.names.iter().for_each(|(name, &at)| names[at as usize] = name);
        let name = |class: &Class| match *class {
            Class::Named(at) => Some(names[at as usize].to_owned()),
            Class::None | Class::Uncertain => None,
        };
        let entries = self.list.into_iter();
        let entries =
            entries.map(|entry| (entry.form.into(), entry.classes.iter().map(name).collect()));
        (entries.collect(), self.inflected, self.skipped.into_values().collect())
    }
}
