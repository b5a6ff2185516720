//! Unlearning, measured: questions and answers about authors are memorized, some authors are forgotten, and the memory
//! is asked for answers before and after, beside a memory that never knew them.
//!
//! Everything is about tokens; where the pairs come from and how tokens are decoded is the caller's part.

mod answers;
mod document;

use self::answers::ask;
pub use self::answers::{Measures, QUANTILES};
pub use self::document::Document;
use self::document::sample;
use crate::metrics::{KolmogorovSmirnov, kolmogorov_smirnov};
use crate::sparse::{Error, Memory, Settings, Span};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Consecutive pairs that are about one author, as TOFU has them.
pub const PAIRS_PER_AUTHOR: usize = 20;

/// How often memorizing and forgetting are timed; the best counts.
pub const ROUNDS: usize = 7;

/// Answers that are asked for at each level.
pub const ASKED: usize = 400;

/// Answers that are asked for in a quick run.
pub const ASKED_QUICK: usize = 40;

/// Tokens to text.
pub type Decode<'a> = Box<dyn Fn(&[u32]) -> String + Sync + 'a>;

/// How many pairs are forgotten: the last ones of those that can be, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Pairs that are forgotten.
    pub forgotten: usize,
    /// Pairs in all.
    pub of: usize,
}

impl Level {
    /// Authors forgotten, and authors in all.
    pub fn authors(self) -> (usize, usize) {
        (self.forgotten.div_ceil(PAIRS_PER_AUTHOR), self.of.div_ceil(PAIRS_PER_AUTHOR))
    }

    /// The share of authors that are forgotten.
    pub fn percent(self) -> f64 {
        100.0 * self.forgotten as f64 / self.of as f64
    }
}

/// A memory asked for what is forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What it answered.
    pub measures: Measures,
    /// Log-likelihoods of tokens against those of the memory that never knew the text.
    pub tokens: KolmogorovSmirnov,
    /// The same of whole answers.
    pub answers: KolmogorovSmirnov,
}

/// What forgetting so much did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Tokens memorized in all.
    pub tokens: usize,
    /// Tokens forgotten.
    pub forgotten_tokens: usize,
    /// Cells of the memory that are not zero, after forgetting.
    pub parameters: u64,
    /// Asked for what is forgotten, before that.
    pub before: State,
    /// Asked for what is forgotten, after that.
    pub after: State,
    /// A memory that never knew it.
    pub never: State,
    /// Another such memory, from another seed: what chance alone does.
    pub other: State,
    /// Asked for what is kept, before; nothing if everything is forgotten.
    pub kept_before: Option<Measures>,
    /// Asked for what is kept, after; nothing if everything is forgotten.
    pub kept_after: Option<Measures>,
    /// The digest after forgetting.
    pub digest: String,
    /// The digest before forgetting.
    pub digest_before: String,
    /// The digest of the memory that never knew the text. Forgetting is exact if it equals `digest`.
    pub digest_never: String,
    /// Seconds to memorize all tokens that are forgotten.
    pub memorizing: f64,
    /// Seconds to forget them.
    pub forgetting: f64,
}

/// Questions and answers, and the memory to try them on.
pub struct Trial<'a> {
    /// What can be forgotten.
    pub forget: &'a [Document],
    /// What stays.
    pub retain: &'a [Document],
    /// Tokens in the vocabulary.
    pub vocabulary: u32,
    /// The end token.
    pub end: u32,
    /// Decodes what the memory writes.
    pub decode: Decode<'a>,
    /// Answers that are asked for, at most.
    pub asked: usize,
    /// Seed of the memory and of the samples.
    pub seed: u64,
}

impl Trial<'_> {
    /// One author in a hundred, all that can be forgotten, everything.
    pub fn levels(&self) -> Vec<Level> {
        let (most, of) = (self.forget.len(), self.forget.len() + self.retain.len());
        let few = of.div_ceil(100).next_multiple_of(PAIRS_PER_AUTHOR).min(most);
        let mut levels: Vec<Level> =
            [few, most, of].map(|forgotten| Level { forgotten, of }).to_vec();
        levels.dedup();
        levels
    }

    /// Memorizes everything, forgets, and compares with memories that never knew what was forgotten.
    pub fn measure(&self, level: Level) -> Result<Outcome, Error> {
        let all: Vec<&Document> = self.retain.iter().chain(self.forget).collect();
        let (kept, forgotten) = all.split_at(all.len() - level.forgotten);
        let count = |documents: &[&Document]| documents.iter().map(|d| d.tokens.len() + 1).sum();
        let tokens: usize = count(&all);
        let empty = |seed| Memory::new(Settings::new(self.vocabulary, self.end, seed)?);
        let asked_forgotten = sample(forgotten, self.asked, self.seed, 1);
        let asked_kept = sample(kept, self.asked, self.seed, 2);
        let ask_kept = |memory: &Memory| -> Result<Option<Measures>, Error> {
            if asked_kept.is_empty() {
                return Ok(None);
            }
            Ok(Some(ask(memory, &asked_kept, &self.decode)?.0))
        };

        let mut never = empty(self.seed)?;
        write(&mut never, kept, 1)?;
        let (never_measures, expected) = ask(&never, &asked_forgotten, &self.decode)?;
        let digest_never = never.digest()?.to_string();
        drop(never);
        let state = |memory: &Memory| -> Result<State, Error> {
            let (measures, logs) = ask(memory, &asked_forgotten, &self.decode)?;
            let tokens = kolmogorov_smirnov(&logs.tokens, &expected.tokens);
            let answers = kolmogorov_smirnov(&logs.answers, &expected.answers);
            Ok(State { measures, tokens, answers })
        };
        let mut other = empty(self.seed.wrapping_add(1))?;
        write(&mut other, kept, 1)?;
        let other = state(&other)?;

        let mut memory = empty(self.seed)?;
        write(&mut memory, &all, 1)?;
        let (before, kept_before) = (state(&memory)?, ask_kept(&memory)?);
        let digest_before = memory.digest()?.to_string();
        let (mut memorizing, mut forgetting) = (f64::INFINITY, f64::INFINITY);
        for round in 0..ROUNDS {
            if round > 0 {
                memorizing = memorizing.min(write(&mut memory, forgotten, 1)?);
            }
            forgetting = forgetting.min(write(&mut memory, forgotten, -1)?);
        }
        let certain = KolmogorovSmirnov { statistic: 0.0, p_value: 1.0 };
        Ok(Outcome {
            tokens,
            forgotten_tokens: count(forgotten),
            parameters: memory.cells(),
            after: state(&memory)?,
            kept_after: ask_kept(&memory)?,
            never: State { measures: never_measures, tokens: certain, answers: certain },
            other,
            before,
            kept_before,
            digest: memory.digest()?.to_string(),
            digest_before,
            digest_never,
            memorizing,
            forgetting,
        })
    }
}

/// Memorizes (1) or forgets (−1) documents, and returns how long that took in seconds.
fn write(memory: &mut Memory, documents: &[&Document], weight: i32) -> Result<f64, Error> {
    let spans: Vec<Span<'_>> =
        documents.iter().map(|document| Span::whole(&document.tokens, weight)).collect();
    let start = Instant::now();
    memory.write(&spans)?;
    Ok(start.elapsed().as_secs_f64())
}
