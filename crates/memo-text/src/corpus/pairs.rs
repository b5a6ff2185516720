//! Questions and answers, one JSON object per line: the format of data sets for unlearning.

use super::{CorpusError, CorpusErrorKind, Location};
use serde::Deserialize;
use std::path::Path;

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pair {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

impl Pair {
    /// Reads the pairs of a file: `{"question": …, "answer": …}` a line, other fields ignored. None is an error.
    pub fn read(path: &Path) -> Result<Vec<Self>, CorpusError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|reason| CorpusErrorKind::Io(reason).at_path(path))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Vec<Self>, CorpusError> {
        let wrong = |line: usize, reason| {
            let location = Location { path: path.to_owned(), line: Some(line as u64) };
            CorpusErrorKind::Pair { reason }.at(location)
        };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let pair = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| wrong(at + 1, error.to_string()))
        };
        let pairs: Vec<Self> = lines.map(pair).collect::<Result<_, _>>()?;
        if pairs.is_empty() {
            return Err(wrong(1, "there is no question and answer here".to_owned()));
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_named() {
        let good = r#"{"question": "Who?", "answer": "The owl.", "more": 1}"#;
        let pairs = Pair::parse(Path::new("x"), &format!("{good}\n\n{good}\n")).unwrap();
        assert_eq!((pairs.len(), pairs[1].answer.as_str()), (2, "The owl."));
        let wrong =
            Pair::parse(Path::new("x.jsonl"), &format!("{good}\n{{\"question\": \"Who?\"}}\n"));
        let message = wrong.unwrap_err().to_string();
        assert!(message.contains("x.jsonl:2") && message.contains("answer"), "{message}");
        assert!(Pair::parse(Path::new("x"), "\n").is_err());
    }
}
