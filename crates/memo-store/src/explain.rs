//! Explanations: why the memory says something, slot by slot, and which documents it has that from.
//!
//! Sources are looked for in the ledger itself: the tokens of all live documents are searched for the longest end of
//! the context that is followed by the token. So a source is never wrong, and there is no index to scrub.

use crate::error::Error;
use crate::memorize::current;
use crate::record::Role;
use crate::view::View;
use memo::readout::{Backoff, ReadOut, Scratch};
use memo::sparse::Settings;
use serde::Serialize;

/// Why a memory says what it says after a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The most probable token, as text.
    pub prediction: String,
    /// The most probable tokens, the likeliest first.
    pub candidates: Vec<Candidate>,
}

/// A token that may follow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The token.
    pub token: u32,
    /// Its text.
    pub text: String,
    /// Its probability.
    pub probability: f64,
    /// What each slot remembers of it.
    pub evidence: Vec<Heard>,
    /// Where it stands in live documents.
    pub sources: Vec<Origin>,
}

/// What one slot remembers of a token.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Heard {
    /// The layer of the slot, from 1.
    pub layer: u32,
    /// Its head, from 0, the newest.
    pub head: u32,
    /// Tokens of its block.
    pub context_tokens: u32,
    /// How often the token followed that block, as far as the cells tell.
    pub count: f32,
    /// The standard deviation of that.
    pub noise: f32,
    /// How often the block occurred at all, exactly.
    pub total: i64,
}

/// A place in a document where the end of the context is followed by the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The document.
    pub document: String,
    /// Its version.
    pub version: u32,
    /// The token's position in the document.
    pub offset: u64,
    /// How many tokens before it are the end of the context.
    pub match_tokens: u64,
}

/// The text around a place, in reading order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// What stands before the matching part.
    pub before: String,
    /// What is also the end of the context.
    pub matching: String,
    /// The token.
    pub token: String,
    /// What follows it.
    pub after: String,
}

/// The longest context that knew a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoke {
    /// The layer of its slot, from 1.
    pub layer: u32,
    /// Tokens of its block.
    pub context_tokens: u32,
}

/// The most places that are named for one token.
const SOURCES: usize = 5;

impl View {
    /// Explains the `count` most probable continuations of a prompt.
    pub fn explain(&self, prompt: &str, count: usize) -> Result<Explanation, Error> {
        self.whole()?;
        let memory = self.memory.sparse().ok_or(Error::Engine("an explanation"))?;
        let context = self.tokenizer.encode(prompt)?;
        let mut scratch = Scratch::default();
        let distribution = Backoff::default().distribution(memory, &context, &mut scratch)?;
        let top = distribution.top(count.max(1));
        let evidence = memory.evidence(&context)?;
        let settings = memory.settings();
        let mut candidates = Vec::new();
        for (token, probability) in top {
            let heard = evidence.iter().filter_map(|slot| {
                let found = slot.successors.iter().find(|s| s.token == token)?;
                let block = &settings.slots[slot.slot];
                Some(Heard {
                    layer: layer(settings, slot.slot),
                    head: block.skip / block.len,
                    context_tokens: block.len,
                    count: found.count,
                    noise: found.sigma,
                    total: slot.total,
                })
            });
            candidates.push(Candidate {
                token,
                text: self.tokenizer.decode_lossy(&[token]),
                probability,
                evidence: heard.collect(),
                sources: self.sources(&context, token)?,
            });
        }
        let prediction = candidates.first().map_or_else(String::new, |c| c.text.clone());
        Ok(Explanation { prediction, candidates })
    }

    /// The longest context that knew a token, if any did.
    pub fn spoke(&self, context: &[u32], token: u32) -> Result<Option<Spoke>, Error> {
        let Some(memory) = self.memory.sparse() else { return Ok(None) };
        let settings = memory.settings();
        let knew = memory.evidence(context)?.into_iter().filter(|slot| {
            settings.slots[slot.slot].newest() && slot.successors.iter().any(|s| s.token == token)
        });
        let spoke = knew.map(|slot| Spoke {
            layer: layer(settings, slot.slot),
            context_tokens: settings.slots[slot.slot].len,
        });
        Ok(spoke.max_by_key(|spoke| spoke.context_tokens))
    }

    /// The text around a place, with up to `around` tokens on either side of what matches.
    pub fn passage(&self, origin: &Origin, around: usize) -> Result<Excerpt, Error> {
        let document = self.document(&origin.document)?;
        let version = document.versions.iter().find(|v| v.number == origin.version);
        let version = version.ok_or_else(|| Error::NoDocument(origin.document.clone()))?;
        let content = self.ledger.content(document.number, version)?;
        let mut at = origin.offset as usize;
        for part in &content.parts {
            // The end of a part may be what follows.
            if at <= part.len() {
                let from = at.saturating_sub(origin.match_tokens as usize);
                let next = (at + 1).min(part.len());
                let text = |tokens: &[u32]| self.tokenizer.decode_lossy(tokens);
                return Ok(Excerpt {
                    before: text(&part[from.saturating_sub(around)..from]),
                    matching: text(&part[from..at]),
                    token: text(&part[at..next]),
                    after: text(&part[next..part.len().min(next + around)]),
                });
            }
            at -= part.len();
        }
        Err(Error::NotFound)
    }

    /// Where the longest end of a context is followed by a token, in live documents. The longest matches first.
    pub fn sources(&self, context: &[u32], token: u32) -> Result<Vec<Origin>, Error> {
        let end = self.tokenizer.eos();
        let mut found: Vec<Origin> = Vec::new();
        for document in self.ledger.documents()? {
            let Some(place) = document.place.filter(|place| place.live) else { continue };
            let Some(version) = current(&document) else { continue };
            let content = self.ledger.content(document.number, version)?;
            let mut before = 0;
            for part in &content.parts {
                // Of an edit only the target is in the memory, without an end.
                let written = match content.role {
                    Role::Text => 0..part.len() + 1,
                    Role::Edit { prompt, .. } => prompt as usize..part.len(),
                };
                for at in written {
                    let here = part.get(at).copied().unwrap_or(end) == token;
                    if !here || part[..at].last() != context.last() {
                        continue;
                    }
                    let same = part[..at].iter().rev().zip(context.iter().rev());
                    let match_tokens = same.take_while(|(a, b)| a == b).count() as u64;
                    // Most places of a frequent pair are worse than what is known already.
                    if found.len() >= SOURCES
                        && found.iter().all(|o| o.match_tokens >= match_tokens)
                    {
                        continue;
                    }
                    let (document, offset) = (document.id.clone(), before + at as u64);
                    found.push(Origin { document, version: place.version, offset, match_tokens });
                    if found.len() > 4 * SOURCES {
                        found.sort_by_key(|origin| std::cmp::Reverse(origin.match_tokens));
                        found.truncate(SOURCES);
                    }
                }
                before += part.len() as u64;
            }
        }
        found.sort_by_key(|origin| std::cmp::Reverse(origin.match_tokens));
        found.truncate(SOURCES);
        Ok(found)
    }
}

/// The layer of a slot, from 1.
fn layer(settings: &Settings, slot: usize) -> u32 {
    settings.slots[slot].len.ilog(settings.heads) + 1
}
