//! Looking ahead: the memory has contexts of some lengths only, but what it would say further on tells the others.
//!
//! After nine tokens of a quote only the last eight are looked at, and these may stand elsewhere too, with other successors. But
//! then the next token decides: if nine tokens and a successor stand together, the context of ten tokens that ends after it
//! occurred. So where the longest context that occurred has several successors, each is followed a few tokens on, until a
//! longer context has occurred that begins before it, or cannot any more. Whatever reaches back furthest is what
//! the memory has: the answer of the longest match, of any length, from contexts of a few.

use crate::sparse::{Error, Level, Memory, Reader};

/// Ways to go on that are looked at, at most, to settle one token: the most frequent ones.
const MOST_READ: usize = 1_024;

/// Buffers for looking ahead.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    reader: Reader,
    text: Vec<u32>,
}

impl Ahead {
    /// Returns which successor of a context reaches back furthest, beyond the longest context that occurred, `level`;
    /// `None` if none does, or if there is but one. `context` is a view.
    ///
    /// All are followed by one token, then by two, and so on: what is found first reaches back furthest, and one that goes on in many
    /// ways does not keep the others from being looked at.
    pub(super) fn furthest(
        &mut self,
        memory: &Memory,
        context: &[u32],
        level: &Level,
        best: u32,
    ) -> Result<Option<u32>, Error> {
        let slot = level.slot + 1;
        let Some(&longer) = memory.settings().tokens.get(slot) else { return Ok(None) };
        let (longer, span) = (longer as usize, level.span);
        if level.list.len() < 2 || context.len() <= span || longer <= span + 1 {
            return Ok(None);
        }
        let context = &context[context.len().saturating_sub(longer - 1)..];
        let mut left = MOST_READ;
        // What would be said, token by token.
        let mut paths: Vec<Vec<u32>> = Vec::new();
        extend(&mut paths, &[], level.list.clone(), memory.settings().end);
        // After more tokens no more of the context is seen than what occurred.
        for ahead in 1..longer - span {
            paths.truncate(left);
            left -= paths.len();
            let mut found = None;
            for path in paths.iter().filter(|_| context.len() + ahead >= longer) {
                if !self.list(memory, context, path, slot)?.is_empty() {
                    if path[0] == best {
                        return Ok(Some(best));
                    }
                    found = found.or(Some(path[0]));
                }
            }
            if found.is_some() {
                return Ok(found);
            }
            let shorter = std::mem::take(&mut paths);
            for path in &shorter {
                for slot in (1..slot).rev() {
                    let next = self.list(memory, context, path, slot)?;
                    if !next.is_empty() {
                        extend(&mut paths, path, next, memory.settings().end);
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Reads what followed a context and a path, as far as a slot sees.
    fn list(
        &mut self,
        memory: &Memory,
        context: &[u32],
        path: &[u32],
        slot: usize,
    ) -> Result<Vec<(u32, i64)>, Error> {
        let Ahead { reader, text } = self;
        text.clear();
        text.extend_from_slice(context);
        text.extend_from_slice(path);
        let mut list = Vec::new();
        reader.list(memory, text, slot, &mut list)?;
        Ok(list)
    }
}

/// Adds the ways in which a path goes on, the most frequent first.
fn extend(paths: &mut Vec<Vec<u32>>, path: &[u32], mut next: Vec<(u32, i64)>, end: u32) {
    next.sort_by_key(|&(token, count)| (-count, token));
    let tokens = next.into_iter().map(|(token, _)| token).filter(|&token| token != end);
    paths.extend(tokens.map(|token| [path, &[token]].concat()));
}
