//! The memory of a model, of either engine, as the store sees it.
//!
//! What the store needs of a memory is little: write contents, say which token comes next. The sparse engine undoes
//! what it wrote bit for bit. The dense one is in floats, so whatever leaves it makes the store build it anew from the
//! documents that stay; it has no checkpoint either, because building it is how it is opened. What is peculiar to
//! the sparse engine (edits, evidence, freezing, export) is refused for the dense one.

use crate::error::Error;
use crate::ledger::Content;
use crate::model::{Model, Sizes};
use crate::record::Role;
use memo::dense::DenseMemo;
use memo::readout::{Backoff, ReadOut, Scratch, best_at};
use memo::sparse::{Memory, Span};
use std::ops::Range;

/// The memory of a model.
pub enum Engine {
    /// Integers: exact.
    Sparse(Box<Memory>),
    /// The paper's, in floats.
    Dense(Box<DenseMemo>),
}

impl Engine {
    /// An empty memory.
    pub(crate) fn new(model: &Model) -> Result<Self, Error> {
        Ok(match &model.memory {
            Sizes::Sparse(settings) => Engine::Sparse(Box::new(Memory::new(settings.clone())?)),
            Sizes::Dense(config) => Engine::Dense(Box::new(DenseMemo::new(config.clone())?)),
        })
    }

    /// The sparse memory, if that is what it is.
    pub fn sparse(&self) -> Option<&Memory> {
        match self {
            Engine::Sparse(memory) => Some(memory),
            Engine::Dense(_) => None,
        }
    }

    /// The dense memory, if that is what it is.
    pub fn dense(&self) -> Option<&DenseMemo> {
        match self {
            Engine::Sparse(_) => None,
            Engine::Dense(memory) => Some(memory),
        }
    }

    /// The sparse memory, for something that only it can do.
    pub(crate) fn need_sparse(&mut self, what: &'static str) -> Result<&mut Memory, Error> {
        match self {
            Engine::Sparse(memory) => Ok(memory),
            Engine::Dense(_) => Err(Error::Engine(what)),
        }
    }

    /// Another memory with the same contents, if they can be copied as they are.
    pub(crate) fn copied(&self) -> Result<Option<Self>, Error> {
        Ok(match self {
            Engine::Sparse(memory) => memory.copied()?.map(|copy| Engine::Sparse(Box::new(copy))),
            Engine::Dense(_) => None,
        })
    }

    /// Refuses tokens that the memory cannot hold.
    pub(crate) fn check(&self, tokens: &[u32]) -> Result<(), Error> {
        match self {
            Engine::Sparse(memory) => Ok(memory.check(&[Span::whole(tokens, 1)])?),
            Engine::Dense(memory) => {
                let vocab = memory.config().vocab as u32;
                match tokens.iter().find(|&&token| token >= vocab) {
                    Some(token) => Err(Error::Invalid(format!(
                        "token {token} is outside the vocabulary of {vocab}"
                    ))),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether what was written can be taken out again exactly.
    pub(crate) fn exact(&self) -> bool {
        matches!(self, Engine::Sparse(_))
    }

    /// Writes passages. Only an exact memory takes parts of documents, and weights other than 1.
    pub(crate) fn write(&mut self, passages: &[Span<'_>]) -> Result<(), Error> {
        match self {
            Engine::Sparse(memory) => {
                // Few tokens touch few pages of a mapped checkpoint; many touch all of them, one slow fault at a time.
                let tokens: u64 = passages.iter().map(|p| p.positions.len() as u64).sum();
                if tokens > (memory.settings().parameters() >> 16).max(4096) {
                    memory.own_cells()?;
                }
                Ok(memory.write(passages)?)
            }
            Engine::Dense(memory) => {
                let documents: Vec<&[u32]> = passages.iter().map(|p| p.document).collect();
                Ok(memory.memorize_all(&documents)?)
            }
        }
    }

    /// The most probable token at some positions of a text, each given the tokens before it. Position 0 has none before it
    /// and is refused, and so is what lies after the last token.
    pub fn best_at(&self, text: &[u32], positions: Range<usize>) -> Result<Vec<u32>, Error> {
        let Range { start, end } = positions;
        if start == 0 || start > end || end > text.len() {
            let why = format!("positions {start} to {end} of a text of {} tokens", text.len());
            return Err(Error::Invalid(why));
        }
        match self {
            Engine::Sparse(memory) => Ok(best_at(memory, &Backoff::default(), text, start..end)?),
            Engine::Dense(memory) => {
                let before = start.saturating_sub(memory.config().window());
                let along = memory.predict_along(&text[before..end])?;
                Ok(along[start - before - 1..].iter().map(|p| p.token).take(end - start).collect())
            }
        }
    }

    /// The most probable next token.
    pub(crate) fn best(&self, context: &[u32], scratch: &mut Scratch) -> Result<u32, Error> {
        match self {
            Engine::Sparse(memory) => Ok(Backoff::default().best(memory, context, scratch)?),
            Engine::Dense(memory) => Ok(memory.predict(context)?.token),
        }
    }
}

/// What is written of a content.
pub(crate) fn passages(content: &Content, sign: i32) -> impl Iterator<Item = Span<'_>> {
    content.parts.iter().map(move |part| match content.role {
        Role::Text => Span::whole(part, sign),
        Role::Edit { prompt, weight } => Span {
            document: part,
            positions: (prompt as usize).min(part.len())..part.len(),
            weight: weight * sign,
        },
    })
}
