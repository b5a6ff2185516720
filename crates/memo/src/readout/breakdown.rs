//! A distribution taken apart: what each context adds to the probability of a token.
//!
//! The paper sums what the memories of all layers emit, and the sum says which token is next. Here every probability is a sum, too: the
//! prior, a share of each context that occurred, what a quote adds to the longest of them, what generalised contexts say, and what
//! the text itself does. [`Breakdown::shares`] has the terms, which add up to [`Distribution::probability`].

use super::backoff::Interpolation;
use super::distribution::followed;
use super::{Backoff, Distribution, Scratch};
use crate::sparse::{Context, Error, Level, Levels, Memory, Successor};

/// What a memory says after a context, and the parts that it is the sum of.
pub struct Breakdown<'m> {
    /// The contexts that there is text for, the shortest first: those of tokens, then those of words that occurred; last the token
    /// before the last one, if it occurred.
    pub contexts: Vec<ContextReading>,
    /// What is shared out as tokens are before any context.
    pub prior: f64,
    /// What is shared out by what followed the longest context, because the text is probably a quote.
    pub quote: f64,
    /// What generalised contexts share out.
    pub general: f64,
    /// What the text itself shares out.
    pub recent: f64,
    distribution: Distribution<'m>,
    memory: &'m Memory,
    /// Which of the contexts the quote is from.
    longest: Option<usize>,
}

/// What a context says.
pub struct ContextReading {
    /// The context, as far as there is text for it.
    pub context: Context,
    /// How many of the last tokens it sees.
    pub span: usize,
    /// Whether it is all that a document began with.
    pub from_start: bool,
    /// How often it occurred.
    pub total: i64,
    /// How many different tokens followed it.
    pub kinds: i64,
    /// How much of the probability it shares out.
    pub weight: f64,
    read: Option<Read>,
}

/// A context that occurred and counts.
struct Read {
    level: Level,
    own: Interpolation,
    /// What longer contexts leave to it.
    left: f64,
    /// The next longer one, which tells apart what it has itself.
    next: Option<usize>,
}

/// The terms that the probability of a token is the sum of.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakdownShares {
    /// What it gets before any context.
    pub prior: f64,
    /// What each of [`Breakdown::contexts`] adds.
    pub contexts: Vec<f64>,
    /// What it gets because it followed the longest context, which is probably quoted.
    pub quote: f64,
    /// What generalised contexts add.
    pub general: f64,
    /// What the text itself adds.
    pub recent: f64,
}

impl BreakdownShares {
    /// Returns their sum: the probability of the token, up to rounding.
    pub fn sum(&self) -> f64 {
        self.prior + self.contexts.iter().sum::<f64>() + self.quote + self.general + self.recent
    }
}

impl Backoff {
    /// Returns what a memory says after a context, taken apart.
    pub fn breakdown<'m>(
        &self,
        memory: &'m Memory,
        context: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Breakdown<'m>, Error> {
        let distribution = self.distribution(memory, context, scratch)?;
        // What was read for the distribution is still there.
        let quote = self.read(memory, context, scratch)?;
        let levels = &scratch.reader.levels;
        let quote = if levels.longest().is_some() { quote } else { 0.0 };
        let (general, recent) = distribution.beside();
        let given = memory.view(context)?.len();
        let mut contexts = unread(memory, levels, given);
        // From the longest on, each leaves to the shorter ones what is taken off its own.
        let mut left = 1.0 - quote - general - recent;
        let (tokens, words) = (levels.tokens(), levels.words());
        let nearer = words.len() - levels.further_words().len();
        let first_word = contexts.len() - words.len();
        let chain = (0..words.len()).map(|i| (first_word + i, &words[i], words.get(i + 1)));
        let (unused, chain): (Vec<_>, Vec<_>) =
            chain.partition(|(at, ..)| *at < first_word + nearer);
        // Contexts of words that see no further than one of tokens occurred, and do not count.
        for (at, level, _) in unused {
            (contexts[at].total, contexts[at].kinds) = (level.totals.total, level.totals.kinds);
        }
        let exact = (0..tokens.len()).map(|i| (i + 1, &tokens[i], tokens.get(i + 1)));
        let longest =
            chain.last().map(|(at, ..)| *at).or((!tokens.is_empty()).then_some(tokens.len()));
        for (at, level, next) in exact.chain(chain).rev() {
            left = contexts[at].take(level.clone(), left, next.map(|_| at + 1));
        }
        let list = levels.followers.list.clone();
        let first = Level { span: given.min(1), totals: levels.first, list, ..Level::default() };
        let mut prior = contexts[0].take(first, left, (!tokens.is_empty()).then_some(1));
        if let Some(followers) = levels.skipped.as_ref().filter(|own| own.totals.total > 0) {
            let (totals, list) = (followers.totals, followers.list.clone());
            let level = Level { span: 2, totals, list, ..Level::default() };
            let mut skip = ContextReading::unread(Context::Skip, level.span, false);
            let left = prior * self.constants.skip;
            prior = prior - left + skip.take(level, left, None);
            contexts.push(skip);
        }
        Ok(Breakdown { contexts, prior, quote, general, recent, distribution, memory, longest })
    }
}

/// The contexts that there is text for, before it is known what they say.
fn unread(memory: &Memory, levels: &Levels, given: usize) -> Vec<ContextReading> {
    let settings = memory.settings();
    let of_tokens = settings.tokens.iter().enumerate().filter(|&(slot, _)| {
        // The first that is longer than the text is all of it, from the beginning of a document on.
        slot == 0 || settings.tokens[slot - 1] as usize <= given
    });
    let of_tokens = of_tokens.map(|(_, &len)| {
        let span = (len as usize).min(given);
        ContextReading::unread(Context::Tokens(span as u32), span, len as usize > given)
    });
    let of_words = levels.words().iter();
    let of_words = of_words
        .map(|level| ContextReading::unread(settings.context(level.slot), level.span, false));
    of_tokens.chain(of_words).collect()
}

impl ContextReading {
    /// A context before it is known what it says.
    fn unread(context: Context, span: usize, from_start: bool) -> Self {
        ContextReading { context, span, from_start, total: 0, kinds: 0, weight: 0.0, read: None }
    }

    /// Takes in what was read of it; returns what it leaves of `left` to shorter ones.
    fn take(&mut self, level: Level, left: f64, next: Option<usize>) -> f64 {
        let own = Interpolation::new(&level.totals);
        let rest = left * own.rest;
        (self.total, self.kinds) = (level.totals.total, level.totals.kinds);
        self.weight = left - rest;
        self.read = Some(Read { level, own, left, next });
        rest
    }

    /// Returns how often a token followed it.
    fn count(&self, token: u32) -> i64 {
        followed(self.read.as_ref().map(|read| &read.level), token)
    }
}

impl<'m> Breakdown<'m> {
    /// Returns the whole that the parts make.
    pub fn distribution(&self) -> &Distribution<'m> {
        &self.distribution
    }

    /// Returns the terms of a token's probability.
    pub fn shares(&self, token: u32) -> BreakdownShares {
        let mut shares = Vec::with_capacity(self.contexts.len());
        for context in &self.contexts {
            let Some(Read { own, left, next, .. }) = &context.read else {
                shares.push(0.0);
                continue;
            };
            let count = context.count(token);
            let longer = next.map_or(0, |next| self.contexts[next].count(token));
            shares.push(left * own.share(count, longer));
        }
        let quoted = self.longest.map(|at| &self.contexts[at]);
        let quote = quoted.map_or(0.0, |longest| {
            self.quote * longest.count(token) as f64 / longest.total.max(1) as f64
        });
        let (general, recent) = self.distribution.beside_of(token);
        let before = self.memory.prior().p.get(token as usize).copied().unwrap_or(0.0);
        BreakdownShares { prior: self.prior * before, contexts: shares, quote, general, recent }
    }

    /// Returns what followed a context, the most frequent first, of equals the lowest number, up to a number of tokens.
    pub fn successors(&self, context: usize, most: usize) -> Vec<Successor> {
        let Some(read) = self.contexts.get(context).and_then(|context| context.read.as_ref())
        else {
            return Vec::new();
        };
        let list = read.level.list.iter();
        let mut all: Vec<Successor> =
            list.map(|&(token, count)| Successor { token, count }).collect();
        let order =
            |a: &Successor, b: &Successor| b.count.cmp(&a.count).then(a.token.cmp(&b.token));
        if most < all.len() {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        all
    }
}
