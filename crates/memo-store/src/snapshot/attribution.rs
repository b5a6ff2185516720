//! Attribution: which document each stretch of a completion comes from.
//!
//! A stretch is a run of tokens that stand, one after the other, in one document. Where a stretch begins, sources are looked
//! for as in an explanation; of those with the longest matching context the one is taken that goes on longest as the
//! completion does. So the ledger is searched once a stretch, not once a token.

use super::{Completion, CompletionToken, Snapshot};
use crate::error::Error;
use crate::knowledge::DerivationStep;
use serde::Serialize;

/// Tokens of a completion that come from one place, or that no document has there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stretch {
    /// The text.
    pub text: String,
    /// How many tokens of the completion it is.
    pub tokens: usize,
    /// Where it stands; none if no live document has its first token after the last one of what was said before.
    pub source: Option<StretchSource>,
    /// Why rules say it, if they do.
    pub derivation: Vec<DerivationStep>,
}

/// Where a stretch of a completion stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StretchSource {
    /// The document.
    pub document: String,
    /// Its version.
    pub version: u32,
    /// The position of the first token in the document.
    pub offset: u64,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// How many tokens before it are the end of what was said before.
    pub match_tokens: u64,
}

impl Snapshot {
    /// Adds to a completion where it comes from. `prompt` are the tokens that it was chosen after
    /// ([`CompletionStream::continued`](super::CompletionStream::continued)). A frozen model has no texts, and names no sources.
    pub fn add_sources(&self, prompt: &[u32], completion: &mut Completion) -> Result<(), Error> {
        completion.sources = match self.attribute(prompt, &completion.tokens) {
            Err(Error::NoTexts { .. }) => None,
            sources => Some(sources?),
        };
        Ok(())
    }

    /// The documents that the tokens of a completion come from, stretch by stretch. Fails if the model is frozen.
    pub fn attribute(
        &self,
        prompt: &[u32],
        completion: &[CompletionToken],
    ) -> Result<Vec<Stretch>, Error> {
        let ledger = self.ledger("sources")?;
        let mut said = prompt.to_vec();
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut rest = completion;
        while let [first, ..] = rest {
            let mut longest: Option<(usize, StretchSource)> = None;
            for source in self.sources(&said, first.token)? {
                let record = self.record(&source.document)?;
                let Some(version) = record.version(source.version) else { continue };
                let content = ledger.content(&record, version)?;
                let Some((before, from)) = part_at(&content.parts, source.offset) else { continue };
                let same = from.iter().zip(rest).take_while(|(a, b)| **a == b.token).count();
                if longest.as_ref().is_some_and(|(tokens, _)| *tokens >= same) {
                    continue;
                }
                let above = before.iter().map(|part| self.tokenizer.decode(part));
                let lines = above.flatten().filter(|byte| *byte == b'\n').count();
                let place = StretchSource {
                    document: source.document,
                    version: source.version,
                    offset: source.offset,
                    // Parts stand on lines of their own.
                    line: (1 + lines + before.len() - 1) as u64,
                    match_tokens: source.match_tokens,
                };
                longest = Some((same, place));
            }
            let (tokens, source) = match longest {
                Some((tokens, source)) => (tokens.max(1), Some(source)),
                None => (1, None),
            };
            let (these, after) = rest.split_at(tokens);
            said.extend(these.iter().map(|token| token.token));
            let text: String = these.iter().map(|token| token.text.as_str()).collect();
            match stretches.last_mut().filter(|last| last.source.is_none() && source.is_none()) {
                Some(last) => {
                    last.text.push_str(&text);
                    last.tokens += tokens;
                }
                None => stretches.push(Stretch { text, tokens, source, derivation: Vec::new() }),
            }
            rest = after;
        }
        let mut before = self.tokenizer.decode_lossy(prompt);
        for stretch in &mut stretches {
            stretch.derivation = self.why_next(&before, stretch.text.trim_end())?;
            before.push_str(&stretch.text);
        }
        Ok(stretches)
    }
}

/// What stands before a token of some parts, and what stands from it on in its own.
fn part_at(parts: &[Vec<u32>], offset: u64) -> Option<(Vec<&[u32]>, &[u32])> {
    let (mut before, mut at) = (Vec::new(), offset as usize);
    for part in parts {
        if at < part.len() {
            before.push(&part[..at]);
            return Some((before, &part[at..]));
        }
        at -= part.len();
        before.push(part.as_slice());
    }
    None
}
