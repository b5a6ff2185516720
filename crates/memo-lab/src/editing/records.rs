//! Records of CounterFact: a statement, what it is to say instead, another wording of it, and a neighbour.

use crate::{Error, inputs};
use memo_text::{Tokenizer, TokenizerSpec};
use serde::Deserialize;
use std::path::Path;

/// One record as the file has it.
#[derive(Clone, Debug, Deserialize)]
struct Record {
    prompt: String,
    ground_truth: String,
    target_new: String,
    rephrase_prompt: String,
    locality_prompt: String,
    locality_ground_truth: String,
}

/// A prompt and what follows it, as text and as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) tokens: Vec<u32>,
}

/// A continuation of a prompt: a space and a word or two.
pub(super) type Target = Prompt;

/// A record, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) prompt: Prompt,
    pub(super) old: Target,
    pub(super) new: Target,
    /// The same in other words.
    pub(super) paraphrase: Prompt,
    /// A similar statement that must stay, and what it says.
    pub(super) neighbour: Prompt,
    pub(super) neighbour_says: Target,
}

impl Fact {
    /// Tokens at the end of the prompt that the paraphrase ends with too.
    pub(super) fn shared(&self) -> usize {
        let pairs = self.prompt.tokens.iter().rev().zip(self.paraphrase.tokens.iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    }
}

/// The records of a file, and what the journal says of it.
pub(super) struct Data {
    pub(super) facts: Vec<Fact>,
    pub(super) tokenizer: Tokenizer,
    pub(super) fingerprint: String,
}

impl Data {
    /// At most `count` records of a file with one JSON array.
    pub(super) fn read(path: &Path, spec: &TokenizerSpec, count: usize) -> Result<Self, Error> {
        let text = inputs::read(path)?;
        let wrong =
            |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
        let mut records: Vec<Record> =
            serde_json::from_str(&text).map_err(|error| wrong(error.line(), error.to_string()))?;
        records.truncate(count);
        if records.is_empty() {
            return Err(wrong(1, "there is no record here".to_owned()));
        }
        let all = records.iter().flat_map(|r| {
            [&r.prompt, &r.ground_truth, &r.target_new, &r.rephrase_prompt]
                .into_iter()
                .chain([&r.locality_prompt, &r.locality_ground_truth])
        });
        let tokenizer = Tokenizer::for_texts(spec, all)?;
        let fingerprint = format!("{}, {}", inputs::fingerprint(&[&text]), tokenizer.name());
        let encode = |text: String| -> Result<Prompt, Error> {
            Ok(Prompt { tokens: tokenizer.encode(&text)?, text })
        };
        let prompt = |text: &str| encode(text.trim_end().to_owned());
        let target = |text: &str| encode(format!(" {}", text.trim()));
        let fact = |record: &Record| -> Result<Fact, Error> {
            Ok(Fact {
                prompt: prompt(&record.prompt)?,
                old: target(&record.ground_truth)?,
                new: target(&record.target_new)?,
                paraphrase: prompt(&record.rephrase_prompt)?,
                neighbour: prompt(&record.locality_prompt)?,
                neighbour_says: target(&record.locality_ground_truth)?,
            })
        };
        let facts = records.iter().map(fact).collect::<Result<_, _>>()?;
        Ok(Data { facts, tokenizer, fingerprint })
    }
}
