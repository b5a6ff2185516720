//! Generalizing: what a lexicon is worth. Three questions, on texts whose last fifth is held out and on sentences of a small grammar:
//!
//! - *Less text for the same*: perplexity against the amount of memorized text, without classes and with classes of several origins, and how
//!   much more text a memory without them needs to be as good.
//! - *Templates*: sentence forms with words in them that never stood there, asked with a hand-written lexicon and without.
//! - *Parts*: how many classes, for which words; what they cost in bytes and in time.

mod curve;
mod lexicons;
mod page;
mod templates;
mod text;

use self::curve::{HeldOut, held_out};
use self::lexicons::{Classes, Induction};
use self::templates::Answers;
use self::text::Text;
use crate::{Error, Lab, Page, Setting, inputs, seconds};
use memo::lexicon::Lexicon;
use memo::readout::{BACKOFF, Backoff, score};
use memo_text::{LexiconFormat, LexiconOptions, TokenizerSpec, read_lexicon};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Held-out tokens that are scored of each text, at most.
const SCORED: usize = 60_000;
const QUICK_SCORED: usize = 4_000;

/// How often both memories are timed in turn.
const TURNS: usize = 5;

/// Ways to induce that are compared, besides the default.
const INDUCTIONS: [Induction; 8] = [
    Induction { classes: 50, ..Induction::DEFAULT },
    Induction { classes: 100, ..Induction::DEFAULT },
    Induction::DEFAULT,
    Induction { classes: 400, ..Induction::DEFAULT },
    Induction { min_count: 1, ..Induction::DEFAULT },
    Induction { rare: false, ..Induction::DEFAULT },
    Induction { min_count: 3, ..Induction::DEFAULT },
    Induction { min_count: 3, rare: false, ..Induction::DEFAULT },
];

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
enum Point {
    /// Perplexity with classes of an origin, after the amount of that number.
    Amount { text: usize, name: String, classes: Classes, amount: usize, tokens: usize },
    /// Perplexity and bytes with all of a text memorized and its classes induced in some way, with contexts of words or without.
    Part { text: usize, name: String, induction: Option<Induction>, words: bool, tokens: usize },
    /// Time to score new text with classes and without.
    Reading { text: usize, name: String, tokens: usize },
    /// Sentences of the grammar.
    Templates,
}

impl Setting for Point {
    fn key(&self) -> String {
        match self {
            Point::Amount { text, name, classes, tokens, .. } => {
                format!("{} {name}, {tokens} tokens, {}", text + 1, classes.name())
            }
            Point::Part { text, name, induction, words, .. } => {
                let words = if *words { "" } else { ", no contexts of words" };
                let how = induction.map_or_else(|| "no classes".to_owned(), Induction::name);
                format!("{} {name}, {how}{words}", text + 1)
            }
            Point::Reading { text, name, .. } => format!("{} {name}, time to read", text + 1),
            Point::Templates => "templates".to_owned(),
        }
    }

    fn cost(&self) -> f64 {
        match self {
            Point::Amount { tokens, .. }
            | Point::Part { tokens, .. }
            | Point::Reading { tokens, .. } => 5_000.0 + *tokens as f64,
            Point::Templates => 1_000.0,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Outcome {
    HeldOut(HeldOut),
    Reading(Reading),
    Templates(Answers),
}

/// Seconds that the process computed to score the same new text, and how many tokens that was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Reading {
    tokens: usize,
    without: f64,
    with: f64,
}

fn points(texts: &[Text], wordnet: bool, quick: bool) -> Vec<Point> {
    let mut points = vec![Point::Templates];
    for (number, text) in texts.iter().enumerate() {
        let name = || text.name.clone();
        for (amount, &tokens) in text.amounts.iter().enumerate() {
            let tried = Classes::ALL.into_iter();
            let tried = tried.filter(|classes| wordnet || *classes != Classes::WordNet);
            points.extend(tried.map(|classes| Point::Amount {
                text: number,
                name: name(),
                classes,
                amount,
                tokens,
            }));
        }
        let tokens = text.tokens.len();
        let part = |induction: Option<Induction>, words: bool| Point::Part {
            text: number,
            name: name(),
            induction,
            words,
            tokens,
        };
        let tried = INDUCTIONS.into_iter().filter(|induction| !quick || induction.is_quick());
        points.push(part(None, true));
        points.extend(tried.map(|induction| part(Some(induction), true)));
        points.extend([part(None, false), part(Some(Induction::DEFAULT), false)]);
        points.push(Point::Reading { text: number, name: name(), tokens });
    }
    points
}

/// Runs the experiment on some files, each a text of its own, with WordNet's classes if its folder is named.
pub fn run(
    lab: &Lab<'_>,
    paths: &[PathBuf],
    tokenizer: &TokenizerSpec,
    wordnet: Option<&Path>,
) -> Result<Page, Error> {
    let options = lab.options();
    let scored = if options.quick { QUICK_SCORED } else { SCORED };
    let mut texts = Vec::new();
    let mut contents = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let content = inputs::read(path)?;
        texts.push(Text::new(name, &content, tokenizer, scored, options.quick)?);
        contents.push(content);
    }
    let wordnet = wordnet.map(read_wordnet).transpose()?;
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let tokenizer = texts.first().map_or("", |text| text.tokenizer.name());
    let classes = wordnet.as_ref().map_or_else(String::new, |lexicon| {
        let digest = lexicon.digest();
        format!(", WordNet {:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
    });
    let fingerprint = format!("{}, {tokenizer}{classes}", inputs::fingerprint(&contents));
    let points = points(&texts, wordnet.is_some(), options.quick);
    let measured = lab.measure("generalize", &fingerprint, &points, |point| {
        measure(point, &texts, wordnet.as_ref(), options.seed)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Point, Outcome)> =
        points.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, &texts, options.seed, provenance))
}

fn read_wordnet(folder: &Path) -> Result<Arc<Lexicon>, Error> {
    let options = LexiconOptions {
        format: Some(LexiconFormat::WordNet),
        inflect: true,
        ..LexiconOptions::default()
    };
    Ok(Arc::new(read_lexicon(folder, &options)?.0))
}

fn measure(
    point: &Point,
    texts: &[Text],
    wordnet: Option<&Arc<Lexicon>>,
    seed: u64,
) -> Result<Outcome, Error> {
    Ok(match *point {
        Point::Amount { text, classes, amount, .. } => {
            let text = &texts[text];
            let tokens = &text.tokens[..text.amounts[amount]];
            let lexicon = classes.lexicon(text, tokens, wordnet, seed)?;
            Outcome::HeldOut(held_out(text, tokens, amount, lexicon.as_ref(), true, seed)?)
        }
        Point::Part { text, induction, words, .. } => {
            let text = &texts[text];
            let lexicon = induction.map(|how| how.lexicon(text, &text.tokens)).transpose()?;
            let last = text.amounts.len() - 1;
            Outcome::HeldOut(held_out(
                text,
                &text.tokens,
                last,
                lexicon.flatten().as_ref(),
                words,
                seed,
            )?)
        }
        Point::Reading { text, .. } => Outcome::Reading(reading(&texts[text], seed)?),
        Point::Templates => Outcome::Templates(templates::ask(seed)?),
    })
}

/// Times both memories in turn, so that what else the machine does meets both.
fn reading(text: &Text, seed: u64) -> Result<Reading, Error> {
    let lexicon = Induction::DEFAULT.lexicon(text, &text.tokens)?;
    let memory = |lexicon: Option<Arc<Lexicon>>| text.memory(&text.tokens, lexicon, true, seed);
    let memories = [memory(None)?, memory(lexicon)?];
    let readout: &Backoff = &BACKOFF;
    let mut spent = [0.0; 2];
    for turn in 0..=TURNS {
        for (memory, spent) in memories.iter().zip(&mut spent) {
            let start = computed();
            score(memory, readout, &text.held_out)?;
            // The first turn derives what is derived once.
            *spent += if turn == 0 { 0.0 } else { computed() - start };
        }
    }
    let [without, with] = spent;
    Ok(Reading { tokens: TURNS * text.held_out.len(), without, with })
}

/// Seconds that the threads of this process have computed, in hundredths; where the system does not tell, those of a clock.
fn computed() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let clock = START.elapsed().as_secs_f64();
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / 100.0)
    };
    ticks().unwrap_or(clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use memo::random::{Draws, Purpose, Stream};

    /// A text in which what follows depends on the kind of a word and not on the word: six kinds of 100 words each, in a fixed round.
    fn made_up(draws: &mut Draws, lines: usize) -> String {
        let syllables = ["ka", "lo", "mi", "tu", "re", "san", "vel", "dor", "pin", "gha"];
        let word = |kind: u64, number: u64| {
            let of = |n: u64| syllables[(n % 10) as usize];
            format!("{}{}{}", of(kind), of(number), of(number / 10))
        };
        let mut line = || {
            let first = draws.below(6);
            let words: Vec<String> =
                (0..9).map(|place| word((first + place) % 6, draws.below(100))).collect();
            words.join(" ") + " .\n"
        };
        (0..lines).map(|_| line()).collect()
    }

    #[test]
    fn induced_classes_help_and_random_ones_do_not() {
        let mut draws = Stream::new(5, Purpose::Sampling, 0).draws();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made up.txt");
        std::fs::write(&path, made_up(&mut draws, 2_500)).unwrap();
        let out = Some(folder.path().to_owned());
        let options = Options { quick: true, seed: 1, threads: 1, out };
        let lab = Lab::new(options, &["memo-lab".to_owned()], &());
        let words: TokenizerSpec = "words".parse().unwrap();
        let page = run(&lab, &[path], &words, None).unwrap();
        page.write(folder.path()).unwrap();
        let csv = std::fs::read_to_string(folder.path().join("generalize.csv")).unwrap();
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let (what, classes, ratio) = (column("what"), column("classes"), column("of_none"));
        let of_none = |wanted: &str| -> Vec<f64> {
            let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let rows = rows.filter(|row| row[what] == "amount" && row[classes] == wanted);
            rows.map(|row| row[ratio].parse().unwrap()).collect()
        };
        let (induced, random) = (of_none("induced"), of_none("random"));
        assert!(!induced.is_empty() && induced.len() == random.len(), "{csv}");
        assert!(induced.last().unwrap() < &0.85, "{csv}");
        assert!(random.iter().all(|ratio| *ratio > 0.97), "{csv}");
    }
}
