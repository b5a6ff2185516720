//! Matching: how much of a text stands in the memory as it is.

use super::{Backoff, Scratch};
use crate::sparse::{Error, Levels, Memory};

/// How many tokens of a text are looked at, the last ones.
const LOOKED_AT: usize = 192;

/// Tokens that make a quote if they stand together, however long the text is.
pub(super) const QUOTE: usize = 8;

/// Runs up to so many tokens are known exactly, because contexts of all lengths up to there are kept.
const CONSECUTIVE: usize = 6;

/// Tokens that stand together, and need not be put right whatever comes before them; and tokens before a quote that are no word
/// more.
const LONG: usize = 32;
const CUT: usize = 2;

/// How a text is known, position by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The first position that was looked at.
    pub first: usize,
    /// How many tokens before each position from there on stand together in the memory; before the end all of them if nothing speaks
    /// against it.
    pub runs: Vec<usize>,
    /// How often the longest context before the end that occurred did so.
    pub times: i64,
    /// How many of the last tokens stand together in the memory, white space aside.
    pub solid: usize,
    /// Whether a document begins with the text.
    pub begins: bool,
}

impl Backoff {
    /// Looks at the end of a text. A query for the token after it then costs little.
    ///
    /// Each token is looked up after the contexts before it, one look-up a length. The memory has contexts of some lengths only, so a
    /// longer run is known to go on if a part of it that stands in the memory once does.
    pub fn matching(
        &self,
        memory: &Memory,
        text: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Matching, Error> {
        let text = memory.view(text)?;
        let first = text.len().saturating_sub(LOOKED_AT);
        let Scratch { reader, trust, .. } = scratch;
        trust.clear();
        let mut runs = Vec::with_capacity(text.len() - first + 1);
        // How many of the last tokens stand together, and how many of them stand there once.
        let (mut run, mut once): (usize, Option<usize>) = (0, None);
        // Whether each token followed the longest context that the memory has for the text before it: nothing then speaks against all of
        // it standing together, also where its parts stand at several places.
        let lengths = &memory.settings().tokens;
        let kept = |text: usize| {
            let kept = lengths.iter().map(|&len| len as usize);
            kept.take_while(|&len| len <= text).last().unwrap_or(0)
        };
        let mut whole = true;
        for p in first..text.len() {
            let (context, token) = (&text[first..p], text[p]);
            let known = reader.known(memory, context, token)?;
            let span = known.map_or(0, |known| known.span);
            whole &= span >= kept(context.len());
            let goes_on = once.is_some_and(|once| once <= span);
            if !goes_on && run > span.max(CONSECUTIVE) {
                // The run ends here, and may be longer than could be told.
                run = reader.longest(memory, context, run)?;
            }
            runs.push(run.max(span));
            (run, once) = match known {
                None => (usize::from(memory.unigrams()[token as usize] > 0), None),
                Some(known) => {
                    let run = if goes_on { run.max(span) } else { span };
                    let both = [known.once, once.filter(|_| goes_on)];
                    (run + 1, both.into_iter().flatten().min().map(|once| once + 1))
                }
            };
        }
        trust.read(memory, text, reader)?;
        let looked_at = text.len() - first;
        let last = longest(&reader.levels, looked_at);
        whole &= last >= kept(looked_at);
        runs.push(if whole { looked_at } else { run.max(last) });
        let longest = reader.levels.tokens().last();
        let times = longest.map_or(0, |level| level.totals.total);
        // A context that is longer than the text is all of that from the boundary on.
        let begins = longest.is_some_and(|level| lengths[level.slot] as usize > text.len());
        let last = &text[text.len() - runs.last().map_or(0, |run| *run.min(&text.len()))..];
        let blank = |token: &&u32| memory.words().is_some_and(|words| words.is_blank(**token));
        let solid = last.len() - last.iter().filter(blank).count();
        Ok(Matching { first, runs, times, solid, begins })
    }
}

/// The longest context that occurred, of those that there is text for.
fn longest(levels: &Levels, tokens: usize) -> usize {
    levels.tokens().last().map_or(0, |level| level.span.min(tokens))
}

impl Matching {
    /// Returns whether the text is a quote: all of it stands together in the memory, or its last eight tokens do.
    pub fn is_quote(&self) -> bool {
        self.run() > 0 && self.run() >= (self.runs.len() - 1).min(QUOTE)
    }

    /// Returns whether all of the text stands together in the memory, or as much of its end as stands there once.
    pub fn is_settled(&self) -> bool {
        self.times == 1 || self.run() + 1 >= self.runs.len()
    }

    /// Returns whether the text is a quote whatever white space is in it: an indentation alone is none.
    pub fn is_solid(&self) -> bool {
        self.solid >= QUOTE || self.run() + 1 >= self.runs.len()
    }

    /// Returns whether the text is a quote, and so long a part of it that nothing else can be meant.
    pub fn is_clear(&self) -> bool {
        let cut = self.runs.len() - 1 <= self.run() + CUT;
        self.is_quote() && self.is_settled() && (cut || self.run() >= LONG)
    }

    /// Returns how many of the last tokens stand together in the memory.
    pub fn run(&self) -> usize {
        self.runs.last().copied().unwrap_or(0)
    }
}
