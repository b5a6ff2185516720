//! Forgetting people: questions and answers about authors are memorized, some authors are forgotten, and what is left of
//! them is measured beside a memory that never knew them.

mod answers;
mod page;
mod pairs;

use self::answers::{Measures, ask};
use self::pairs::{Data, Document, sample};
use crate::metrics::{KolmogorovSmirnov, kolmogorov_smirnov};
use crate::{Error, Lab, Page, Setting, seconds};
use memo::sparse::{Memory, PARAMETERS_PER_TOKEN, Settings, Shape, Size, Span};
use memo_text::TokenizerSpec;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// Consecutive pairs that are about one author, as TOFU has them.
const PAIRS: usize = 20;

/// How often memorizing and forgetting are timed; the best counts.
const ROUNDS: usize = 7;

/// How many pairs are forgotten: the last ones of the file, or those of both files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    forgotten: usize,
    of: usize,
}

impl Level {
    /// Authors forgotten, and authors in all.
    fn authors(self) -> (usize, usize) {
        (self.forgotten.div_ceil(PAIRS), self.of.div_ceil(PAIRS))
    }

    /// The share of authors that are forgotten.
    fn percent(self) -> f64 {
        100.0 * self.forgotten as f64 / self.of as f64
    }
}

impl Setting for Level {
    fn key(&self) -> String {
        let (authors, of) = self.authors();
        format!("{authors} of {of} authors forgotten")
    }
}

/// What a test against the memory that never knew the text says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Test {
    statistic: f64,
    p_value: f64,
}

impl From<KolmogorovSmirnov> for Test {
    fn from(test: KolmogorovSmirnov) -> Self {
        Test { statistic: test.statistic, p_value: test.p_value }
    }
}

/// A memory asked for what is forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    measures: Measures,
    /// Log-likelihoods of tokens, and of whole answers, against those of the memory that never knew the text.
    tokens: Test,
    answers: Test,
}

/// What forgetting so much did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    /// Tokens memorized in all, and forgotten.
    tokens: usize,
    forgotten_tokens: usize,
    parameters: u64,
    /// Asked for what is forgotten: before, after, a memory without it, and one without it from another seed.
    before: State,
    after: State,
    never: State,
    other: State,
    /// Asked for what is kept; nothing if everything is forgotten.
    kept_before: Option<Measures>,
    kept_after: Option<Measures>,
    /// Digests after forgetting and of the memory that never knew the text, which are equal, and before.
    digest: String,
    digest_before: String,
    /// Seconds for all tokens that are forgotten.
    memorizing: f64,
    forgetting: f64,
}

/// The levels: one author in a hundred, all of the file, everything.
fn levels(data: &Data) -> Vec<Level> {
    let (most, of) = (data.forget.len(), data.forget.len() + data.retain.len());
    let few = of.div_ceil(100).next_multiple_of(PAIRS).min(most);
    let mut levels: Vec<Level> = [few, most, of].map(|forgotten| Level { forgotten, of }).to_vec();
    levels.dedup();
    levels
}

/// Runs the experiment on two files of questions and answers: what can be forgotten, and what stays.
pub fn run(
    lab: &Lab<'_>,
    forget: &Path,
    retain: &Path,
    tokenizer: &TokenizerSpec,
) -> Result<Page, Error> {
    let data = Data::read(forget, retain, tokenizer)?;
    let (options, levels) = (lab.options(), levels(&data));
    let asked = asked(options.quick);
    let measured = lab.measure("forgetting", &data.fingerprint, &levels, |level| {
        measure(&data, *level, asked, options.seed)
    })?;
    let provenance = lab.provenance(seconds(&measured));
    let results: Vec<(Level, Outcome)> =
        levels.into_iter().zip(measured.into_iter().map(|m| m.result)).collect();
    Ok(page::page(&results, &data, asked, provenance))
}

/// The same without a page: what was measured at each level, for programs.
pub fn outcomes(
    forget: &Path,
    retain: &Path,
    tokenizer: &TokenizerSpec,
    quick: bool,
    seed: u64,
) -> Result<impl Serialize + use<>, Error> {
    #[derive(Serialize)]
    struct At {
        forgotten_authors: usize,
        authors: usize,
        percent: f64,
        #[serde(flatten)]
        outcome: Outcome,
        utility_before: Option<f64>,
        utility_after: Option<f64>,
    }
    let data = Data::read(forget, retain, tokenizer)?;
    let each = levels(&data).into_iter().map(|level| {
        let outcome = measure(&data, level, asked(quick), seed)?;
        let (forgotten_authors, authors) = level.authors();
        let utility = |kept: &Option<Measures>| kept.as_ref().map(Measures::utility);
        let (utility_before, utility_after) =
            (utility(&outcome.kept_before), utility(&outcome.kept_after));
        let percent = level.percent();
        Ok(At { forgotten_authors, authors, percent, outcome, utility_before, utility_after })
    });
    each.collect::<Result<Vec<At>, Error>>()
}

/// Answers that are asked for, at most.
fn asked(quick: bool) -> usize {
    if quick { 40 } else { 400 }
}

/// Memorizes everything, forgets, and compares with memories that never knew what was forgotten.
fn measure(data: &Data, level: Level, asked: usize, seed: u64) -> Result<Outcome, Error> {
    let Data { forget, retain, tokenizer, .. } = data;
    let all: Vec<&Document> = retain.iter().chain(forget).collect();
    let (kept, forgotten) = all.split_at(all.len() - level.forgotten);
    let count = |documents: &[&Document]| documents.iter().map(|d| d.tokens.len() + 1).sum();
    let tokens: usize = count(&all);
    let size = Size::Parameters(PARAMETERS_PER_TOKEN * tokens as u64);
    let (vocabulary, end) = (tokenizer.vocab_size() as u32, tokenizer.eos());
    let empty = |seed| -> Result<Memory, Error> {
        Ok(Memory::new(Settings::new(vocabulary, end, seed, &Shape::default(), size)?)?)
    };
    let asked_forgotten = sample(forgotten, asked, seed, 1);
    let asked_kept = sample(kept, asked, seed, 2);
    let ask_kept = |memory: &Memory| -> Result<Option<Measures>, Error> {
        if asked_kept.is_empty() {
            return Ok(None);
        }
        Ok(Some(ask(memory, &asked_kept, tokenizer)?.0))
    };

    let mut never = empty(seed)?;
    write(&mut never, kept, 1)?;
    let (never_measures, expected) = ask(&never, &asked_forgotten, tokenizer)?;
    let never_digest = never.digest()?;
    drop(never);
    let state = |memory: &Memory| -> Result<State, Error> {
        let (measures, logs) = ask(memory, &asked_forgotten, tokenizer)?;
        let tokens = kolmogorov_smirnov(&logs.tokens, &expected.tokens).into();
        let answers = kolmogorov_smirnov(&logs.answers, &expected.answers).into();
        Ok(State { measures, tokens, answers })
    };
    let mut other = empty(seed.wrapping_add(1))?;
    write(&mut other, kept, 1)?;
    let other = state(&other)?;

    let mut memory = empty(seed)?;
    write(&mut memory, &all, 1)?;
    let (before, kept_before) = (state(&memory)?, ask_kept(&memory)?);
    let digest_before = memory.digest()?;
    let (mut memorizing, mut forgetting) = (f64::INFINITY, f64::INFINITY);
    for round in 0..ROUNDS {
        if round > 0 {
            memorizing = memorizing.min(write(&mut memory, forgotten, 1)?);
        }
        forgetting = forgetting.min(write(&mut memory, forgotten, -1)?);
    }
    let digest = memory.digest()?;
    if digest != never_digest {
        return Err(Error::NotExact {
            what: level.key(),
            expected: never_digest.to_string(),
            found: digest.to_string(),
        });
    }
    let certain = Test { statistic: 0.0, p_value: 1.0 };
    Ok(Outcome {
        tokens,
        forgotten_tokens: count(forgotten),
        parameters: memory.settings().parameters(),
        after: state(&memory)?,
        kept_after: ask_kept(&memory)?,
        never: State { measures: never_measures, tokens: certain, answers: certain },
        other,
        before,
        kept_before,
        digest: digest.to_string(),
        digest_before: digest_before.to_string(),
        memorizing,
        forgetting,
    })
}

/// Memorizes (1) or forgets (−1) documents, and says how long that took.
fn write(memory: &mut Memory, documents: &[&Document], weight: i32) -> Result<f64, Error> {
    let passages: Vec<Span<'_>> =
        documents.iter().map(|document| Span::whole(&document.tokens, weight)).collect();
    let start = Instant::now();
    memory.write(&passages)?;
    Ok(start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    /// Questions and answers about made-up lighthouses.
    fn file(folder: &Path, name: &str, authors: std::ops::Range<usize>) -> std::path::PathBuf {
        let line = |k: usize| {
            let (keeper, topic) = (k / PAIRS, k % PAIRS);
            let colour = ["red", "white", "green", "amber"][(k * 7 + keeper) % 4];
            format!(
                "{{\"question\": \"What is lamp {topic} of keeper K{keeper}?\", \
                 \"answer\": \"Lamp {topic} of keeper K{keeper} is {colour} and turns {} times.\"}}\n",
                (k * 31 + keeper) % 97
            )
        };
        let lines: String = (authors.start * PAIRS..authors.end * PAIRS).map(line).collect();
        let path = folder.join(name);
        std::fs::write(&path, lines).unwrap();
        path
    }

    #[test]
    fn a_forgotten_author_leaves_what_one_never_known_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let forget = file(folder.path(), "forget.jsonl", 4..5);
        let retain = file(folder.path(), "retain.jsonl", 0..4);
        let data = Data::read(&forget, &retain, &TokenizerSpec::Gpt2).unwrap();
        let levels = levels(&data);
        assert_eq!(levels.iter().map(|l| l.authors()).collect::<Vec<_>>(), [(1, 5), (5, 5)]);

        let some = measure(&data, levels[0], 100, 3).unwrap();
        assert_ne!(some.digest, some.digest_before);
        // Answers that differ in two words, about lamps of which each keeper has the same: hard, and known almost by heart.
        let known = &some.before.measures;
        assert!(known.exact_memorization > 0.97 && known.rouge_l > 0.95, "{known:?}");
        assert!(known.extraction_strength > 0.85, "{known:?}");
        assert_eq!(some.after.measures, some.never.measures);
        assert_eq!(some.after.tokens, Test { statistic: 0.0, p_value: 1.0 });
        assert!(some.before.tokens.p_value < 1e-6, "{some:?}");
        assert!(some.other.tokens.p_value > 0.05, "{some:?}");
        assert!(some.after.measures.extraction_strength < 0.5, "{some:?}");
        let (before, after) = (some.kept_before.unwrap(), some.kept_after.unwrap());
        assert!(before.utility() > 0.9 && after.utility() > 0.9, "{before:?} {after:?}");

        let everything = measure(&data, levels[1], 100, 3).unwrap();
        assert_eq!(everything.kept_after, None);
        assert_eq!(everything.after.measures.exact_memorization, 0.0);
    }

    #[test]
    fn the_page_has_every_level_and_names_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let forget = file(folder.path(), "forget.jsonl", 2..3);
        let retain = file(folder.path(), "retain.jsonl", 0..2);
        let options = Options { quick: true, seed: 1, threads: 1, out: None };
        let command = ["memo", "lab", "forgetting"].map(str::to_owned);
        let lab = Lab::new(options, &command, &());
        let page = run(&lab, &forget, &retain, &TokenizerSpec::Gpt2).unwrap();
        let text = page.markdown();
        assert!(text.contains("| 1 of 3 |") && text.contains("| 3 of 3 |"), "{text}");
        assert!(!text.contains(folder.path().to_str().unwrap()));
        assert!(!text.contains("lamp"), "no text of the data on the page");
    }
}
