//! Questions and answers: read, made into documents, and drawn from.

use crate::{Error, inputs};
use memo::random::{Purpose, Stream};
use memo_text::Tokenizer;
use serde::Deserialize;
use std::path::Path;

/// One line of the data: a question and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Pair {
    pub(super) question: String,
    pub(super) answer: String,
}

/// The pairs of a file with one JSON object a line.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Pair>, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let pair = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: at + 1,
            reason: error.to_string(),
        })
    };
    let pairs: Vec<Pair> = lines.map(pair).collect::<Result<_, _>>()?;
    if pairs.is_empty() {
        return Err(Error::Line {
            path: path.to_owned(),
            line: 1,
            reason: "there is no question and answer here".to_owned(),
        });
    }
    Ok(pairs)
}

/// A pair as the memory sees it: one document, the question on a line, then the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) tokens: Vec<u32>,
    /// Where the answer begins.
    pub(super) answer: usize,
    /// The answer as text.
    pub(super) text: String,
}

impl Document {
    pub(super) fn new(pair: &Pair, tokenizer: &Tokenizer) -> Result<Self, Error> {
        let mut tokens = tokenizer.encode(&format!("{}\n", pair.question))?;
        let answer = tokens.len();
        tokens.extend(tokenizer.encode(&pair.answer)?);
        Ok(Document { tokens, answer, text: pair.answer.clone() })
    }
}

/// The data: what can be forgotten, and what stays.
pub(super) struct Data {
    pub(super) forget: Vec<Document>,
    pub(super) retain: Vec<Document>,
    pub(super) tokenizer: Tokenizer,
    pub(super) fingerprint: String,
}

impl Data {
    pub(super) fn read(
        forget: &Path,
        retain: &Path,
        spec: &memo_text::TokenizerSpec,
    ) -> Result<Self, Error> {
        let texts = (inputs::read(forget)?, inputs::read(retain)?);
        let (forget, retain) = (parse(forget, &texts.0)?, parse(retain, &texts.1)?);
        let all = forget.iter().chain(&retain).flat_map(|pair| [&pair.question, &pair.answer]);
        let tokenizer = inputs::tokenizer(spec, all)?;
        let documents = |pairs: &[Pair]| -> Result<Vec<Document>, Error> {
            pairs.iter().map(|pair| Document::new(pair, &tokenizer)).collect()
        };
        let fingerprint =
            format!("{}, {}", inputs::fingerprint(&[&texts.0, &texts.1]), tokenizer.name());
        Ok(Data {
            forget: documents(&forget)?,
            retain: documents(&retain)?,
            tokenizer,
            fingerprint,
        })
    }
}

/// At most `count` of the documents, drawn without putting back; all of them, in order, if there are no more.
pub(super) fn sample<'a>(
    documents: &[&'a Document],
    count: usize,
    seed: u64,
    purpose: u32,
) -> Vec<&'a Document> {
    let mut drawn = documents.to_vec();
    if drawn.len() > count {
        let mut reader = Stream::new(seed, Purpose::Sampling, purpose).draws();
        for k in 0..count {
            let other = k + reader.below((drawn.len() - k) as u64) as usize;
            drawn.swap(k, other);
        }
        drawn.truncate(count);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_named() {
        let good = r#"{"question": "Who?", "answer": "The owl.", "more": 1}"#;
        let pairs = parse(Path::new("x"), &format!("{good}\n\n{good}\n")).unwrap();
        assert_eq!((pairs.len(), pairs[1].answer.as_str()), (2, "The owl."));
        let wrong = parse(Path::new("x.jsonl"), &format!("{good}\n{{\"question\": \"Who?\"}}\n"));
        let message = wrong.unwrap_err().to_string();
        assert!(message.contains("x.jsonl, line 2") && message.contains("answer"), "{message}");
        assert!(parse(Path::new("x"), "\n").is_err());
    }

    #[test]
    fn an_answer_begins_after_its_question() {
        let pair = Pair { question: "Who reads?".to_owned(), answer: "The owl.".to_owned() };
        let tokenizer = Tokenizer::gpt2();
        let document = Document::new(&pair, &tokenizer).unwrap();
        let (question, answer) = document.tokens.split_at(document.answer);
        assert_eq!(tokenizer.decode_lossy(question), "Who reads?\n");
        assert_eq!(tokenizer.decode_lossy(answer), "The owl.");
    }

    #[test]
    fn a_sample_has_no_document_twice() {
        let document = |k: u32| Document { tokens: vec![k], answer: 0, text: String::new() };
        let documents: Vec<Document> = (0..50).map(document).collect();
        let all: Vec<&Document> = documents.iter().collect();
        let mut drawn: Vec<u32> = sample(&all, 20, 1, 0).iter().map(|d| d.tokens[0]).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 20);
        assert_eq!(sample(&all, 50, 1, 0), all);
    }
}
