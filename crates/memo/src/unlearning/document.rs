//! A question and its answer as a memory sees them, and samples of many.

use crate::random::{Purpose, Stream};

/// A pair as one document: the question on a line, then the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// All tokens.
    pub tokens: Vec<u32>,
    /// Where the answer begins.
    pub answer: usize,
    /// The answer as text.
    pub text: String,
}

impl Document {
    /// Encodes a pair.
    pub fn new<E>(
        question: &str,
        answer: &str,
        encode: impl Fn(&str) -> Result<Vec<u32>, E>,
    ) -> Result<Self, E> {
        let mut tokens = encode(&format!("{question}\n"))?;
        let begin = tokens.len();
        tokens.extend(encode(answer)?);
        Ok(Document { tokens, answer: begin, text: answer.to_owned() })
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
    fn an_answer_begins_after_its_question() {
        let letters = |text: &str| Ok::<_, ()>(text.bytes().map(u32::from).collect());
        let document = Document::new("Who?", "Owl.", letters).unwrap();
        let (question, answer) = document.tokens.split_at(document.answer);
        assert_eq!(
            (question, answer),
            (&b"Who?\n".map(u32::from)[..], &b"Owl.".map(u32::from)[..])
        );
        assert_eq!(document.text, "Owl.");
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
