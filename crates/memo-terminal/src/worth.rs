//! What a lexicon is worth on a text: how much better a memory of four fifths of it expects the rest.

use anyhow::Context;
use memo::lexicon::Lexicon;
use memo::measure::{Experiment, held_out};
use memo::readout::BACKOFF;
use memo::words::Words;
use memo_text::{Tokenizer, TokenizerSpec};
use serde::Serialize;
use std::sync::Arc;

/// Tokens that are too few to say anything.
const FEW: usize = 100;

/// Perplexity of a fifth of a text for a memory of the rest.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Worth {
    /// Without the lexicon.
    pub without: f64,
    /// With it.
    pub with: f64,
    /// Tokens that were held out.
    pub held_out_tokens: usize,
}

/// Measures it; `None` if the text is too short.
pub fn worth(
    lexicon: &Lexicon,
    texts: &[String],
    spec: &TokenizerSpec,
    seed: u64,
) -> anyhow::Result<Option<Worth>> {
    let tokenizer = Tokenizer::for_texts(spec, texts.iter().map(String::as_str))?;
    let encode = |text: &String| Ok(tokenizer.encode_bytes(text.as_bytes())?);
    let documents = texts.iter().map(encode).collect::<anyhow::Result<Vec<Vec<u32>>>>()?;
    let tokens: usize = documents.iter().map(Vec::len).sum();
    if tokens < FEW {
        return Ok(None);
    }
    let (memorized, rest) = split(documents, tokens / 5 * 4);
    let held_out_tokens = rest.iter().map(Vec::len).sum();
    let words = |lexicon: Option<&Lexicon>| {
        let words = Words::new(tokenizer.pieces());
        Arc::new(match lexicon {
            Some(lexicon) => words.with_lexicon(Arc::new(lexicon.clone())),
            None => words,
        })
    };
    let vocabulary =
        u32::try_from(tokenizer.vocab_size()).context("the vocabulary is too large")?;
    let measure = |words: Arc<Words>| {
        let experiment = Experiment {
            memorized: &memorized,
            held_out: &rest,
            vocabulary,
            end: tokenizer.eos(),
            unknown: tokenizer.unknown(),
            words: Some(words),
            seed,
            sample: 0,
        };
        held_out(&experiment, &BACKOFF)
    };
    let (without, with) = (measure(words(None))?, measure(words(Some(lexicon)))?);
    Ok(without.zip(with).map(|(without, with)| Worth { without, with, held_out_tokens }))
}

/// The documents with the first so many tokens, and the others; one document may be cut.
fn split(documents: Vec<Vec<u32>>, tokens: usize) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let (mut memorized, mut rest, mut left) = (Vec::new(), Vec::new(), tokens);
    for mut document in documents {
        let after = document.split_off(left.min(document.len()));
        left -= document.len();
        memorized.extend(Some(document).filter(|document| !document.is_empty()));
        rest.extend(Some(after).filter(|after| !after.is_empty()));
    }
    (memorized, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_token() {
        let documents = vec![vec![1, 2, 3], vec![4, 5, 6], vec![7]];
        let (first, rest) = split(documents, 4);
        assert_eq!((first, rest), (vec![vec![1, 2, 3], vec![4]], vec![vec![5, 6], vec![7]]));
    }
}
