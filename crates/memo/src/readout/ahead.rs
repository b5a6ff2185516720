//! Looking ahead: the memory has contexts of some lengths only, but what it would say further on tells the others.
//!
//! After nine tokens of a quote only the last eight are looked at, and these may stand elsewhere too, with other successors. But
//! then the next token decides: if nine tokens and a successor stand together, the context of ten tokens that ends after it
//! occurred. So where the longest context that occurred has several successors, each is followed a few tokens on, until a
//! longer context has occurred that begins before it, or cannot any more. Whatever reaches back furthest is what
//! the memory has: the answer of the longest match, of any length, from contexts of a few.

use crate::sparse::{Error, Level, Memory, Reader};

/// Successors that are followed, the most frequent ones.
const MOST_FOLLOWED: usize = 256;

/// Contexts that are read, at most, to settle one token.
const MOST_READ: usize = 1_024;

/// Buffers for looking ahead.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    reader: Reader,
    text: Vec<u32>,
    left: usize,
}

impl Ahead {
    /// Returns which successor of a context reaches back furthest, beyond the longest context that occurred, `level`;
    /// `None` if none does, or if there is but one. `context` is a view.
    pub(super) fn furthest(
        &mut self,
        memory: &Memory,
        context: &[u32],
        level: &Level,
        best: u32,
    ) -> Result<Option<u32>, Error> {
        let lengths = &memory.settings().tokens;
        let Some(&longer) = lengths.get(level.slot + 1) else { return Ok(None) };
        let (longer, span) = (longer as usize, level.span);
        if level.list.len() < 2 || context.len() <= span || longer <= span + 1 {
            return Ok(None);
        }
        let mut followed = level.list.clone();
        followed.sort_by_key(|&(token, count)| (-count, token));
        followed.truncate(MOST_FOLLOWED);
        self.left = MOST_READ;
        self.text.clear();
        self.text.extend_from_slice(&context[context.len().saturating_sub(longer - 1)..]);
        let reach = Reach { memory, slot: level.slot + 1, longer, beyond: span };
        // How far back the successor reaches; of equals, the one that is the best anyway, then the most frequent one.
        let mut furthest: Option<((usize, bool), u32)> = None;
        for (token, _) in followed {
            if let Some(back) = self.follow(&reach, token, 1)? {
                let rank = (back, token == best);
                if furthest.is_none_or(|(most, _)| rank > most) {
                    furthest = Some((rank, token));
                }
            }
        }
        Ok(furthest.map(|(_, token)| token))
    }

    /// Follows a token that is the `ahead`th of what would be said; returns how many tokens of the context it goes back to.
    fn follow(
        &mut self,
        reach: &Reach<'_>,
        token: u32,
        ahead: usize,
    ) -> Result<Option<usize>, Error> {
        if self.left == 0 || token == reach.memory.settings().end {
            return Ok(None);
        }
        self.left -= 1;
        self.text.push(token);
        let found = self.look(reach, ahead);
        self.text.pop();
        found
    }

    fn look(&mut self, reach: &Reach<'_>, ahead: usize) -> Result<Option<usize>, Error> {
        let Ahead { reader, text, .. } = self;
        let mut next = Vec::new();
        if text.len() >= reach.longer {
            reader.list(reach.memory, text, reach.slot, &mut next)?;
            if !next.is_empty() {
                return Ok(Some(reach.longer - ahead));
            }
        }
        // The next token would see no more than the context that occurred.
        if reach.longer - ahead <= reach.beyond + 1 {
            return Ok(None);
        }
        for slot in (1..reach.slot).rev() {
            reader.list(reach.memory, text, slot, &mut next)?;
            if !next.is_empty() {
                break;
            }
        }
        next.sort_by_key(|&(token, count)| (-count, token));
        let mut furthest = None;
        for (token, _) in next {
            furthest = furthest.max(self.follow(reach, token, ahead + 1)?);
        }
        Ok(furthest)
    }
}

/// What is looked for.
struct Reach<'m> {
    memory: &'m Memory,
    /// The slot of the next longer context, and its length.
    slot: usize,
    longer: usize,
    /// How many tokens are seen without looking ahead.
    beyond: usize,
}
