//! WordNet's files: `data.noun`, `index.noun` and so on, as its manual page wndb(5) describes them.
//!
//! Synsets are concepts. One stands below its first hypernym; a satellite adjective below the head of its cluster; an adverb below the adjective that it comes from.
//! A class is called like `car.n.1`: the first word of the synset, its part of speech, and the number of its sense. A word's sense is the most frequent by
//! `cntlist.rev`, the first noun, verb, adjective or adverb where that does not tell.

use super::entries::Entries;
use super::error::At;
use super::hierarchy::Hierarchy;
use super::inflect::Part;
use super::{
    LexiconError, LexiconErrorKind, LexiconOptions, LexiconSkipReason, OnConflict, WORDNET_DEPTH,
    place, text,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files by part of speech, with the letter of its pointers and of its classes.
const PARTS: [(&str, u8, Part); 4] = [
    ("noun", b'n', Part::Noun),
    ("verb", b'v', Part::Verb),
    ("adj", b'a', Part::Adjective),
    ("adv", b'r', Part::Adverb),
];

/// The number of a part of speech, by the letter of a pointer; `s` is a satellite adjective.
fn part(letter: &str) -> Option<usize> {
    let letter = if letter == "s" { "a" } else { letter };
    PARTS.iter().position(|&(_, name, _)| letter.as_bytes() == [name])
}

/// A part of speech, and where its file has a synset.
type Key = (usize, u32);

pub(super) fn read(folder: &Path, options: &LexiconOptions) -> Result<Entries, LexiconError> {
    let wordnet = WordNet::read(folder, options.max_bytes)?;
    let on_conflict = options.on_conflict.unwrap_or(OnConflict::First);
    let mut entries = Entries::new(on_conflict);
    let names = wordnet.names();
    let mut parents = Vec::with_capacity(wordnet.synsets.len());
    for synset in &wordnet.synsets {
        parents.push(match synset.above {
            Some(key) => Some(wordnet.find(key).ok_or_else(|| {
                let problem = format!("synset {} of data.{} is not there", key.1, PARTS[key.0].0);
                let data = folder.join(format!("data.{}", PARTS[synset.key.0].0));
                LexiconErrorKind::Syntax { format: "WordNet", problem }
                    .at(place(&data, synset.line))
            })?),
            None => None,
        });
    }
    let (hierarchy, tops) = Hierarchy::new(parents);
    for top in tops {
        entries.skip(LexiconSkipReason::Circle, &names[top as usize]);
    }
    let depths = if options.depths.is_empty() { &[WORDNET_DEPTH][..] } else { &options.depths };
    let levels = hierarchy.cut(depths, 0);
    for (lemma, key) in wordnet.senses(options.all_senses) {
        let Some(at) = wordnet.find(key) else { continue };
        let class = |level: &Vec<Option<u32>>| {
            level[at as usize].map_or("", |class| names[class as usize].as_str())
        };
        let part = PARTS[key.0].2;
        entries.add(&lemma.replace('_', " "), levels.iter().map(class), part, || {
            folder.join(format!("index.{}", PARTS[key.0].0)).into()
        })?;
    }
    if options.inflect {
        let exceptions = wordnet.exceptions.iter();
        entries.inflect(exceptions.map(|(form, word, part)| (&**form, &**word, *part)));
    }
    Ok(entries)
}

struct Synset {
    key: Key,
    word: String,
    above: Option<Key>,
    /// Its line in the file.
    line: u64,
}

/// A word of an index: its part of speech and the synsets of its senses.
struct Lemma {
    word: String,
    part: usize,
    synsets: Vec<u32>,
    /// How often each sense was counted.
    counts: Vec<u32>,
}

struct WordNet {
    synsets: Vec<Synset>,
    numbers: HashMap<Key, u32>,
    lemmas: Vec<Lemma>,
    by_word: HashMap<(String, usize), u32>,
    exceptions: Vec<(String, String, Part)>,
}

impl WordNet {
    fn read(folder: &Path, max: u64) -> Result<Self, LexiconError> {
        let mut wordnet = WordNet {
            synsets: Vec::new(),
            numbers: HashMap::new(),
            lemmas: Vec::new(),
            by_word: HashMap::new(),
            exceptions: Vec::new(),
        };
        for (number, (name, _, part)) in PARTS.into_iter().enumerate() {
            each_line(folder, &format!("data.{name}"), max, |line, at| {
                let synset = synset(number, line, at)?;
                wordnet.numbers.insert(synset.key, wordnet.synsets.len() as u32);
                wordnet.synsets.push(synset);
                Some(())
            })?;
            each_line(folder, &format!("index.{name}"), max, |line, _| {
                let lemma = lemma(number, line)?;
                let at = wordnet.lemmas.len() as u32;
                wordnet.by_word.insert((lemma.word.clone(), number), at);
                wordnet.lemmas.push(lemma);
                Some(())
            })?;
            let exceptions = format!("{name}.exc");
            if folder.join(&exceptions).exists() {
                each_line(folder, &exceptions, max, |line, _| {
                    let mut words = line.split_whitespace();
                    let form = words.next()?;
                    let bases = words.map(|word| (form.to_owned(), word.to_owned(), part));
                    wordnet.exceptions.extend(bases);
                    Some(())
                })?;
            }
        }
        if folder.join("cntlist.rev").exists() {
            each_line(folder, "cntlist.rev", max, |line, _| wordnet.count(line))?;
        }
        Ok(wordnet)
    }

    fn find(&self, key: Key) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    /// `lemma%part:…  sense  count`.
    fn count(&mut self, line: &str) -> Option<()> {
        let mut fields = line.split(' ');
        let (lemma, rest) = fields.next()?.rsplit_once('%')?;
        let part = match rest.as_bytes().first()? {
            b'1' => 0,
            b'2' => 1,
            b'3' | b'5' => 2,
            b'4' => 3,
            _ => return None,
        };
        let sense: usize = fields.next()?.parse().ok()?;
        let count = fields.next()?.trim().parse().ok()?;
        // A count of a sense that the index lacks tells nothing.
        let at = self.by_word.get(&(lemma.to_owned(), part)).copied();
        let counts = at.map(|at| &mut self.lemmas[at as usize].counts);
        if let Some(has) = counts.and_then(|counts| counts.get_mut(sense.wrapping_sub(1))) {
            *has = count;
        }
        Some(())
    }

    /// What synsets are called.
    fn names(&self) -> Vec<String> {
        let name = |synset: &Synset| {
            let (part, offset) = synset.key;
            let letter = char::from(PARTS[part].1);
            let lemma = self.by_word.get(&(synset.word.to_lowercase(), part));
            let sense = lemma.and_then(|&at| {
                self.lemmas[at as usize].synsets.iter().position(|&synset| synset == offset)
            });
            match sense {
                Some(sense) => format!("{}.{letter}.{}", synset.word.to_lowercase(), sense + 1),
                None => format!("{}.{letter}.{offset:08}", synset.word),
            }
        };
        self.synsets.iter().map(name).collect()
    }

    /// Words with their synsets: of each word the most frequent, or all in the order of their frequency.
    fn senses(&self, all: bool) -> Vec<(&str, Key)> {
        let mut senses: Vec<(&str, i64, usize, usize, Key)> = Vec::new();
        for lemma in &self.lemmas {
            for (sense, (&synset, &count)) in lemma.synsets.iter().zip(&lemma.counts).enumerate() {
                // The most frequent first; where counts do not tell, nouns first, and senses in their order.
                let key = (lemma.part, synset);
                senses.push((&lemma.word, -i64::from(count), lemma.part, sense, key));
            }
        }
        senses.sort_unstable();
        if !all {
            senses.dedup_by_key(|sense| sense.0);
        }
        senses.into_iter().map(|(word, .., key)| (word, key)).collect()
    }
}

/// `offset file type n word id … p pointer offset part source/target … | gloss`, with n in hexadecimal.
fn synset(part_number: usize, line: &str, at: u64) -> Option<Synset> {
    let mut fields = line.split(' ');
    let offset = fields.next()?.parse().ok()?;
    let kind = fields.nth(1)?;
    let words = usize::from_str_radix(fields.next()?, 16)
        .ok()
        .filter(|words| (1..=0xffff).contains(words))?;
    let word = fields.next()?;
    // Adjectives may say where they stand: galore(ip).
    let word = word.split_once('(').map_or(word, |(word, _)| word).to_owned();
    let mut fields = fields.skip(2 * words - 1);
    let pointers: usize = fields.next()?.parse().ok()?;
    let mut above = None;
    for _ in 0..pointers {
        let (symbol, offset) = (fields.next()?, fields.next()?.parse().ok()?);
        let (part, _) = (part(fields.next()?)?, fields.next()?);
        let wanted = match kind {
            "n" | "v" => matches!(symbol, "@" | "@i"),
            "s" => symbol == "&",
            "r" => symbol == "\\",
            _ => false,
        };
        if wanted && above.is_none() {
            above = Some((part, offset));
        }
    }
    Some(Synset { key: (part_number, offset), word, above, line: at })
}

/// `lemma part senses p pointer … senses counted offset …`.
fn lemma(part: usize, line: &str) -> Option<Lemma> {
    let mut fields = line.split_whitespace();
    let word = fields.next()?.to_owned();
    let senses: usize = fields.nth(1)?.parse().ok()?;
    let pointers: usize = fields.next()?.parse().ok()?;
    let synsets = fields.skip(pointers.checked_add(2)?).map(|field| field.parse().ok());
    let synsets = synsets.collect::<Option<Vec<u32>>>()?;
    (synsets.len() == senses).then(|| Lemma { word, part, counts: vec![0; senses], synsets })
}

/// Calls `take` with each line of a file but those of the licence, which are indented; `None` is a line that cannot be.
fn each_line(
    folder: &Path,
    name: &str,
    max: u64,
    mut take: impl FnMut(&str, u64) -> Option<()>,
) -> Result<(), LexiconError> {
    let path: PathBuf = folder.join(name);
    if !path.is_file() {
        return Err(LexiconErrorKind::NoWordNet { file: name.to_owned() }.at_path(folder));
    }
    let text = text::read(&path, max)?;
    for line in text::lines(&text, &path) {
        let (line, number) = line?;
        if line.starts_with(' ') || line.is_empty() {
            continue;
        }
        take(line, number).ok_or_else(|| {
            let problem = "this line is none of its files'".to_owned();
            LexiconErrorKind::Syntax { format: "WordNet", problem }.at(place(&path, number))
        })?;
    }
    Ok(())
}
