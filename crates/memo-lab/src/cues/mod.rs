//! Cues: how little of a text brings it back, and how careless a quote may be. Each text is memorized in a model directory of
//! its own and asked as people ask: by prompts, whatever is wrong with them.

mod ask;
mod calibration;
mod careless;
mod curve;
mod page;
mod places;

use self::ask::Asked;
use self::calibration::{Kind, Reliability};
use self::careless::Damage;
use self::places::Text;
use crate::{Error, Lab, Page, Setting, Share, inputs, seconds};
use memo_store::{NewDocument, NewModel, Snapshot, Store};
use memo_text::{Tokenizer, TokenizerSpec};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Lengths of unique cues in tokens, and in words.
const TOKENS: [usize; 8] = [2, 3, 4, 5, 6, 8, 10, 16];
const WORDS: [usize; 5] = [2, 3, 4, 6, 8];

/// Lengths of the context after which the next token is asked for, anywhere.
const LAST: [usize; 4] = [3, 4, 8, 16];

/// Tokens, and words, that must follow a unique cue.
const NEXT_TOKENS: usize = 8;
const NEXT_WORDS: usize = 10;

/// Words of a prompt that is quoted carelessly, or is new.
const PROMPT: usize = 12;

/// Characters that must follow a careless quote, and those of a prompt that is cut off anywhere.
const CHARACTERS: usize = 30;

/// Of the lines of a text, the share that is memorized; new prompts are taken from the rest.
const MEMORIZED: f64 = 0.9;

/// How many prompts of each kind are tried.
#[derive(Clone, Copy, Debug)]
struct Counts {
    cues: usize,
    places: usize,
    careless: usize,
}

impl Counts {
    fn new(quick: bool) -> Self {
        if quick {
            Counts { cues: 50, places: 100, careless: 30 }
        } else {
            Counts { cues: 500, places: 1_000, careless: 300 }
        }
    }
}

/// A kind of question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Question {
    /// A cue of so many tokens that occurs once: the next 8 tokens.
    Tokens(usize),
    /// A cue of so many words that occurs once: the next 10 words.
    Words(usize),
    /// The next token after so many tokens, at any place.
    Next(usize),
    /// The same, as well as it can be answered: the token that followed these tokens most often.
    Possible(usize),
    /// A prompt of 12 words that is quoted like this: the next 30 characters, after at most one wrong word.
    Careless(String),
    /// The same without any wrong word.
    CarelessAtOnce(String),
    /// Four rare words of a passage, as they are or with another ending: it is among the three closest.
    Keywords(bool),
    /// A new prompt that the model calls verbatim though not even its last eight tokens are.
    FalseVerbatim,
    /// A new prompt that the model takes for a careless quote.
    Near,
    /// A new prompt whose completion repeats itself.
    Loop,
}

/// The answers of a text's model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    /// Whether the model was frozen.
    frozen: bool,
    tokens: u64,
    /// Bytes a token: of the memory, and of all files of the model.
    memory_bytes: f64,
    file_bytes: f64,
    /// Whether completions say how well their prompt matched.
    says_matched: bool,
    answers: Vec<(Question, Share)>,
    /// How reliable the probabilities are that completions state.
    reliability: Vec<(Kind, Reliability)>,
}

/// A file to be memorized, and whether the model is frozen before it is asked.
struct Source {
    name: String,
    text: Arc<str>,
    frozen: bool,
}

impl Setting for Source {
    fn key(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> f64 {
        self.text.len() as f64
    }
}

/// Runs the experiment on some files, each a text of its own.
pub fn run(lab: &Lab<'_>, texts: &[PathBuf], tokenizer: &TokenizerSpec) -> Result<Page, Error> {
    let options = lab.options();
    let counts = Counts::new(options.quick);
    let read = |path: &PathBuf| -> Result<[Source; 2], Error> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text: Arc<str> = inputs::read(path)?.into();
        let frozen =
            Source { name: format!("{name}: frozen"), text: Arc::clone(&text), frozen: true };
        Ok([Source { name, text, frozen: false }, frozen])
    };
    let sources: Vec<[Source; 2]> = texts.iter().map(read).collect::<Result<_, _>>()?;
    let sources: Vec<Source> = sources.into_iter().flatten().collect();
    let contents = sources.iter().filter(|source| !source.frozen).map(|source| &*source.text);
    let contents: Vec<&str> = contents.collect();
    let tokenizer = Tokenizer::for_texts(tokenizer, &contents)?;
    let fingerprint = format!("{}, {}", inputs::fingerprint(&contents), tokenizer.name());
    let measured = lab.measure("cues", &fingerprint, &sources, |source| {
        measure(source, &tokenizer, counts, options.seed)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let names = sources.into_iter().map(|source| source.name);
    let results: Vec<(String, Outcome)> =
        names.zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, tokenizer.name(), counts, provenance))
}

/// Memorizes most of a text in a model of its own, and asks it or its frozen copy.
fn measure(
    source: &Source,
    tokenizer: &Tokenizer,
    counts: Counts,
    seed: u64,
) -> Result<Outcome, Error> {
    let home = tempfile::tempdir().map_err(Error::file(Path::new("a temporary folder")))?;
    let mut path = home.path().join("text.memo");
    let (memorized, new) = split(&source.text);
    let new_model = NewModel { tokenizer: tokenizer.clone(), seed, ..NewModel::default() };
    let mut store = Store::create(&path, &new_model)?;
    store.memorize([NewDocument::text(memorized).with_id("text")], None)?;
    store.checkpoint()?;
    if source.frozen {
        path = home.path().join("frozen.memo");
        store.freeze(&path)?;
    }
    drop(store);
    let model = Snapshot::open(&path)?;
    let text = Text::new(memorized, tokenizer.encode(memorized)?, seed);
    let asked = Asked { model: &model, text: &text };
    let mut answers: Vec<(Question, Share)> = Vec::new();
    for len in TOKENS {
        answers.push((Question::Tokens(len), asked.unique_tokens(len, counts.cues)?));
    }
    for len in WORDS {
        answers.push((Question::Words(len), asked.unique_words(len, counts.cues)?));
    }
    for len in LAST {
        let (right, possible) = asked.next_token(len, counts.places)?;
        answers.extend([(Question::Next(len), right), (Question::Possible(len), possible)]);
    }
    let careless = Damage::ALL.into_par_iter().map(|damage| {
        let (right, at_once) = asked.careless(damage, counts.careless)?;
        let name = damage.name().to_owned();
        Ok([(Question::Careless(name.clone()), right), (Question::CarelessAtOnce(name), at_once)])
    });
    answers.extend(careless.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten());
    // A frozen model has no texts.
    for inflected in [false, true].into_iter().filter(|_| !source.frozen) {
        answers.push((Question::Keywords(inflected), asked.keywords(inflected, counts.careless)?));
    }
    let stranger = Text::new(new, Vec::new(), seed);
    let (says_matched, new) = asked.new_prompts(&stranger, counts.careless)?;
    answers.extend([Question::FalseVerbatim, Question::Near, Question::Loop].into_iter().zip(new));
    let reliability = asked.reliability(&stranger, counts.places)?;
    let tokens = text.tokens.len().max(1) as f64;
    Ok(Outcome {
        frozen: source.frozen,
        tokens: text.tokens.len() as u64,
        memory_bytes: model.memory()?.usage().total() as f64 / tokens,
        file_bytes: bytes_of(&path)? as f64 / tokens,
        says_matched,
        answers,
        reliability,
    })
}

/// Cuts a text between two lines: what is memorized, and what is not.
fn split(text: &str) -> (&str, &str) {
    let wanted = (text.len() as f64 * MEMORIZED) as usize;
    let lines = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let cut = lines.take_while(|&end| end <= wanted).last();
    // A text of one line is cut at a character.
    let boundary = || (0..=wanted).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.split_at(cut.unwrap_or_else(boundary))
}

/// Bytes of the files in a folder.
fn bytes_of(folder: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        bytes += entry.metadata().map_err(Error::file(&entry.path()))?.len();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use memo::random::{Purpose, Stream};

    #[test]
    fn a_text_is_cut_between_lines() {
        assert_eq!(split("one\ntwo\nthree\nfour\nfive\n"), ("one\ntwo\nthree\nfour\n", "five\n"));
        assert_eq!(split("0123456789"), ("012345678", "9"));
        assert_eq!(split("ééééé"), ("éééé", "é"));
    }

    /// A text without repetition comes back from any unique cue and almost any careless quote; what is new does not.
    #[test]
    fn a_made_up_text_is_found_by_its_cues() {
        let mut draws = Stream::new(3, Purpose::Sampling, 0).draws();
        let word = |number: u64| {
            let syllables = ["ka", "lo", "mi", "tu", "re", "san", "vel", "dor", "pin", "gha"];
            let of = |n: u64| syllables[(n % 10) as usize];
            format!("{}{}{}", of(number), of(number / 10), of(number / 100))
        };
        let lines = (0..400).map(|_| {
            let words: Vec<String> = (0..12).map(|_| word(draws.below(1_000))).collect();
            words.join(" ") + ".\n"
        });
        let text: String = lines.collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made up.txt");
        std::fs::write(&path, &text).unwrap();
        let out = Some(folder.path().to_owned());
        let options = Options { quick: true, seed: 1, threads: 1, out };
        let lab = Lab::new(options, &["memo-lab".to_owned()], &());
        let page = run(&lab, &[path], &TokenizerSpec::default()).unwrap();
        page.write(folder.path()).unwrap();
        let csv = std::fs::read_to_string(folder.path().join("cues.csv")).unwrap();
        let share = |question: &str| -> f64 {
            let line = csv.lines().find(|line| line.contains(question)).expect(question);
            line.split(',').nth(3).unwrap().parse().unwrap()
        };
        assert!(share("unique cue of 16 tokens") > 0.95, "{csv}");
        assert!(share("unique cue of 8 words") > 0.95, "{csv}");
        assert!(share("next token after 16") > 0.95, "{csv}");
        assert!(share("as it is") > 0.9, "{csv}");
        // Of tokens that followed equally often, either may be the right one.
        assert!(share("possible after 3") > share("next token after 3") - 0.1, "{csv}");
        // What completions are sure of is right.
        let markdown = page.markdown();
        let line = markdown.lines().find(|line| line.starts_with("- **memorized**: ")).unwrap();
        assert!(line.ends_with("can be relied on."), "{line}");
        // A frozen model does all of it too, but for passages of the texts, which it has not.
        let frozen = csv.lines().filter(|line| line.starts_with("made up: frozen,")).count();
        let live = csv.lines().filter(|line| line.starts_with("made up,"));
        assert_eq!(frozen, live.filter(|line| !line.contains("four rare words")).count());
        let line = |question: &str| {
            let mut lines = csv.lines().filter(|line| line.starts_with("made up: frozen,"));
            let share = lines.find(|line| line.contains(question)).expect(question);
            share.split(',').nth(3).unwrap().parse::<f64>().unwrap()
        };
        for question in ["unique cue of 4 tokens", "unique cue of 16 tokens", "next token after 16"]
        {
            assert!((line(question) - share(question)).abs() < 0.03, "{csv}");
        }
    }
}
